"""Plots of the cavity benchmark: speed by size, or efficiency by version."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from groundswell.bench.drawing import OTHER, OURS, PEER, Page, Panel, lying_bars, title
from groundswell.bench.tables import Measured, Row
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.cavity.benchmarks import published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P100 = "Tesla P100, Xue & Roy 2020"
KNOWN = {"strong": published.STRONG, "weak": published.WEAK}


def _sizes(axes: Axes, measured: Measured) -> None:
    rows = measured["sizes"]
    ours = {f"{format_extent(r['cells'])}, {r['precision']}": r["ssspnt"] / 100 for r in rows}
    lying_bars(axes, {P100: published.ONE_GPU / 100} | ours, [PEER] + [OURS] * len(rows))
    axes.set_xlabel("billion points updated a second")
    title(axes, "Speed by size")


def _steady(axes: Axes, measured: Measured) -> None:
    rows = measured["steady"]
    lying_bars(axes, {fill(row["way"], 26): row["seconds"] for row in rows}, [PEER, OTHER, OURS])
    cells, limit = format_extent(rows[0]["cells"]), f"{rows[0]['tolerance']:.0e}"
    axes.set_xlabel(f"seconds until all residuals are below {limit}, {cells} points")
    title(axes, "From rest to a steady flow")


def _efficiency(axes: Axes, measured: Measured, part: str) -> None:
    """Bars of efficiency, without transports through the host, whose scale would hide the rest."""
    rows = [row for row in measured[part] if row["transport"] != "mpi"]
    theirs = {
        f"two P100, {version}, cut {format_extent(grid)}": efficiency
        for (version, grid), (_, efficiency) in KNOWN[part].items()
        if "GPUDirect" in version
    }
    colours = [OURS if row["version"] == "ours" else OTHER for row in rows]
    ours = {_name(row): row["efficiency"] for row in rows}
    lying_bars(axes, ours | theirs, colours + [PEER] * len(theirs))
    axes.set_xlabel("parallel efficiency, %; P100: Xue & Roy 2020")


def _name(row: Row) -> str:
    cut = f"cut {format_extent(row['processes'])}" if row["processes"] else "automatic cut"
    return f"{format_extent(row['cells'])}, {row['version']}, {cut}"


def _strong(axes: Axes, measured: Measured) -> None:
    _efficiency(axes, measured, "strong")
    title(axes, "One cube shared by all ranks")


def _weak(axes: Axes, measured: Measured) -> None:
    _efficiency(axes, measured, "weak")
    title(axes, "A cube on each rank")


def _height(measured: Measured) -> float:
    last = measured["steady" if measured["ranks"] == 1 else "weak"]
    return 2.75 + 0.15 * len(last)


draw = Page(
    "A buoyancy-driven cavity",
    "Euler steps in double precision",
    [
        Panel("sizes", _sizes, "one"),
        Panel("steady", _steady, "one"),
        Panel("strong", _strong, "several"),
        Panel("weak", _weak, "several"),
    ],
    _height,
)
