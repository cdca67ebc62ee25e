"""Ensembles whose processes are killed or stopped, or whose disk is full, and that are resumed."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from ensemble_plans import (
    children,
    command,
    contents,
    finish,
    groups,
    kill_all,
    start,
    wait_for,
    write_plan,
)
from small_disk import small_disk
from variants import long_variants

pytestmark = pytest.mark.timeout(240)

RUNS = 12


@pytest.fixture(scope="module", params=[RUNS, *long_variants([40])])
def undisturbed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of an ensemble that nothing has disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    code, _, err = command("run", write_plan(folder, request.param), "--workers", "2")
    assert code == 0, err
    assert not list(folder.glob(".*"))
    return folder / "plan.zarr"


def runs_of(store: Path) -> int:
    return len(groups(store))


def made(err: str) -> list[str]:
    """Names of the runs that a command has made."""
    return [line.split()[0] for line in err.splitlines() if " complete in " in line]


def test_a_killed_worker_is_replaced(undisturbed: Path, tmp_path: Path) -> None:
    plan, store = write_plan(tmp_path, runs_of(undisturbed)), tmp_path / "plan.zarr"
    process = start("run", plan, "--workers", "2")
    for done in (2, 5):
        wait_for(lambda done=done: runs_of(store) >= done and children(process), process)  # type: ignore[misc]
        kill_all(children(process)[:1])
    code, _, err = finish(process)
    assert code == 0, err
    assert contents(store) == contents(undisturbed)


def test_a_killed_ensemble_is_resumed(undisturbed: Path, tmp_path: Path) -> None:
    """Parent and workers are killed; only missing runs are made, to the same bits."""
    plan, store = write_plan(tmp_path, runs_of(undisturbed)), tmp_path / "plan.zarr"
    process = start("run", plan, "--workers", "2")
    wait_for(lambda: runs_of(store) >= 4, process)
    kill_all([process.pid, *children(process)])
    finish(process)
    kept = groups(store)
    assert 4 <= len(kept) < runs_of(undisturbed)
    assert all(contents(undisturbed)[name] == data for name, data in contents(store).items())
    code, _, err = command("run", plan, "--workers", "2", "--resume")
    assert code == 0, err
    assert {*made(err)} == groups(undisturbed) - kept and len(made(err)) == len({*made(err)})
    assert contents(store) == contents(undisturbed)
    assert not list(tmp_path.glob(".*"))
    code, _, err = command("run", plan, "--resume")
    assert (code, err) == (0, "")


def test_workers_outlive_a_killed_parent_by_one_run(undisturbed: Path, tmp_path: Path) -> None:
    """Their claims keep them apart from those of the resumed ensemble."""
    plan, store = write_plan(tmp_path, runs_of(undisturbed)), tmp_path / "plan.zarr"
    process = start("run", plan, "--workers", "2")
    wait_for(lambda: runs_of(store) >= 3, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    code, _, err = command("run", plan, "--workers", "2", "--resume")
    assert code == 0, err
    assert contents(store) == contents(undisturbed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_an_ensemble(
    undisturbed: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """Runs that were stopped continue from their checkpoints."""
    plan, store = write_plan(tmp_path, runs_of(undisturbed)), tmp_path / "plan.zarr"
    process = start("run", plan, "--workers", "2")
    wait_for(lambda: runs_of(store) >= 2, process)
    process.send_signal(number)
    code, _, err = finish(process)
    assert code == 130 and f"stopped by {number.name}; continue with --resume" in err
    assert 2 <= runs_of(store) < runs_of(undisturbed)
    assert command("run", plan, "--workers", "2", "--resume")[0] == 0
    assert contents(store) == contents(undisturbed)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 32) as folder:
        yield folder


def test_a_full_disk_stops_an_ensemble(undisturbed: Path, disk: Path) -> None:
    plan, store = write_plan(disk, runs_of(undisturbed)), disk / "plan.zarr"
    process = start("run", plan, "--workers", "2")
    wait_for(lambda: runs_of(store) >= 2, process)
    with (disk / "ballast").open("wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, shutil.disk_usage(disk).free)
    code, _, err = finish(process)
    assert code == 1
    assert "disk full" in err or "the results take" in err
    assert err.rstrip().endswith("then continue with --resume")
    assert 2 <= runs_of(store) < runs_of(undisturbed)
    assert all(contents(undisturbed)[name] == data for name, data in contents(store).items())
    (disk / "ballast").unlink()
    code, _, err = command("run", plan, "--workers", "2", "--resume")
    assert code == 0, err
    assert contents(store) == contents(undisturbed)
