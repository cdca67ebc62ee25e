"""Solid blocks in a cavity: kernels against NumPy, conduction, heat balances, and messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cavity_scheme import NAMES, rates, step
from cavity_solids import still

from groundswell.backends import open_backend
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solver import Cavity

MIRROR, PERIODIC = {"kind": "symmetry"}, {"kind": "periodic"}
FLAT = {"south": MIRROR, "north": MIRROR}

# The box has the spacings 0.1, 0.1 and 0.1, whatever the walls. Some surfaces lie between points.
INSIDE = {"low": [0.3, 0.3, 0.4], "high": [0.6, 0.5, 0.75], "conductivity": 3.0, "power": 0.2}
BELOW = {"low": [0.3, 0.3, 0.0], "high": [0.5, 0.5, 0.4], "conductivity": 0.7}
ON_SIDES = {"low": [0.0, 0.0, 0.0], "high": [0.25, 0.4, 0.3], "conductivity": 0.2}
ACROSS = {"low": [0.5, 0.0, 0.4], "high": [0.7, 0.8, 0.65], "conductivity": 5.0, "power": -0.1}
BOXES: dict[str, tuple[Any, Any, Any]] = {
    "inside": ({}, (9, 7, 9), [INSIDE]),
    "on sides": ({"bottom": {"kind": "conducting"}}, (9, 7, 9), [ON_SIDES]),
    "touching": (
        {},
        (9, 7, 9),
        [INSIDE, BELOW],
    ),
    "periodic": ({"south": PERIODIC, "north": PERIODIC}, (9, 8, 9), [ACROSS]),
    "mirrors": (FLAT, (9, 8, 9), [ON_SIDES, ACROSS]),
}


def make(name: str, **changes: Any) -> CavityCase:
    walls, points, solids = BOXES[name]
    fluid = {"kind": "rayleigh", "rayleigh": 3e4, "prandtl": 0.5}
    return CavityCase(
        fluid=fluid,
        grid={"size": [1.0, 0.8, 1.0], "points": list(points)},
        walls=walls,
        solid=changes.pop("solid", solids),
        time={"steps": 100, "levels": 1} | changes.pop("time", {}),
        **changes,
    )


def random_flow(solver: Any, seed: int = 5) -> dict[str, np.ndarray]:
    """Values without symmetries, at rest in solids."""
    rng, grid = np.random.default_rng(seed), solver.setup.finest
    flow = {name: rng.normal(size=grid.grid.shape) for name in NAMES}
    rest = still(grid)
    solver.fill(flow)  # also in solids, where the solver sets them to zero
    return {n: np.where(rest & (n != "T"), 0.0, f) for n, f in flow.items()}


@pytest.mark.parametrize("name", BOXES)
def test_a_step_is_what_the_equations_say(name: str) -> None:
    solver = Cavity(prepare(make(name, time={"courant": 0.05})), open_backend("cpu"))
    expected = step(solver.setup.finest, random_flow(solver))
    solver.step()
    for field in NAMES:
        assert np.abs(solver.snapshot(field) - expected[field]).max() < 1e-11, field


@pytest.mark.parametrize("name", BOXES)
def test_no_mass_is_made(name: str) -> None:
    solver = Cavity(prepare(make(name)), open_backend("cpu"))
    random_flow(solver)
    level = solver.levels[0]
    level.compute_rates(level.copies[1], forced=False)()
    sources = solver.backend.to_host(level.copies[1]["p"].interior)
    assert abs(sources.sum()) < 1e-13 * abs(sources).sum()


def test_residuals_and_global_steps_are_those_of_the_equations() -> None:
    case = make("inside", time={"local": False})
    solver = Cavity(prepare(case), open_backend("cpu"))
    grid, flow = solver.setup.finest, random_flow(solver)
    change, limits = rates(grid, flow)
    norms, limit = solver.levels[0].measure()
    assert norms[4] == pytest.approx(np.sqrt(np.mean(change["T"] ** 2)), rel=1e-10)
    assert limit == pytest.approx(max(limits["velocity"].max(), limits["heat"].max()), rel=1e-12)
