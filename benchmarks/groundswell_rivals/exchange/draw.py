"""Plot of the exchange: links by size, k-Wave's overlaps, the optimisations of the cavity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from groundswell.bench.drawing import BAND, Rows, name_groups, places_of, title
from groundswell.bench.exchange.draw import (
    COLOURS,
    draw_links,
    logarithmic,
    name_of,
    say_what,
)
from groundswell.bench.tables import Measured
from groundswell.plotting.style import INK, picture
from groundswell.solvers.ultrasound.benchmarks.published import KWAVE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = {
    "Baseline": "Baseline\ncopy by copy",
    "V1": "V1\n+ packed along\nthe fast axis",
    "V2": "V2\n+ each field's\nown stencil",
    "V3": "V3\n+ packed along\nall axes",
}


def draw(measured: Measured, path: Path) -> Path:
    """Four panels; transports have the same colours in all of them."""
    with picture(path, height=8.4) as figure:
        layout = figure.get_layout_engine()
        if layout is not None:
            layout.set(w_pad=0.1, h_pad=0.08)  # type: ignore[call-arg]
        panels = figure.subplots(2, 2)
        for axes in panels.flat:
            axes.spines[["top", "right"]].set_visible(False)
        draw_links(panels[0, 0], measured["links"])
        _overlaps(panels[0, 1], measured)
        for axes, along, name in ((panels[1, 0], -1, "slow"), (panels[1, 1], 0, "fast")):
            _versions(axes, measured["optimisations"], along, name)
        _same_height(panels[1])
        say_what(figure, panels[0, 0], measured, ("links", "overlaps", "optimisations"))
    return path


def _bars(axes: Axes, rows: Rows, group: str, value: str, bottom: float = 0) -> list[Any]:
    """Bars of transports side by side, grouped by a column; returns the groups."""
    groups, width, places = _places(rows, group)
    for row, place in zip(rows, places, strict=True):
        colour = COLOURS[row["transport"]]
        axes.bar(place, row[value] - bottom, 0.9 * width, bottom, color=colour)
    return groups


def _dots(axes: Axes, rows: Rows, group: str, value: str) -> None:
    """The same as dots at the positions of the bars."""
    for row, place in zip(rows, _places(rows, group)[2], strict=True):
        axes.plot(place, row[value], "o", ms=5, mfc=COLOURS[row["transport"]], mec=INK)


def _places(rows: Rows, group: str) -> tuple[list[object], float, list[float]]:
    used = [name for name in COLOURS if any(row["transport"] == name for row in rows)]
    return places_of(rows, group, "transport", used)


def _overlaps(axes: Axes, measured: Measured) -> None:
    """Speed-up over MPI through the host, relative to 1, with the published range."""
    others = [row for row in measured["overlaps"] if row["transport"] != "mpi" and row["speedup"]]
    groups = _bars(axes, [row for row in others if row["cut"] == "1-D"], "overlap", "speedup", 1)
    _dots(axes, [row for row in others if row["cut"] == "3-D"], "overlap", "speedup")
    label = "published, of whole simulations"
    for overlap, (least, most) in KWAVE.items():
        if overlap in groups:
            place, low = groups.index(overlap), least or 1
            axes.bar(place, most - low, 0.98, low, color=BAND, zorder=0, label=label)
            label = "_"
    name_groups(axes, range(len(groups)), groups, 11)
    if groups:
        axes.legend(loc="upper left", frameon=False, fontsize=9)
        axes.margins(y=0.2)
    axes.axhline(1, color=INK, lw=0.8)
    logarithmic(axes)
    axes.set_xlabel("overlap, points")
    axes.set_ylabel(f"times as fast as {name_of(measured, 'mpi')}")
    title(axes, "k-Wave: cubes cut along one axis (dots: three)", fontweight="bold")


def _versions(axes: Axes, rows: Rows, along: int, name: str) -> None:
    """Time of an exchange by version, blocks cut along one axis."""
    cut = [row for row in rows if row["grid"][along] > 1 == sorted(row["grid"])[1]]
    shown = [{**row, "ms": 1e3 * row["seconds"]} for row in cut]
    versions = _bars(axes, shown, "version", "ms")
    name_groups(axes, range(len(versions)), [STEPS[version] for version in versions])
    axes.set_ylabel("ms an exchange")
    axes.grid(axis="y", color=BAND, lw=0.8)
    axes.set_axisbelow(True)
    title(axes, f"Cavity, 5 fields, cut along the {name} axis", fontweight="bold")


def _same_height(panels: Sequence[Axes]) -> None:
    """Logarithmic axes that start at the same power of ten in both panels."""
    tops = [bar.get_height() for axes in panels for bar in cast(Any, axes.patches)]
    for axes in panels:
        if tops:
            axes.set_ylim(10.0 ** math.floor(math.log10(min(tops) / 1.2)), 1.3 * max(tops))
            logarithmic(axes)
