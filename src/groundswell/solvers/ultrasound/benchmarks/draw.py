"""Plots of the ultrasound benchmark: speed on one rank, transports on several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundswell.bench.drawing import (
    BAND,
    OTHER,
    OURS,
    PEER,
    Page,
    Panel,
    Rows,
    above,
    curves,
    distinct,
    legend,
    lying_bars,
    stacked_bars,
    title,
)
from groundswell.bench.tables import Measured, Row, percent
from groundswell.errors import counted
from groundswell.grids.cartesian import format_extent
from groundswell.plotting.style import ACCENT, INK
from groundswell.solvers.ultrasound.benchmarks.published import KWAVE, KWAVE_ON_H200
from groundswell.solvers.ultrasound.benchmarks.ranks import STAGED
from groundswell.solvers.ultrasound.benchmarks.single import speed_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = {"transforms": OTHER, "other kernels": OURS, "exchange": "#e0a030"}
EDGE_COLOURS = (OURS, OTHER, ACCENT)


def _single(axes: Axes, measured: Measured) -> None:
    """Bars of speed, next to those of k-Wave on the same points."""
    bars: dict[str, tuple[float, str]] = {}
    for row in measured["single"]:
        known = KWAVE_ON_H200.get((row["cells"][0], row["physics"]))
        name = f"{format_extent(row['cells'])}\n{row['physics']}"
        if known:
            bars[f"k-Wave, H200, {name}"] = row["cells"][0] ** 3 / known[0] / 1e6, PEER
        bars[name] = row["MLUPS"], OURS
    colours = [colour for _, colour in bars.values()]
    lying_bars(axes, {name: value for name, (value, _) in bars.items()}, colours, speed_text)
    axes.tick_params(axis="y", labelsize=9)
    axes.margins(x=0.1)
    axes.xaxis.set_major_formatter(lambda x, _: speed_text(x))
    axes.set_xlabel("million points updated per second")
    title(axes, "A step on one device, heterogeneous media")


# --- parts of a step ------------------------------------------------------------------------------


def _breakdown(axes: Axes, measured: Measured) -> None:
    """The parts of a step, without exchange or by the fastest transport."""
    rows = [row for row in measured["breakdown"] if row["transport"] != STAGED]
    what = "blocks like those of eight ranks" if measured["ranks"] > 1 else "a block of eight ranks"
    title(axes, f"Parts of a step, {what} (fused steps: transforms); grey: largest prime")
    _draw_parts(axes, rows)


def _staged(axes: Axes, measured: Measured) -> None:
    """The parts of a step whose exchange goes through the host."""
    title(axes, "The same with MPI through the host")
    _draw_parts(axes, [row for row in measured["breakdown"] if row["transport"] == STAGED])


def _draw_parts(axes: Axes, rows: Rows) -> None:
    """Stacked bars in groups by overlap, with the largest prime factor of the sizes above."""
    places: list[float] = []
    ordered: list[Row] = []
    for overlap in distinct(rows, "overlap"):
        group = [row for row in rows if row["overlap"] == overlap]
        first = places[-1] + 1.6 if places else 0.0
        places += [first + n for n in range(len(group))]
        ordered += group
        more_lines = _bar_name(group[-1]).count("\n")
        _below(axes, first + (len(group) - 1) / 2, f"overlap {overlap}", more_lines)
    if ordered:
        _stack(axes, places, ordered, [str(row["factor"]) for row in ordered])
    axes.set_xticks(places, [_bar_name(row) for row in ordered], fontsize=9)


def _bar_name(row: Row) -> str:
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


def _stack(axes: Axes, places: list[float], rows: Rows, texts: list[str]) -> None:
    """Stacked bars of the parts of a step, ms, with texts above."""
    names = {"transforms": "transforms", "other kernels": "kernels", "exchange": "exchange"}
    parts = [{name: 1e3 * row[key] for name, key in names.items()} for row in rows]
    stacked_bars(axes, places, parts, PARTS)
    above(axes, places, [1e3 * row["seconds"] for row in rows], texts)
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("ms per step")
    legend(axes, 3)
    axes.margins(y=0.25)


# --- several ranks --------------------------------------------------------------------------------


def _transports(axes: Axes, measured: Measured) -> None:
    """Speed-up of the fastest transport over MPI through the host, by overlap."""
    rows = [r for r in measured["transports"] if r["speedup"] and r["transport"] != STAGED]
    edges = distinct(rows, "edge")

    def style(kind: tuple[int, str]) -> dict[str, object]:
        edge, cut = kind
        colour, label = EDGE_COLOURS[edges.index(edge) % 3], f"{format_extent((edge,) * 3)}, {cut}"
        line = {"marker": "o", "ls": "-"} if cut == "1-D" else {"marker": "s", "ls": "--"}
        return {**line, "color": colour, "label": label}

    curves(axes, _fastest(rows), "overlap", "speedup", lambda r: (r["edge"], r["cut"]), style)
    _published(axes, {row["overlap"] for row in rows})
    axes.axhline(1, color=INK, lw=0.8)
    axes.set_ylabel("speed-up")
    axes.set_xlabel("overlap, points")
    if rows:
        legend(axes, 2)
    axes.set_ylim(bottom=0)
    title(axes, "The fastest transport over MPI through the host, by points of a cube of eight")


def _fastest(rows: Rows) -> Rows:
    """The row of the fastest transport for each cube, cut and overlap."""
    best: dict[tuple[object, ...], Row] = {}
    for row in rows:
        key = (row["edge"], row["cut"], row["overlap"])
        best[key] = max(best.get(key, row), row, key=lambda each: float(each["speedup"]))
    return list(best.values())


def _published(axes: Axes, overlaps: set[int]) -> None:
    label = "k-Wave, eight P40"
    for overlap in sorted(overlaps & KWAVE.keys()):
        least, most = KWAVE[overlap]
        axes.vlines(overlap, least or 1, most, color=BAND, lw=10, zorder=0, label=label)
        label = "_"
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(overlaps), [str(n) for n in sorted(overlaps)])


def _weak(axes: Axes, measured: Measured) -> None:
    """Stacked bars by the number of ranks, with the efficiency above."""
    rows = measured["weak"]
    places = [float(n) for n in range(len(rows))]
    _stack(axes, places, rows, [percent(row["efficiency"]) for row in rows])
    axes.set_xticks(places, [counted(row["ranks"], "rank") for row in rows])
    cells = format_extent(rows[0]["cells"])
    title(axes, f"Weak scaling: {cells} points on each rank; grey: efficiency")


draw = Page(
    "Ultrasound by the k-space method",
    "single precision",
    [
        Panel("single", _single, "one"),
        Panel("breakdown", _breakdown),
        Panel("breakdown", _staged, "several"),
        Panel("transports", _transports, "several"),
        Panel("weak", _weak, "several"),
    ],
)
