"""Results folders that cannot be written, are in use, or hold what an earlier run left."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from small_cases import write_small_case
from variants import long_variants

import groundswell as gs
from groundswell.cli import main
from groundswell.cli.results import with_pictures
from groundswell.errors import InputError, Interrupted, RunFailed
from groundswell.simulation import checkpoint
from groundswell.simulation.folder_lock import NAME, locked
from groundswell.simulation.run_files import STAGING

pytestmark = [pytest.mark.each_value, pytest.mark.timeout(120)]

Start = Callable[..., subprocess.Popen[str]]
Captured = pytest.CaptureFixture[str]


def names(folder: Path) -> set[str]:
    """Paths of all files in a folder, relative to it; none if there is no folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


# --- paths that cannot be written -----------------------------------------------------------------


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """A folder with a file and broken links."""
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere/there")
    (tmp_path / "circle").symlink_to("circle")
    return tmp_path


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("n" * 300, "File name too long; use a shorter path"),
        ("/".join(["n" * 200] * 30), "File name too long; use a shorter path"),
        ("file", "a part of the path is not a folder"),
        ("file/below", "a part of the path is not a folder"),
        ("dangling", "a file or a broken link has this name"),
        ("dangling/below", "a file or a broken link has this name"),
        ("circle", "its symbolic links form a circle"),
        ("/proc/results", "its folder was removed or cannot hold files"),
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_folder_that_cannot_be_made_is_bad_input(
    places: Path, capsys: Captured, command: str, place: str, told: str
) -> None:
    before = names(places)
    case = write_small_case(places, "poisson", output={"directory": place})
    assert main([command, str(case)]) == 2
    error = capsys.readouterr().err.removeprefix("Reading the case\n")  # if that takes a second
    assert "cannot be written" in error and told in error
    assert len(error.splitlines()) == 1 and len(error) < 600
    assert names(places) == before | {"case.toml"}


@pytest.mark.parametrize("name", ["a\0b", "\ud800"], ids=ascii)
def test_a_name_that_no_folder_can_have_is_bad_input(tmp_path: Path, name: str) -> None:
    case = write_small_case(tmp_path, "poisson")
    with pytest.raises(InputError, match="is not the name of a folder"):
        gs.run(case, folder=tmp_path / name)


def test_a_folder_may_have_any_other_name(tmp_path: Path) -> None:
    case = write_small_case(tmp_path, "poisson")
    for name in ("a\nb", " ", "é\udcff", "n" * 255, "-"):
        assert gs.run(case, folder=tmp_path / name).summary["steps"] == 1


@pytest.mark.parametrize("command", ["new poisson", "report"])
def test_names_that_are_too_long_are_bad_input_of_other_commands(
    tmp_path: Path, capsys: Captured, command: str
) -> None:
    assert main([*command.split(), str(tmp_path / ("n" * 300))]) == 2
    assert "bug" not in capsys.readouterr().err


# --- folders in use -------------------------------------------------------------------------------


def test_a_folder_in_use_is_refused_with_the_name_of_the_process(
    tmp_path: Path, capsys: Captured
) -> None:
    case, folder = write_small_case(tmp_path, "poisson"), tmp_path / "results"
    with locked(folder):
        assert main(["run", str(case), "-q"]) == 2
        assert names(folder) == {NAME}
    told = rf"another run \(process {os.getpid()} on .+, since .+\) is writing to .*results; wait"
    assert re.search(told, capsys.readouterr().err)
    assert not folder.exists()  # it is still empty
    assert main(["run", str(case), "-q", "--no-pictures"]) == 0


def test_pictures_are_not_drawn_into_a_folder_in_use(tmp_path: Path, capsys: Captured) -> None:
    folder = gs.run(write_small_case(tmp_path, "poisson")).folder
    with locked(folder):
        files = with_pictures(folder, quiet=True)["files"]
    assert "solution.png" not in names(folder) | set(files)
    assert "no pictures: another run (process" in capsys.readouterr().err
    assert "solution.png" in with_pictures(folder, quiet=True)["files"]


