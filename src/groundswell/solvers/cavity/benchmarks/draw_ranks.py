"""Plots of efficiency against ranks, by cut, version, transport and overlap.

Open marks are the figures of Xue & Roy (2020) for two P100s, at two ranks. As in their tables 1 and
2, curves of cuts along two or three axes contain the most even cut that a number of ranks allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.bench.drawing import (
    OTHER,
    OURS,
    PEER,
    Page,
    Panel,
    Rows,
    distinct,
    legend,
    title,
)
from groundswell.bench.rig import FASTEST
from groundswell.bench.tables import Measured, Row
from groundswell.grids.cartesian import format_extent
from groundswell.plotting.style import ACCENT
from groundswell.solvers.cavity.benchmarks import published
from groundswell.solvers.cavity.benchmarks.tables import GPUDIRECT, VERSIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE, NOTE = "A buoyancy-driven cavity", "Euler steps in double precision"
KNOWN = {"strong": published.STRONG, "weak": published.WEAK}
GROWTH = {"strong": "{} shared by all ranks", "weak": "{} on each rank"}
# Colours, and cuts that curves contain, in order of preference.
YELLOW, VIOLET = "#e0a030", "#7a5195"
CUTS = {"1-D, i": ACCENT, "1-D, j": YELLOW, "1-D, k": OURS, "2-D": OTHER, "3-D": VIOLET}
CONTENTS = {"2-D": ("2-D", "1-D, k"), "3-D": ("3-D", "2-D", "1-D, k")}
COLOURS = {"baseline": PEER, "v1": YELLOW, "v2": OTHER, "v3": VIOLET, "ours": OURS}
ALONG_I = "1-D, i"  # the cut for which packing matters most
LINES = {True: "-", False: "--"}  # with overlap and without


def draw_ranks(measured: Measured, path: Path) -> Path:
    """Efficiency by cut for our version, and by version for each transport.

    Args:
        measured: the latest run, and `runs` on all numbers of ranks.
    """
    transports = distinct(measured["strong"], "transport")
    panels = [Panel(growth, partial(_by_cut, growth=growth)) for growth in KNOWN]
    for transport in transports:
        draws = {each: partial(_by_version, growth=each, transport=transport) for each in KNOWN}
        panels += [Panel(growth, draw) for growth, draw in draws.items()]
    note = f"{NOTE}; open marks: two P100s (Xue & Roy 2020, tables 3 and 4)"
    return Page(TITLE, note, panels, 3.0, columns=2)(measured, path)


def _by_cut(axes: Axes, measured: Measured, growth: str) -> None:
    """Our version over the fastest transport."""
    transport = FASTEST[measured["backend"]]
    rows = [r for r in _rows(measured, growth, transport) if r["version"] == "ours"]
    for name in (name for name in CUTS if any(cut_of(row) == name for row in rows)):
        _draw_curves(axes, rows, name, CUTS[name], name)
    for (version, grid), (_, efficiency) in KNOWN[growth].items():
        if version == "V3 + GPUDirect":
            axes.plot(2, efficiency, "s", mfc="none", color=CUTS[cut_of({"processes": grid})])
    _finish(axes, measured, growth, f"Groundswell, {transport}; dashed: no overlap")


def _by_version(axes: Axes, measured: Measured, growth: str, transport: str) -> None:
    """All versions over a transport, cut along i."""
    rows = _rows(measured, growth, transport)
    for version in (name for name in COLOURS if any(row["version"] == name for row in rows)):
        chosen = [row for row in rows if row["version"] == version]
        _draw_curves(axes, chosen, ALONG_I, COLOURS[version], VERSIONS[version])
        _mark(axes, KNOWN[growth], version, transport)
    _finish(axes, measured, growth, f"{transport}, cut along i; dashed: no overlap")


def _draw_curves(axes: Axes, rows: Rows, cut: str, colour: str, label: str) -> None:
    """Curves with overlap and without."""
    for overlap in distinct(rows, "overlap"):
        points = _points([row for row in rows if row["overlap"] == overlap], cut)
        axes.plot(*points, ls=LINES[overlap], marker="o", ms=4, color=colour, label=label)
        label = "_"


def _mark(axes: Axes, known: published.Cavity, version: str, transport: str) -> None:
    """An open mark for two P100s, cut along i."""
    name = VERSIONS[version] + " + GPUDirect" * (transport in GPUDIRECT)
    if found := known.get((name, (2, 1, 1))):
        axes.plot(2, found[1], "s", mfc="none", color=COLOURS[version])


# --- rows of several runs -------------------------------------------------------------------------


def _rows(measured: Measured, growth: str, transport: str) -> Rows:
    """Rows of all runs with a transport, for the smallest cube."""
    edge = _edge(measured, growth)
    found = [row for run in measured["runs"] for row in run.get(growth, ())]
    alike = [row for row in found if row["edge"] == edge and row["processes"]]
    return [row for row in alike if row["transport"] == transport]


def _edge(measured: Measured, growth: str) -> int:
    return int(min(row["edge"] for row in measured[growth]))


def cut_of(row: Row) -> str:
    """The axes of a cut: "1-D, i", "1-D, j", "1-D, k", "2-D" or "3-D"."""
    axes = [axis for axis, n in zip("ijk", row["processes"], strict=True) if n > 1]
    return f"1-D, {axes[0]}" if len(axes) == 1 else f"{len(axes)}-D"


def _points(rows: Rows, name: str) -> tuple[Sequence[int], Sequence[float]]:
    """Numbers of ranks, and efficiency in per cent; 100 on one rank."""
    found = {prod(row["processes"]): row["efficiency"] for row in _chosen(rows, name)}
    ranks = sorted(found)
    return [1, *ranks], [100.0, *(found[n] for n in ranks)]


def _chosen(rows: Rows, name: str) -> Iterator[Row]:
    """For each number of ranks, the row of the first of the cuts that it has."""
    contents = CONTENTS.get(name, (name,))
    for ranks in {prod(row["processes"]) for row in rows}:
        alike = {cut_of(row): row for row in rows if prod(row["processes"]) == ranks}
        yield from [alike[cut] for cut in contents if cut in alike][:1]


def _finish(axes: Axes, measured: Measured, growth: str, what: str) -> None:
    cube = format_extent((_edge(measured, growth),) * 3)
    axes.set_xscale("log", base=2)
    ticks = [1, *distinct(measured["runs"], "ranks")]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("ranks")
    axes.set_ylabel("efficiency, %")
    legend(axes, 2, "lower left", size=8)
    title(axes, f"{GROWTH[growth].format(cube)}:\n{what}")
