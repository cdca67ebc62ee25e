"""Implicit steps to a steady flow: what they begin with, where they end, and who makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cavity_scheme import NAMES, rates

from groundswell.backends import open_backend
from groundswell.solvers.cavity import implicit_steps
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.cavity.steady import bring_to_steady_state

MIRROR = {"kind": "symmetry"}
FLAT = {"south": MIRROR, "north": MIRROR}


def case_of(rayleigh: float = 1e4, points: int = 23, down: str = "-z", **time: Any) -> CavityCase:
    return CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": rayleigh, "down": down},
        grid={"points": [points, 1, points], "stretching": {"x": 1.0, "z": 1.0}},
        walls=FLAT,
        time=time,
    )


@pytest.mark.parametrize("levels", [1, 2])
def test_the_residual_between_steps_is_that_of_the_steady_flow(levels: int) -> None:
    """Whatever the step: the differences in time have no part in it."""
    solver = Cavity(prepare(case_of(step=0.3, levels=levels)), open_backend("cpu"))
    rng = np.random.default_rng(8)
    flow = {name: rng.normal(size=(23, 1, 23)) for name in NAMES}
    solver.fill(flow)
    solver.check_convergence(1)
    explicit = prepare(case_of(levels=levels)).finest
    assert explicit.inertia == 0 and solver.setup.finest.inertia == pytest.approx(1 / 0.3)
    wanted, _ = rates(explicit, flow)
    speeds = [np.sqrt(np.mean(wanted[name] ** 2)) for name in "uvwT"]
    assert solver.history.latest[1:] == pytest.approx(speeds, rel=1e-10)


def test_a_step_is_an_implicit_euler_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """New values less old ones, over the step, are the rates of change of the new ones."""
    monkeypatch.setattr(implicit_steps, "FRACTION", 1e-12)
    monkeypatch.setattr(implicit_steps, "MAX_CYCLES", 400)
    step = 0.2
    solver = Cavity(prepare(case_of(step=step, levels=1, tolerance=1e-12)), open_backend("cpu"))
    x, z = (solver.setup.finest.interior_positions(axis) for axis in (0, 2))
    hill = np.sin(np.pi * z)[:, None, None] * np.sin(2 * np.pi * x)
    flow = {name: np.zeros((23, 1, 23)) for name in NAMES} | {"T": 0.3 * hill}
    solver.fill(flow)
    solver.step()
    new = {name: solver.snapshot(name) for name in NAMES}
    change, _ = rates(prepare(case_of(levels=1)).finest, new)
    for name in "uwT":
        moved = (new[name] - flow[name]) / step
        assert np.abs(moved).max() > 1e-3
        assert np.abs(moved - change[name]).max() < 1e-7 * np.abs(moved).max(), name
    assert np.abs(change["p"]).max() < 1e-9


def test_implicit_steps_end_in_the_same_steady_flow() -> None:
    flows = [
        bring_to_steady_state(case_of(tolerance=1e-10, **time), open_backend("cpu"))[0]
        for time in ({}, {"step": 5.0})
    ]
    for name in NAMES:
        explicit, implicit = (flow.fields[name] for flow in flows)
        assert np.abs(implicit - explicit).max() < 1e-8


def test_a_restored_solver_makes_the_same_steps() -> None:
    """The old values of a step follow from the flow, which is all that a checkpoint has."""
    setup, backend = prepare(case_of(step=0.5, levels=2)), open_backend("cpu")
    first = Cavity(setup, backend)
    for step in range(1, 4):
        first.step()
        first.check_convergence(step)
    second = Cavity(setup, backend)
    for level, of in zip(second.levels, first.levels, strict=True):
        for name in NAMES:
            level.copies[0][name].array[:] = of.copies[0][name].array
    second._set_stage(first.stage)
    for solver in (first, second):
        solver.step()
    assert first._made == second._made
    for name in NAMES:
        assert (first.snapshot(name) == second.snapshot(name)).all()


@pytest.mark.parametrize(
    ("case", "step"),
    [
        (case_of(1e7), 0.0),
        (case_of(1e8), 0.5),
        (case_of(1e8, step=0.2), 0.2),
        (case_of(1e8, down="x"), 0.0),
        (case_of(1e8, scheme="euler"), 0.0),
        (case_of(1e8, local=False), 0.0),
        (case_of(1e8, duration=1.0, step=0.1), 0.1 / 1.5),
    ],
)
def test_which_flows_take_implicit_steps(case: CavityCase, step: float) -> None:
    grid = prepare(case).finest
    assert grid.inertia == pytest.approx(1 / step if step else 0.0)
    assert grid.is_implicit == bool(step)