def test_a_folder_created_in_vain_is_removed_with_its_new_parents(tmp_path: Path) -> None:
    with locked(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert names(tmp_path) == set() and not (tmp_path / "a").exists()
    with locked(tmp_path):
        pass
    assert tmp_path.exists()


def test_a_lock_file_that_its_owner_removes_meanwhile_locks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that opens the file just before another removes it must not believe that it has it."""
    from groundswell.simulation import folder_lock

    real, removed = folder_lock._require_lock, []

    def lock(descriptor: int, folder: Path) -> None:
        real(descriptor, folder)
        if not removed:
            (folder / NAME).unlink()
            removed.append(True)

    monkeypatch.setattr(folder_lock, "_require_lock", lock)
    with locked(tmp_path):
        assert (tmp_path / NAME).exists()
        with pytest.raises(InputError, match="another run"), locked(tmp_path):
            pass


def test_a_file_system_without_locks_is_used_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    with locked(tmp_path):
        pass
    assert names(tmp_path) == set()


@pytest.mark.parametrize("count", [2, *long_variants([2, 2, 4, 4, 4])])
def test_of_runs_that_start_in_the_same_instant_exactly_one_runs(
    tmp_path: Path, start: Start, count: int
) -> None:
    case = write_small_case(tmp_path, "earthquake", time={"duration": "3 s"})
    runs = [start("run", case, "-q", "--no-pictures") for _ in range(count)]
    ends = [run.communicate(timeout=100)[1] for run in runs]
    assert sorted(run.returncode for run in runs) == [0] + [2] * (count - 1), ends
    for run, told in zip(runs, ends, strict=True):
        assert run.returncode == 0 or "is writing to" in told, told
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert names(tmp_path / "results") == {*summary["files"], "summary.json"}


def test_a_killed_run_leaves_no_lock(tmp_path: Path, start: Start) -> None:
    case = write_small_case(tmp_path, "earthquake", time={"duration": "200 s"})
    run, lock = start("run", case, "-q"), tmp_path / "results" / NAME
    until = time.monotonic() + 60
    while not (lock.exists() and lock.read_text()):
        assert time.monotonic() < until and run.poll() is None
        time.sleep(0.01)
    run.kill()
    run.communicate()
    assert lock.exists()
    with locked(lock.parent):
        assert f"process {os.getpid()} " in lock.read_text()
    assert not lock.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_a_run_that_is_stopped_before_its_first_step_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def stop(*_: object, **__: object) -> None:
        signal.raise_signal(number)

    monkeypatch.setattr("groundswell.simulation.run.open_solver", stop)
    case = write_small_case(tmp_path, "poisson")
    with pytest.raises(Interrupted, match=f"stopped by {number.name}; nothing has been written"):
        gs.run(case)
    assert not (tmp_path / "results").exists()


# --- what an earlier run left ---------------------------------------------------------------------


def test_results_of_the_same_case_are_replaced(tmp_path: Path) -> None:
    case = write_small_case(tmp_path, "poisson")
    first = gs.run(case).summary["started"]
    time.sleep(1.1)
    assert gs.run(case).summary["started"] > first


def test_results_of_another_case_are_replaced_on_request_only(
    tmp_path: Path, capsys: Captured
) -> None:
    case, folder = write_small_case(tmp_path, "poisson"), tmp_path / "results"
    gs.run(case)
    before = {name: (folder / name).read_bytes() for name in names(folder)}
    changed = write_small_case(tmp_path, "poisson", method={"degree": 3})
    assert main(["run", str(changed), "-q", "--no-pictures"]) == 2
    error = capsys.readouterr().err
    assert '"small poisson", run of ' in error and 'backend "cpu")' in error
    assert "--overwrite" in error
    assert {name: (folder / name).read_bytes() for name in names(folder)} == before
    with pytest.raises(InputError, match="overwrite=True"):
        gs.run(changed)
    assert main(["run", str(changed), "-q", "--no-pictures", "--overwrite"]) == 0
    assert gs.run(changed).summary["case"]["digest"] not in before["summary.json"].decode()


def stopped(case: Path) -> Path:
    """The folder of a run that was stopped after some steps."""

    def stop(step: int, updates: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr("groundswell.simulation.run.progress", lambda *_, **__: nullcontext(stop))
        gs.run(case)
    return case.parent / "results"


def test_an_unfinished_run_of_another_case_is_replaced_on_request_only(
    tmp_path: Path, capsys: Captured
) -> None:
    folder = stopped(write_small_case(tmp_path, "earthquake"))
    other = write_small_case(tmp_path, "poisson")
    assert main(["run", str(other), "-q", "--no-pictures"]) == 2
    error = capsys.readouterr().err
    assert "unfinished run of another case" in error and "--overwrite" in error
    assert (folder / checkpoint.NAME).exists()
    assert main(["run", str(other), "-q", "--no-pictures", "--overwrite"]) == 0
    assert not (folder / checkpoint.NAME).exists()


def test_an_unfinished_run_can_be_started_again(tmp_path: Path, capsys: Captured) -> None:
    case = write_small_case(tmp_path, "earthquake")
    folder = stopped(case)
    assert main(["run", str(case), "-q", "--no-pictures"]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(["run", str(case), "-q", "--no-pictures", "--overwrite"]) == 0
    assert json.loads((folder / "summary.json").read_text())["resumed_at"] == 0
    with pytest.raises(InputError, match="give one of them"):
        gs.run(case, resume=True, overwrite=True)


def test_a_new_run_removes_the_incomplete_files_of_a_killed_one(tmp_path: Path) -> None:
    case, folder = write_small_case(tmp_path, "poisson"), tmp_path / "results"
    (folder / STAGING).mkdir(parents=True)
    for name in ("volumes.vtkhdf.part", ".summary.json.part", f"{STAGING}/.line.nc.part", "mine"):
        (folder / name).touch()
    summary = gs.run(case).summary
    assert names(folder) == {*summary["files"], "summary.json", "mine"}


def test_a_run_among_results_of_another_case_can_be_resumed(tmp_path: Path) -> None:
    gs.run(write_small_case(tmp_path, "poisson"))
    case = write_small_case(tmp_path, "earthquake")

    def stop(step: int, updates: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr("groundswell.simulation.run.progress", lambda *_, **__: nullcontext(stop))
        gs.run(case, overwrite=True)
    summary = gs.run(case, resume=True).summary
    assert summary["solver"] == "earthquake"
    assert names(tmp_path / "results") == {*summary["files"], "summary.json"}


def test_a_failure_at_the_end_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The results of the earlier run stay whole; those of the failed one have temporary names."""
    case, folder = write_small_case(tmp_path, "earthquake"), tmp_path / "results"
    gs.run(case)
    before = {name: (folder / name).read_bytes() for name in names(folder)}

    def fail(*_: object) -> None:
        raise RunFailed("no more room")

    changed = write_small_case(tmp_path, "earthquake", boundary={"width": 5})
    with monkeypatch.context() as patch:
        patch.setattr("groundswell.seismology.formats.export.write_sac", fail)
        assert main(["run", str(changed), "-q", "--overwrite"]) == 1
    assert "no more room" in capsys.readouterr().err
    after = names(folder)
    assert {name: (folder / name).read_bytes() for name in before} == before
    added = after - before.keys()
    assert all(".part" in name or name.startswith(checkpoint.NAME) for name in added)
    assert ".results.part/shaking_map.nc" in added  # it may have taken days
    gs.run(changed, resume=True)
    assert names(folder) == before.keys()
