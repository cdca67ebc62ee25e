"""`groundswell reproduce`: what is measured, and what happens if something fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from ranks import COMMAND, run_on_ranks
from reproduced_tides import TIDES, run
from thread_ranks import run_on_threads

from groundswell.bench import Benchmark
from groundswell.cli import main
from groundswell.reproduction import Options
from groundswell.reproduction.runs import run_documents

Capture = pytest.CaptureFixture[str]
BROKEN = replace(TIDES, prepare=lambda session: {"gone": 1 / 0})
WORKING = replace(TIDES, tables=[table for table in TIDES.tables if table.name != "floods"])


@contextmanager
def only(benchmark: Benchmark) -> Iterator[None]:
    """Make this the only benchmark, with the name `tides`."""
    with ExitStack() as stack:
        for module in ("groundswell.reproduction", "groundswell.reproduction.runs"):
            stack.enter_context(patch(f"{module}.benchmark", lambda name: benchmark))
        stack.enter_context(patch("groundswell.reproduction.runs.subjects", lambda: ["tides"]))
        yield


def command(folder: Path, *arguments: str) -> tuple[int, dict[str, str]]:
    """The exit code, and the status of each item."""
    code = main(["reproduce", "--backend", "cpu", "--output", str(folder), *arguments])
    [found] = json.loads((folder / "reproduction.json").read_text())["documents"]
    return code, {item["source"][-1]: item["status"] for item in found["items"]}


def test_a_failing_item_does_not_stop_the_others(tmp_path: Path, capsys: Capture) -> None:
    with only(TIDES):
        code, found = command(tmp_path)
    status = dict.fromkeys("345", "not run here") | {"1": "measured", "2": "failed"}
    assert (code, found) == (1, status)
    said = capsys.readouterr()
    assert "failed: tides, Table 2: floods: ValueError: low water" in said.err
    assert "1 measured, 3 not run here, 1 failed" in said.out
    page = (tmp_path / "reproduction.html").read_text()
    assert "ValueError: low water" in page and ">4.0</td>" not in page


def test_only_tables_of_the_document_are_measured(tmp_path: Path) -> None:
    with only(TIDES):
        command(tmp_path, "--quick")
    found = json.loads((tmp_path / "bench_tides.json").read_text())
    assert [row["height"] for row in found["heights"]] == [4.0, 3.0]  # a small size
    assert (found["scale"], found["unused"]) == ("quick", [])
    assert list(found["failures"]) == ["floods"]


def test_nothing_failed(tmp_path: Path) -> None:
    with only(WORKING):
        code, found = command(tmp_path)
    assert (code, found["1"]) == (0, "measured")


def test_a_benchmark_that_cannot_begin(tmp_path: Path, capsys: Capture) -> None:
    with only(BROKEN):
        code, found = command(tmp_path)
    assert code == 1 and found["1"] == found["2"] == "failed"
    assert "Table 1: ZeroDivisionError" in capsys.readouterr().err


def test_measurements_of_another_machine(tmp_path: Path, capsys: Capture) -> None:
    """In a page of their own, or beside those of this one; a failure there is none here."""
    tmp_path.joinpath("there").mkdir()
    rows, ranks = [{"port": "Aber", "height": 7.0, "share": 0.25}], (1, 2)
    paths = [tmp_path / "there" / f"bench_tides_{n}.json" for n in ranks]
    for path, n in zip(paths, ranks, strict=True):
        there = run(heights=rows, failures={"floods": "wind"}, devices=["Slide rule"] * n, ranks=n)
        path.write_text(json.dumps(there))
    with only(WORKING):
        code, _ = command(tmp_path / "out", "--no-run", "--merge", *map(str, paths))
        page = (tmp_path / "out" / "reproduction.html").read_text()
        assert code == 0 and page.count(">7.0</td>") == 2 and "Abacus" not in page
        code, _ = command(tmp_path / "out", "--merge", str(paths[0].parent))
    [found] = json.loads((tmp_path / "out" / "reproduction.json").read_text())["documents"]
    assert [each["here"] for each in found["runs"]] == [True, False, False]
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["tide"], 'there is no document for "tide"; use tides'),
        (["--no-run"], "there is nothing to show"),
        (["--merge", "nowhere.json"], "nowhere.json: there is no such file"),
    ],
)
def test_bad_input(tmp_path: Path, capsys: Capture, arguments: list[str], problem: str) -> None:
    with only(TIDES):
        assert main(["reproduce", "--output", str(tmp_path / "out"), *arguments]) == 2
    assert problem in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


def test_several_ranks_measure_items_of_one_first() -> None:
    """Rank 0 alone, then all; only its measurements of one rank count."""
    options = Options("cpu", quick=True)
    with only(replace(TIDES, tables=[*TIDES.tables[2:3], replace(TIDES.tables[0], ranks="one")])):
        found: list[Any] = run_on_threads(2, lambda job: run_documents(["tides"], options, job))
    assert [[each["ranks"] for each in runs] for runs in found] == [[1, 2], [2]]
    alone, together = found[0]
    assert len(alone["heights"]) == 2 and together["failures"] == {"ebbs": "ValueError: low water"}


@pytest.mark.full
def test_the_cavity_on_two_ranks(tmp_path: Path) -> None:
    """A real run: its items for one and for two ranks."""
    arguments = ("reproduce", "cavity", "--quick", "--backend", "cpu", "--output", tmp_path)
    done = run_on_ranks(2, COMMAND, *arguments, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]
    [found] = json.loads((tmp_path / "reproduction.json").read_text())["documents"]
    assert [run["ranks"] for run in found["runs"]] == [1, 2]
    assert {item["status"] for item in found["items"]} == {"measured"}
    [solution] = [item for item in found["items"] if item["source"] == "Figure 3"]
    assert all(line["ours"]["1"] == ["0, bit by bit"] for line in solution["lines"][1:])
    assert (tmp_path / "cavity_0.png").stat().st_size > 10_000
