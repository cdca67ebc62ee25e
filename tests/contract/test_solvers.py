"""What every installed solver keeps to, and a solver of another package as well."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import plugin
import pytest
from checked import cost, decomposed, quantities_of
from result_comparison import assert_same_results

import groundswell as gs
from groundswell import registry
from groundswell.case import Case, read_case
from groundswell.case.quantities import Quantity
from groundswell.errors import InputError, Interrupted
from groundswell.report.pictures import draw_pictures, pictures_of
from groundswell.simulation import checkpoint
from groundswell.simulation import run as running
from groundswell.simulation.kernel_groups import groups_of
from groundswell.simulation.preparation import prepare
from groundswell.simulation.solver import DirectSolver, Setup, TimeStepper
from groundswell.simulation.summary import phase_of_steps
from groundswell.verify import load_problem, problem_names

pytestmark = pytest.mark.timeout(300)

SUMMARY = {
    "title", "solver", "started", "case", "warnings", "device", "backend", "ranks", "steps",
    "resumed_at", "throughput", "bytes_per_update", "bandwidth", "wall", "share_of_steps", "files",
    "versions",
}  # fmt: skip
CHECK = {
    "solver", "precision", "memory", "quantities", "warnings", "backend", "device", "memory_free",
    "memory_total", "bandwidth", "seconds_at_least", "has_fixed_steps", "output_bytes", "disk_free",
    "problems",
}  # fmt: skip


@pytest.fixture(scope="module", params=[*registry.names(), plugin.NAME])
def info(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[registry.SolverInfo]:
    """Each solver that is installed, and then the example of another package."""
    if request.param in registry.names():
        yield registry.find(request.param)
        return
    with plugin.available(tmp_path_factory.mktemp("metadata")):
        yield registry.find(request.param)


@pytest.fixture(scope="module")
def case(info: registry.SolverInfo, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The template with a low degree, and a run in time cut short."""
    found = read_case(info.read_template(), tmp_path_factory.mktemp(info.name))
    if getattr(found.time, "duration", None) is not None:
        time = found.time.model_copy(update={"duration": found.time.duration / 5})
        found = found.model_copy(update={"time": time})
    if hasattr(found, "method") and hasattr(found.method, "degree"):
        method = found.method.model_copy(update={"degree": 2})
        found = found.model_copy(update={"method": method})
    return found


@dataclass
class Finished:
    """A run from the template."""

    result: Any
    solver: Any


@pytest.fixture(scope="module")
def finished(case: Case) -> Finished:
    kept: list[Any] = []

    def keeping(*arguments: Any, **options: Any) -> Any:
        opened = open_solver(*arguments, **options)
        kept.append(opened.solver)
        return opened

    open_solver = running.open_solver
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "open_solver", keeping)
        return Finished(gs.run(case), kept[0])


# --- before a run ---------------------------------------------------------------------------------


def test_its_entry_in_the_registry_is_whole(info: registry.SolverInfo) -> None:
    assert info.name in registry.names() and registry.find(info.name) is info
    assert info.title and len(info.title.split()) <= 3
    assert info.summary.endswith(".") and len(info.summary) < 100
    for part in ("case", "prepare", "solver"):
        assert callable(info.load(part))  # type: ignore[arg-type]
    check, cost = info.load("check"), info.load("cost")
    functions = (check.quantities, check.warnings, cost.estimate, cost.decompose)
    assert all(map(callable, functions))
    tables = info.results, info.methods, info.readers, info.converters
    for reference in (each for table in tables for each in table.values()):
        assert callable(info.resolve(reference))
    assert all(suffix.startswith(".") and suffix.islower() for suffix in info.readers)


