"""Ensembles whose processes are killed or stopped, or whose disk is full, and that are resumed."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
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

RUNS = 6


@pytest.fixture(scope="module", params=[RUNS, *long_variants([40])])
def undisturbed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of an ensemble that nothing has disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    code, _, err = command("run", write_plan(folder, request.param), "--workers", "1")
    assert code == 0, err
    assert not list(folder.glob(".*"))
    return folder / "plan.zarr"


@pytest.fixture
def plan(undisturbed: Path, tmp_path: Path) -> Path:
    """The same plan in another folder."""
    return write_plan(tmp_path, len(groups(undisturbed)))


def made(err: str) -> list[str]:
    """Names of the runs that a command has made."""
    return [line.split()[0] for line in err.splitlines() if " complete in " in line]


def assert_part(store: Path, whole: Path) -> None:
    """Check that the groups that a store has are whole, and not all of them are there."""
    found, expected = contents(store), contents(whole)
    assert groups(store) < groups(whole)
    begun = {name for name in expected if name.split("/")[0] in groups(store)}
    assert {name: data for name, data in found.items() if "/" in name} == {
        name: expected[name] for name in begun
    }


def resume(plan: Path, undisturbed: Path, *options: str) -> list[str]:
    """Resume an ensemble, to the same bits; returns the names of the runs that were made."""
    code, _, err = command("run", plan, "--resume", *options)
    assert code == 0, err
    assert contents(plan.with_suffix(".zarr")) == contents(undisturbed)
    assert not list(plan.parent.glob(".*"))
    return made(err)


def test_killed_workers_and_a_killed_ensemble(undisturbed: Path, plan: Path) -> None:
    """A killed worker is replaced; if all were killed, the missing runs are made, and no others."""
    store = plan.with_suffix(".zarr")
    process = start("run", plan, "--workers", "2")
    wait_for(lambda: groups(store) and children(process), process)
    kill_all(children(process)[:1])
    wait_for(lambda: len(groups(store)) >= 3, process)
    kill_all([process.pid, *children(process)])
    finish(process)
    assert_part(store, undisturbed)
    lacking = groups(undisturbed) - groups(store)
    assert sorted(resume(plan, undisturbed, "--workers", "2")) == sorted(lacking)


@pytest.mark.full
def test_workers_outlive_a_killed_parent_by_one_run(undisturbed: Path, plan: Path) -> None:
    """Their claims keep them apart from those of the resumed ensemble."""
    store = plan.with_suffix(".zarr")
    process = start("run", plan, "--workers", "2")
    wait_for(lambda: len(groups(store)) >= 3, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert resume(plan, undisturbed)
    assert resume(plan, undisturbed) == []


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_an_ensemble(undisturbed: Path, plan: Path, number: signal.Signals) -> None:
    """Runs that were stopped continue from their checkpoints."""
    store = plan.with_suffix(".zarr")
    process = start("run", plan, "--workers", "1")
    wait_for(lambda: len(groups(store)) >= 2, process)
    process.send_signal(number)
    code, _, err = finish(process)
    assert code == 130 and f"stopped by {number.name}; continue with --resume" in err
    assert_part(store, undisturbed)
    assert resume(plan, undisturbed, "--workers", "1")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 MiB."""
    with small_disk(tmp_path / "disk", 32) as folder:
        yield folder


@pytest.mark.full
def test_a_full_disk_stops_an_ensemble(undisturbed: Path, disk: Path) -> None:
    plan, store = write_plan(disk, len(groups(undisturbed))), disk / "plan.zarr"
    process = start("run", plan, "--workers", "1")
    wait_for(lambda: len(groups(store)) >= 2, process)
    fill(disk)
    code, _, err = finish(process)
    assert code == 1
    assert re.search(r"disk full while writing|the results take .* but .* are free", err)
    assert err.rstrip().endswith("then continue with --resume")
    assert_part(store, undisturbed)
    (disk / "ballast").unlink()
    assert resume(plan, undisturbed, "--workers", "1")


def fill(disk: Path) -> None:
    """Take all room that is left, also what a worker frees meanwhile."""
    descriptor = os.open(disk / "ballast", os.O_RDWR | os.O_CREAT)
    while (free := shutil.disk_usage(disk).free) > 0:
        with suppress(OSError):
            size = os.fstat(descriptor).st_size
            os.posix_fallocate(descriptor, size, free)
    os.close(descriptor)
