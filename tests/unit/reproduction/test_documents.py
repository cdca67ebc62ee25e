"""The documents of the solvers: each item names what exists, and its values have a text."""

from __future__ import annotations

import pytest

from groundswell.bench import benchmark, installed, subjects
from groundswell.bench.documents import Document
from groundswell.reproduction.comparison import CLONE, MEASURED, Run, compare
from groundswell.reproduction.runs import choose, documented

DOCUMENTED = documented()
NOTHING_MEASURED = {"backend": "cpu", "devices": ["Abacus"], "ranks": 1, "notes": []}


def document(subject: str) -> Document:
    found = benchmark(subject).document
    assert found is not None
    return found


def test_every_solver_has_a_document() -> None:
    assert choose([]) == [name for name in subjects() if name != "exchange"]
    assert choose(["poisson", "cavity"]) == ["cavity", "poisson"]


@pytest.mark.parametrize("subject", DOCUMENTED)
def test_tables_exist_and_are_measured_in_order(subject: str) -> None:
    """For the ranks of the item, and a table after those whose rows it compares."""
    tables = {table.name: table for table in benchmark(subject).tables}
    order = list(tables)
    for item in document(subject).items:
        assert set(item.tables) <= set(tables), item.source
        assert [*item.tables] == sorted(item.tables, key=order.index), item.source
        for ranks in {"one": (1,), "several": (2,), "any": (1, 2)}[item.ranks]:
            last = [tables[name] for name in item.tables[-1:]]
            assert all(table.fits(ranks) for table in last), item.source


@pytest.mark.parametrize("subject", DOCUMENTED)
def test_published_values_have_texts(subject: str) -> None:
    for item in document(subject).items:
        names = [row["what"] for row in item.published]
        assert len(set(names)) == len(names), item.source
        for row in item.published:
            assert any(column.cell(row) for column in item.columns), row
        assert item.differs.endswith(".") and item.hardware and item.title


@pytest.mark.parametrize("subject", DOCUMENTED)
def test_nothing_is_filled_in_without_measurements(subject: str) -> None:
    """Only counts are there, which nothing changes."""
    found = compare(subject, benchmark(subject), [Run(NOTHING_MEASURED | {"subject": subject})])
    measured = [each.item.source for each in found.comparisons if each.status == MEASURED]
    assert measured == (["Table 4"] if subject == "dgwave" else [])


@pytest.mark.parametrize("subject", DOCUMENTED)
def test_without_a_clone_its_items_say_so(subject: str) -> None:
    found = compare(subject, installed(subject), [])
    lacking = {each.item.source for each in found.comparisons if f"needs {CLONE}" in each.reasons}
    assert (
        lacking
        == {
            "cavity": set(),
            "dgwave": {"Figure 4a, GPU versions", "Figure 6", "Figure 7"},
            "earthquake": {"Slide 'MPI compression performance results'"},
            "poisson": {"Table 1"},
            "ultrasound": {"Figure 1"},
        }[subject]
    )


def test_every_benchmark_has_small_sizes() -> None:
    for subject in DOCUMENTED:
        for backend in ("cpu", "cuda"):
            assert (benchmark(subject).quick or {})[backend]
