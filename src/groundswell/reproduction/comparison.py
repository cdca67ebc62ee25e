"""Sets the measurements of several machines beside the values of documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from groundswell.bench import Benchmark
from groundswell.bench.documents import Document, Item
from groundswell.bench.drawing import devices
from groundswell.bench.limits import describe
from groundswell.bench.rows import Measured, Row
from groundswell.bench.tables import ABOVE, fit

MEASURED, FAILED, NOT_RUN = "measured", "failed", "not run here"
ONE_RANK = "one process (start it without mpiexec)"
SEVERAL_RANKS = "several processes (`mpiexec -n 2 groundswell reproduce`)"
CLONE = "a clone of the repository"
NOTHING = "no run contains it"


@dataclass(frozen=True)
class Run:
    """Measurements of one machine.

    Args:
        measured: as of `bench.measure`.
        is_here: whether this call made them; otherwise they are merged.
    """

    measured: Measured
    is_here: bool = True

    @property
    def name(self) -> str:
        """The devices, and the kind of sizes if they are not the main ones."""
        scale = self.measured.get("scale", "main")
        return devices(self.measured) + {"quick": ", small sizes", "full": ", all sizes"}.get(
            scale, ""
        )


@dataclass(frozen=True)
class Line:
    """A line of a comparison.

    Args:
        what: what its values are of.
        published: texts of the document's values, by column; empty if it has none.
        ours: texts of our values by the number of the run, and by column.
    """

    what: str
    published: Sequence[str] = ()
    ours: dict[int, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """An item of a document with its values from several runs.

    Args:
        status: MEASURED, FAILED or NOT_RUN.
        reasons: of a failure, what it needs, or where measurements stopped.
        runs: numbers of the runs that have values.
    """

    item: Item
    status: str
    reasons: Sequence[str]
    runs: Sequence[int]
    lines: Sequence[Line]

    def columns_of(self, number: int | None) -> list[int]:
        """The columns in which a run, or the document if None, has a value."""
        cells = [
            line.published if number is None else line.ours.get(number, ()) for line in self.lines
        ]
        return [
            n for n, _ in enumerate(self.item.columns) if any(each and each[n] for each in cells)
        ]

    @property
    def owners(self) -> list[int | None]:
        """Whose values there are: None for the document, then numbers of runs."""
        return [*([None] if self.item.published else []), *self.runs]

    @property
    def is_above(self) -> bool:
        """Whether a value exceeds what it is compared with."""
        texts = (text for line in self.lines for cells in line.ours.values() for text in cells)
        return ABOVE in texts


@dataclass(frozen=True)
class Section:
    """A document, and the comparisons of its items."""

    subject: str
    document: Document
    runs: Sequence[Run]
    comparisons: Sequence[Comparison]


def compare(subject: str, benchmark: Benchmark, runs: Iterable[Run]) -> Section:
    """Compare the document of a benchmark with runs of this benchmark."""
    assert benchmark.document is not None
    own = [run for run in runs if run.measured["subject"] == subject]
    found = [_compared(item, own, bool(benchmark.missing)) for item in benchmark.document.items]
    return Section(subject, benchmark.document, own, found)


def _compared(item: Item, runs: Sequence[Run], lacks_clone: bool) -> Comparison:
    published = _lines_of(item.published, item)
    lines = {what: Line(what, cells) for what, cells in published.items()}
    failures, with_values, notes = list[str](), list[int](), list[str]()
    for number, run in enumerate(runs):
        cells, failure = _values(item, run.measured)
        for what, texts in cells.items():
            lines.setdefault(what, Line(what)).ours[number] = texts
        with_values += [number] * bool(cells)
        failures += [failure] if failure else []
        notes += _notes(item, run.measured) if _fits(item, run.measured) else []
    status = MEASURED if with_values else FAILED if failures else NOT_RUN
    reasons = [*failures, *notes]
    if status == NOT_RUN:
        reasons += _needs(item, runs, lacks_clone)
        reasons = reasons or [NOTHING]
    return Comparison(item, status, [*dict.fromkeys(reasons)], with_values, [*lines.values()])


def _values(item: Item, measured: Measured) -> tuple[dict[str, Sequence[str]], str]:
    """The texts of our values by what they are of, and why there are none."""
    if not _fits(item, measured):
        return {}, ""
    if failure := _failure(item, measured):
        return {}, failure
    try:
        return _lines_of(item.ours(measured), item), ""
    except Exception as error:  # such as rows of another version that lack a key
        return {}, describe(error)


def _fits(item: Item, measured: Measured) -> bool:
    """Whether a run has the ranks and GPUs that an item needs."""
    return fit(item.ranks, measured["ranks"]) and _gpus(measured) >= item.gpus


def _lines_of(rows: Iterable[Row], item: Item) -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for row in rows:
        _require_finite(row)
        found[str(row["what"])] = [column.cell(row) for column in item.columns]
    return found


def _require_finite(row: Row) -> None:
    """Raise ValueError if a value cannot be true."""
    for key, value in row.items():
        if isinstance(value, float) and not isfinite(value):
            raise ValueError(f"{row['what']}: {key} is {value}")


def _failure(item: Item, measured: Measured) -> str:
    """The message of the run, or of the first table that the item needs and that failed."""
    failures = measured.get("failures", {})
    named = (f"{name}: {failures[name]}" for name in item.tables if name in failures)
    return str(measured.get("failure", "")) or next(named, "")


def _notes(item: Item, measured: Measured) -> list[str]:
    """What the run says about the tables of an item."""
    starts = tuple(f"{name}: " for name in item.tables)
    return [note for note in measured.get("notes", ()) if starts and note.startswith(starts)]


def _needs(item: Item, runs: Sequence[Run], lacks_clone: bool) -> list[str]:
    """What the item needs that none of the runs has."""
    ranks = [run.measured["ranks"] for run in runs]
    gpus = max((_gpus(run.measured) for run in runs), default=0)
    lacking = {
        "a GPU" if item.gpus == 1 else f"{item.gpus} GPUs": gpus < item.gpus,
        SEVERAL_RANKS: item.ranks == "several" and max(ranks, default=1) < 2,
        ONE_RANK: item.ranks == "one" and ranks != [] and min(ranks) > 1,
        CLONE: item.in_clone and lacks_clone,
    }
    return [f"needs {what}" for what, lacks in lacking.items() if lacks]


def _gpus(measured: Measured) -> int:
    return int(measured["ranks"]) if measured["backend"] == "cuda" else 0


def failed_here(section: Section) -> list[str]:
    """Messages of failures of this call, not of merged runs."""
    here = [run.measured for run in section.runs if run.is_here]
    found = [
        f"{section.subject}, {each.item.source}: {failure}"
        for each in section.comparisons
        for measured in here
        for failure in [_values(each.item, measured)[1]]
        if failure
    ]
    return list(dict.fromkeys(found))


def as_dict(section: Section) -> dict[str, Any]:
    """A section for JSON."""
    return {
        "subject": section.subject,
        "name": section.document.name,
        "citation": section.document.citation,
        "rest": section.document.rest,
        "runs": [
            {"name": run.name, "here": run.is_here}
            | {key: run.measured.get(key) for key in ("devices", "ranks", "versions", "date")}
            for run in section.runs
        ],
        "items": [_item_dict(each) for each in section.comparisons],
    }


def _item_dict(each: Comparison) -> dict[str, Any]:
    item = each.item
    return {
        **{"source": item.source, "title": item.title, "hardware": item.hardware},
        **{"status": each.status, "reasons": [*each.reasons], "differs": item.differs},
        "columns": [column.head for column in item.columns],
        "lines": [
            {"what": line.what, "published": [*line.published]}
            | {"ours": {number: [*cells] for number, cells in line.ours.items()}}
            for line in each.lines
        ],
    }
