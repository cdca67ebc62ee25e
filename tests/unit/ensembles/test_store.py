"""The store: groups that are whole or absent, what they contain, and how they are read."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from ensemble_plans import contents, groups, write_plan
from here_executor import HereExecutor

import groundswell as gs
from groundswell import ensembles
from groundswell.ensembles import datasets, store, worker
from groundswell.ensembles.base_case import BaseCase
from groundswell.ensembles.commands import Status
from groundswell.ensembles.datasets import write_zarr
from groundswell.ensembles.store import LOG, Store
from groundswell.errors import DiskFull, InputError, Unstable
from groundswell.formats.atomic import sync
from groundswell.simulation.folder_lock import FolderLocked
from groundswell.simulation.preparation import case_digest

RUNS = 3


def run_here(plan: Path, **options: Any) -> Status:
    return ensembles.run(plan, executor=HereExecutor, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plan and its complete store."""
    folder = tmp_path_factory.mktemp("ensemble")
    run_here(write_plan(folder, RUNS))
    return folder


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy of this folder; returns the plan."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path / "plan.toml"


# --- groups ---------------------------------------------------------------------------------------


def test_a_group_has_the_results_of_a_single_run(folder: Path, tmp_path: Path) -> None:
    case = BaseCase.of(ensembles.load_plan(folder / "plan.toml"))
    alone = case.case({"source.0.depth": "405 m"})
    expected = gs.run(alone, folder=tmp_path / "alone").seismograms
    found = xarray.open_zarr(folder / "plan.zarr" / "run-0002" / "seismograms")
    assert np.array_equal(found.seismograms, expected) and float(abs(expected).max()) > 0
    assert found.seismograms.attrs["units"] == expected.attrs["units"]
    about = Store(folder / "plan.zarr").attributes("run-0002")
    assert about is not None
    assert about["status"] == "complete" and about["settings"] == {"source.0.depth": "405 m"}
    assert about["digest"] == case_digest(alone)
    assert about["case"]["source"][0]["depth"] == 405
    assert about["summary"]["steps"] == 100 and about["summary"]["solver"] == "earthquake"


def test_only_the_log_knows_time_and_place(folder: Path, tmp_path: Path) -> None:
    """Another ensemble of the same plan has the same files."""
    plan = write_plan(tmp_path, RUNS)
    run_here(plan)
    assert contents(tmp_path / "plan.zarr") == contents(folder / "plan.zarr")
    log = Store(folder / "plan.zarr").log("run-0001")
    assert log["seconds"] > 0 and log["host"] and log["run"]["wall"]["time steps"] > 0


