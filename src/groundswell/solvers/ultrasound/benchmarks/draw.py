"""Plots of the ultrasound benchmark: errors and speed on one rank, transports on several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.bench.exchange.published import KWAVE
from groundswell.errors import counted
from groundswell.grids.cartesian import format_extent
from groundswell.plotting.style import ACCENT, INK, QUIET, grid_lines, headline, picture
from groundswell.solvers.ultrasound.benchmarks.interface_error import SHAPES
from groundswell.solvers.ultrasound.benchmarks.published import KWAVE_ON_H200
from groundswell.solvers.ultrasound.benchmarks.ranks import STAGED
from groundswell.solvers.ultrasound.benchmarks.single import speed_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Run = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]

PEER, OURS, BAND = "#9aa5b1", "#0b6e4f", "#e4e7eb"
PARTS = {"transforms": "#3b6fb6", "kernels": OURS, "exchange": "#e0a030"}
NAMES = {"kernels": "other kernels"}
EDGE_COLOURS = (OURS, "#3b6fb6", ACCENT)
BAR = 0.8  # width


def draw(measured: Run, path: Path) -> Path:
    """Errors, speed and parts of a step; on several ranks parts, speed-up and weak scaling."""
    parts: list[tuple[str, Callable[[Axes, Run], None]]] = [("breakdown", _breakdown)]
    if measured["ranks"] == 1:
        parts = [("overlap_error", _errors), ("single", _single), *parts]
    else:
        parts += [("breakdown", _staged), ("transports", _transports), ("weak", _weak)]
    with picture(path, height=3.9 * len(parts)) as figure:
        panels = figure.subplots(len(parts))
        for axes, (name, part) in zip(panels, parts, strict=True):
            grid_lines(axes)
            axes.set_axisbelow(True)
            if measured[name]:
                part(axes, measured)
        device, ranks = measured["devices"][0].split(",")[0], measured["ranks"]
        on = f"{ranks} x {device}" if ranks > 1 else device
        headline(panels[0], "Ultrasound by the k-space method", f"{on}; single precision")
    return path


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=11)


# --- errors ---------------------------------------------------------------------------------------


def _errors(axes: Axes, measured: Run) -> None:
    """Errors by overlap: a line for each bell, and the solver's bells for several wavelengths."""
    from matplotlib import colormaps

    rows = measured["overlap_error"]
    main, *others = dict.fromkeys(row["points_per_wavelength"] for row in rows)
    for n, shape in enumerate(SHAPES):
        points = [(r["overlap"], r["errors"][str(shape)]) for r in _of(rows, main)]
        colour = colormaps["viridis"](n / len(SHAPES))
        axes.plot(*zip(*points, strict=True), color=colour, lw=1.2, label=f"L = {shape:g}")
    for per_wavelength, style in zip([main, *others], ("-", "--", ":"), strict=False):
        points = [(r["overlap"], r["error"]) for r in _of(rows, per_wavelength)]
        label = f"the solver's L, {per_wavelength:g} points"
        axes.plot(*zip(*points, strict=True), color=ACCENT, ls=style, lw=2, label=label)
    axes.set_yscale("log")
    axes.set_xticks(sorted({row["overlap"] for row in rows}))
    axes.set_xlabel("overlap, points")
    axes.set_ylabel("error")
    axes.legend(loc="lower left", frameon=False, fontsize=9, ncols=2)
    _title(axes, f"Error of one interface, by shape of the bell; {main:g} points per wavelength")


def _of(rows: Rows, per_wavelength: float) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["points_per_wavelength"] == per_wavelength]


# --- one device -----------------------------------------------------------------------------------


def _single(axes: Axes, measured: Run) -> None:
    """Bars of speed, next to those of k-Wave on the same points."""
    bars: list[tuple[str, float, str]] = []
    for row in measured["single"]:
        known = KWAVE_ON_H200.get((row["cells"][0], row["physics"]))
        name = f"{format_extent(row['cells'])}\n{row['physics']}"
        if known:
            bars.append((f"k-Wave, H200, {name}", row["cells"][0] ** 3 / known[0] / 1e6, PEER))
        bars.append((name, row["MLUPS"], OURS))
    labels, values, colours = zip(*bars, strict=True)
    axes.barh(labels, values, color=colours)
    for n, value in enumerate(values):
        axes.text(value, n, f" {speed_text(value)}", va="center")
    axes.tick_params(axis="y", labelsize=9)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("million points updated per second")
    _title(axes, "A step on one device, heterogeneous media")


# --- parts of a step ------------------------------------------------------------------------------


def _breakdown(axes: Axes, measured: Run) -> None:
    """The parts of a step, without exchange or by the fastest transport."""
    ranks = measured["ranks"]
    rows = [row for row in measured["breakdown"] if row["transport"] != STAGED]
    what = "blocks of eight ranks" if ranks > 1 else "the block of one of eight ranks"
    title = f"Parts of a step, {what} (a fused step counts as transforms); grey: largest prime"
    _parts(axes, rows, title)


