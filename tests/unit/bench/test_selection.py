"""Some tables, degrees and sizes of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from groundswell import bench
from groundswell.bench import Benchmark, Selection, run_bench
from groundswell.bench.tables import Row, Table, field
from groundswell.cli import main
from groundswell.errors import InputError


def halved(sizes: Any, degrees: Sequence[int], most_dofs: float | None) -> object:
    """What was asked for."""
    return [*sizes, degrees, most_dofs]


def row_of(session: Any) -> list[Row]:
    """The sizes of a session."""
    return [{"sizes": str(session.sizes)}]


TABLES = [Table(name, name, [field("sizes")], row_of) for name in ("ebb", "ebb and flow", "neap")]
TIDES = Benchmark({"cpu": [1]}, lambda session: {}, TABLES, full={"cpu": [2]}, restrict=halved)
FIXED = Benchmark({"cpu": [1]}, lambda session: {}, TABLES)


def measured(selection: Selection, found: Benchmark = TIDES) -> dict[str, Any]:
    with patch.object(bench, "benchmark", lambda subject: found):
        return run_bench("tides", backend="cpu", selection=selection)


@pytest.mark.parametrize(
    ("only", "names"),
    [
        ((), ["ebb", "ebb and flow", "neap"]),
        (("ebb",), ["ebb", "ebb and flow"]),
        (("flow", "neap"), ["ebb and flow", "neap"]),
    ],
)
def test_tables_by_text(only: Sequence[str], names: list[str]) -> None:
    found = measured(Selection(only=only))
    assert [table.name for table in TABLES if found[table.name]] == names
    assert all(found[table.name] == [] for table in TABLES if table.name not in names)


def test_sizes() -> None:
    sizes = [
        measured(selection)["neap"][0]["sizes"]
        for selection in (Selection(), Selection(True), Selection(True, (), [3], 1e4))
    ]
    assert sizes == ["[1]", "[2]", "[2, [3], 10000.0]"]


def test_texts_that_occur_nowhere() -> None:
    with pytest.raises(InputError, match=r"has .spring. in its name; choose ebb, ebb and"):
        measured(Selection(only=("ebb", "spring")))


def test_tables_without_rows_are_noted() -> None:
    empty = Table("spring", "spring", [field("sizes")], lambda session: [])
    found = measured(Selection(), replace(TIDES, tables=[*TABLES, empty]))
    [note] = found["notes"]
    assert note.startswith("spring: no problems of the chosen sizes; see --full")


def test_benchmarks_without_degrees() -> None:
    with pytest.raises(InputError, match="leave out --degrees and --most-dofs"):
        measured(Selection(degrees=[3]), FIXED)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--backend", "cpu", "--only", "neap", "--degrees", "3,7", "--most-dofs", "1e5"]
    with patch.object(bench, "benchmark", lambda subject: TIDES):
        assert main(["bench", "tides", *options]) == 0
    said = capsys.readouterr().out
    assert "[1, [3, 7], 100000.0]" in said and "ebb" not in said


def test_degrees_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "tides", "--degrees", "3,x"]) == 2
    assert "--degrees 3,x: give whole numbers, as in --degrees 3,7" in capsys.readouterr().err
