"""Plots of the cavity benchmark: speed by size, or efficiency by version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from groundswell.bench.exchange import published
from groundswell.grids.cartesian import format_extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PEER, OURS, VERSION = "#9aa5b1", "#0b6e4f", "#3b6fb6"
P100 = "Tesla P100, Xue & Roy 2020"


def draw(measured: Mapping[str, Any], path: Path) -> Path:
    """Bars of speed and of the time to a steady flow; on several ranks, of efficiencies."""
    from groundswell.plotting.style import headline, picture

    parts = ("sizes", "steady") if "sizes" in measured else ("strong", "weak")
    drawings = {"sizes": _sizes, "steady": _steady, "strong": _scaling, "weak": _scaling}
    with picture(path, height=5.5 + 0.3 * len(measured[parts[1]])) as figure:
        for axes, part in zip(panels := figure.subplots(2), parts, strict=True):
            drawings[part](axes, measured, part)
            axes.set_title(TITLES[part], loc="left", fontsize=11)
            axes.invert_yaxis()
            axes.spines[["top", "right"]].set_visible(False)
        device, ranks = measured["devices"][0].split(",")[0], measured["ranks"]
        on = f"{ranks} x {device}" if ranks > 1 else device
        headline(panels[0], "A buoyancy-driven cavity", f"{on}; Euler steps in double precision")
    return path


TITLES = {
    "sizes": "Speed by size",
    "steady": "From rest to a steady flow",
    "strong": "One cube shared by all ranks",
    "weak": "A cube on each rank",
}


def _sizes(axes: Axes, measured: Mapping[str, Any], part: str) -> None:
    bars = {P100: published.ONE_GPU / 100}
    bars |= {
        f"{format_extent(r['cells'])}, {r['precision']}": r["ssspnt"] / 100 for r in measured[part]
    }
    _bars(axes, bars, [PEER] + [OURS] * len(measured[part]))
    axes.set_xlabel("billion points updated a second")


def _steady(axes: Axes, measured: Mapping[str, Any], part: str) -> None:
    rows = measured[part]
    _bars(axes, {fill(row["way"], 26): row["seconds"] for row in rows}, [PEER, VERSION, OURS])
    cells = format_extent(rows[0]["cells"])
    limit = f"{rows[0]['tolerance']:.0e}"
    axes.set_xlabel(f"seconds until all residuals are below {limit}, {cells} points")


def _scaling(axes: Axes, measured: Mapping[str, Any], part: str) -> None:
    """Bars of efficiency, without transports through the host, whose scale would hide the rest."""
    rows = [row for row in measured[part] if row["transport"] != "mpi"]
    known = {"strong": published.STRONG, "weak": published.WEAK}[part]
    bars = {_name(row): row["efficiency"] for row in rows}
    theirs = {
        f"two P100, {version}, cut {format_extent(grid)}": efficiency
        for (version, grid), (_, efficiency) in known.items()
        if "GPUDirect" in version
    }
    colours = [OURS if row["version"] == "ours" else VERSION for row in rows]
    _bars(axes, bars | theirs, colours + [PEER] * len(theirs))
    axes.set_xlabel("parallel efficiency, %; P100: Xue & Roy 2020")


def _name(row: Mapping[str, Any]) -> str:
    cut = f"cut {format_extent(row['processes'])}" if row["processes"] else "automatic cut"
    return f"{format_extent(row['cells'])}, {row['version']}, {cut}"


def _bars(axes: Axes, bars: Mapping[str, float], colours: Sequence[str]) -> None:
    axes.barh(list(bars), list(bars.values()), color=list(colours))
    for n, value in enumerate(bars.values()):
        axes.text(value, n, f" {value:.3g}", va="center")
