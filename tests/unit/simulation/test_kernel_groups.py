"""Shares of groups of kernels in a step: how they are added up, and that results stay the same."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu import gpu_count
from result_comparison import assert_same_results
from small_cases import CASES, write_small_case
from ultrasound_cases import build

import groundswell as gs
from groundswell import registry
from groundswell.backends import LaunchTime
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.simulation import driver
from groundswell.simulation.kernel_groups import shares_by_group
from groundswell.simulation.timed_steps import FIRST_TIMED, MOST_TIMED, time_steps

pytestmark = pytest.mark.timeout(240)


class Ranks(SerialCommunicator):
    """Ranks of which the others have these times, s."""

    def __init__(self, *others: dict[str, float]) -> None:
        super().__init__()
        self.times = others

    def allgather(self, value: Any) -> list[Any]:
        return [value, *self.times]


def test_shares_are_those_of_groups() -> None:
    names = ["update_stress", "update_velocity", "send_boxes", "unheard", "update_stress"]
    seconds = np.random.default_rng(7).uniform(0.1, 2, len(names))
    times = [LaunchTime(name, "", each) for name, each in zip(names, seconds, strict=True)]
    found = shares_by_group(times, "earthquake", SerialCommunicator())
    a, velocity, exchange, other, b = seconds / seconds.sum()
    expected = {"stress": a + b, "velocity": velocity, "exchange": exchange, "other": other}
    assert found == pytest.approx(expected)  # to rounding
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_a_section_is_a_group_but_its_exchange_is_not_part_of_it() -> None:
    times = [LaunchTime(name, "steps on grid 1", 1.0) for name in ("advance", "copy_boxes")]
    found = shares_by_group(times, "cavity", SerialCommunicator())
    assert found == {"steps on grid 1": 0.5, "exchange": 0.5}


def test_each_group_counts_with_its_longest_time_of_all_ranks() -> None:
    times = [LaunchTime("update_stress", "", 3.0), LaunchTime("update_velocity", "", 1.0)]
    found = shares_by_group(times, "earthquake", Ranks({"velocity": 2.0, "exchange": 5.0}))
    assert found == {"exchange": 0.5, "stress": 0.3, "velocity": 0.2}


def test_without_times_there_are_no_shares() -> None:
    assert shares_by_group([], "poisson", SerialCommunicator()) == {}


# --- runs -----------------------------------------------------------------------------------------


def both_ways(case: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, backend: str) -> Any:
    """Run a case with and without timed launches; returns the result with them."""
    timed = gs.run(case, folder=folder / "timed", backend=backend)
    with monkeypatch.context() as patch:
        patch.setattr(driver, "TimeLoop", without_timing(driver.TimeLoop, 7))
        patch.setattr(driver, "Solve", without_timing(driver.Solve, 1))
        plain = gs.run(case, folder=folder / "plain", backend=backend)
    assert "kernel_groups" not in plain.summary
    assert_same_results(folder / "timed", folder / "plain")
    return timed


def without_timing(kind: Any, count: int) -> Any:
    return lambda *arguments: kind(*arguments[:count])


def case_of(solver: str, folder: Path) -> Any:
    return build(folder) if solver == "ultrasound" else write_small_case(folder, solver)


SOLVERS = [name for name in registry.names() if name in (*CASES, "ultrasound")]


@pytest.mark.most(2)
@pytest.mark.parametrize("solver", SOLVERS)
def test_results_with_timed_launches_are_bit_identical(
    solver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = both_ways(case_of(solver, tmp_path), tmp_path, monkeypatch, "cpu")
    assert sum(result.summary["kernel_groups"]["shares"].values()) == pytest.approx(1)


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 1, reason="needs a GPU")
@pytest.mark.parametrize("solver", SOLVERS)
def test_results_with_timed_launches_are_bit_identical_on_a_gpu(
    solver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = both_ways(case_of(solver, tmp_path), tmp_path, monkeypatch, "cuda")
    assert sum(result.summary["kernel_groups"]["shares"].values()) == pytest.approx(1)


def test_short_runs_time_no_launches(tmp_path: Path) -> None:
    for steps, timed in ((9, None), (10, "steps 5 to 10"), (200, "steps 64 to 71")):
        changes = {"time": {"duration": steps * 0.01}, "output": {"volumes": None}}
        case = write_small_case(tmp_path, "earthquake", **changes)
        summary = gs.run(case, folder=tmp_path / f"{steps}").summary
        assert summary["steps"] == steps
        assert summary.get("kernel_groups", {}).get("timed") == timed
    assert (FIRST_TIMED, MOST_TIMED) == (64, 8)


def test_a_solver_whose_steps_are_no_launches_is_not_timed() -> None:
    solver: Any = SimpleNamespace(steps_at_once=1, setup=SimpleNamespace(steps=1000))
    backend: Any = None
    assert time_steps(solver, backend, backend, 0) is None
