"""Runs that are stopped or killed, and folders in which there have been runs before."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from result_comparison import FINAL_FILES, assert_same_results, explosion_source

import groundswell
from groundswell.case import load_case
from groundswell.cli import main
from groundswell.errors import InputError, Interrupted
from groundswell.simulation import checkpoint
from groundswell.simulation import run as running
from groundswell.simulation.temporary import run_built

pytestmark = [pytest.mark.each_value, pytest.mark.timeout(120)]

Write = Callable[..., Path]
Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]

# --- runs that are stopped ----------------------------------------------------------------------

EARLY = explosion_source(time_function={"kind": "brune", "rise": "0.1 s", "onset": "-1 s"})
LONG = {"time": {"duration": "10 s"}, "source": EARLY}  # 1100 steps, from -1 s


def wait_until(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.002)


def written(path: Path) -> int:
    """When a file was last written to; 0 if it is not there."""
    return path.stat().st_mtime_ns if path.exists() else 0


def unfinished(folder: Path) -> bool:
    """No result has its final name, and no file is left half-written."""
    names = {path.name for path in folder.iterdir()}
    return not names & FINAL_FILES and f".{checkpoint.NAME}.part" not in names


@pytest.fixture(scope="module")
def reference(write_case: Write, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the long case, never interrupted."""
    folder = tmp_path_factory.mktemp("reference")
    return groundswell.run(write_case(folder, **LONG), folder=folder / "results").folder


def test_stopped_runs_continue_to_the_same_bits(
    write_case: Write, tmp_path: Path, start: Start, command: Command, reference: Path
) -> None:
    case, folder = write_case(tmp_path, **LONG), tmp_path / "results"
    part = folder / "seismograms.h5.part"
    for resume, number in (([], signal.SIGINT), (["--resume"], signal.SIGTERM)):
        before = written(part)
        process = start("run", case, "-q", "--no-pictures", *resume)
        wait_until(lambda before=before: written(part) > before)
        time.sleep(0.05)
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
        assert process.returncode == 130, error
        assert f"stopped by {number.name}" in error and "--resume" in error
        assert unfinished(folder)
    done = command("run", case, "--resume", "--json", "--no-pictures")
    assert done.returncode == 0, done.stderr
    assert 0 < json.loads(done.stdout)["resumed_at"] < 1100
    assert_same_results(folder, reference)
    assert not (folder / checkpoint.NAME).exists()


@pytest.mark.full
def test_killed_runs_continue_to_the_same_bits(
    write_case: Write, tmp_path: Path, start: Start, reference: Path
) -> None:
    case = write_case(tmp_path, **LONG, run={"checkpoint": {"steps": 150}})
    folder = tmp_path / "results"
    process = start("run", case, "-q", "--no-pictures")
    wait_until((folder / checkpoint.NAME).exists)
    time.sleep(0.1)
    process.kill()
    process.communicate(timeout=60)
    assert not FINAL_FILES & {path.name for path in folder.iterdir()}
    result = groundswell.run(case, folder=folder, resume=True)
    assert result.summary["resumed_at"] % 150 == 0
    assert_same_results(folder, reference)
    assert not [path for path in folder.iterdir() if "part" in path.name]


