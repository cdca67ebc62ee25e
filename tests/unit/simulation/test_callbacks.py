"""Functions that a run calls between its steps: when, with what, and what they may do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.errors import InputError, Interrupted

pytestmark = pytest.mark.timeout(240)
Write = Callable[..., Path]

PROGRAM = """
import sys
import groundswell as gs
case, folder, what = sys.argv[1:]
seen = []

def watch(live):
    whole = live.gather("vx")
    seen.append(live.step)
    assert (whole is not None) == (rank == 0)
    if rank == 1 and live.step == 14:
        live.stop() if what == "stop" else 1 / 0

from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
try:
    gs.run(case, folder=folder, callbacks=[gs.every(7, watch)])
except Exception as error:
    found = MPI.COMM_WORLD.gather((rank, seen, type(error).__name__))
    for line in found or ():
        print(*line)
"""


@pytest.fixture(scope="module")
def case(write_case: Write, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_case(tmp_path_factory.mktemp("case"), time={"duration": "0.4 s"})  # 40 steps


@pytest.fixture(scope="module")
def expected(case: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The velocities that a run without callbacks records."""
    result = gs.run(case, folder=tmp_path_factory.mktemp("run") / "r")
    return np.array(result.seismograms)


def test_functions_are_called_when_they_are_due_and_change_nothing(
    case: Path, expected: Any, tmp_path: Path
) -> None:
    seen: dict[str, list[Any]] = {"7": [], "20": []}

    def watch(live: gs.LiveRun) -> None:
        seen["7"].append((live.step, live.time, float(np.abs(live.fields["vx"]).max())))

    calls = [gs.every(7, watch), gs.every(20, lambda live: seen["20"].append(live.step))]
    result = gs.run(case, folder=tmp_path / "r", callbacks=calls)
    assert [step for step, *_ in seen["7"]] == [7, 14, 21, 28, 35]
    assert seen["20"] == [20, 40]
    assert np.array(result.seismograms).tobytes() == expected.tobytes()
    with gs.Simulation(case) as simulation:
        for step, time, peak in seen["7"]:
            simulation.advance(step - simulation.step)
            assert (simulation.time, np.abs(simulation.fields["vx"]).max()) == (time, peak)


def test_a_run_that_a_function_stops_can_be_resumed(
    case: Path, expected: Any, tmp_path: Path
) -> None:
    with pytest.raises(Interrupted, match="stopped by a callback after step 14; continue with"):
        gs.run(case, folder=tmp_path / "r", callbacks=[gs.every(14, lambda live: live.stop())])
    result = gs.run(case, folder=tmp_path / "r", resume=True)
    assert result.summary["resumed_at"] == 14
    assert np.array(result.seismograms).tobytes() == expected.tobytes()


def test_a_simulation_that_a_function_stops_can_be_advanced(case: Path) -> None:
    seen: list[int] = []
    with gs.Simulation(case) as simulation:
        with pytest.raises(Interrupted, match="stopped by a callback after step 5"):
            simulation.advance(callbacks=[gs.every(5, lambda live: live.stop())])
        simulation.advance(8, callbacks=[gs.every(4, lambda live: seen.append(live.step))])
        assert simulation.step == 13 and seen == [8, 12]


def test_functions_may_change_fields(case: Path, expected: Any, tmp_path: Path) -> None:
    def silence(live: gs.LiveRun) -> None:
        for field in live.fields.values():
            field[...] = 0

    result = gs.run(case, folder=tmp_path / "r", callbacks=[gs.every(30, silence)])
    found = np.array(result.seismograms)
    steps = expected.shape[-1] * 3 // 4
    assert np.array_equal(found[..., :steps], expected[..., :steps])
    assert np.abs(found[..., -1]).max() < 0.5 * np.abs(expected[..., -1]).max()


def test_the_error_of_a_function_ends_the_run(case: Path, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        gs.run(case, folder=tmp_path / "r", callbacks=[gs.every(3, lambda live: 1 / 0)])


def test_a_steady_flow_calls_after_cycles() -> None:
    seen: list[int] = []
    flat = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}
    air = {"kind": "rayleigh", "rayleigh": 1e3}
    with gs.Simulation(gs.cavity.build_case((15, 1, 15), air, flat)) as simulation:
        simulation.advance(50, callbacks=[gs.every(20, lambda live: seen.append(live.step))])
        done = simulation.step
    assert len(seen) == done // 20 and all(step >= 20 for step in seen)


@pytest.mark.parametrize("steps", [0, -3, 2.0, True, "5"])
def test_steps_are_whole_numbers(steps: Any) -> None:
    with pytest.raises(InputError, match="give a whole number of steps"):
        gs.every(steps, print)


def test_what_cannot_be_called_is_refused(case: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a function of one argument"):
        gs.every(5, "print")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"has print; give every\(steps, print\)"):
        gs.run(case, folder=tmp_path / "r", callbacks=[print])  # type: ignore[list-item]
    with pytest.raises(InputError, match="give a list"):
        gs.run(case, folder=tmp_path / "r", callbacks=gs.every(5, print))  # type: ignore[arg-type]
    assert not (tmp_path / "r").exists()


def test_a_solver_without_steps_refuses_callbacks(tmp_path: Path) -> None:
    path = tmp_path / "box.toml"
    path.write_text(
        'solver = "poisson"\n[mesh]\nkind = "box"\ncounts = [2, 2, 2]\n'
        '[boundaries]\nwest = { kind = "fixed" }\n[method]\ndegree = 2\n'
    )
    with pytest.raises(InputError, match="makes no steps"):
        gs.run(path, folder=tmp_path / "r", callbacks=[gs.every(1, print)])
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("what", "errors"),
    [("stop", ["Interrupted"] * 2), ("raise", ["RunFailed", "ZeroDivisionError"])],
)
def test_one_rank_stops_all(
    on_ranks: Callable[..., str], case: Path, tmp_path: Path, what: str, errors: list[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    lines = [f"{rank} [7, 14] {error}" for rank, error in enumerate(errors)]
    assert on_ranks(2, program, case, tmp_path / "r", what).splitlines() == lines
