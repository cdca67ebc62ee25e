"""Runs of every solver that are killed, and checkpoints that are damaged or of another run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import plugin
import pytest
from damage import damaged
from ranks import run_on_ranks
from result_comparison import assert_same_results
from small_cases import CASES, STEPPERS, write_small_case
from variants import long_variants, short_and_long

import groundswell as gs
from groundswell.cli import main
from groundswell.errors import Interrupted
from groundswell.simulation import checkpoint, run_files

pytestmark = [pytest.mark.each_value, pytest.mark.timeout(240)]

Captured = pytest.CaptureFixture[str]
PROGRAM = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"
# Without --full each fault meets some solvers. tests/contract stops and resumes the runs of all.
SAVED = {
    "earthquake": 45,
    "cavity": 5,
    "dgwave": 45,
    plugin.NAME: 45,
}  # steps between two checkpoints


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """PYTHONPATH with the solver of another package, which this process knows, too."""
    folder = tmp_path_factory.mktemp("metadata")
    with plugin.available(folder):
        yield os.pathsep.join([str(folder), str(plugin.PACKAGE), os.environ.get("PYTHONPATH", "")])


@pytest.fixture(scope="module")
def references(searched: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The results of the small case of a solver."""
    made: dict[str, Path] = {}

    def reference(solver: str) -> Path:
        if solver not in made:
            made[solver] = gs.run(write_small_case(tmp_path_factory.mktemp(solver), solver)).folder
        return made[solver]

    return reference


def run(case: Path, *options: str) -> int:
    """The exit code of `groundswell run`."""
    return main(["run", str(case), "-q", "--no-pictures", *options])


def stop(case: Path) -> Path:
    """Stop a run after its first checkpoint; returns the folder."""

    def report(step: int, updates: int) -> None:
        if (case.parent / "results" / checkpoint.NAME).exists():
            signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr("groundswell.simulation.run.progress", lambda *_, **__: nullcontext(report))
        gs.run(case)
    return case.parent / "results"


# --- killed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, *long_variants([2])])
@pytest.mark.parametrize("solver", short_and_long(STEPPERS, ["cavity", "dgwave"]))
def test_a_killed_run_continues_to_the_same_bits(
    tmp_path: Path, references: Callable[[str], Path], searched: str, solver: str, ranks: int
) -> None:
    case = write_small_case(tmp_path, solver)
    program = (PROGRAM, "SIGKILL", str(ranks - 1), str(SAVED[solver]))
    arguments = ("run", case, "-q", "--no-pictures")
    if ranks == 1:
        killed = _in_a_process(*program, *arguments, PYTHONPATH=searched)
        assert killed.returncode == -signal.SIGKILL
    else:
        killed = run_on_ranks(ranks, *program, *arguments, PYTHONPATH=searched)
    assert not (tmp_path / "results" / "summary.json").exists(), killed.stderr
    assert run(case, "--resume") == 0
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert 0 < summary["resumed_at"] < summary["steps"]
    assert {path.name for path in (tmp_path / "results").iterdir()} == {
        *(name.partition("/")[0] for name in summary["files"]),
        "summary.json",
    }
    assert_same_results(tmp_path / "results", references(solver))


def _in_a_process(*arguments: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True
    )


class Killed(BaseException):
    """What ends a run as suddenly as SIGKILL, in this process."""


@pytest.mark.parametrize("solver", short_and_long(CASES, ["earthquake", "ultrasound", "dgwave"]))
def test_a_run_killed_while_files_get_their_names_is_repeated_or_continued(
    tmp_path: Path,
    references: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    solver: str,
) -> None:
    """An earlier run of the same case has left its results there."""
    reference = references(solver)
    case, folder = write_small_case(tmp_path, solver), tmp_path / "results"
    move, moved = run_files._move, []

    def moving(*paths: Path) -> None:
        if len(moved) == 1:
            raise Killed
        moved.append(paths)
        move(*paths)

    shutil.copytree(reference, folder)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(run_files, "_move", moving)
        gs.run(case)
    assert not (folder / "summary.json").exists()
    resumable = (folder / checkpoint.NAME).exists()
    assert resumable == (solver in STEPPERS)
    assert run(case, *(["--resume"] if resumable else [])) == 0
    assert_same_results(folder, reference)


# --- checkpoints that must not be continued -------------------------------------------------------


@pytest.mark.parametrize("count", [12, *long_variants([300])])
@pytest.mark.parametrize("solver", short_and_long(STEPPERS, ["cavity", "dgwave"]))
def test_a_damaged_checkpoint_never_gives_a_wrong_answer(
    tmp_path: Path,
    references: Callable[[str], Path],
    capsys: Captured,
    solver: str,
    count: int,
) -> None:
    """It is refused in one line, or the damage does not matter."""
    rng = np.random.default_rng([29, *solver.encode()])
    case = write_small_case(tmp_path, solver)
    folder, spare = stop(case), tmp_path / "spare"
    shutil.copytree(folder, spare)
    data = (folder / checkpoint.NAME).read_bytes()
    refused = 0
    for n in range(count):
        spoilt = [b"", data[:-1], data + b"x"][n] if n < 3 else damaged(data, rng)
        (folder / checkpoint.NAME).write_bytes(spoilt)
        code, error = run(case, "--resume"), capsys.readouterr().err
        assert code in (0, 2), error
        if code == 0:
            assert_same_results(folder, references(solver))
            shutil.rmtree(folder)
            shutil.copytree(spare, folder)
        else:
            refused += 1
            assert len(error.splitlines()) == 1 and len(error) < 600, error
            assert "checkpoint" in error and "--resume" in error
            assert (folder / checkpoint.NAME).read_bytes() == spoilt
    assert refused >= count / 2


@pytest.mark.parametrize("solver", short_and_long(STEPPERS, ["earthquake", "dgwave"]))
def test_checkpoints_of_other_runs_are_refused(
    tmp_path: Path, references: Callable[[str], Path], capsys: Captured, solver: str
) -> None:
    case = write_small_case(tmp_path, solver)
    folder = stop(case)
    saved = (folder / checkpoint.NAME).read_bytes()
    other = STEPPERS[STEPPERS.index(solver) - 1]
    for changed in (
        lambda: write_small_case(tmp_path, solver, run={"precision": _other_precision(case)}),
        lambda: write_small_case(tmp_path, solver, output={"record": []}),
        lambda: write_small_case(tmp_path, other),
    ):
        assert run(changed(), "--resume") == 2
        assert "belongs to another case" in capsys.readouterr().err
    with h5py.File(folder / checkpoint.NAME, "r+") as file:
        file.attrs[checkpoint.MARK] += 1
    assert run(write_small_case(tmp_path, solver), "--resume") == 2
    assert "not a checkpoint of this version" in capsys.readouterr().err
    (folder / checkpoint.NAME).write_bytes(saved)
    assert run(write_small_case(tmp_path, solver), "--resume") == 0
    assert_same_results(folder, references(solver))


def _other_precision(case: Path) -> str:
    return "single" if gs.check(case)["precision"] == "double" else "double"