class Stop:
    """Stops a run in this process once it has come to some step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self._at = at
        monkeypatch.setattr("groundswell.simulation.run.progress", self._progress)

    def _progress(self, *_: Any, **__: Any) -> Any:
        return nullcontext(self._report)

    def _report(self, step: int, updates: int) -> None:
        if step >= self._at:
            signal.raise_signal(signal.SIGTERM)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_runs_on_a_gpu_continue_to_the_same_bits(write_case: Write, tmp_path: Path) -> None:
    """Steps are under way there while the host writes samples."""
    time = {"duration": "15 s"}  # 1500 steps; a GPU makes hundreds between two reports
    case, folder = write_case(tmp_path, time=time, run={"backend": "cuda"}), tmp_path / "results"
    groundswell.run(case, folder=tmp_path / "whole")
    for resume, at in ((False, 200), (True, 700)):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted):
            Stop(patch, at)
            groundswell.run(case, resume=resume)
    result = groundswell.run(case, resume=True)
    assert 700 <= result.summary["resumed_at"] < 1500
    assert_same_results(folder, tmp_path / "whole")


@pytest.fixture
def stopped(write_case: Write, tmp_path: Path) -> Path:
    """A case file whose run was stopped half-way; the checkpoint is in `results`."""
    case = write_case(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        Stop(patch, 30)
        assert main(["run", str(case), "-q"]) == 130
    return case


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda data: data[: len(data) // 2], "is damaged"),
        (lambda data: b"not HDF5", "is damaged"),
        (lambda data: data[:-2000] + bytes(2000), "is damaged|hold 0 values"),
    ],
    ids=["truncated", "not HDF5", "zeros at the end"],
)
def test_a_damaged_checkpoint(
    stopped: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[bytes], bytes], told: str
) -> None:
    path = stopped.parent / "results" / checkpoint.NAME
    path.write_bytes(spoil(path.read_bytes()))
    assert main(["run", str(stopped), "-q", "--resume"]) == 2
    assert re.search(told, capsys.readouterr().err)
    path.unlink()
    assert main(["run", str(stopped), "-q", "--no-pictures"]) == 0  # from the beginning


@pytest.mark.most(3)
@pytest.mark.parametrize(
    "changes",
    [
        {"source": explosion_source()},
        {"run": {"precision": "double"}},
        {"output": {"surface": {"stride": 3}}},
        {"output": {"volumes": None}},
        {"output": {"seismograms": {"interval": "0.01 s"}}},
        {"time": {"step": "5 ms"}},
        {"run": {"backend": "cuda"}},
    ],
    ids=json.dumps,
)
def test_a_checkpoint_of_another_case(
    stopped: Path, write_case: Write, capsys: pytest.CaptureFixture[str], changes: dict[str, Any]
) -> None:
    other = write_case(stopped.parent, **changes)
    before = (stopped.parent / "results" / checkpoint.NAME).read_bytes()
    assert main(["run", str(other), "-q", "--resume"]) == 2
    assert "belongs to another case" in capsys.readouterr().err
    assert (stopped.parent / "results" / checkpoint.NAME).read_bytes() == before


def test_nothing_to_resume(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(write_case(tmp_path)), "-q", "--resume"]) == 2
    assert "there is no checkpoint" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_a_checkpoint_whose_samples_are_gone(
    stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (stopped.parent / "results" / "surface.nc.part").unlink()
    assert main(["run", str(stopped), "-q", "--resume"]) == 2
    assert "cannot be continued" in capsys.readouterr().err


def test_an_unfinished_run_is_not_lost_by_forgetting_to_resume(
    stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(stopped), "-q"]) == 2
    assert "unfinished run of this case" in capsys.readouterr().err
    assert main(["run", str(stopped), "-q", "--resume", "--no-pictures"]) == 0


def test_a_changed_case_starts_over(stopped: Path, write_case: Write) -> None:
    other = write_case(stopped.parent, source=explosion_source())
    assert main(["run", str(other), "-q", "--no-pictures", "--overwrite"]) == 0
    assert not (stopped.parent / "results" / checkpoint.NAME).exists()


def test_where_it_runs_and_writes_may_change_in_between(stopped: Path, write_case: Write) -> None:
    moved = stopped.parent / "moved"
    (stopped.parent / "results").rename(moved)
    case = write_case(
        stopped.parent, output={"directory": "moved"}, run={"checkpoint": {"minutes": 1}}
    )
    assert groundswell.run(case, resume=True).summary["resumed_at"] > 0


# --- folders with a history ---------------------------------------------------------------------


def test_results_of_an_earlier_run_are_replaced(write_case: Write, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with_sac = {"seismograms": {"formats": ["hdf5", "sac"]}}
    assert main(["run", str(write_case(tmp_path, output=with_sac)), "-q"]) == 0
    (folder / "notes.txt").write_text("the user's own")
    first = json.loads((folder / "summary.json").read_text())["files"]
    assert {"seismograms.h5", "surface.png", "volumes.vtkhdf"} <= set(first)
    assert any(name.startswith("sac/") for name in first)
    assert all((folder / name).is_file() for name in first)
    less = write_case(tmp_path, output={"surface": None, "volumes": None})
    assert main(["run", str(less), "-q", "--no-pictures", "--overwrite"]) == 0
    second = json.loads((folder / "summary.json").read_text())["files"]
    assert sorted(second) == ["seismograms.h5", "shaking_map.nc"]
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert left == {*second, "summary.json", "notes.txt"}


def test_a_summary_cannot_have_files_elsewhere_deleted(write_case: Write, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    precious = tmp_path / "precious"
    precious.touch()
    (folder / "summary.json").write_text(json.dumps({"files": ["../precious", str(precious)]}))
    groundswell.run(write_case(tmp_path), folder=folder, overwrite=True)
    assert precious.exists()


def test_a_summary_that_is_not_one(write_case: Write, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "summary.json").write_text("{")
    case = write_case(tmp_path)
    with pytest.raises(InputError, match="overwrite"):
        groundswell.run(case, folder=folder)
    assert groundswell.run(case, folder=folder, overwrite=True).summary["steps"] == 100


# --- batch jobs -----------------------------------------------------------------------------------


def test_auto_starts_continues_or_succeeds_at_once(
    write_case: Write, tmp_path: Path, command: Command, reference: Path
) -> None:
    case, folder = write_case(tmp_path, **LONG), tmp_path / "results"

    def stop(step: int, updates: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted, match="--resume"):
        patch.setattr(running, "progress", lambda *_, **__: nullcontext(stop))
        groundswell.run(case, folder=folder, resume="auto")
    result = groundswell.run(case, folder=folder, resume="auto")
    assert result.summary["resumed_at"] > 0
    assert_same_results(folder, reference)
    before = written(folder / "seismograms.h5")
    done = command("run", case, "--output", folder, "--resume=auto", "--no-pictures")
    assert done.returncode == 0 and "holds the complete results" in done.stderr
    assert written(folder / "seismograms.h5") == before


@pytest.mark.parametrize("resume", ["auto", True])
def test_results_of_other_cases_are_kept(write_case: Write, tmp_path: Path, resume: Any) -> None:
    groundswell.run(write_case(tmp_path, time={"duration": "0.5 s"}), folder=tmp_path / "results")
    other = write_case(tmp_path, time={"duration": "0.6 s"})
    with pytest.raises(InputError, match=r"results of another case|no checkpoint"):
        groundswell.run(other, folder=tmp_path / "results", resume=resume)
    with pytest.raises(InputError, match=r'give True, False or "auto"'):
        groundswell.run(other, folder=tmp_path / "results", resume="always")  # type: ignore[arg-type]


def test_runs_in_temporary_folders_name_no_checkpoint(write_case: Write, tmp_path: Path) -> None:
    case = load_case(write_case(tmp_path, **LONG))

    def stop(step: int, updates: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted) as found:
        patch.setattr(running, "progress", lambda *_, **__: nullcontext(stop))
        run_built(case)
    assert "stopped by SIGTERM after step" in str(found.value)
    assert "resume" not in str(found.value) and "/" not in str(found.value)
