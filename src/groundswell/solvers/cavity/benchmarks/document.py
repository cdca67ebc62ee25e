"""The paper by Xue & Roy (2020): its tables and figures, and what is measured in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundswell.bench.documents import Document, Item
from groundswell.bench.drawing import distinct
from groundswell.bench.rows import Measured, Row
from groundswell.bench.tables import Column, amount, fraction
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.cavity.benchmarks import published
from groundswell.solvers.cavity.benchmarks.tables import GPUDIRECT, VERSIONS

OURS, EFFICIENCY = "ours", 100.0  # the version, and the unit of its efficiency
TWO_P100 = "two Tesla P100 of one node (NewRiver)"
Known = Mapping[tuple[str, tuple[int, int, int]], tuple[float, float]]


def _efficiency_of(value: float) -> str:
    return fraction(value, 1)


SPEED = [
    Column("ssspnt", "ssspnt", amount),
    Column("efficiency", "efficiency", _efficiency_of, unit=EFFICIENCY),
]


# --- one device -----------------------------------------------------------------------------------


def _sizes(measured: Measured) -> Iterator[Row]:
    for row in measured.get("sizes", ()):
        yield row | {"what": f"Groundswell, {format_extent(row['cells'])}, {row['precision']}"}


# --- versions -------------------------------------------------------------------------------------


def _published(known: Known) -> list[Row]:
    return [
        {"what": f"{name}, cut {format_extent(cut)}", "ssspnt": speed, "efficiency": efficiency}
        for (name, cut), (speed, efficiency) in known.items()
    ]


def _versions(measured: Measured, table: str) -> Iterator[Row]:
    """The fastest transport of each kind by version and cut, for the smallest cube."""
    best: dict[str, Row] = {}
    for row in _smallest(measured, table):
        name = VERSIONS[row["version"]]
        direct = " + GPUDirect" if row["transport"] in GPUDIRECT else ""
        own = "Groundswell, " + ("overlap" if row["overlap"] else "no overlap")
        what = (own if row["version"] == OURS else name) + direct
        what = f"{what}, cut {format_extent(row['processes'])}"
        found = row | {"what": what}
        best[what] = max(best.get(what, found), found, key=lambda each: each["ssspnt"])
    yield from best.values()


def _smallest(measured: Measured, table: str) -> list[Row]:
    """Rows with a given cut, for the smallest cube of a device."""
    rows = [row for row in measured.get(table, ()) if row["processes"]]
    edges = distinct(rows, "edge")
    return [row for row in rows if row["edge"] == min(edges)]


def _strong(measured: Measured) -> Iterator[Row]:
    return _versions(measured, "strong")


def _weak(measured: Measured) -> Iterator[Row]:
    return _versions(measured, "weak")


# --- cuts, growth and overlap ---------------------------------------------------------------------


def _own(measured: Measured, table: str) -> dict[tuple[Any, ...], Row]:
    """The fastest row of our version by cut."""
    best: dict[tuple[Any, ...], Row] = {}
    for row in _smallest(measured, table):
        if row["version"] == OURS:
            key = tuple(row["processes"])
            best[key] = max(best.get(key, row), row, key=lambda each: each["ssspnt"])
    return best


def _cuts(measured: Measured) -> Iterator[Row]:
    """Our version by cut, strong and weak."""
    weak = _own(measured, "weak")
    for cut, row in _own(measured, "strong").items():
        other = weak.get(cut, {}).get("efficiency")
        what = f"Groundswell, {measured['ranks']} ranks, cut {format_extent(cut)}"
        yield {"what": what, "strong": row["efficiency"], "weak": other}


def _growth(measured: Measured) -> Iterator[Row]:
    """Our version by cut, with grids that grow along given axes, and along the cut."""
    along = _own(measured, "weak")
    for cut, row in _own(measured, "growth").items():
        other = along.get(cut, {}).get("efficiency")
        what = f"Groundswell, {measured['ranks']} ranks, cut {format_extent(cut)}"
        yield {"what": what, "fixed": row["efficiency"], "along": other}


def _overlaps(measured: Measured) -> Iterator[Row]:
    """Our version with overlap relative to the same without."""
    for table in ("strong", "weak"):
        rows = [row for row in _smallest(measured, table) if row["version"] == OURS]
        plain = {_place(row): row["ssspnt"] for row in rows if not row["overlap"]}
        for row in rows:
            if row["overlap"] and _place(row) in plain:
                cut, transport = format_extent(row["processes"]), row["transport"]
                what = f"Groundswell, {table}, {transport}, cut {cut}"
                yield {"what": what, "change": row["ssspnt"] / plain[_place(row)] - 1}


def _place(row: Row) -> tuple[Any, ...]:
    return row["transport"], tuple(row["processes"])


def _change(value: Any) -> str:
    ends = [value] if isinstance(value, float) else value
    return " to ".join(f"{100 * end:+.0f} %" for end in ends)


def _solutions(measured: Measured) -> Iterator[Row]:
    for row in measured.get("solution", ()):
        cells, cut = format_extent(row["cells"]), format_extent(row["processes"])
        what = f"Groundswell, {cells} points, cut {cut}, {row['steps']} steps"
        yield {"what": what, "difference": row["difference"]}


def _difference(value: float) -> str:
    return f"{value:.0e}" if value else "0, bit by bit"


def _share(head: str, key: str) -> Column:
    return Column(head, key, _efficiency_of, unit=EFFICIENCY)


ITEMS = [
    Item(
        "Figure 3",
        "difference of a solution on many ranks from that on one, relative",
        "32 GPUs of HokieSpeed, 256 x 256 x 256 points",
        [Column("difference", "difference", _difference)],
        "The paper compares converged flows, and finds rounding. Our ranks compute the same "
        "operations in the same order, so each step is bit for bit the same.",
        ["solution"],
        [{"what": "order of the relative error", "difference": published.DIFFERENCE}],
        _solutions,
        ranks="several",
    ),
    Item(
        "Tables 3 and 4, one GPU",
        "speed of one device",
        "one Tesla P100, 256 x 256 x 256 points",
        [SPEED[0], Column("of bandwidth", "share", fraction)],
        "One ssspnt is ten million points updated per second. Both take Euler steps in double "
        "precision; the paper's code is Fortran with OpenACC, ours one fused kernel.",
        ["sizes"],
        [{"what": "single GPU", "ssspnt": published.ONE_GPU}],
        _sizes,
        ranks="one",
    ),
    Item(
        "Table 3",
        "strong scaling by version and decomposition",
        f"{TWO_P100}, 256 x 256 x 256 points in all",
        SPEED,
        "Baseline and V3 are rebuilt from the paper. Peer memory and GPU-aware MPI stand for "
        "GPUDirect, on a CPU shared memory. The paper's Baseline moves an i plane value by value "
        "over PCI Express, which costs less between ranks of a CPU.",
        ["strong"],
        _published(published.STRONG),
        _strong,
        ranks="several",
    ),
    Item(
        "Table 4; figures 7 and 12",
        "weak scaling by version and decomposition",
        f"{TWO_P100}, 256 x 256 x 256 points each",
        SPEED,
        "As in table 3. The figures show no numbers; V1 and V2 are versions that only they "
        "compare. The text states about a factor of two by all optimizations together.",
        ["weak"],
        _published(published.WEAK),
        _weak,
        ranks="several",
    ),
    Item(
        "Figures 4, 8 and 11",
        "efficiency against ranks by decomposition",
        "CPUs, C2050, P100 and V100 GPUs of three clusters",
        [_share("strong", "strong"), _share("weak", "weak")],
        "The figures show no numbers. Ours are for the ranks of this run, with the fastest "
        "transport; merged runs on other numbers of ranks add points of the curves.",
        ["strong", "weak"],
        ours=_cuts,
        ranks="several",
    ),
    Item(
        "Figure 10; tables 1 and 2",
        "efficiency of weak scaling by growth of the grid",
        "P100 GPUs of NewRiver",
        [_share("type 1", "fixed"), _share("type 2", "along")],
        "The figure shows no numbers. Grids of type 1 grow along k, then j and i, those of type 2 "
        "along the axes of the cut. Two ranks grow along k in both, so cuts along k agree.",
        ["weak", "growth"],
        ours=_growth,
        ranks="several",
    ),
    Item(
        "Figure 13",
        "speed with overlap of communication and computation, relative to none",
        "CPUs and P100 GPUs of NewRiver, up to 16",
        [Column("change", "change", _change)],
        "The paper's MPI moves messages only while it is called, so overlap costs time. Here peer "
        "memory needs no progress, and on a CPU a thread drives MPI; it needs a core that is free.",
        ["strong", "weak"],
        [{"what": "at most 16 processors", "change": published.OVERLAP_CHANGE}],
        _overlaps,
        ranks="several",
    ),
]
DOCUMENT = Document(
    "Buoyancy-driven cavity (Xue & Roy)",
    published.CITATION,
    ITEMS,
    "Figures 1 and 2 are drawings. Figures 5, 6 and 9 compare clusters and processes per node; "
    "merged runs of several machines stand beside each other in the tables above.",
)