def _staged(axes: Axes, measured: Run) -> None:
    """The parts of a step whose exchange goes through the host."""
    rows = [row for row in measured["breakdown"] if row["transport"] == STAGED]
    _parts(axes, rows, "The same with MPI through the host")


def _parts(axes: Axes, rows: Rows, title: str) -> None:
    """Stacked bars in groups by overlap, with the largest prime factor of the sizes above."""
    places: list[float] = []
    names: list[str] = []
    for overlap in dict.fromkeys(row["overlap"] for row in rows):
        group = [row for row in rows if row["overlap"] == overlap]
        first = places[-1] + 1.6 if places else 0.0
        places += [first + n for n in range(len(group))]
        names += [_bar_name(row) for row in group]
        middle = first + (len(group) - 1) / 2
        _below(axes, middle, f"overlap {overlap}", names[-1].count("\n"))
    ordered = sorted(rows, key=lambda row: int(row["overlap"]))
    if ordered:
        _stack(axes, places, ordered)
    for place, row in zip(places, ordered, strict=True):
        text = str(row["factor"])
        axes.text(place, 1e3 * row["seconds"], text, ha="center", va="bottom", color=QUIET)
    axes.set_xticks(places, names, fontsize=9)
    _title(axes, title)


def _bar_name(row: Mapping[str, Any]) -> str:
    return str(row["cut"]) + f"\n{row['transport']}" * (row["transport"] != "none")


def _below(axes: Axes, place: float, text: str, more_lines: int) -> None:
    axes.annotate(
        text,
        xy=(place, 0),
        xycoords=("data", "axes fraction"),
        xytext=(0, -22 - 12 * more_lines),
        textcoords="offset points",
        ha="center",
        va="top",
        color=INK,
    )


def _stack(axes: Axes, places: Sequence[float], rows: Rows) -> None:
    """Stacked bars of the parts of a step, ms."""
    bottom = [0.0] * len(rows)
    for part, colour in PARTS.items():
        heights = [1e3 * row[part] for row in rows]
        if any(heights):
            label = NAMES.get(part, part)
            axes.bar(places, heights, BAR, bottom, color=colour, label=label)
        bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0)
    axes.margins(y=0.25)
    axes.set_ylabel("ms per step")
    axes.legend(loc="upper left", frameon=False, fontsize=9, ncols=3)


# --- several ranks --------------------------------------------------------------------------------


def _transports(axes: Axes, measured: Run) -> None:
    """Speed-up of the fastest transport over MPI through the host, by overlap."""
    rows = [r for r in measured["transports"] if r["speedup"] and r["transport"] != STAGED]
    edges = list(dict.fromkeys(row["edge"] for row in rows))
    for edge, cut in dict.fromkeys((row["edge"], row["cut"]) for row in rows):
        best: dict[int, float] = {}
        for row in rows:
            if (row["edge"], row["cut"]) == (edge, cut):
                best[row["overlap"]] = max(row["speedup"], best.get(row["overlap"], 0.0))
        style, colour = {"1-D": "o-", "3-D": "s--"}[cut], EDGE_COLOURS[edges.index(edge) % 3]
        label = f"{format_extent((edge,) * 3)}, {cut}"
        axes.plot(list(best), list(best.values()), style, color=colour, label=label)
    _published(axes, {row["overlap"] for row in rows})
    axes.axhline(1, color=INK, lw=0.8)
    axes.set_ylabel("speed-up")
    axes.set_xlabel("overlap, points")
    if rows:
        axes.legend(loc="upper left", frameon=False, fontsize=9, ncols=2)
        axes.margins(y=0.2)
    axes.set_ylim(bottom=0)
    _title(axes, "The fastest transport over MPI through the host, by points of a cube of eight")


def _published(axes: Axes, overlaps: set[int]) -> None:
    label = "k-Wave, eight P40"
    for overlap in sorted(overlaps & KWAVE.keys()):
        least, most = KWAVE[overlap]
        axes.vlines(overlap, least or 1, most, color=BAND, lw=10, zorder=0, label=label)
        label = "_"
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(overlaps), [str(n) for n in sorted(overlaps)])


def _weak(axes: Axes, measured: Run) -> None:
    """Stacked bars by the number of ranks, with the efficiency above."""
    rows = measured["weak"]
    places = [float(n) for n in range(len(rows))]
    _stack(axes, places, rows)
    for place, row in zip(places, rows, strict=True):
        text = f"{100 * row['efficiency']:.0f} %"
        axes.text(place, 1e3 * row["seconds"], text, ha="center", va="bottom", color=QUIET)
    axes.set_xticks(places, [counted(row["ranks"], "rank") for row in rows])
    cells = format_extent(rows[0]["cells"])
    _title(axes, f"Weak scaling: {cells} points on each rank; grey: efficiency")
