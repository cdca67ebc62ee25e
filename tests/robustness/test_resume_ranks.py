"""Runs on several ranks that are stopped or killed, and go on with more ranks or fewer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from signal import SIGUSR1
from typing import Any

import pytest
from ranks import run_on_ranks, start_on_ranks
from result_comparison import FINAL_FILES, assert_same_results
from variants import long_variants

import groundswell
from groundswell.simulation import checkpoint

pytestmark = [pytest.mark.each_value, pytest.mark.timeout(240)]

Write = Callable[..., Path]
PROGRAM = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"
TIME = {"duration": "3 s"}  # 300 steps
STEPS = 300


NO_SIGNAL = ("SIGTERM", "-1", "0")


def run(ranks: int, case: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return run_on_ranks(ranks, PROGRAM, *NO_SIGNAL, "run", case, "--no-pictures", *more)


def run_until(
    ranks: int, signal: str, rank: int, step: int, case: Path, *more: str
) -> subprocess.CompletedProcess[str]:
    """Run until a rank gets a signal."""
    how = (signal, str(rank), str(step))
    return run_on_ranks(ranks, PROGRAM, *how, "run", case, "-q", "--no-pictures", *more)


@pytest.fixture(scope="module")
def reference(write_case: Write, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Results between such sides on one rank, never interrupted."""

    @cache
    def whole(sides: str) -> Path:
        folder = tmp_path_factory.mktemp(sides)
        return groundswell.run(write_case(folder, time=TIME, boundary={"sides": sides})).folder

    return whole


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def assert_unfinished(folder: Path, ranks: int) -> None:
    """A checkpoint of so many files, and nothing that looks like results."""
    found = names(folder)
    assert not found & FINAL_FILES and not {
        name for name in found if name.startswith(".checkpoint")
    }
    assert len({name for name in found if name.startswith("checkpoint")}) == ranks


def assert_finished(done: subprocess.CompletedProcess[str], folder: Path, reference: Path) -> None:
    assert done.returncode == 0, done.stderr
    assert 0 < json.loads((folder / "summary.json").read_text())["resumed_at"] < STEPS
    assert_same_results(folder, reference)
    assert names(folder) == names(reference)


@pytest.mark.parametrize(
    ("wrote", "asked", "resumes", "sides"),
    [(2, 1, 1, "sponge"), *long_variants([(1, 0, 3, "pml"), (4, 3, 2, "periodic")])],
)
def test_stopped_runs_continue_on_any_number_of_ranks(
    write_case: Write,
    tmp_path: Path,
    reference: Any,
    wrote: int,
    asked: int,
    resumes: int,
    sides: str,
) -> None:
    """Whichever rank is asked to stop."""
    case, folder = write_case(tmp_path, time=TIME, boundary={"sides": sides}), tmp_path / "results"
    stopped = run_until(wrote, "SIGTERM", asked, 40, case)
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stderr.count("stopped by SIGTERM after step") == 1  # rank 0 speaks for all
    assert "--resume" in stopped.stderr
    assert_unfinished(folder, wrote)
    assert_finished(run(resumes, case, "--resume", "-q"), folder, reference(sides))


def test_mpiexec_passes_on_the_signal_to_stop(write_case: Write, tmp_path: Path) -> None:
    """As docs/methods/earthquake.md says; at other signals it would end the ranks."""
    case, folder = write_case(tmp_path, time={"duration": "100 s"}), tmp_path / "results"
    arguments = ("run", case, "-q", "--no-pictures")
    with start_on_ranks(2, PROGRAM, "none", "0", "1", *arguments) as mpiexec:
        try:
            assert mpiexec.stdout is not None and mpiexec.stdout.readline() == "running\n"
            mpiexec.send_signal(SIGUSR1)
            _, told = mpiexec.communicate(timeout=60)
        finally:
            mpiexec.terminate()
    assert mpiexec.returncode == 130, told
    assert told.count("stopped by SIGUSR1 after step") == 1 and "--resume" in told
    assert_unfinished(folder, 2)


@pytest.mark.full
def test_a_run_may_be_stopped_again_and_again(
    write_case: Write, tmp_path: Path, reference: Any
) -> None:
    case, folder = write_case(tmp_path, time=TIME, boundary={"sides": "pml"}), tmp_path / "results"
    ways = [(2, [], 30), (3, ["--resume"], 100), (1, ["--resume"], 200)]
    for ranks, resume, step in ways:
        stopped = run_until(ranks, "SIGTERM", ranks - 1, step, case, *resume)
        assert stopped.returncode == 130, stopped.stderr
        assert_unfinished(folder, ranks)
    assert_finished(run(2, case, "--resume", "-q"), folder, reference("pml"))


@pytest.mark.full
@pytest.mark.parametrize("killed", [1, 0])
def test_runs_whose_rank_was_killed_continue_from_the_last_checkpoint(
    write_case: Write, tmp_path: Path, reference: Any, killed: int
) -> None:
    case = write_case(
        tmp_path, time=TIME, boundary={"sides": "pml"}, run={"checkpoint": {"steps": 20}}
    )
    folder = tmp_path / "results"
    dead = run_until(2, "SIGKILL", killed, 50, case)
    assert dead.returncode != 0
    assert not names(folder) & FINAL_FILES
    done = run(2, case, "--resume", "-q")
    assert json.loads((folder / "summary.json").read_text())["resumed_at"] % 20 == 0
    assert_finished(done, folder, reference("pml"))


@pytest.mark.full
def test_a_checkpoint_without_one_ranks_file(write_case: Write, tmp_path: Path) -> None:
    """It is refused on every rank, in one voice, and nothing is touched."""
    case, folder = write_case(tmp_path, time=TIME), tmp_path / "results"
    assert run_until(3, "SIGTERM", 0, 40, case).returncode == 130
    [lost] = folder.glob("checkpoint-*-2.h5")
    lost.unlink()
    before = names(folder)
    refused = run(2, case, "--resume", "-q")
    assert refused.returncode == 2, refused.stderr
    assert refused.stderr.count(lost.name) == 1 and "without --resume" in refused.stderr
    assert names(folder) == before and checkpoint.NAME in before


@pytest.mark.full
def test_an_unfinished_run_of_ranks_is_not_lost_by_forgetting_to_resume(
    write_case: Write, tmp_path: Path
) -> None:
    case = write_case(tmp_path, time=TIME)
    assert run_until(2, "SIGTERM", 1, 40, case).returncode == 130
    refused = run(2, case, "-q")
    assert refused.returncode == 2
    assert refused.stderr.count("unfinished run of this case") == 1
    assert_unfinished(tmp_path / "results", 2)
