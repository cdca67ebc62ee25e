"""Plots of the throughput on one device, and of weak scaling on several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundswell.bench.drawing import (
    OTHER,
    OURS,
    PEER,
    Page,
    Panel,
    Rows,
    curves,
    devices,
    legend,
    lying_bars,
    title,
)
from groundswell.bench.merging import model_of
from groundswell.bench.tables import Measured
from groundswell.errors import counted
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.earthquake.benchmarks.published import LONESTAR
from groundswell.solvers.earthquake.benchmarks.ranks import ALONE
from groundswell.solvers.earthquake.benchmarks.tables import PUBLISHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"direct": OURS, "peer": OURS, "mpi-gpu": "#7a5195", "mpi": OTHER}  # by transport
LINES = ("--", "-.", ":")  # of AWP-ODC with three libraries
OF_AWP_ODC = (
    "million lattice points updated a second; AWP-ODC: 160 x 160 x 2048 points for each of\n"
    "several devices, exchange included"
)


def _throughput(axes: Axes, measured: Measured) -> None:
    """Bars of published and measured throughput."""
    ours = {f"{devices(measured)}, Groundswell": measured["throughput"][0]["MLUPS"]}
    _beside_published(axes, ours)


def _beside_published(axes: Axes, ours: dict[str, float]) -> None:
    colours = [PEER] * len(PUBLISHED) + [OURS] * len(ours)
    lying_bars(axes, PUBLISHED | ours, colours, "{:,.0f}".format)
    axes.margins(x=0.1)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(OF_AWP_ODC)


# --- several ranks --------------------------------------------------------------------------------


def _of_ranks(axes: Axes, measured: Measured) -> None:
    """The same for a rank of one, and of all, by transport."""
    counts = {min(row["ranks"] for row in measured["scaling"]), measured["ranks"]}
    rows = [row for row in measured["scaling"] if row["ranks"] in counts]
    _beside_published(
        axes, {_name(measured, row["ranks"], row["transport"]): row["MLUPS"] for row in rows}
    )
    title(axes, "Throughput of each rank")


def _name(measured: Measured, ranks: int, transport: str) -> str:
    through = "" if transport == ALONE else f", {transport}"
    return f"Groundswell, {counted(ranks, 'rank')} on {model_of(measured)}{through}"


def _efficiency(axes: Axes, measured: Measured) -> None:
    """Efficiency against ranks by transport, and that of AWP-ODC against nodes."""
    for library, line in zip(LONESTAR.values(), LINES, strict=True):
        x, y = [*library.steps], [100 * efficiency for _, _, efficiency in library.steps.values()]
        label = f"AWP-ODC, A100s, {library.library}"
        axes.plot(x, y, line, marker="o", ms=4, color=PEER, label=label)

    def style(transport: str) -> dict[str, object]:
        return {"marker": "s", "color": COLOURS[transport], "label": f"here, {transport}"}

    rows = _with_one_rank(measured["scaling"])
    curves(axes, rows, "ranks", lambda row: 100 * row["efficiency"], "transport", style)
    axes.set_xscale("log", base=2)
    ticks = sorted({row["ranks"] for row in rows} | {2, 4, 8, 16})
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("ranks; of AWP-ODC: nodes, relative to two")
    axes.set_ylabel("%")
    legend(axes, 2, "lower left", size=8)
    title(axes, "Efficiency of weak scaling")


def _with_one_rank(rows: Rows) -> Rows:
    """Rows by transport, each with that of one rank first."""
    single = [row for row in rows if row["transport"] == ALONE]
    more = [row for row in rows if row["transport"] != ALONE]
    names = dict.fromkeys(row["transport"] for row in more)
    return [{**row, "transport": name} for name in names for row in single] + more


def _note(measured: Measured) -> str:
    if measured["ranks"] == 1:
        return f"single precision, {format_extent(measured['throughput'][0]['cells'])} points"
    cells = [format_extent(row["cells"]) for row in measured["scaling"][:1]]
    return ", ".join(["single precision", *(f"{each} points on each rank" for each in cells)])


draw = Page(
    "Anelastic waves",
    _note,
    [
        Panel("throughput", _throughput, "one"),
        Panel("scaling", _of_ranks, "several"),
        Panel("scaling", _efficiency, "several"),
    ],
    5.5,
)
