"""Material properties on the device: a field per property, with absorbing layers and ghosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from groundswell.arrays import DeviceArray, Reals
from groundswell.backends import Backend
from groundswell.backends.host_threads import for_each
from groundswell.grids.cartesian import GHOSTS, Field, Layout, Part
from groundswell.seismology.attenuation import Relaxation
from groundswell.solvers.earthquake.effective import UNCORRECTED
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.moduli import PROPERTIES

PLANES_AT_ONCE = 16

# Properties of some planes with their ghosts, (planes, ny + 4, nx + 4) or (planes, 1, 1).
Slab = Mapping[str, Reals]


class Materials:
    """Density (kg/m^3), lambda (Pa), 1/mu (1/Pa, infinite in fluids), 1/Qp and 1/Qs of every cell.

    With attenuation the moduli are unrelaxed. Phase velocities then equal the speeds of the medium
    at the reference frequency.

    Attributes:
        fields: those that kernels read, by name.
        corrections: corrections of the parameters that follow from the cells, for each depth row,
            (nz, 4); see kernels/rows.h.
        are_corrected: whether the medium has such corrections.
    """

    def __init__(
        self, ground: Ground, dtype: str, backend: Backend, part: Part, layout: Layout
    ) -> None:
        self.names = PROPERTIES if ground.relaxation else PROPERTIES[:3]
        self._ground, self._backend, self._dtype = ground, backend, dtype
        self.fields = self._allocate(layout)
        self._placeholder = backend.zeros((1,), dtype)
        self._part = part
        corrections = np.tile(np.array(UNCORRECTED, dtype), (part.cells[2], 1))
        if ground.rows:
            corrections[:] = ground.rows.corrections[GHOSTS + part.start[2] :][: part.cells[2]]
        self.corrections = backend.to_device(corrections)
        # The same on all ranks, so that they share a compiled module.
        self.are_corrected = ground.rows is not None and bool(ground.rows.are_corrected.any())

    @property
    def record(self) -> int:
        """Values in a record of the table of moduli, 0 without one; see kernels/materials.h."""
        return 0

    def __getitem__(self, name: str) -> DeviceArray:
        """A property of the cells, (nz, ny, nx)."""
        return self.fields[name].interior

    def arguments(self, *names: str) -> dict[str, DeviceArray]:
        """The arguments of kernels that read these properties."""
        found = {name: self[name] if name in self.fields else self._placeholder for name in names}
        return {**found, "classes": self._placeholder}

    def load(self) -> None:
        """Fill every field a few planes at a time, so that the model need not fit into memory.

        Raises:
            InputError: the medium has more different materials than a table of classes.
        """
        for rows, slab in self._slabs():
            self._assign(rows, slab)

    def _allocate(self, layout: Layout) -> dict[str, Field]:
        return {name: Field(self._backend, layout, self._dtype) for name in self.names}

    def _assign(self, rows: slice, slab: Slab) -> None:
        """Store the properties of these planes."""
        for name, values in slab.items():
            self._backend.assign(self.fields[name].array[rows], values)

    def _slabs(self) -> Iterator[tuple[slice, Slab]]:
        """Yield all planes, ghosts included, with their properties in the precision of the run."""
        depth = self._part.cells[2] + 2 * GHOSTS
        for start in range(0, depth, PLANES_AT_ONCE):
            rows = slice(start, min(start + PLANES_AT_ONCE, depth))
            yield rows, self._slab(range(rows.start, rows.stop))

    def _slab(self, rows: range) -> Slab:
        """The properties of some planes; of one cell in each if the medium varies with depth."""
        y, x = (slice(0, 1),) * 2 if self._ground.rows else self._own
        shape = len(rows), y.stop - y.start, x.stop - x.start
        slab = {name: np.empty(shape, self._dtype) for name in self.names}
        first = self._part.start[2] - GHOSTS

        def fill(n: int) -> None:
            plane = self._ground.padded_plane(first + rows[n])
            for name, values in slab.items():
                values[n] = plane[name][y, x]

        for_each(fill, range(len(rows)))
        return slab

    @property
    def _own(self) -> tuple[slice, slice]:
        """The part of a padded plane that belongs to this rank."""
        (nx, ny, _), (x, y, _) = self._part.cells, self._part.start
        return slice(y, y + ny + 2 * GHOSTS), slice(x, x + nx + 2 * GHOSTS)


def mechanism_table(relaxation: Relaxation, part: Part, dt: float) -> Reals:
    """Decay factor and the two weight coefficients of each mechanism along a row, (2, 2, 3, nx).

    The first two axes are the parities of k and j, counted in the part. The mechanism of a cell
    depends on its indices in the whole grid.
    """
    decay, (linear, quadratic) = relaxation.decay(dt), relaxation.coefficients.T
    by_parity = np.stack([decay, linear, quadratic])  # (3, 8), parity = i + 2 j + 4 k
    i, (_, y, z) = part.indices(0) & 1, part.start
    rows = [[4 * (k + z & 1) + 2 * (j + y & 1) for j in (0, 1)] for k in (0, 1)]
    return np.stack([[by_parity[:, row + i] for row in pair] for pair in rows])
