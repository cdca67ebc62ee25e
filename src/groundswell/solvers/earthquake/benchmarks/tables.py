"""The table of throughput, with published figures."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.bench.tables import Column, Measured, Row, Table, field, percent
from groundswell.case.quantities import byte_size
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.earthquake.benchmarks.published import AWP_ODC
from groundswell.solvers.earthquake.benchmarks.throughput import measure_throughput


def _published(measured: Measured) -> Iterator[Row]:
    for name, value in AWP_ODC.items():
        yield {"name": name, "MLUPS": value}


def _shares(row: Row) -> str | None:
    if "share" not in row:
        return None
    kernels = [f"{name} {percent(found['share'])}" for name, found in row["kernels"].items()]
    return ", ".join([percent(row["share"]), *kernels])


THROUGHPUT = Table(
    "throughput",
    lambda measured: f"One device, which streams {byte_size(measured['bandwidth'])}/s",
    [
        field("name", 34, head=""),
        Column("cells", "cells", format_extent, 18),
        Column("MLUPS", "MLUPS", "{:,.4g}", 8),
        Column("ms a step", "milliseconds", "{:.4g}"),
        Column("of bandwidth", _shares),
    ],
    measure_throughput,
    ranks="one",
    others=_published,
)

TABLES = [THROUGHPUT]
