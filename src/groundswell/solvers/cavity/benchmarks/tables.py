"""Tables of the cavity benchmark, with the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from groundswell.bench.tables import (
    Column,
    Row,
    Table,
    field,
    fraction,
    milliseconds,
    yes_or_no,
)
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.cavity.benchmarks import published
from groundswell.solvers.cavity.benchmarks.scaling import (
    measure_growth,
    measure_strong,
    measure_weak,
)
from groundswell.solvers.cavity.benchmarks.solution import measure_solution
from groundswell.solvers.cavity.benchmarks.speed import measure_sizes
from groundswell.solvers.cavity.benchmarks.steady import measure_steady

VERSIONS = {"baseline": "Baseline", "v1": "V1", "v2": "V2", "v3": "V3", "ours": "ours"}
TRANSPORTS = {"cuda": ("mpi", "mpi-gpu", "direct"), "cpu": ("mpi", "peer")}
GPUDIRECT = ("direct", "peer", "mpi-gpu")  # what the paper's "GPUDirect" is here
SECONDS = 240.0  # a table of several ranks may take

CELLS = Column("points", "cells", format_extent, 18)
SPEED = Column("ssspnt", "ssspnt", "{:,.1f}", 8)

SIZES = Table(
    "sizes",
    f"One device ({published.ONE_GPU} ssspnt on one P100 with 256 x 256 x 256 points: Xue & Roy)",
    [
        CELLS,
        field("precision"),
        milliseconds("ms a step"),
        SPEED,
        Column("of bandwidth", "share", fraction),
    ],
    lambda s: measure_sizes(s.backend, s.sizes.edges, s.bandwidth),
    ranks="one",
)

STEADY = Table(
    "steady",
    "From rest to a steady flow",
    [
        field("way", 44),
        CELLS,
        Column("residuals", "tolerance", "{:.0e}"),
        Column("steps", "steps", "{:,}", 8),
        Column("sweeps", "sweeps", "{:,.0f}", 8),
        Column("s", "seconds", "{:.3g}", 6),
        Column("times faster", "gain", "{:.3g}"),
        Column("Nu", "nusselt", "{:.5f}"),
    ],
    lambda s: measure_steady(s.backend, *s.sizes.steady),
    ranks="one",
)


def _beside(known: Mapping[Any, Any], number: int) -> Callable[[Row], float | None]:
    """The paper's speed or efficiency for two GPUs with the same decomposition and transport.

    It has no figures for more ranks, for other cubes, or with overlap.
    """

    def value(row: Row) -> float | None:
        if row["overlap"] or row["processes"] is None:
            return None
        name = VERSIONS[row["version"]] + " + GPUDirect" * (row["transport"] in GPUDIRECT)
        found = known.get((name, tuple(row["processes"])))
        return found[number] if found else None

    return value


def _scaling(name: str, title: str, measure: Any, known: Mapping[Any, Any]) -> Table:
    columns = [
        Column("version", lambda row: VERSIONS[row["version"]], width=8),
        Column("i x j x k", "processes", format_extent),
        Column("overlap", "overlap", yes_or_no),
        CELLS,
        field("path", 44, head="transport"),
        milliseconds("ms a step"),
        SPEED,
        Column("efficiency", "efficiency", partial(fraction, digits=1), unit=100),
    ]
    if known:
        columns += [
            Column("two P100", _beside(known, 0)),
            Column("efficiency", _beside(known, 1), "{} %"),
        ]
    return Table(name, title, columns, measure, ranks="several", seconds=SECONDS)


STRONG = _scaling(
    "strong",
    "A cavity shared by all ranks (Xue & Roy, table 3: 256 x 256 x 256)",
    lambda s: measure_strong(s.rig, s.sizes.edge, s.sizes.large),
    published.STRONG,
)
WEAK = _scaling(
    "weak",
    "A cavity on each rank (Xue & Roy, tables 2 and 4)",
    lambda s: measure_weak(s.rig, s.sizes.edge, s.sizes.large),
    published.WEAK,
)
GROWTH = _scaling(
    "growth",
    "Grids that grow along k, j and i, however they are cut (table 1)",
    lambda s: measure_growth(s.rig, s.sizes.edge),
    {},
)

SOLUTION = Table(
    "solution",
    "Difference of the flow from that on one rank, relative (Xue & Roy, section 4.1: 1e-8)",
    [
        CELLS,
        Column("i x j x k", "processes", format_extent),
        Column("steps", "steps", "{:,}"),
        Column("difference", "difference", "{:.1e}"),
    ],
    lambda s: measure_solution(s.rig, s.sizes.edge),
    ranks="several",
    seconds=SECONDS,
)

TABLES = [SIZES, STEADY, SOLUTION, STRONG, WEAK, GROWTH]
