"""Material properties on the device: a field per property, with absorbing layers and ghosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend
from groundswell.grids.cartesian import GHOSTS, Field, Layout, Part
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.media.profile import find_profile
from groundswell.solvers.earthquake.effective import UNCORRECTED
from groundswell.solvers.earthquake.moduli import PROPERTIES
from groundswell.solvers.earthquake.phases import Phases

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

Values = NDArray[np.floating]

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

    def __init__(self, setup: Setup, backend: Backend, part: Part, layout: Layout) -> None:
        names = PROPERTIES if setup.relaxation else PROPERTIES[:3]
        self._setup, self._backend = setup, backend
        self.fields = {name: Field(backend, layout, setup.dtype) for name in names}
        self._placeholder = backend.zeros((1,), setup.dtype)
        self._part = part
        corrections = np.tile(np.array(UNCORRECTED, setup.dtype), (part.cells[2], 1))
        if setup.rows:
            corrections[:] = setup.rows.corrections[GHOSTS + part.start[2] :][: part.cells[2]]
        self.corrections = backend.to_device(corrections)
        # The same on all ranks, so that they share a compiled module.
        self.are_corrected = setup.rows is not None and bool(setup.rows.are_corrected.any())

    def __getitem__(self, name: str) -> Array:
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
            planes = [padded_plane(self._setup, z.start + k - GHOSTS) for k in rows]
            for name, field in self.fields.items():
                slab = np.stack([plane[name][y, x] for plane in planes])
                self._backend.assign(
                    field.array[rows.start : rows.stop], slab.astype(field.array.dtype)
                )


def padded_plane(setup: Setup, k: int) -> dict[str, Values]:
    """Each property of plane `k` of the grid with its ghosts, (ny + 4, nx + 4).

    Cells outside the region repeat its outermost cells, or its opposite side on periodic axes.
    """
    grid = setup.grid
    nx, ny, nz = grid.region
    (low_x, low_y, _), (high_x, high_y, _) = grid.before, grid.after
    width = ((low_y + GHOSTS, high_y + GHOSTS), (low_x + GHOSTS, high_x + GHOSTS))
    if setup.rows:
        plane = {name: rows[k + GHOSTS] for name, rows in setup.rows.properties.items()}
    else:
        region_k = int(np.clip(k - grid.before[2], 0, nz - 1))
        plane = setup.properties(setup.medium.plane(region_k))
    return {
        name: np.pad(
            np.broadcast_to(values, (ny, nx)), width, mode="wrap" if setup.periodic else "edge"
        )
        for name, values in plane.items()
    }


def find_phases(setup: Setup) -> Phases | None:
    """Which cells are fluid and which are solid; None if there is no fluid."""
    rows = setup.rows
    slips = np.isinf(rows.corrections[:, 1]) if rows else np.zeros(0, bool)
    if not (setup.statistics.fluid_cells or slips.any()):
        return None
    last = setup.grid.cells[2] + GHOSTS - 1
    inner = slice(GHOSTS, -GHOSTS)

    def plane(k: int) -> NDArray[np.bool_]:
        row = min(max(k, -GHOSTS), last)
        return np.isfinite(padded_plane(setup, row)["compliance"][inner, inner])

    profile = find_profile(setup.medium) if rows else None
    return Phases(
        setup.grid,
        setup.periodic,
        plane,
        frozenset((np.flatnonzero(slips) - GHOSTS).tolist()),
        profile,
    )


def mechanism_table(relaxation: Relaxation, part: Part, dt: float) -> Values:
    """Decay factor and the two weight coefficients of each mechanism along a row, (2, 2, 3, nx).

    The first two axes are the parities of k and j, counted in the part. The mechanism of a cell
    depends on its indices in the whole grid.
    """
    decay, (linear, quadratic) = relaxation.decay(dt), relaxation.coefficients.T
    by_parity = np.stack([decay, linear, quadratic])  # (3, 8), parity = i + 2 j + 4 k
    i, (_, y, z) = part.indices(0) & 1, part.start
    rows = [[4 * (k + z & 1) + 2 * (j + y & 1) for j in (0, 1)] for k in (0, 1)]
    return np.stack([[by_parity[:, row + i] for row in pair] for pair in rows])