def test_its_template_loads_and_checks(info: registry.SolverInfo, tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(info.read_template())
    assert len(info.read_template().splitlines()) > 15 and "#" in info.read_template()
    found = gs.check(path)
    assert found["solver"] == info.name and found["problems"] == []
    assert found.keys() >= CHECK
    assert found["memory"] > 0 and found["seconds_at_least"] > 0
    json.dumps(found, allow_nan=False)


def test_quantities_have_unique_keys_units_and_plain_values(case: Case) -> None:
    quantities = quantities_of(prepare(case))
    assert quantities and all(isinstance(quantity, Quantity) for quantity in quantities)
    keys = [quantity.key for quantity in quantities]
    assert len(set(keys)) == len(keys) and all(key.isidentifier() for key in keys)
    labels = [(q.group, q.label) for q in quantities if q.label]
    assert len(set(labels)) == len(labels)
    for quantity in quantities:
        json.dumps(quantity.as_dict(), allow_nan=False)
        if quantity.label:
            assert quantity.as_dict()["text"].strip()
    units = {quantity.key: quantity.unit for quantity in quantities}
    assert units.get("dt", "s") in ("s", "")  # none where all is told in units of the problem
    assert units.get("memory", "B") == "B"


def test_its_set_up_divides_the_work(case: Case) -> None:
    setup: Setup = prepare(case)
    one, four = decomposed(setup, 1), decomposed(setup, 4)
    assert one.updates_per_step == cost(setup).updates_per_step and one.traffic.sum() == 0
    assert four.ranks == len(four.memory) == len(four.traffic) == 4
    assert one.updates_per_step / 4 <= four.updates_per_step < one.updates_per_step
    assert max(four.memory) < one.memory[0] and four.traffic.sum() > 0
    assert not np.diag(four.traffic).any()
    with pytest.raises(InputError):
        decomposed(setup, 1_000_003)


def test_bad_cases_are_told_by_key(info: registry.SolverInfo, tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(info.read_template() + "\n[no_such_section]\nkey = 1\n")
    with pytest.raises(InputError, match="no_such_section: is not a key here"):
        gs.check(path)
    path.write_text(info.read_template())
    with pytest.raises(InputError, match='precision = "half": must be "single" or "double"'):
        gs.check(path, precision="half")


def test_its_problems_with_known_answers_can_be_loaded(info: registry.SolverInfo) -> None:
    if not info.has("problems"):
        pytest.skip("it has none")
    names = problem_names(info.name)
    assert names and len(set(names)) == len(names)
    assert all(callable(load_problem(name)) for name in names)


# --- a run ----------------------------------------------------------------------------------------


def test_a_run_leaves_its_summary(finished: Finished, case: Case) -> None:
    result = finished.result
    assert result.folder == case.resolve(case.output.directory)
    summary = json.loads((result.folder / "summary.json").read_text())
    assert summary == result.summary and summary.keys() >= SUMMARY
    wall = summary["wall"]
    assert summary["share_of_steps"] == pytest.approx(
        wall[phase_of_steps(wall)] / sum(wall.values())
    )
    assert summary["solver"] == case.solver and summary["resumed_at"] == 0
    assert 0 < summary["steps"] <= prepare(case).steps
    assert summary["throughput"]["value"] > 0 and summary["throughput"]["unit"]
    assert summary["ranks"]["count"] == 1
    assert summary["files"] and all((result.folder / name).is_file() for name in summary["files"])
    left = {path.name for path in result.folder.iterdir() if path.suffix != ".png"}
    assert left == {"summary.json", *(name.split("/")[0] for name in summary["files"])}


def test_a_run_leaves_shares_of_groups_of_kernels(
    finished: Finished, info: registry.SolverInfo
) -> None:
    found = finished.result.summary["kernel_groups"]
    assert re.fullmatch(r"(step|iteration) \d+|(step|iteration)s \d+ to \d+", found["timed"])
    shares = found["shares"]
    assert sum(shares.values()) == pytest.approx(1) and min(shares.values()) > 0
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert set(shares) & set(groups_of(info.name).values()) or info.name == "cavity"


def test_its_parts_are_what_they_say(finished: Finished) -> None:
    solver = finished.solver
    assert isinstance(solver, TimeStepper) is not isinstance(solver, DirectSolver)
    assert solver.status(finished.result.summary["steps"])
    for field in solver.distributed_fields().values():
        assert all(here for here, _ in field.own) and field.array.size
        assert sum(field.array[here].size for here, _ in field.own) == np.prod(field.shape)


def test_its_pictures_are_drawn(finished: Finished, info: registry.SolverInfo) -> None:
    warnings: list[str] = []
    drawn = draw_pictures(finished.result.folder, warnings.append)
    assert (
        drawn
        and not warnings
        and {path.name for path in drawn} <= {p.file for p in pictures_of(info.name)}
    )
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def test_readers_of_results_work(finished: Finished, info: registry.SolverInfo) -> None:
    result = finished.result
    assert info.results and set(info.results) <= set(dir(result))
    readable = [name for name in info.results if is_recorded(result, name)]
    assert readable
    for name in readable:
        found = getattr(result, name)
        assert found is getattr(result, name)  # read once
        assert len(found) > 0
    with pytest.raises(AttributeError, match="have no 'no_such_reader'; they have summary"):
        _ = result.no_such_reader


def is_recorded(result: Any, name: str) -> bool:
    """Whether the run has recorded what a reader reads; if not, the error names a key of cases."""
    try:
        return getattr(result, name) is not None
    except InputError as error:
        assert "run the case with " in str(error)
        return False


def stop_at_once(case: Case, folder: Path) -> None:
    """Run a case until it has made some steps."""

    def stop(step: int, updates: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted, match="--resume"):
        patch.setattr(running, "progress", lambda *_, **__: nullcontext(stop))
        gs.run(case, folder=folder)


def test_a_stopped_run_resumes_to_the_same_bits(
    finished: Finished, case: Case, tmp_path: Path
) -> None:
    if not isinstance(finished.solver, TimeStepper):
        pytest.skip("it keeps no checkpoints")
    stop_at_once(case, tmp_path)
    assert (tmp_path / checkpoint.NAME).is_file() and not (tmp_path / "summary.json").exists()
    result = gs.run(case, folder=tmp_path, resume=True)
    assert 0 < result.summary["resumed_at"] < result.summary["steps"]
    assert result.summary["steps"] == finished.result.summary["steps"]
    assert_same_results(tmp_path, finished.result.folder)


@pytest.mark.most(3)
def test_samples_that_were_changed_are_not_continued(
    finished: Finished, case: Case, tmp_path: Path
) -> None:
    """Every growing file of every solver: one bit of one dataset."""
    if not isinstance(finished.solver, TimeStepper):
        pytest.skip("it keeps no checkpoints")
    stop_at_once(case, tmp_path)
    rng = np.random.default_rng(5)
    for path in tmp_path.glob("*.part"):
        kept = path.read_bytes()
        with h5py.File(path, "r+") as file:
            change_a_bit(rng.choice(list(numeric_datasets(file))), file, rng)
        with pytest.raises(InputError, match=rf"{path.name} was changed after the checkpoint"):
            gs.run(case, folder=tmp_path, resume=True)
        path.write_bytes(kept)
    gs.run(case, folder=tmp_path, resume=True)
    assert_same_results(tmp_path, finished.result.folder)


def numeric_datasets(file: h5py.File) -> list[str]:
    """Names of the datasets that hold numbers."""
    found: list[str] = []
    file.visititems(
        lambda name, item: (
            found.append(name)
            if isinstance(item, h5py.Dataset) and item.size and item.dtype.kind in "fiu"
            else None
        )
    )
    return found


def change_a_bit(name: str, file: h5py.File, rng: np.random.Generator) -> None:
    values = np.array(file[name])
    raw = values.reshape(-1).view(np.uint8)
    raw[rng.integers(raw.size)] ^= 1
    file[name][()] = values
