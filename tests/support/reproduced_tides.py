"""A benchmark with a document, and measurements of it, for tests of reproductions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groundswell.bench import Benchmark
from groundswell.bench.documents import Document, Item
from groundswell.bench.tables import Column, Row, Table, field, fraction

HEIGHT, SHARE = Column("height, m", "height", "{:.1f}"), Column("of the moon's", "share", fraction)


def measure_heights(session: Any) -> Iterator[Row]:
    yield {"port": "Aber", "height": float(session.sizes), "share": 0.5}
    yield {"port": "Cork", "height": 3.0, "share": 1.2}


def measure_nothing(session: Any) -> Iterator[Row]:
    raise ValueError("low water")


def heights(measured: Any) -> Iterator[Row]:
    for row in measured.get("heights", ()):
        yield row | {"what": row["port"]}


def floods(measured: Any) -> Iterator[Row]:
    for row in measured.get("floods", ()):
        yield row | {"what": "here"}


def item(source: str, *tables: str, **more: Any) -> Item:
    about = {"hardware": "a pier", "columns": [HEIGHT, SHARE], "differs": "The sea | is `wet`."}
    return Item(source, "heights", tables=tables, **(about | more))


DOCUMENT = Document(
    "Tides",
    "N. Wave (1900), On tides",
    [
        item("Table 1", "heights", published=[{"what": "Aber", "height": 4.25}], ours=heights),
        item("Table 2", "floods", ours=floods),
        item("Table 3", "heights", ours=heights, gpus=2),
        item("Table 4", "ebbs", ranks="several"),
        item("Table 5", "rivals", in_clone=True),
    ],
    "Figure 1 is a drawing.",
)
TABLES = [
    Table("heights", "Heights", [field("port")], measure_heights),
    Table("floods", "Floods", [field("port")], measure_nothing),
    Table("ebbs", "Ebbs", [field("port")], measure_nothing, ranks="several"),
    Table("unused", "Of no document", [field("port")], measure_nothing),
]
TIDES = Benchmark(
    {"cpu": 9},
    lambda session: {},
    TABLES,
    missing="rivals",
    quick={"cpu": 4},
    document=DOCUMENT,
)


def run(**more: Any) -> dict[str, Any]:
    """Measurements of the benchmark."""
    about: dict[str, Any] = {"subject": "tides", "backend": "cpu", "devices": ["Abacus, 4 threads"]}
    return about | {"ranks": 1, "notes": [], "bandwidth": 2e9} | more
