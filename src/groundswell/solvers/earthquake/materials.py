"""Material properties on the device: a field per property, with absorbing layers and ghosts."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import DeviceArray, Reals
from groundswell.backends import Backend
from groundswell.grids.cartesian import GHOSTS, Field, Layout, Part
from groundswell.seismology.attenuation import Relaxation
from groundswell.solvers.earthquake.effective import UNCORRECTED
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.moduli import PROPERTIES

PLANES_AT_ONCE = 16


class Materials:
    """Density (kg/m^3), lambda (Pa), 1/mu (1/Pa, infinite in fluids), 1/Qp and 1/Qs of every cell.

    With attenuation the moduli are unrelaxed. Phase velocities then equal the speeds of the medium
    at the reference frequency.

    Attributes:
        corrections: corrections of the parameters that follow from the cells, for each depth row,
            (nz, 4); see kernels/rows.h.
        are_corrected: whether the medium has such corrections.
    """

    def __init__(
        self, ground: Ground, dtype: str, backend: Backend, part: Part, layout: Layout
    ) -> None:
        names = PROPERTIES if ground.relaxation else PROPERTIES[:3]
        self._ground, self._backend = ground, backend
        self.fields = {name: Field(backend, layout, dtype) for name in names}
        self._placeholder = backend.zeros((1,), dtype)
        self._part = part
        corrections = np.tile(np.array(UNCORRECTED, dtype), (part.cells[2], 1))
        if ground.rows:
            corrections[:] = ground.rows.corrections[GHOSTS + part.start[2] :][: part.cells[2]]
        self.corrections = backend.to_device(corrections)
        # The same on all ranks, so that they share a compiled module.
        self.are_corrected = ground.rows is not None and bool(ground.rows.are_corrected.any())

    def __getitem__(self, name: str) -> DeviceArray:
        field = self.fields.get(name)
        return field.interior if field else self._placeholder

    def load(self) -> None:
        """Fill every field a few planes at a time, so that the model need not fit into memory."""
        x, y, z = (
            slice(s, s + n + 2 * GHOSTS)
            for s, n in zip(self._part.start, self._part.cells, strict=True)
        )
        depth = self._part.cells[2] + 2 * GHOSTS
        for start in range(0, depth, PLANES_AT_ONCE):
            rows = range(start, min(start + PLANES_AT_ONCE, depth))
            planes = [self._ground.padded_plane(z.start + k - GHOSTS) for k in rows]
            for name, field in self.fields.items():
                slab = np.stack([plane[name][y, x] for plane in planes])
                self._backend.assign(
                    field.array[rows.start : rows.stop], slab.astype(field.array.dtype)
                )


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
