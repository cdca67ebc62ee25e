"""The cavity's benchmark as a picture: speed by size, or efficiency by version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.grids.cartesian import times

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PEER, OURS, VERSION = "#9aa5b1", "#0b6e4f", "#3b6fb6"
P100 = "Tesla P100, Xue & Roy 2020"


def draw(measured: Mapping[str, Any], path: Path) -> Path:
    """Bars of speed and of the way to a steady flow; on several ranks, of efficiencies."""
    from groundswell.report.style import picture

    parts = ("sizes", "steady") if "sizes" in measured else ("strong", "weak")
    drawings = {"sizes": _sizes, "steady": _steady, "strong": _scaling, "weak": _scaling}
    with picture(path, height=9.0) as figure:
        for axes, part in zip(figure.subplots(2), parts, strict=True):
            drawings[part](axes, measured, part)
            axes.invert_yaxis()
            axes.spines[["top", "right"]].set_visible(False)
    return path


def _sizes(axes: Axes, measured: Mapping[str, Any], part: str) -> None:
    from groundswell.report.style import headline

    bars = {P100: measured["published"]["one"] / 100}
    bars |= {f"{times(r['cells'])}, {r['precision']}": r["ssspnt"] / 100 for r in measured[part]}
    _bars(axes, bars, [PEER] + [OURS] * len(measured[part]))
    axes.set_xlabel("thousand million points updated a second")
    device = measured["devices"][0].split(",")[0]
    headline(axes, "A cavity on one device", f"Euler steps; {device}; P100: 256 x 256 x 256")


def _steady(axes: Axes, measured: Mapping[str, Any], part: str) -> None:
    from groundswell.report.style import headline

    rows = measured[part]
    _bars(axes, {row["way"]: row["seconds"] for row in rows}, [PEER, VERSION, OURS])
    axes.set_xlabel("seconds from rest until all residuals are below 1e-6")
    headline(
        axes, "The way to a steady flow", f"{times(rows[0]['cells'])} points, double precision"
    )


def _scaling(axes: Axes, measured: Mapping[str, Any], part: str) -> None:
    from groundswell.report.style import headline

    rows: Sequence[Mapping[str, Any]] = measured[part]
    ours = {_name(row): row["efficiency"] for row in rows}
    theirs = {
        f"{row['version']}, {times(row['processes'])}: two P100": row["efficiency"]
        for row in measured["published"][part]
    }
    colours = [OURS if row["version"] == "ours" else VERSION for row in rows]
    _bars(axes, ours | theirs, colours + [PEER] * len(theirs))
    axes.set_xlabel("speed of all ranks over so many times that of one, %")
    title = "A cavity shared by all ranks" if part == "strong" else "A cavity on each rank"
    headline(axes, title, f"{measured['ranks']} ranks, and two GPUs of Xue & Roy (2020)")


def _name(row: Mapping[str, Any]) -> str:
    cut = f", {times(row['processes'])}" if row["processes"] else ""
    return f"{row['version']}{cut}, {row['transport']}: {times(row['cells'])}"


def _bars(axes: Axes, bars: Mapping[str, float], colours: Sequence[str]) -> None:
    axes.barh(list(bars), list(bars.values()), color=list(colours))
    for n, value in enumerate(bars.values()):
        axes.text(value, n, f" {value:.3g}", va="center")
