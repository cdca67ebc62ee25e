"""The cavity's kernels against the same equations in NumPy, whatever bounds the box."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cavity_scheme import NAMES, beta_squared, column, local_steps, rates, step
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.backends import Backend, open_backend
from groundswell.errors import RunFailed
from groundswell.simulation import checkpoint
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solver import Cavity

pytestmark = pytest.mark.each_value

MIRROR, PERIODIC, ADIABATIC = ({"kind": kind} for kind in ("symmetry", "periodic", "adiabatic"))
LID = {"kind": "adiabatic", "velocity": [0.3, -0.2, 0.0]}
WARM = {"kind": "fixed", "temperature": 0.2}
CONDUCTING = {"kind": "conducting"}

BOXES: dict[str, dict[str, Any]] = {
    "cavity": {},
    "conducting": dict.fromkeys(("south", "north", "bottom", "top"), CONDUCTING),
    "mirrors": {"south": MIRROR, "north": MIRROR, "bottom": MIRROR},
    "mirror and wall": {"south": MIRROR, "north": CONDUCTING, "top": LID},
    "periodic": {"south": PERIODIC, "north": PERIODIC, "top": WARM},
    "periodic across": {"bottom": PERIODIC, "top": PERIODIC},
    "heat through walls": {
        "south": {"kind": "flux", "flux": 0.4, "velocity": [0.3, 0.0, 0.2]},
        "north": {"kind": "flux", "flux": "x * z - 1"},
        "bottom": {"kind": "robin", "h": 3.0, "ambient": 0.2, "velocity": [0.1, -0.3, 0.0]},
        "top": {"kind": "robin", "h": 0.5, "ambient": "sin(3 * x) + y"},
    },
    "temperatures of walls that vary": {
        "south": MIRROR,
        "north": {"kind": "fixed", "temperature": "cos(pi * x) + z"},
        "bottom": {"kind": "fixed", "temperature": "x"} | {"velocity": [0.3, 0.1, 0.0]},
        "top": CONDUCTING,
    },
}


# Stretched along axes with a wall. Points given one by one need no order in their distances.
UNEVEN = [0.11, 0.15, 0.31, 0.4, 0.49, 0.7, 0.77, 0.88, 0.95]
STRETCHED: dict[str, dict[str, Any]] = {
    "cavity": {"stretching": {"x": 1.5, "y": 0.7, "z": 2.5}},
    "conducting": {"stretching": {"y": 1.0}, "positions": {"x": UNEVEN}},
    "mirror and wall": {"stretching": {"y": 1.5, "z": 0.5}},
    "periodic across": {"stretching": {"x": 2.0}},
    "heat through walls": {"stretching": {"y": 1.2, "z": 2.0}, "positions": {"x": UNEVEN}},
    "temperatures of walls that vary": {"stretching": {"x": 0.9, "y": 1.4}},
}


def make(box: str, points: tuple[int, int, int] = (9, 7, 8), **changes: Any) -> CavityCase:
    fluid = {"kind": "rayleigh", "rayleigh": 3e4, "prandtl": 0.5, "down": "-z"}
    grid = {"size": [1.0, 0.7, 1.3], "points": list(points)} | changes.pop("grid", {})
    return CavityCase(
        fluid=fluid | changes.pop("fluid", {}),
        grid=grid,
        walls=BOXES[box],
        time={"steps": 100} | changes.pop("time", {}),
        run={"precision": "double"} | changes,
    )


def random_flow(solver: Cavity, seed: int = 5) -> dict[str, np.ndarray]:
    """Values that a kernel has to find at the right place; what lies around them is NaN."""
    rng = np.random.default_rng(seed)
    flow = {name: rng.normal(size=solver.setup.finest.grid.shape) for name in NAMES}
    flow = {n: f.astype(solver.setup.dtype).astype(float) for n, f in flow.items()}
    for copy in solver.levels[0].copies:
        for field in copy.values():
            solver.backend.assign(
                field.array, np.full(field.array.shape, np.nan, field.array.dtype)
            )
    solver.fill(flow)
    return flow


def largest_limit(grid: LevelGrid, flow: dict[str, np.ndarray]) -> float:
    return max(limit.max() for limit in rates(grid, flow)[1].values())


def advanced(case: CavityCase, backend: Backend) -> tuple[Cavity, dict[str, np.ndarray]]:
    """A solver after what `step` makes, and what it should have come to."""
    solver = Cavity(prepare(case), backend)
    flow = random_flow(solver)
    grid = solver.setup.finest
    pace = None if case.time.local else grid.courant / largest_limit(grid, flow)
    for _ in range(solver.steps_at_once):
        flow = step(solver.setup.finest, flow, pace)
    solver.step()
    return solver, flow


@pytest.mark.parametrize(
    ("box", "scheme", "local"),
    [
        *product(BOXES, ["euler"], [True]),
        *product(["cavity"], ["euler", "rk3", "rk4"], [True, False]),
    ],
)
def test_a_step_is_what_the_equations_say(box: str, scheme: str, local: bool) -> None:
    case = make(box, time={"scheme": scheme, "local": local, "courant": 0.05})
    solver, expected = advanced(case, open_backend("cpu"))
    for name in NAMES:
        found = solver.snapshot(name)
        assert np.abs(found - expected[name]).max() < 1e-11, name


@pytest.mark.parametrize("box", STRETCHED)
def test_a_step_on_a_stretched_grid(box: str) -> None:
    case = make(box, grid=STRETCHED[box], time={"scheme": "rk3", "courant": 0.05})
    solver, expected = advanced(case, open_backend("cpu"))
    assert solver.setup.finest.is_stretched
    for name in NAMES:
        assert np.abs(solver.snapshot(name) - expected[name]).max() < 1e-11, name


def test_a_global_step_on_a_stretched_grid() -> None:
    case = make("cavity", grid=STRETCHED["cavity"], time={"local": False, "courant": 0.05})
    solver, expected = advanced(case, open_backend("cpu"))
    assert all(np.abs(solver.snapshot(name) - expected[name]).max() < 1e-11 for name in NAMES)


@settings(max_examples=3)
@given(st.tuples(*[st.integers(5, 9)] * 3), st.tuples(*[st.floats(0.1, 4.0)] * 3))
def test_any_stretching(points: tuple[int, int, int], strengths: tuple[float, ...]) -> None:
    grid = {"stretching": dict(zip("xyz", strengths, strict=True))}
    case = make("cavity", points, grid=grid, time={"courant": 0.05})
    solver, expected = advanced(case, open_backend("cpu"))
    for name in NAMES:
        scale = max(1.0, np.abs(expected[name]).max())
        assert np.abs(solver.snapshot(name) - expected[name]).max() < 1e-10 * scale


def test_pressure_goes_ahead_where_diffusion_limits_steps() -> None:
    case = make("cavity", fluid={"rayleigh": 0.3}, time={"courant": 0.05})
    solver, expected = advanced(case, open_backend("cpu"))
    assert all(np.abs(solver.snapshot(name) - expected[name]).max() < 1e-11 for name in NAMES)
    flow = random_flow(solver)
    steps = local_steps(solver.setup.finest, flow)
    lead = steps["p"] / steps["u"]
    assert lead.max() > 3 * lead.min() >= 3


def test_single_precision() -> None:
    solver, expected = advanced(make("cavity", precision="single"), open_backend("cpu"))
    for name in NAMES:
        found = solver.snapshot(name)
        assert found.dtype == np.float32
        assert np.abs(found - expected[name]).max() < 2e-5, name


@settings(max_examples=3)
@given(st.tuples(*[st.integers(5, 9)] * 3), st.sampled_from(["x", "-x", "y", "-y", "z", "-z"]))
def test_any_size_and_any_direction_of_gravity(points: tuple[int, int, int], down: str) -> None:
    case = make("cavity", points, fluid={"down": down}, time={"courant": 0.05})
    solver, expected = advanced(case, open_backend("cpu"))
    assert all(np.abs(solver.snapshot(name) - expected[name]).max() < 1e-11 for name in NAMES)


def test_one_layer_is_a_flow_in_two_dimensions() -> None:
    case = make("mirrors", (9, 1, 8), time={"courant": 0.05})
    solver = Cavity(prepare(case), open_backend("cpu"))
    flow = random_flow(solver) | {"v": np.zeros(solver.setup.finest.grid.shape)}
    solver.fill({"v": flow["v"]})
    solver.step()
    expected = step(solver.setup.finest, flow)
    assert not solver.snapshot("v").any()
    assert all(np.abs(solver.snapshot(name) - expected[name]).max() < 1e-11 for name in NAMES)


def test_residuals_are_those_of_the_equations() -> None:
    solver = Cavity(prepare(make("cavity")), open_backend("cpu"))
    flow = random_flow(solver)
    change, _ = rates(solver.setup.finest, flow)
    change["p"] /= beta_squared(solver.setup.finest, flow)
    solver.history.is_bounded = lambda norms: True
    solver.check_convergence(solver.check_every)
    expected = [np.sqrt(np.mean(change[name] ** 2)) for name in NAMES]
    assert np.allclose(solver.history.latest, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("box", "grid"), [*((box, {}) for box in BOXES), *STRETCHED.items()], ids=str
)
def test_no_mass_is_made(box: str, grid: dict[str, Any]) -> None:
    """Whatever the flow, the sources of all cells add up to rounding errors."""
    solver = Cavity(prepare(make(box, grid=grid)), open_backend("cpu"))
    random_flow(solver)
    level = solver.levels[0]
    level.compute_rates(level.copies[1], forced=False)()
    sources = solver.backend.to_host(level.copies[1]["p"].interior)
    for axis, of in enumerate(solver.setup.finest.axes):
        sources = sources * column(of.lengths, axis)
    assert abs(sources.sum()) < 1e-13 * abs(sources).sum()


def test_a_flow_without_bounds_is_noticed() -> None:
    case = make("cavity", time={"scheme": "euler", "courant": 80.0})
    solver = Cavity(prepare(case), open_backend("cpu"))
    random_flow(solver)
    for _ in range(50):
        solver.step()
    with pytest.raises(
        RunFailed, match=r"grows without bounds at step 100.*set time\.courant to 0\.5, not 80"
    ):
        solver.check_convergence(100)


def test_a_checkpoint_is_the_whole_state(tmp_path: Path) -> None:
    machine, case = open_backend("cpu"), make("periodic", time={"courant": 0.05, "check_every": 2})
    first, second = (Cavity(prepare(case), machine) for _ in range(2))
    random_flow(first)
    first.step()
    first.check_convergence(first.check_every)
    progress = checkpoint.Progress(first.check_every, "digest", {})
    checkpoint.save(tmp_path / "checkpoint.h5", machine, first.state(), progress)
    checkpoint.restore(tmp_path / "checkpoint.h5", machine, second.state(), progress)
    for solver in (first, second):
        solver.step()
    assert all((first.snapshot(name) == second.snapshot(name)).all() for name in NAMES)
    assert (first.history.read() == second.history.read()).all() and len(first.history.read()) == 1
