"""Flows through sides in time: their balance, and what runs leave of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from emulated_backend import EmulatedBackend
from ranks import run_cases

import groundswell as gs
from groundswell.backends import Backend, open_backend
from groundswell.errors import Interrupted
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.setup import prepare
from groundswell.solvers.poisson.step_flows import PIECE, ProductSums
from groundswell.solvers.poisson.step_kernels import StepKernels
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson

CASE: dict[str, Any] = {
    "solver": "poisson",
    "mesh": {"kind": "box", "counts": [2, 2, 2]},
    "equation": {
        "conductivity": "1 + y",
        "screening": "x",
        "capacity": "2 + z",
        "initial": "y",
        "source": "cos(3 * t) * x + z * t",
    },
    "boundaries": {
        "west": {"kind": "fixed", "value": "sin(t) + y * t"},
        "south": {"kind": "fixed", "value": "1 + z"},
        "east": {"kind": "fixed", "value": 1.0},
        "north": {"kind": "flux", "value": "x * exp(-t)"},
        "top": {"kind": "robin", "h": "3 + x", "ambient": "20 * t + y"},
    },
    "time": {"step": 0.05, "duration": 0.3},
    "method": {"degree": 4, "tolerance": 1e-13},
}


def content(**changes: Any) -> dict[str, Any]:
    return {**CASE, **changes}


def after_steps(steps: int = 6, **changes: Any) -> UnsteadyPoisson:
    case = PoissonCase.from_dict(content(**changes))
    solver = UnsteadyPoisson(prepare(case), open_backend("cpu"))
    for _ in range(steps):
        solver.step()
    return solver


def hidden(value: Any) -> Any:
    """The same functions of time, which the host evaluates at each time."""
    if isinstance(value, dict):
        return {key: hidden(each) for key, each in value.items()}
    is_in_time = isinstance(value, str) and "t)" in value
    return f"where(x < 1e9 + t, {value}, 0)" if is_in_time else value


@pytest.mark.parametrize("order", [1, 2, 3])
def test_what_flows_in_is_stored(order: int) -> None:
    """To the residuals, at each step, whatever the step and the order."""
    solver = after_steps(0, time={"step": 0.05, "duration": 0.3, "order": order})
    before = solver.solution()
    for _ in range(6):
        solver.step()
    rows = solver.flow_history.read()
    gained = solver.flow_history.totals.sum(axis=1)
    np.testing.assert_allclose(gained, rows[:, -1], rtol=1e-9)
    stored = (2 + solver.problem.nodes[..., 2]) * solver.problem.system.mass
    assert rows[-1, -1] == pytest.approx((stored * (solver.solution() - before)).sum(), rel=1e-10)
    found = solver.flow_history.summary()
    assert [*found["flows"]] == ["north", "top", "west, south, east"]
    wanted, tolerance = 0.5 * (1 - np.exp(-0.3)), {1: 3e-2, 2: 1e-3, 3: 1e-3}[order]
    assert found["heat_in"]["north"] == pytest.approx(wanted, rel=tolerance)


def test_flows_are_those_of_the_steady_equation() -> None:
    """After long steps, and of sides apart from each other."""
    sides = {
        "west": {"kind": "fixed"},
        "east": {"kind": "fixed", "value": "y"},
        "top": {"kind": "robin", "h": 3.0, "ambient": "y"},
    }
    equation = {"conductivity": "1 + y", "source": "x", "screening": 0.5}
    time = {"step": 1e4, "duration": 4e4, "order": 1}
    solver = after_steps(4, equation=equation, boundaries=sides, time=time)
    found = solver.flow_history.summary()["flows"]
    box = gs.poisson.Box((2, 2, 2))
    with gs.poisson.Problem(box, 4, sides, conductivity="1 + y", screening=0.5) as steady:
        wanted = steady.flows(steady.solve("x"))
    assert found == pytest.approx(wanted, rel=1e-5)
    assert [*found] == [*wanted] == ["top", "west", "east"]


def test_functions_that_the_host_evaluates_give_the_same() -> None:
    changes = {key: hidden(CASE[key]) for key in ("equation", "boundaries")}
    assert "where" in str(changes)
    found = after_steps(4, **changes).flow_history.read()
    np.testing.assert_allclose(found, after_steps(4).flow_history.read(), rtol=1e-8, atol=1e-10)


def test_single_precision_is_close() -> None:
    method = {"degree": 4, "tolerance": 1e-5}
    found = after_steps(3, run={"precision": "single"}, method=method).flow_history.read()
    np.testing.assert_allclose(found, after_steps(3).flow_history.read(), rtol=1e-2, atol=1e-3)


def test_runs_leave_flows(tmp_path: Path, on_ranks: Callable[..., str]) -> None:
    """The same of a stopped run bit for bit, and on ranks to rounding."""
    case = PoissonCase.from_dict(content())
    whole = gs.run(case, folder=tmp_path / "whole", quiet=True)
    stop = gs.every(3, lambda live: live.stop())
    with pytest.raises(Interrupted):
        gs.run(case, folder=tmp_path / "halves", callbacks=[stop], quiet=True)
    halves = gs.run(case, folder=tmp_path / "halves", resume=True, quiet=True)
    xarray.testing.assert_identical(whole.flows, halves.flows)
    run_cases(on_ranks, 3, {"ranks": content()}, tmp_path)
    with xarray.open_dataset(tmp_path / "ranks" / "flows.nc") as other:
        xarray.testing.assert_allclose(whole.flows, other, rtol=1e-8)
    flows, found = whole.flows, whole.solution
    assert list(flows.side.values) == [*found["flows"]]
    assert flows.flow.sel(side="top").values[-1] == found["flows"]["top"]
    gained = flows.heat.sum("side") + flows.source_heat
    np.testing.assert_allclose(gained, flows.stored, rtol=1e-9)
    assert sum(found["heat_in"].values()) + found["heat_from_source"] == pytest.approx(
        found["heat_stored"], rel=1e-9
    )
    summary = json.loads((tmp_path / "whole" / "summary.json").read_text())
    assert summary["findings"]["heat_stored"] == found["heat_stored"]


def test_runs_without_conditions_leave_the_balance(tmp_path: Path) -> None:
    equation = {"source": "1 + x", "capacity": 2.0}
    case = PoissonCase.from_dict(content(equation=equation, boundaries={}))
    found = gs.run(case, folder=tmp_path / "run", quiet=True)
    assert found.solution["flows"] == {} and "side" not in found.flows
    np.testing.assert_allclose(found.flows.stored, 1.5 * found.flows.time, rtol=1e-9)
    np.testing.assert_allclose(found.flows.source_heat, 1.5 * found.flows.time, rtol=1e-9)


@pytest.mark.parametrize("backend", [open_backend("cpu"), EmulatedBackend()], ids=["cpu", "gpu"])
def test_sums_of_products(backend: Backend) -> None:
    """Of none, of a few, and of more than a block adds up."""
    rng = np.random.default_rng(8)
    values = rng.standard_normal(3 * PIECE)
    counts = (0, 5, 2 * PIECE + 1, 0)
    rows = [(rng.integers(0, values.size, n), rng.standard_normal(n)) for n in counts]
    kernels = StepKernels(backend, "float64")
    sums = ProductSums(kernels, backend, rows, backend.to_device(values))
    wanted = [float(factors @ values[indices]) for indices, factors in rows]
    np.testing.assert_allclose(sums.find(), wanted, rtol=1e-12, atol=1e-12)
