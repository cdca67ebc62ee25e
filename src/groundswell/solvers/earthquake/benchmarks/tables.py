"""The table of throughput, with published figures."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.bench.tables import Column, Measured, Row, Table, field, fraction, times
from groundswell.case.quantities import byte_size
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.earthquake.benchmarks.throughput import measure_throughput

# Million lattice point updates a second of AWP-ODC for each device of a run on several, which
# exchange ghost layers; 160 x 160 x 2048 points a device: Callaghan & Cui, "MPI-based optimizations
# for AWP-ODC seismic simulation code", November 2024.
AWP_ODC = {
    "K20X": 552,
    "KNL 7250": 1092,
    "V100 (NVLink)": 1598,
    "A100 (NVLink)": 1937,
    "A100 (PCIe)": 896,
    "A100 (PCIe, optimised)": 2009,
    "MI250X (Slingshot)": 1711,
    "H100 (PCIe)": 3713,
    "H100 (PCIe, optimised)": 5145,
    "GH200": 8480,
}
# Measured by us on one device with the public awp-odc-os (commit 7c10ecf).
AWP_ODC_OS = {"H200": 8784}
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
        Column("MLUPS", "MLUPS", "{:,.4g}", 8),
        times("over a K20X", "MLUPS", unit=AWP_ODC["K20X"]),
        Column("ms a step", "milliseconds", "{:.4g}"),
        Column("of bandwidth", _shares),
    ],
    measure_throughput,
    ranks="one",
    others=_published,
)

TABLES = [THROUGHPUT]
