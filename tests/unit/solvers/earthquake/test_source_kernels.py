"""The kernels that inject moments and forces, against sums in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_earthquake import assert_close, make_solver, precisions, randomise, set_clock

from groundswell.backends import Items
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake


class Tables:
    """Random shares of random sources, and what they add up to at a time."""

    def __init__(self, solver: Earthquake, components: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        layout, dtype = solver.layout, solver.setup.dtype
        nx, ny, nz = layout.cells
        cells = rng.choice(nx * ny * nz, 40, replace=False)
        self.k, self.j, self.i = np.unravel_index(cells, (nz, ny, nx))
        self.targets = self.k * layout.plane + self.j * layout.row + self.i
        self.components = rng.integers(0, components, 40)
        counts = rng.integers(0, 5, 40)
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.source = rng.integers(0, 6, counts.sum())
        self.weight = rng.normal(size=counts.sum()).astype(dtype)
        self.times = np.stack([rng.uniform(-0.1, 0.3, 6), rng.uniform(0.003, 0.05, 6)], axis=1)
        self.firsts = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 6))])
        self.samples = rng.normal(size=self.firsts[-1]).astype(dtype)

    def arguments(self, solver: Earthquake) -> list[Any]:
        integers = (self.targets, self.components, self.starts, self.source)
        tables = [*integers, self.weight, self.times, self.firsts, self.samples]
        return [*map(solver.backend.to_device, tables), solver.clock, len(self.targets)]

    def sums(self, when: float) -> NDArray[np.float64]:
        """Each target's sum of weight times time function: linear between samples, zero outside."""
        strength = np.zeros(6)
        for n, (start, step) in enumerate(self.times):
            values = self.samples[self.firsts[n] : self.firsts[n + 1]].astype(float)
            at = start + step * np.arange(len(values))
            strength[n] = np.interp(when, at, values, left=0, right=0)
        shares = self.weight * strength[self.source]
        return np.array(
            [shares[a:b].sum() for a, b in zip(self.starts, self.starts[1:], strict=False)]
        )


@precisions
@pytest.mark.parametrize("step", [0, 7, 19, 31])
def test_moments_take_stress_away(precision: str, step: int) -> None:
    """ds = -dt M' at the time of the velocities, (step + 1) dt."""
    solver = make_solver(precision)
    wanted = randomise(solver, 4, STRESSES)
    tables = Tables(solver, len(STRESSES), seed=5 + step)
    set_clock(solver, step + 1)  # the velocity update has moved it
    fields = [solver.fields[name].interior for name in STRESSES]
    solver.module.launch("inject_moments", Items(40), *fields, *tables.arguments(solver))()
    dt = solver.setup.dt
    for n, total in enumerate(tables.sums((step + 1) * dt)):
        name = STRESSES[tables.components[n]]
        wanted[name][tables.k[n] + 2, tables.j[n] + 2, tables.i[n] + 2] -= dt * total
    for name in STRESSES:
        assert_close(solver.fields[name].array, wanted[name])


@precisions
@pytest.mark.parametrize("step", [0, 7, 19])
def test_forces_push_the_density_of_their_face(precision: str, step: int) -> None:
    """dv = dt f / rho at the time of the stresses, (step + 1/2) dt."""
    solver = make_solver(precision)
    wanted = randomise(solver, 6)
    rho = solver.materials.fields["rho"].array
    rho[...] = np.random.default_rng(7).uniform(0.001, 0.01, rho.shape)  # so that pushes are strong
    factors = solver.materials.corrections[:, 0]
    factors[...] = np.random.default_rng(8).uniform(0.5, 2, factors.shape)  # of the density at vz
    tables = Tables(solver, 3, seed=8 + step)
    set_clock(solver, step)  # the velocity update has yet to move it
    densities = (*solver.materials.arguments("rho").values(), solver.materials.corrections)
    fields = [*(solver.fields[name].interior for name in VELOCITIES), *densities]
    solver.module.launch("inject_forces", Items(40), *fields, *tables.arguments(solver))()
    dt = solver.setup.dt
    for n, total in enumerate(tables.sums((step + 0.5) * dt)):
        c = tables.components[n]
        here = np.array([tables.k[n], tables.j[n], tables.i[n]]) + 2
        beside = here - np.eye(3, dtype=int)[2 - c]
        density = (float(rho[tuple(here)]) + float(rho[tuple(beside)])) / 2
        if c == 2:
            density *= float(factors[tables.k[n]])
        wanted[VELOCITIES[c]][tuple(here)] += dt / density * total
    for name in VELOCITIES:
        assert_close(solver.fields[name].array, wanted[name])
