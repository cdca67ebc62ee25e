"""Steps in time: against their scalar recurrences, and what belongs to runs in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import CaseError, InputError, Interrupted
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.film import solution_film
from groundswell.solvers.poisson.history_picture import history_picture
from groundswell.solvers.poisson.setup import prepare
from groundswell.solvers.poisson.time_scheme import Scheme
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson

ANCHOR = Path(__file__).parents[4] / "examples" / "poisson" / "anchor.msh"
ORDERS = (1, 2, 3)
FIXED = {"kind": "fixed"}
SINE = {"capacity": 2.0, "initial": "sin(pi * x)"}


def content(**changes: Any) -> dict[str, Any]:
    return {
        "solver": "poisson",
        "mesh": {"kind": "box", "counts": [2, 1, 1]},
        "equation": SINE,
        "boundaries": {"west": FIXED, "east": FIXED},
        "time": {"step": 0.05, "duration": 0.3},
        "method": {"degree": 5, "tolerance": 1e-12},
        **changes,
    }


def solver_of(**changes: Any) -> UnsteadyPoisson:
    case = PoissonCase.from_dict(content(**changes))
    return UnsteadyPoisson(prepare(case), open_backend("cpu"))


# --- the scheme -----------------------------------------------------------------------------------


def stability(scheme: Scheme, z: complex) -> complex:
    """The factor of a first step for u' = z u."""
    slopes: list[complex] = []
    found = 1.0 + 0.0j
    for stage in scheme.stages:
        base = 1 + sum(a * k for a, k in zip(stage.factors, slopes, strict=True))
        found = base / (1 - z / scheme.leading)
        slopes.append(scheme.leading * (found - base))
    return found


