"""The medium as the kernels want it: one array a property, over all cells, layers and ghosts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend
from groundswell.grids.cartesian import GHOSTS, Field, Grid, Layout
from groundswell.solvers.earthquake.attenuation import Relaxation
from groundswell.solvers.earthquake.media import Material, Medium

Values = NDArray[np.floating]

PROPERTIES = ("rho", "lam", "compliance", "inverse_qp", "inverse_qs")
PLANES_AT_ONCE = 16


class Materials:
    """Density (kg/m^3), lambda (Pa), 1/mu (1/Pa, infinite in fluids), 1/Qp and 1/Qs of every cell.

    With attenuation the moduli are the unrelaxed ones, such that waves have the medium's speeds at
    the reference frequency.
    """

    def __init__(self, backend: Backend, layout: Layout, dtype: str, attenuated: bool) -> None:
        names = PROPERTIES if attenuated else PROPERTIES[:3]
        self.fields = {name: Field(backend, layout, dtype) for name in names}
        self._nothing = backend.zeros((1,), dtype)

    def __getitem__(self, name: str) -> Array:
        field = self.fields.get(name)
        return field.interior if field else self._nothing

    def load(
        self,
        backend: Backend,
        grid: Grid,
        medium: Medium,
        relaxation: Relaxation | None,
        reference: float,
        periodic: bool,
    ) -> None:
        """Fill every array a few planes at a time, so that a model need not fit into memory."""
        depth = grid.cells[2] + 2 * GHOSTS
        for start in range(0, depth, PLANES_AT_ONCE):
            rows = range(start - GHOSTS, min(start + PLANES_AT_ONCE, depth) - GHOSTS)
            slabs = [
                dict(padded_plane(grid, medium, k, relaxation, reference, periodic)) for k in rows
            ]
            for name, field in self.fields.items():
                slab = np.stack([values[name] for values in slabs]).astype(field.array.dtype)
                backend.assign(field.array[start : start + len(slabs)], slab)

    def slowest_at_sides(self, backend: Backend) -> NDArray[np.float64]:
        """S speed of the slowest solid in each depth row's outermost cells, (nz,), m/s.

        Infinite where all of them are fluid. With attenuation it is the unrelaxed speed.
        """
        rho, compliance = self["rho"], self["compliance"]
        every = slice(None)
        sides = ((every, every, 0), (every, every, -1), (every, 0, every), (every, -1, every))
        inertia = [backend.to_host(rho[side]) * backend.to_host(compliance[side]) for side in sides]
        slowness = np.sqrt(np.concatenate(inertia, axis=1).astype(float))
        slowness[np.isinf(slowness)] = 0.0
        with np.errstate(divide="ignore"):
            return np.asarray(1 / slowness.max(axis=1), float)


def padded_plane(
    grid: Grid,
    medium: Medium,
    k: int,
    relaxation: Relaxation | None,
    reference: float,
    periodic: bool,
) -> Iterator[tuple[str, Values]]:
    """Each property of plane `k` of the grid with its ghosts, (ny + 4, nx + 4).

    Cells outside the region repeat its outermost ones, or its far side on periodic axes.
    """
    nx, ny, nz = grid.region
    region_k = int(np.clip(k - grid.before[2], 0, nz - 1))
    (low_x, low_y, _), (high_x, high_y, _) = grid.before, grid.after
    width = ((low_y + GHOSTS, high_y + GHOSTS), (low_x + GHOSTS, high_x + GHOSTS))
    for name, values in properties(medium.plane(region_k), relaxation, reference):
        whole = np.broadcast_to(values, (ny, nx))
        yield name, np.pad(whole, width, mode="wrap" if periodic else "edge")


def properties(
    material: Material, relaxation: Relaxation | None, reference: float
) -> Iterator[tuple[str, Values]]:
    """What the kernels need of a material, computed in double precision."""
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


def mechanism_table(relaxation: Relaxation, cells: int, dt: float) -> Values:
    """(2, 2, 3, nx): decay and the weights' two coefficients, by parity of k and j, along a row."""
    decay, (linear, quadratic) = relaxation.decay(dt), relaxation.coefficients.T
    by_parity = np.stack([decay, linear, quadratic])  # (3, 8), parity = i + 2 j + 4 k
    i = np.arange(cells) & 1
    return np.stack([[by_parity[:, 4 * k + 2 * j + i] for j in (0, 1)] for k in (0, 1)])
