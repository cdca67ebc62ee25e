"""Material properties on the device: a field per property, with absorbing layers and ghosts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend
from groundswell.grids.cartesian import GHOSTS, Field, Layout, Part
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.media.material import Material
from groundswell.solvers.earthquake.setup import Setup

Values = NDArray[np.floating]

PROPERTIES = ("rho", "lam", "compliance", "inverse_qp", "inverse_qs")
PLANES_AT_ONCE = 16


class Materials:
    """Density (kg/m^3), lambda (Pa), 1/mu (1/Pa, infinite in fluids), 1/Qp and 1/Qs of every cell.

    With attenuation the moduli are unrelaxed. Phase velocities then equal the speeds of the medium
    at the reference frequency.
    """

    def __init__(self, setup: Setup, backend: Backend, layout: Layout) -> None:
        names = PROPERTIES if setup.relaxation else PROPERTIES[:3]
        self._setup, self._backend = setup, backend
        self.fields = {name: Field(backend, layout, setup.dtype) for name in names}
        self._placeholder = backend.zeros((1,), setup.dtype)

    def __getitem__(self, name: str) -> Array:
        field = self.fields.get(name)
        return field.interior if field else self._placeholder

    def load(self, part: Part) -> None:
        """Fill every field a few planes at a time, so that the model need not fit into memory."""
        x, y, z = (
            slice(s, s + n + 2 * GHOSTS) for s, n in zip(part.start, part.cells, strict=True)
        )
        depth = part.cells[2] + 2 * GHOSTS
        for start in range(0, depth, PLANES_AT_ONCE):
            rows = range(start, min(start + PLANES_AT_ONCE, depth))
            planes = [dict(padded_plane(self._setup, z.start + k - GHOSTS)) for k in rows]
            for name, field in self.fields.items():
                slab = np.stack([plane[name][y, x] for plane in planes])
                self._backend.assign(
                    field.array[rows.start : rows.stop], slab.astype(field.array.dtype)
                )


def padded_plane(setup: Setup, k: int) -> Iterator[tuple[str, Values]]:
    """Yield each property of plane `k` of the grid with its ghosts, (ny + 4, nx + 4).

    Cells outside the region repeat its outermost cells, or its opposite side on periodic axes.
    """
    grid = setup.grid
    nx, ny, nz = grid.region
    region_k = int(np.clip(k - grid.before[2], 0, nz - 1))
    (low_x, low_y, _), (high_x, high_y, _) = grid.before, grid.after
    width = ((low_y + GHOSTS, high_y + GHOSTS), (low_x + GHOSTS, high_x + GHOSTS))
    material = setup.medium.plane(region_k)
    for name, values in properties(material, setup.relaxation, setup.reference_frequency):
        plane = np.broadcast_to(values, (ny, nx))
        yield name, np.pad(plane, width, mode="wrap" if setup.periodic else "edge")


def properties(
    material: Material, relaxation: Relaxation | None, reference: float
) -> Iterator[tuple[str, Values]]:
    """Yield PROPERTIES of a material, in double precision."""
    rho, vp, vs = (np.asarray(a, float) for a in (material.rho, material.vp, material.vs))
    inverse_qp, inverse_qs = (_inverse(q) for q in (material.qp, material.qs))
    p_modulus, mu = rho * vp**2, rho * vs**2
    if relaxation:
        p_modulus = p_modulus * relaxation.modulus_ratio(inverse_qp, reference)
        mu = mu * relaxation.modulus_ratio(inverse_qs, reference)
    with np.errstate(divide="ignore"):
        compliance = 1 / mu
    yield "rho", rho
    yield "lam", p_modulus - 2 * mu
    yield "compliance", compliance
    yield "inverse_qp", inverse_qp
    yield "inverse_qs", inverse_qs


def _inverse(q: Values | None) -> Values:
    """1/Q, zero where the medium is elastic."""
    if q is None:
        return np.zeros((1, 1))
    with np.errstate(divide="ignore"):
        return 1 / np.asarray(q, float)


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
