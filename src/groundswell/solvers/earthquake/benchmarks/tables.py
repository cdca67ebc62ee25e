"""Tables of throughput and weak scaling, with published figures."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.bench.tables import (
    Column,
    Measured,
    Row,
    Table,
    amount,
    field,
    fraction,
    milliseconds,
    percent,
    times,
    yes_or_no,
)
from groundswell.case.quantities import byte_size
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.earthquake.benchmarks.published import (
    AWP_ODC,
    AWP_ODC_OS,
    CELLS,
    GPU_AWARE,
    LONESTAR,
)
from groundswell.solvers.earthquake.benchmarks.ranks import SECONDS, measure_scaling
from groundswell.solvers.earthquake.benchmarks.throughput import measure_throughput

PUBLISHED = {f"AWP-ODC, {name}": value for name, value in AWP_ODC.items()} | {
    f"awp-odc-os, {name}, measured by us": value for name, value in AWP_ODC_OS.items()
}


def _published(measured: Measured) -> Iterator[Row]:
    for name, value in PUBLISHED.items():
        yield {"name": name, "MLUPS": value}


def _heading(measured: Measured) -> str:
    """The device, and how the published rows differ."""
    return (
        f"One device, which streams {byte_size(measured['bandwidth'])}/s (AWP-ODC: each device of "
        "several, exchange included)"
    )


def _shares(row: Row) -> str | None:
    if "share" not in row:
        return None
    kernels = [f"{name} {fraction(found['share'])}" for name, found in row["kernels"].items()]
    return ", ".join([fraction(row["share"]), *kernels])


THROUGHPUT = Table(
    "throughput",
    _heading,
    [
        field("name", 36, head=""),
        Column("cells", "cells", format_extent, 18),
        Column("MLUPS", "MLUPS", amount, 8),
        times("over a K20X", "MLUPS", unit=AWP_ODC["K20X"]),
        Column("ms a step", "milliseconds", "{:.4g}"),
        Column("of bandwidth", _shares),
    ],
    measure_throughput,
    ranks="one",
    others=_published,
)


# --- several ranks --------------------------------------------------------------------------------


def published_scaling(measured: Measured) -> Iterator[Row]:
    """AWP-ODC's table: nodes in place of ranks, and MLUPS of a device from the time of a step."""
    nx, ny, nz = CELLS
    for library in LONESTAR.values():
        for nodes, (speed, seconds, efficiency) in library.steps.items():
            row: Row = {"name": f"AWP-ODC, {library.library}", "ranks": f"{nodes} nodes"}
            row |= {"cells": CELLS, "seconds": seconds, "MLUPS": nx * ny * nz / seconds / 1e6}
            row |= {"flops": 1e12 * speed, "efficiency": efficiency}
            yield row | {"gain": library.gain_over(LONESTAR[GPU_AWARE], nodes)}


def _efficiency(row: Row) -> str:
    """As published, or that of a measurement, which others may disturb."""
    shown = percent if "name" in row else fraction
    return shown(row["efficiency"], 1)


SCALING = Table(
    "scaling",
    "Weak scaling: efficiency relative to one rank, gain over MPI (GPU-aware on GPUs); AWP-ODC: "
    "nodes of A100s, relative to two nodes and GPU-aware MPI",
    [
        Column("", lambda row: row.get("name", row.get("transport")), width=36),
        Column("ranks", "ranks", width=8),
        Column("i x j x k", "processes", format_extent, 9),
        Column("points of a rank", "cells", format_extent),
        Column("overlap", lambda row: row.get("overlap"), yes_or_no),
        milliseconds("ms a step"),
        Column("MLUPS a rank", "MLUPS", amount),
        Column("Tflop/s", "flops", "{:.4g}", unit=1e12),
        Column("efficiency", _efficiency, width=10),
        times("gain", "gain"),
    ],
    measure_scaling,
    ranks="several",
    seconds=SECONDS,
    others=published_scaling,
)

TABLES = [THROUGHPUT, SCALING]