def test_a_write_that_fails_leaves_no_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each file that is flushed, and between the datasets."""
    opened = Store(tmp_path / "a.zarr")
    opened.create({})
    before = contents(opened.path)
    found = {name: xarray.Dataset({name: ("x", np.arange(5.0))}) for name in ("a", "b")}
    for fails_at in range(0, 12, 3):
        calls = iter(range(100))

        def full(path: Path, calls: Any = calls, fails_at: int = fails_at) -> None:
            if "run" in str(path) and next(calls) == fails_at:
                raise OSError(28, "No space left on device")
            sync(path)

        monkeypatch.setattr(store, "sync", full)
        with pytest.raises(DiskFull):
            opened.write("run", {"status": "complete"}, {}, found)
        assert contents(opened.path) == before and opened.attributes("run") is None
        assert not list((opened.work / "parts").iterdir())
    monkeypatch.setattr(store, "sync", sync)
    opened.write("run", {"status": "complete"}, {}, found)
    assert xarray.open_zarr(opened.path / "run" / "b").b.values.tolist() == [0, 1, 2, 3, 4]


def test_the_first_of_two_writers_of_a_group_wins(tmp_path: Path) -> None:
    opened = Store(tmp_path / "a.zarr")
    opened.create({})
    opened.create({"title": "another"})
    for n in (1, 2):
        opened.write("run", {"status": n}, {"written": n})
    assert opened.attributes("run") == {"status": 1} and opened.log("run") == {"written": 2}


def test_attributes_are_json(tmp_path: Path) -> None:
    opened = Store(tmp_path / "a.zarr")
    opened.create({})
    given = {"a": np.float32(0.5), "b": [np.arange(2)], "c": float("inf"), "d": Path("x")}
    opened.write("run", given, {})
    assert opened.attributes("run") == {"a": 0.5, "b": [[0, 1]], "c": "inf", "d": "x"}


def test_a_claim_keeps_others_away(tmp_path: Path) -> None:
    opened = Store(tmp_path / "a.zarr")
    with opened.claimed("run"):
        with pytest.raises(FolderLocked, match="another run"), opened.claimed("run"):
            pass
        opened.remove_work()
        assert opened.work.exists()
    opened.remove_work()
    assert not opened.work.exists()


@pytest.mark.parametrize("content", ["", "{}", '{"attributes": {"format": "other"}}'])
def test_a_folder_that_is_no_store(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.zarr"
    path.mkdir()
    (path / "zarr.json").write_text(content)
    with pytest.raises(InputError, match=r"is not the store|damaged"):
        ensembles.status(path)
    with pytest.raises(InputError, match=r"is not the store|damaged"):
        ensembles.status(tmp_path / "none.zarr")


def test_a_group_without_its_metadata_is_damaged(copied: Path) -> None:
    """It could not be replaced by another run of the same name."""
    group = copied.with_suffix(".zarr") / "run-0002"
    (group / "zarr.json").unlink()
    told = r"zarr\.json is missing; remove .*run-0002 and continue with --resume"
    for act in (lambda: ensembles.status(group.parent), lambda: run_here(copied, resume=True)):
        with pytest.raises(InputError, match=told):
            act()
    shutil.rmtree(group)
    assert run_here(copied, resume=True).counts["complete"] == RUNS


def test_a_store_that_cannot_be_written_stops_the_ensemble(copied: Path) -> None:
    """It is no claim of another process, for which a worker would wait."""
    shutil.rmtree(copied.with_suffix(".zarr") / "run-0002")
    (copied.parent / ".plan.zarr.work").touch()  # where a folder should be
    with pytest.raises(InputError, match="a part of the path is not a folder"):
        run_here(copied, resume=True)


def test_large_arrays_have_several_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "CHUNK_BYTES", 100)
    values = np.random.default_rng(4).normal(size=(7, 3, 2))
    content = xarray.Dataset({"v": (("t", "y", "x"), values), "n": ((), 3.0)})
    write_zarr(tmp_path / "a.zarr", "g", content)
    assert len(list((tmp_path / "a.zarr" / "g" / "v" / "c").iterdir())) == 4
    assert xarray.open_zarr(tmp_path / "a.zarr" / "g").identical(content)


# --- resuming -------------------------------------------------------------------------------------


def test_a_store_is_not_replaced(copied: Path) -> None:
    with pytest.raises(InputError, match="exists already; continue it with --resume"):
        run_here(copied)


def test_resume_makes_missing_runs_alone(copied: Path, folder: Path) -> None:
    shutil.rmtree(copied.with_suffix(".zarr") / "run-0002")
    made: list[str] = []
    found = run_here(copied, resume=True, report=lambda outcome: made.append(outcome.name))
    assert made == ["run-0002"] and found.counts == {"complete": RUNS, "failed": 0, "missing": 0}
    assert contents(copied.with_suffix(".zarr")) == contents(folder / "plan.zarr")


def test_a_plan_may_grow(copied: Path) -> None:
    write_plan(copied.parent, RUNS + 1)
    made: list[str] = []
    run_here(copied, resume=True, report=lambda outcome: made.append(outcome.name))
    assert made == ["run-0004"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"405 m"', '"406 m"', r"1 run of .*\n  run-0002: source.0.depth was 405.0 and is 406.0"),
        ("case.toml", "other.toml", r"3 runs of .*\n  run-0001: title was small earthquake and is"),
    ],
)
def test_changed_cases_are_told(copied: Path, old: str, new: str, told: str) -> None:
    before = contents(copied.with_suffix(".zarr"))
    text = (copied.parent / "case.toml").read_text()
    (copied.parent / "other.toml").write_text(text.replace("small", "other"))
    copied.write_text(copied.read_text().replace(old, new))
    with pytest.raises(InputError, match=told):
        run_here(copied, resume=True)
    assert contents(copied.with_suffix(".zarr")) == before


def test_a_failed_run_stays_until_it_is_retried(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not stop the others; `resume` leaves it alone."""
    plan = write_plan(tmp_path, RUNS)

    def unstable(case: Any, folder: Path, **options: Any) -> Any:
        if case.source[0].depth == 405:
            raise Unstable(f"vx is infinite; see {folder}/case.toml")
        return gs.run(case, folder=folder, **options)

    with monkeypatch.context() as patch:
        patch.setattr(worker, "run", unstable)
        found = run_here(plan)
    assert found.states == {"run-0001": "complete", "run-0002": "failed", "run-0003": "complete"}
    assert found.messages == {"run-0002": "vx is infinite; see run-0002/case.toml"}
    assert list(ensembles.open(tmp_path / "plan.zarr").run.values) == ["run-0001", "run-0003"]
    made: list[str] = []
    options: Any = {"executor": HereExecutor, "report": lambda outcome: made.append(outcome.name)}
    ensembles.run(plan, resume=True, **options)
    assert made == []
    with pytest.raises(InputError, match="run-0001 has not failed; the failed runs are run-0002"):
        ensembles.retry(plan, ["run-0001"], **options)
    ensembles.retry(plan, **options)
    assert made == ["run-0002"]
    assert contents(tmp_path / "plan.zarr") == contents(folder / "plan.zarr")


