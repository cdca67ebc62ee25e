"""Tables of the cavity benchmark, with the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from groundswell.bench.exchange import published
from groundswell.bench.tables import Column, Row, Table, field, percent
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.cavity.benchmarks.scaling import (
    measure_growth,
    measure_strong,
    measure_weak,
)
from groundswell.solvers.cavity.benchmarks.speed import measure_sizes
from groundswell.solvers.cavity.benchmarks.steady import measure_steady

VERSIONS = {"baseline": "Baseline", "v3": "V3", "ours": "ours"}
GPUDIRECT = ("direct", "peer")  # what the paper's "GPUDirect" is here
SECONDS = 110.0  # a table of several ranks may take

CELLS = Column("points", lambda row: format_extent(row["cells"]), 18)
MILLISECONDS = Column("ms a step", lambda row: f"{1e3 * row['seconds']:.4g}")
SPEED = Column("ssspnt", lambda row: f"{row['ssspnt']:,.1f}", 8)

SIZES = Table(
    "sizes",
    f"One device ({published.ONE_GPU} ssspnt on one P100 with 256 x 256 x 256 points: Xue & Roy)",
    [
        CELLS,
        field("precision"),
        MILLISECONDS,
        SPEED,
        Column("of bandwidth", lambda row: percent(row["share"])),
    ],
    lambda s: measure_sizes(s.backend, s.sizes.edges, s.measured["bandwidth"]),
    ranks="one",
)

STEADY = Table(
    "steady",
    "From rest to a steady flow",
    [
        field("way", 44),
        CELLS,
        Column("residuals", lambda row: f"{row['tolerance']:.0e}"),
        Column("steps", lambda row: f"{row['steps']:,}", 8),
        Column("sweeps", lambda row: f"{row['sweeps']:,.0f}", 8),
        Column("s", lambda row: f"{row['seconds']:.3g}", 6),
        Column("times faster", lambda row: f"{row['gain']:.3g}"),
        Column("Nu", lambda row: f"{row['nusselt']:.5f}"),
    ],
    lambda s: measure_steady(s.backend, *s.sizes.steady),
    ranks="one",
)


def _beside(known: Mapping[Any, Any], number: int) -> Callable[[Row], str]:
    """The paper's speed or efficiency for two GPUs with the same decomposition and transport."""

    def cell(row: Row) -> str:
        name = VERSIONS[row["version"]] + " + GPUDirect" * (row["transport"] in GPUDIRECT)
        found = known.get((name, tuple(row["processes"] or ())))
        return f"{found[number]}" + " %" * number if found else ""

    return cell


def _scaling(name: str, title: str, measure: Any, known: Mapping[Any, Any]) -> Table:
    columns = [
        Column("version", lambda row: VERSIONS[row["version"]], 8),
        Column(
            "i x j x k", lambda row: format_extent(row["processes"]) if row["processes"] else ""
        ),
        CELLS,
        field("path", 44, head="transport"),
        MILLISECONDS,
        SPEED,
        Column("efficiency", lambda row: f"{row['efficiency']:.1f} %"),
    ]
    if known:
        columns += [Column("two P100", _beside(known, 0)), Column("efficiency", _beside(known, 1))]
    return Table(name, title, columns, measure, ranks="several", seconds=SECONDS)


TABLES = [
    SIZES,
    STEADY,
    _scaling(
        "strong",
        "A cavity shared by all ranks (Xue & Roy, table 3: 256 x 256 x 256)",
        lambda s: measure_strong(s.rig, s.sizes.edge, s.sizes.large),
        published.STRONG,
    ),
    _scaling(
        "weak",
        "A cavity on each rank (Xue & Roy, tables 2 and 4)",
        lambda s: measure_weak(s.rig, s.sizes.edge, s.sizes.large),
        published.WEAK,
    ),
    _scaling(
        "growth",
        "Grids that grow along k, j and i, however they are cut (table 1)",
        lambda s: measure_growth(s.rig, s.sizes.edge),
        {},
    ),
]