@pytest.mark.parametrize("order", (2, 3))
def test_first_steps_are_of_second_order_and_damp_completely(order: int) -> None:
    scheme = Scheme.of(order)
    errors = [abs(stability(scheme, z) - np.exp(z)) for z in (-0.02, -0.01)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(3, abs=0.05)
    assert abs(stability(scheme, -1e9)) < 1e-8
    imaginary = [abs(stability(scheme, 1j * y)) for y in np.geomspace(1e-2, 1e4, 300)]
    assert max(imaginary) <= 1 + 1e-12
    assert scheme.stages[-1].at == 1


@pytest.mark.parametrize("order", ORDERS)
def test_a_mode_follows_the_recurrence(order: int) -> None:
    """The steps of one number, u' = z u / dt, written down in another way."""
    solver = solver_of(
        time={"step": 0.05, "duration": 0.3, "order": order},
        mesh={"kind": "box", "counts": [3, 1, 1]},
        method={"degree": 10, "tolerance": 1e-14},
    )
    z, scheme = -0.05 * np.pi**2 / 2, Scheme.of(order)
    values = [1.0]
    for n in range(6):
        solver.step()
        if n < scheme.first_steps:
            values.append(values[-1] * stability(scheme, z).real)
        else:
            known = sum(a * values[-1 - k] for k, a in enumerate(scheme.others))
            values.append(-known / (scheme.leading - z))
    expected = values[-1] * np.sin(np.pi * solver.problem.nodes[..., 0])
    assert np.abs(solver.solution() - expected).max() < 1e-11


# --- heat -----------------------------------------------------------------------------------------


def heat_of(solver: UnsteadyPoisson) -> float:
    """The integral of capacity times u."""
    return float((solver._inertia._weights * solver.solution()).sum())


@pytest.mark.parametrize("order", ORDERS)
def test_heat_is_balanced_in_materials(order: int) -> None:
    """Without sides that lose heat, all of the source remains, whatever the materials."""
    materials = {
        "steel": {"conductivity": 50.0, "capacity": 3.0, "initial": 2.0, "source": "6 * t"},
        "insulation": {"conductivity": 0.1, "capacity": "1 + x**2", "initial": "y"},
    }
    solver = solver_of(
        mesh={"kind": "gmsh", "file": str(ANCHOR)},
        material=materials,
        equation={},
        boundaries={},
        method={"degree": 1, "tolerance": 1e-13},
        time={"step": 0.25, "duration": 1.0, "order": order},
    )
    before = heat_of(solver)
    for _ in range(4):
        solver.step()
    gained = heat_of(solver) - before
    terms = solver.problem.evaluate(solver.setup.equation_at(1.0))
    mass = solver._inertia._weights / solver._inertia.capacity
    per_time = float((mass * terms.source).sum())  # 6 t at t = 1
    steps = np.arange(1, 5) / 4
    expected = {1: per_time * 0.25 * steps.sum(), 2: per_time / 2, 3: per_time / 2}[order]
    assert gained == pytest.approx(expected, rel=1e-9)


def test_heat_of_a_jump_remains() -> None:
    solver = solver_of(equation={"initial": "where(x < 0.3, 5, 0)"}, boundaries={})
    start = heat_of(solver)
    for _ in range(6):
        solver.step()
    assert heat_of(solver) == pytest.approx(start, rel=1e-11)
    assert np.ptp(solver.solution()) < 1.0


def test_a_good_guess_saves_iterations() -> None:
    solver = solver_of(time={"step": 0.001, "duration": 0.02}, method={"degree": 5})
    for _ in range(20):
        solver.step()
    iterations = solver.history.column("iterations")
    assert iterations[-1] < iterations[1]
    assert solver.history.missed == 0 and not solver.warnings


def test_missed_tolerances_are_told() -> None:
    solver = solver_of(method={"degree": 5, "iterations": 2})
    solver.step()
    (warning,) = solver.warnings
    assert "1 of 1 step ended above the tolerance" in warning


def test_single_precision_is_close() -> None:
    exact = SINE | {"exact": "exp(-pi**2 * t / 2) * sin(pi * x)"}
    solver = solver_of(equation=exact, run={"precision": "single"}, method={"degree": 6})
    for _ in range(6):
        solver.step()
    assert solver.setup.exact is not None
    largest, _ = solver.problem.measure_errors(solver.solution(), solver.setup.exact)
    assert largest < 1e-2


# --- runs -----------------------------------------------------------------------------------------

POINTS = {
    "fields": ["u"],
    "where": {"kind": "points", "positions": [[0.5, 0.5, 0.5], [0.2, 0.1, 0.9]]},
    "what": ["raw", "mean", "final"],
    "file": "points.nc",
}


@pytest.mark.most(2)
@pytest.mark.parametrize("order", ORDERS)
def test_a_stopped_run_continues_bit_for_bit(order: int, tmp_path: Path) -> None:
    """Also one that stops among the first steps."""
    case = PoissonCase.from_dict(
        content(
            time={"step": 0.05, "duration": 0.3, "order": order},
            boundaries={"west": {"kind": "fixed", "value": "t"}},
            output={"record": [POINTS]},
        )
    )
    whole = gs.run(case, folder=tmp_path / "whole")
    stop = gs.every(1 if order == 3 else 4, lambda live: live.stop())
    with pytest.raises(Interrupted):
        gs.run(case, folder=tmp_path / "halves", callbacks=[stop])
    halves = gs.run(case, folder=tmp_path / "halves", resume=True)
    assert halves.summary["resumed_at"] == (1 if order == 3 else 4)
    xarray.testing.assert_identical(whole.fields, halves.fields)
    xarray.testing.assert_identical(whole.history, halves.history)
    for name in ("points.nc", "points_statistics.nc"):
        found = [xarray.load_dataset(tmp_path / each / name) for each in ("whole", "halves")]
        xarray.testing.assert_identical(*found)
    assert len(whole.history.time) == 6
    assert sorted(whole.records) == ["points.nc", "points_statistics.nc"]
    series = whole.records["points.nc"]
    assert series.time.values == pytest.approx(0.05 * np.arange(6))
    assert series.u.values[0] == pytest.approx(np.sin(np.pi * np.array([0.5, 0.2])), abs=1e-4)
    assert history_picture(tmp_path / "whole").stat().st_size > 10_000


def test_a_film_of_the_middle_plane(tmp_path: Path) -> None:
    case = PoissonCase.from_dict(content(output={"film": True}))
    found = gs.run(case, folder=tmp_path / "run")
    film = found.records["film.nc"]
    assert film.u.shape == (6, 160, 160) and float(film.y) == 0.5
    assert found.summary["case"]["film"] is True
    drawn = solution_film(tmp_path / "run")
    assert drawn.stem == "film" and drawn.stat().st_size > 10_000


def test_check_counts_the_steps() -> None:
    case = PoissonCase.from_dict(
        content(time={"step": "1 min", "duration": "90.5 min", "order": 3})
    )
    found = gs.check(case)
    assert (found["steps"], found["dt"], found["order"]) == (91, 60.0, 3)
    assert found["solutions"] == 91 + 2 * 2
    steady = content(equation={}, time=None)
    assert "dt" not in gs.check(PoissonCase.from_dict(steady))


# --- invalid input --------------------------------------------------------------------------------

TIME = {"step": 0.05, "duration": 0.3}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"time": {"duration": 1}}, "time.step: is required"),
        ({"time": {"step": -1, "duration": 1}}, "time.step = -1: must be greater than 0"),
        ({"time": {"step": 2, "duration": 1}}, "time.step = 2: must be at most the duration, 1 s"),
        ({"time": {"step": 1e-9, "duration": 1}}, "time.step = 1e-09: must be at least duration /"),
        ({"time": {"step": "1 m", "duration": 1}}, "time.step .* is not a time"),
        ({"time": TIME | {"order": 4}}, "time.order = 4: must be at most 3"),
        ({"time": TIME | {"order": 2.0}}, "time.order"),
        ({"equation": {"capacity": 0}}, "equation.capacity = 0: must be above 0"),
        ({"equation": {"capacity": "t"}}, 'equation.capacity = "t": has the unknown name "t"'),
        ({"equation": {"initial": "t"}}, 'equation.initial = "t": has the unknown name "t"'),
        ({"equation": {"mean": 1.0}}, "equation.mean = 1.*: is for cases without .time."),
        (
            {"time": None, "equation": {"capacity": 2.0}},
            "equation.capacity = 2.*: is for cases with .time.; leave it out",
        ),
        (
            {"time": None},
            "time.*: is required by equation.capacity and equation.initial; give its step and",
        ),
        (
            {"time": None, "output": {"film": True, "record": [POINTS]}},
            "time.*: is required by equation.capacity and 4 other keys; give its step",
        ),
        (
            {"time": None, "equation": {"source": "t * x"}},
            "equation.source = .*: contains the time t, which is for cases with .time.",
        ),
        (
            {"time": None, "equation": {}, "run": {"checkpoint": {"steps": 1}}},
            "run.checkpoint.*: is for cases with .time.; leave it out",
        ),
        (
            {"time": None, "equation": {}, "output": {"film": True}},
            "output.film = true: is for cases with .time.; leave it out",
        ),
        (
            {"time": None, "equation": {}, "output": {"record": [POINTS | {"what": ["raw"]}]}},
            "what.0. = .raw.: must be final for this solver without .time.",
        ),
    ],
)
def test_what_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(CaseError, match=said) as caught:
        PoissonCase.from_dict(content(**changes))
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("equation", "said"),
    [
        ({"capacity": "x - 0.5"}, r"the capacity is -0.5 at \(0, 0, 0\); give values above 0"),
        ({"capacity": "1 / (x - 0.5)"}, "the capacity"),
        ({"initial": "1 / x"}, "the initial value"),
        ({"source": "1 / (x + t)"}, "the source"),
    ],
)
def test_functions_that_do_not_fit(equation: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        solver_of(equation=equation)
