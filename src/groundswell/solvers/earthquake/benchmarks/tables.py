"""Tables of throughput, and of steps over slower links."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from groundswell.bench.tables import Column, Measured, Row, Spread, Table, field, percent, time_of
from groundswell.case.quantities import byte_size
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.earthquake.benchmarks.published import AWP_ODC
from groundswell.solvers.earthquake.benchmarks.slow_links import (
    measure_codecs,
    measure_fields,
    measure_links,
)
from groundswell.solvers.earthquake.benchmarks.throughput import measure_throughput

SECONDS = 60.0  # that ranks may spend on a table


def _published(measured: Measured) -> Iterator[Row]:
    for name, value in AWP_ODC.items():
        yield {"name": name, "MLUPS": value}


def _known(name: str, text: str) -> Callable[[Row], str]:
    """The cell of a figure that published rows may lack."""
    return lambda row: format(row[name], text) if name in row else ""


def _shares(row: Row) -> str:
    if "share" not in row:
        return ""
    kernels = [f"{name} {percent(found['share'])}" for name, found in row["kernels"].items()]
    return ", ".join([percent(row["share"]), *kernels])


THROUGHPUT = Table(
    "throughput",
    lambda measured: f"One device, which streams {byte_size(measured['bandwidth'])}/s",
    [
        field("name", 34, head=""),
        Column("cells", lambda row: format_extent(row["cells"]) if "cells" in row else "", 18),
        Column("MLUPS", _known("MLUPS", ",.4g"), 8),
        Column("ms a step", _known("milliseconds", ".4g")),
        Column("of bandwidth", _shares),
    ],
    measure_throughput,
    ranks="one",
    others=_published,
)


def _rate(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row[name] / 1e9:.3g} GB/s"


CODECS = Table(
    "codecs",
    "Codecs on ghosts of an earthquake, packed and coded at once",
    [
        field("step", 6),
        field("codec", 8),
        Column("shorter", lambda row: f"{row['ratio']:.3g}x"),
        Column("coded", _rate("encode"), 10),
        Column("decoded", _rate("decode"), 10),
    ],
    measure_codecs,
    ranks="several",
    seconds=SECONDS,
)

FIELDS = Table(
    "fields",
    "How much shorter mpc makes them, by field and step",
    [field("field")],
    measure_fields,
    Spread(
        "step",
        lambda measured: [*dict.fromkeys(f"{row['step']}" for row in measured["codecs"])],
        lambda row: f"{row['ratio']:.3g}x",
        8,
    ),
    ranks="several",
)


LINKS = Table(
    "links",
    "Its step over slower links (a code pays if 1 - 1/r > B (1/Tc + 1/Td))",
    [
        Column(
            "link of a rank",
            lambda row: f"{row['link'] / 1e9:.3g} GB/s" if row["link"] else "the machine's",
        ),
        field("codec", 8),
        Column("step", lambda row: time_of(row["seconds"]), 8),
        Column(
            "faster than without",
            lambda row: "" if row["gain"] is None else f"{100 * row['gain']:+.0f} %",
        ),
        Column(
            "the rule says",
            lambda row: {True: "pays", False: "does not pay", None: ""}[row["pays"]],
        ),
        Column("tuner", lambda row: "takes it" * row["chosen"]),
    ],
    measure_links,
    ranks="several",
    seconds=SECONDS,
)

TABLES = [THROUGHPUT, CODECS, FIELDS, LINKS]
