"""Disks that are too small, or that fill up while a run of any solver writes to them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import plugin
import pytest
from result_comparison import assert_same_results
from small_cases import CASES, STEPPERS, write_small_case
from small_disk import small_disk
from variants import short_and_long

import groundswell as gs
from groundswell.cli import main
from groundswell.simulation import checkpoint
from groundswell.simulation import run as running
from groundswell.simulation.run_files import STAGING

pytestmark = [pytest.mark.each_value, pytest.mark.timeout(120)]

Captured = pytest.CaptureFixture[str]
RARELY = {"checkpoint": {"steps": 10_000}}


@pytest.fixture(scope="module", autouse=True)
def _known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The registry knows the solver of another package."""
    with plugin.available(tmp_path_factory.mktemp("metadata")):
        yield


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 MiB."""
    with small_disk(tmp_path / "disk", 32) as folder:
        yield folder


def fill(disk: Path) -> None:
    """Take all room that is left."""
    allocate(disk / "ballast", shutil.disk_usage(disk).free)


def allocate(path: Path, size: int) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(descriptor, 0, size)
    os.close(descriptor)


def run_until_full(case: Path, disk: Path, when: Callable[[int], bool]) -> int:
    """Run a case, with the disk filled as soon as `when(step)` holds; returns the exit code."""

    def report(step: int, updates: int) -> None:
        if when(step) and not (disk / "ballast").exists():
            fill(disk)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundswell.simulation.run.progress", lambda *_, **__: nullcontext(report))
        return main(["run", str(case), "-q", "--output", str(disk / "results")])


def names(folder: Path) -> set[str]:
    """Names in a folder; none if there is no folder."""
    return {path.name for path in folder.glob("*")}


def test_a_disk_without_the_room_is_refused_before_the_run(
    tmp_path: Path, disk: Path, capsys: Captured
) -> None:
    volumes = {"interval": "0.01 s", "stride": 1, "fields": ["vx", "vy", "vz", "sxx", "syy"]}
    case = write_small_case(
        tmp_path, "earthquake", output={"volumes": volumes}, time={"duration": "15 s"}
    )
    assert main(["run", str(case), "-q", "--output", str(disk / "results")]) == 2
    told = r"the results take 5\d\.\d MB, but 33\.\d MB are free for .*/results; sample less often"
    assert re.search(told, capsys.readouterr().err)
    assert names(disk) == set()


@pytest.mark.parametrize("solver", CASES)
def test_a_disk_that_is_nearly_full_is_refused_before_the_run(
    tmp_path: Path, disk: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, solver: str
) -> None:
    """With less room than results take, whatever the number of steps; nothing is computed."""
    fill(disk)
    os.truncate(disk / "ballast", (disk / "ballast").stat().st_size - 20_000)
    monkeypatch.setattr(running, "open_solver", lambda *_, **__: pytest.fail("it has begun"))
    changes = {"output": {"record": None}} if solver == "cavity" else {}  # it may end early
    case = write_small_case(tmp_path, solver, **changes)
    assert main(["run", str(case), "-q", "--output", str(disk / "results")]) == 2
    assert re.search(r"the results take .*, but .*B are free for", capsys.readouterr().err)
    assert names(disk) == {"ballast"}


@pytest.mark.parametrize("solver", STEPPERS)
def test_a_disk_that_fills_up_before_a_first_checkpoint(
    tmp_path: Path, disk: Path, capsys: Captured, solver: str
) -> None:
    case = write_small_case(tmp_path, solver, run=RARELY)
    assert run_until_full(case, disk, lambda _: True) == 1
    error = capsys.readouterr().err
    assert re.search(
        r"disk full while writing \S+: No space left on device, 0\.0 MB free in \S+; make room for "
        r"(up to )?[\d.]+ [kMG]?B, then start again: there is no checkpoint$",
        error,
    )
    assert "--resume" not in error
    assert names(disk) == {"ballast"}  # nothing is left that takes room for nothing


@pytest.mark.parametrize("solver", short_and_long(STEPPERS, ["earthquake", "dgwave"]))
def test_a_disk_that_fills_up_after_a_checkpoint(
    tmp_path: Path, disk: Path, capsys: Captured, solver: str
) -> None:
    """With room again, the run continues to the same bits."""
    case, folder = write_small_case(tmp_path, solver), disk / "results"
    gs.run(case, folder=tmp_path / "whole")
    assert run_until_full(case, disk, lambda _: (folder / checkpoint.NAME).exists()) == 1
    error = capsys.readouterr().err
    assert re.search(r"make room for (up to )?[\d.]+ [kMG]?B\. Continue the run with --re", error)
    assert "there is no checkpoint" not in error
    assert all(name.endswith(".part") for name in names(folder) - {checkpoint.NAME})
    (disk / "ballast").unlink()
    summary = gs.run(case, folder=folder, resume=True).summary
    assert 0 < summary["resumed_at"] < summary["steps"]
    assert_same_results(folder, tmp_path / "whole")


@pytest.mark.parametrize("saved", [0, 1])
@pytest.mark.parametrize("solver", short_and_long(STEPPERS, ["cavity", "dgwave"]))
def test_a_disk_that_fills_up_while_a_checkpoint_is_written(
    tmp_path: Path,
    disk: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    solver: str,
    saved: int,
) -> None:
    """The previous checkpoint, if there was one, stays."""
    case, folder = write_small_case(tmp_path, solver), disk / "results"
    write, calls = checkpoint._write, iter(range(100))

    def full(*arguments: Any) -> None:
        if next(calls) == saved:
            fill(disk)
        write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "_write", full)
        assert main(["run", str(case), "-q", "--output", str(folder)]) == 1
    error = capsys.readouterr().err
    assert f"disk full while writing {folder / checkpoint.NAME}: " in error
    assert ("--resume" in error) == (checkpoint.NAME in names(folder)) == bool(saved)
    (disk / "ballast").unlink()
    gs.run(case, folder=folder, resume=bool(saved))
    gs.run(case, folder=tmp_path / "whole")
    assert_same_results(folder, tmp_path / "whole")


@pytest.mark.parametrize("solver", short_and_long(CASES, ["cavity", "dgwave"]))
def test_a_disk_that_fills_up_at_the_very_end(
    tmp_path: Path, disk: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, solver: str
) -> None:
    """What the steps have written is kept under temporary names, and nothing has its final name."""
    from groundswell.simulation.run_files import RunFiles

    case, folder = write_small_case(tmp_path, solver), disk / "results"
    complete = RunFiles.complete

    def full(self: RunFiles, write: Any) -> Any:
        fill(disk)
        return complete(self, write)

    with monkeypatch.context() as patch:
        patch.setattr(RunFiles, "complete", full)
        assert main(["run", str(case), "-q", "--output", str(folder)]) == 1
    assert "disk full while writing" in capsys.readouterr().err
    left = names(folder)
    assert all(name.endswith(".part") for name in left - {checkpoint.NAME})
    assert not any((folder / STAGING).rglob("*.json"))
    (disk / "ballast").unlink()
    resume = checkpoint.NAME in left
    assert resume == (solver in STEPPERS)
    gs.run(case, folder=folder, resume=resume)
    assert not any(name.endswith(".part") for name in names(folder))


def test_the_room_that_is_said_to_be_needed_is_enough(
    tmp_path: Path, disk: Path, capsys: Captured
) -> None:
    case = write_small_case(tmp_path, "earthquake", run=RARELY)
    assert run_until_full(case, disk, lambda _: True) == 1
    [(size, unit)] = re.findall(r"make room for ([\d.]+) ([kMG]?)B", capsys.readouterr().err)
    room = int(float(size) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[unit])
    (disk / "ballast").unlink()
    allocate(disk / "ballast", shutil.disk_usage(disk).free - room)
    assert main(["run", str(case), "-q", "--no-pictures", "--output", str(disk / "results")]) == 0