# --- reading --------------------------------------------------------------------------------------


def test_all_runs_are_one_dataset(folder: Path) -> None:
    found = ensembles.open(folder / "plan.zarr")
    assert found.seismograms.dims == ("run", "station", "component", "time")
    assert found["source.0.depth"].values.tolist() == ["400 m", "405 m", "410 m"]
    second = xarray.open_zarr(folder / "plan.zarr" / "run-0002" / "seismograms")
    assert np.array_equal(found.seismograms.sel(run="run-0002"), second.seismograms)
    tree = xarray.open_datatree(folder / "plan.zarr", engine="zarr", consolidated=False)
    assert {*tree.children} == {*groups(folder / "plan.zarr"), LOG}
    with pytest.raises(InputError, match='no "seismogram"; it has seismograms'):
        ensembles.open(folder / "plan.zarr", "seismogram")


def test_variables_of_other_shapes_are_left_out(tmp_path: Path) -> None:
    opened = Store(tmp_path / "a.zarr")
    opened.create({})
    for n in (1, 2):
        content = {"same": ("x", [1.0, n]), "other": ("y", np.zeros(n)), "at": ("x", [1.0, 2.0])}
        found = xarray.Dataset(content, coords={"x": [0, 1]})
        about = {"status": "complete", "settings": {"a": n}}
        opened.write(f"run-{n}", about, {}, {"d": found})
    stacked = ensembles.open(opened.path)
    assert {*stacked.data_vars} == {"same", "at"} and stacked.attrs["left_out"] == ["other"]
    assert stacked.same.values.tolist() == [[1, 1], [1, 2]] and stacked.a.values.tolist() == [1, 2]


def test_export(folder: Path, tmp_path: Path) -> None:
    files = ensembles.export(folder / "plan.zarr", tmp_path / "runs.csv", tmp_path / "nc")
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [f"run-000{n}" for n in (1, 2, 3)]
    assert rows[1]["source.0.depth"] == "405 m" and rows[1]["summary.steps"] == "100"
    assert float(rows[1]["seconds"]) > 0
    names = [path.relative_to(tmp_path).as_posix() for path in files]
    assert names == ["runs.csv", *(f"nc/run-000{n}/seismograms.nc" for n in (1, 2, 3))]
    stored = xarray.open_zarr(folder / "plan.zarr" / "run-0001" / "seismograms")
    assert np.array_equal(xarray.load_dataset(files[1]).seismograms, stored.seismograms)


def test_metadata_are_readable_json(folder: Path) -> None:
    for path in (folder / "plan.zarr").rglob("zarr.json"):
        assert json.loads(path.read_text())["zarr_format"] == 3
