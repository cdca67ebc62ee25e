"""Plots of the cavity benchmark: speed by size on one rank, or efficiency against ranks."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from groundswell.bench.drawing import OTHER, OURS, PEER, Page, Panel, lying_bars, title
from groundswell.bench.merging import runs_by_ranks
from groundswell.bench.tables import Measured
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.cavity.benchmarks import published
from groundswell.solvers.cavity.benchmarks.draw_ranks import NOTE, TITLE, draw_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P100 = "Tesla P100, Xue & Roy 2020"


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


def draw(measured: Measured, path: Path) -> Path:
    """Plot one rank, or several with earlier measurements of other numbers of ranks."""
    if measured["ranks"] == 1:
        return ONE(measured, path)
    return draw_ranks({**measured, "runs": runs_by_ranks(measured, path.parent)}, path)


ONE = Page(TITLE, NOTE, [Panel("sizes", _sizes, "one"), Panel("steady", _steady, "one")], 3.2)
