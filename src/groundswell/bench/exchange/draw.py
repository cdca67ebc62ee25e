"""Plot of all tables: links by size, k-Wave's overlaps, the optimisations of the cavity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from groundswell.bench.exchange.published import KWAVE
from groundswell.bench.tables import size_of
from groundswell.plotting.style import INK, headline, picture, round_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows = Sequence[Mapping[str, Any]]

COLOURS = {
    "direct": "#0b6e4f",
    "peer": "#58b368",
    "nccl": "#e0a030",
    "mpi-gpu": "#7a5195",
    "mpi": "#9aa5b1",
    "mpi-thread": "#4f81bd",
}
NAMES = {
    "direct": "peer memory, straight into ghosts",
    "peer": "peer memory, mailboxes",
    "nccl": "NCCL",
    "mpi-gpu": "GPU-aware MPI",
    "mpi": "MPI through the host",
    "mpi-thread": "MPI driven by a thread",
}
BAND = "#e4e7eb"
STEPS = {
    "Baseline": "Baseline\ncopy by copy",
    "V1": "V1\n+ packed along\nthe fast axis",
    "V2": "V2\n+ each field's\nown stencil",
    "V3": "V3\n+ packed along\nall axes",
}
FILLED = 0.8  # of the room of a group of bars


def draw(measured: Mapping[str, Any], path: Path) -> Path:
    """Four panels; transports have the same colours in all of them."""
    with picture(path, height=8.4) as figure:
        layout = figure.get_layout_engine()
        if layout is not None:
            layout.set(w_pad=0.1, h_pad=0.08)  # type: ignore[call-arg]
        panels = figure.subplots(2, 2)
        for axes in panels.flat:
            axes.spines[["top", "right"]].set_visible(False)
        _links(panels[0, 0], measured["links"])
        _overlaps(panels[0, 1], measured)
        for axes, along, name in ((panels[1, 0], -1, "slow"), (panels[1, 1], 0, "fast")):
            _versions(axes, measured["optimisations"], along, name)
        _same_height(panels[1])
        _legend(figure, measured)
        device = measured["devices"][0].split(",")[0]
        headline(
            panels[0, 0],
            f"Ghost exchange between {measured['ranks']} ranks",
            f"{device}, {measured['backend']} backend; medians of the slowest rank's time",
        )
    return path


def _legend(figure: Any, measured: Mapping[str, Any]) -> None:
    from matplotlib.patches import Patch

    found = {
        r["transport"] for part in ("links", "overlaps", "optimisations") for r in measured[part]
    }
    used = [name for name in COLOURS if name in found]
    handles = [Patch(color=COLOURS[name], label=_name(measured, name)) for name in used]
    if handles:
        figure.legend(
            handles=handles, loc="outside lower center", ncols=min(3, len(used)), frameon=False
        )


def _name(measured: Mapping[str, Any], transport: str) -> str:
    on_host = transport == "mpi" and measured["backend"] == "cpu"
    return "MPI" if on_host else NAMES[transport]


# --- links ----------------------------------------------------------------------------------------


def _links(axes: Axes, rows: Rows) -> None:
    """Rate by size of a face, with two faces per exchange; a dashed line shows the limit."""
    both = [row for row in rows if row["faces"] == 2]
    for name in ("copy", *COLOURS):
        points = [(row["bytes"], row["rate"] / 1e9) for row in both if row["transport"] == name]
        if points and name == "copy":
            axes.plot(*zip(*points, strict=True), color=INK, ls="--", lw=1.2, label="plain copies")
            axes.legend(loc="lower right", frameon=False, fontsize=9)
        elif points:
            axes.plot(*zip(*points, strict=True), color=COLOURS[name], marker="o", ms=4, lw=1.6)
    axes.set_xscale("log", base=2)
    _logarithmic(axes)
    sizes = sorted({row["bytes"] for row in both})[::2]
    axes.set_xticks(sizes, [size_of(size) for size in sizes])
    axes.set_xlabel("bytes of a face, two faces an exchange")
    axes.set_ylabel("GB/s sent by a rank")
    axes.grid(axis="y", color=BAND, lw=0.8)
    _title(axes, "A ring of ranks: rate by size")


def _logarithmic(axes: Axes) -> None:
    """Label with plain numbers, also between decades if the axis spans only a few."""
    axes.set_yscale("log")
    lowest, highest = axes.get_ylim()
    decades = [n for n in round_numbers(lowest, highest) if f"{n:e}".startswith("1")]
    ticks = decades if len(decades) > 2 else round_numbers(lowest, highest)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(lowest, highest)


# --- bars -----------------------------------------------------------------------------------------


def _bars(axes: Axes, rows: Rows, group: str, value: str, bottom: float = 0) -> list[Any]:
    """Bars of transports side by side, grouped by a column; returns the groups."""
    groups, width, places = _places(rows, group)
    for row, place in zip(rows, places, strict=True):
        colour = COLOURS[row["transport"]]
        axes.bar(place, row[value] - bottom, 0.9 * width, bottom, color=colour)
    axes.set_xticks(range(len(groups)), [str(g) for g in groups])
    axes.tick_params(axis="x", length=0)
    return groups


def _dots(axes: Axes, rows: Rows, group: str, value: str) -> None:
    """The same as dots at the positions of the bars."""
    for row, place in zip(rows, _places(rows, group)[2], strict=True):
        axes.plot(place, row[value], "o", ms=5, mfc=COLOURS[row["transport"]], mec=INK)


def _places(rows: Rows, group: str) -> tuple[list[Any], float, list[float]]:
    """Groups, the width of a bar, and the centre of each row's bar."""
    groups = list(dict.fromkeys(row[group] for row in rows))
    used = [name for name in COLOURS if any(row["transport"] == name for row in rows)]
    width = FILLED / max(len(used), 1)
    order = [used.index(row["transport"]) + 0.5 - len(used) / 2 for row in rows]
    return (
        groups,
        width,
        [groups.index(row[group]) + width * n for row, n in zip(rows, order, strict=True)],
    )


def _overlaps(axes: Axes, measured: Mapping[str, Any]) -> None:
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
    if groups:
        axes.legend(loc="upper left", frameon=False, fontsize=9)
        axes.margins(y=0.2)
    axes.axhline(1, color=INK, lw=0.8)
    _logarithmic(axes)
    axes.set_xlabel("overlap, points")
    axes.set_ylabel(f"times as fast as {_name(measured, 'mpi')}")
    _title(axes, "k-Wave: cubes cut along one axis (dots: three)")


def _versions(axes: Axes, rows: Rows, along: int, name: str) -> None:
    """Time of an exchange by version, blocks cut along one axis."""
    cut = [row for row in rows if row["grid"][along] > 1 == sorted(row["grid"])[1]]
    shown = [{**row, "ms": 1e3 * row["seconds"]} for row in cut]
    versions = _bars(axes, shown, "version", "ms")
    axes.set_xticks(range(len(versions)), [STEPS[version] for version in versions], fontsize=9)
    axes.set_ylabel("ms an exchange")
    axes.grid(axis="y", color=BAND, lw=0.8)
    axes.set_axisbelow(True)
    _title(axes, f"Cavity, 5 fields, cut along the {name} axis")


def _same_height(panels: Sequence[Axes]) -> None:
    """Logarithmic axes that start at the same power of ten in both panels."""
    tops = [bar.get_height() for axes in panels for bar in cast(Any, axes.patches)]
    for axes in panels:
        if tops:
            axes.set_ylim(10.0 ** math.floor(math.log10(min(tops) / 1.2)), 1.3 * max(tops))
            _logarithmic(axes)


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=11, fontweight="bold")
