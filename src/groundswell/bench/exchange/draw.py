"""Plot of the exchange: the rate of links by the size of a face."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.bench.drawing import BAND, Rows, curves, title
from groundswell.bench.tables import Measured, size_of
from groundswell.plotting.style import INK, headline, picture, round_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
LIMIT: Mapping[str, object] = {"color": INK, "ls": "--", "lw": 1.2, "label": "plain copies"}


def draw(measured: Measured, path: Path) -> Path:
    """Draw the links."""
    with picture(path, height=4.2) as figure:
        axes = figure.subplots()
        draw_links(axes, measured["links"])
        say_what(figure, axes, measured, ("links",))
    return path


def say_what(figure: Figure, first: Axes, measured: Measured, parts: tuple[str, ...]) -> None:
    """The headline, and below the panels a legend of the transports in these tables."""
    from matplotlib.patches import Patch

    found = {row["transport"] for part in parts for row in measured[part]}
    used = [name for name in COLOURS if name in found]
    patches = [Patch(color=COLOURS[name], label=name_of(measured, name)) for name in used]
    if patches:
        columns = min(3, len(used))
        figure.legend(handles=patches, loc="outside lower center", ncols=columns, frameon=False)
    device = measured["devices"][0].split(",")[0]
    what = f"{device}, {measured['backend']} backend; medians of the slowest rank's time"
    headline(first, f"Ghost exchange between {measured['ranks']} ranks", what)


def name_of(measured: Measured, transport: str) -> str:
    """The name of a transport in legends."""
    on_host = transport == "mpi" and measured["backend"] == "cpu"
    return "MPI" if on_host else NAMES[transport]


def draw_links(axes: Axes, rows: Rows) -> None:
    """Rate by size of a face, with two faces per exchange; a dashed line shows the limit."""
    axes.spines[["top", "right"]].set_visible(False)
    both = [row for row in rows if row["faces"] == 2 and row["transport"] in ("copy", *COLOURS)]
    curves(axes, both, "bytes", lambda row: row["rate"] / 1e9, "transport", _style)
    if any(row["transport"] == "copy" for row in both):
        axes.legend(loc="lower right", frameon=False, fontsize=9)
    axes.set_xscale("log", base=2)
    logarithmic(axes)
    sizes = sorted({row["bytes"] for row in both})[::2]
    axes.set_xticks(sizes, [size_of(size) for size in sizes])
    axes.set_xlabel("bytes of a face, two faces an exchange")
    axes.set_ylabel("GB/s sent by a rank")
    axes.grid(axis="y", color=BAND, lw=0.8)
    title(axes, "A ring of ranks: rate by size", fontweight="bold")


def _style(transport: str) -> dict[str, object]:
    if transport == "copy":
        return dict(LIMIT)
    return {"color": COLOURS[transport], "marker": "o", "ms": 4, "lw": 1.6}


def logarithmic(axes: Axes) -> None:
    """Label with plain numbers, also between decades if the axis spans only a few."""
    axes.set_yscale("log")
    lowest, highest = axes.get_ylim()
    decades = [n for n in round_numbers(lowest, highest) if f"{n:e}".startswith("1")]
    ticks = decades if len(decades) > 2 else round_numbers(lowest, highest)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(lowest, highest)
