"""Plots of the benchmark of DG waves, in the order of the paper's figures 4 to 8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from groundswell.bench.drawing import (
    OTHER,
    OURS,
    PEER,
    Page,
    Panel,
    Rows,
    above,
    curves,
    distinct,
    grouped_bars,
    legend,
    name_groups,
    places_of,
    stacked_bars,
    title,
)
from groundswell.plotting.style import ACCENT, INK, QUIET
from groundswell.solvers.dgwave.benchmarks.speed import cpu_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Run = Mapping[str, Any]

YELLOW = "#e0a030"
VERSIONS = {"base": PEER, "f1": OTHER, "f1s": YELLOW, "solver": OURS}
KERNELS = {
    "volume": OTHER,
    "flux": ACCENT,
    "volume_and_flux": "#7a5195",
    "integrate": YELLOW,
    "advance": OURS,
}
DEGREES = {
    "f1s, N = 3": "#f4d7a1",
    "f1s, N = 7": VERSIONS["f1s"],
    "solver, N = 3": "#93c5ae",
    "solver, N = 7": VERSIONS["solver"],
}
SENT = {"whole elements": PEER, "variables, materials": YELLOW, "face traces": OURS}
MARKS = {"double": "o", "single": "^"}
LINES = {"double": "-", "single": "--"}
SHORTEST = 1e-3  # ms, of exchanges in pictures


def label(row: Run) -> str:
    """Equations, flux and precision."""
    return f"{row['configuration'].replace(', ', chr(10))}\n{row['precision']}"


def _on_device(measured: Run) -> Rows:
    return [row for row in measured["kernels"] if row["device"] == measured["backend"]]


# --- bars -----------------------------------------------------------------------------------------


def compared(measured: Run) -> tuple[str, str]:
    """The speed-ups to show, and over what: the solver on a GPU's host, else the base version."""
    has_base = _on_device(measured)[0]["over_base"] is not None
    if "host" in measured or not has_base:
        return "over_cpu", f"the solver on {cpu_of(measured)}"
    return "over_base", "the base version"


def draw_speed(axes: Axes, measured: Run) -> None:
    """Speed-up by version."""
    rows, (value, over) = _on_device(measured), compared(measured)
    places = grouped_bars(axes, rows, label, "version", value, VERSIONS)
    speeds = [f"{row['GDOFS']:.{2 + (row['GDOFS'] >= 1)}g}" for row in rows]
    above(axes, places, [row[value] for row in rows], speeds, 7)
    legend(axes, 4)
    axes.set_ylabel("speed-up")
    title(axes, f"Speed-up over {over}; grey: billion unknowns per second and stage (figure 4a)")


def _times(axes: Axes, measured: Run) -> None:
    """Stacked bars of the time of each kernel in a stage."""
    rows = _on_device(measured)
    groups, width, places = places_of(rows, label, "version", VERSIONS)
    parts = [{name: 1e3 * t for name, t in row["kernels"].items()} for row in rows]
    heights = stacked_bars(axes, places, parts, KERNELS, 0.9 * width)
    above(axes, places, heights, [row["version"] for row in rows], 7)
    name_groups(axes, range(len(groups)), groups)
    legend(axes, 5)
    axes.set_ylabel("ms per stage")
    title(axes, "Time by kernel (figure 4b)")


def by_degree(measured: Run) -> Rows:
    """Rows of degrees, each with its `kind`."""
    return [
        {**row, "kind": f"{row['version']}, N = {row['degree']}"} for row in measured["degrees"]
    ]


def draw_degrees(axes: Axes, measured: Run) -> None:
    """Speed by degree."""
    rows = by_degree(measured)
    grouped_bars(axes, rows, label, "kind", "GDOFS", DEGREES)
    legend(axes, 4)
    axes.set_ylabel("GDOF/s")
    nodes = rows[-1]["elements"] * (rows[-1]["degree"] + 1) ** 3
    title(axes, f"Two degrees, {nodes / 1e6:,.3g} million nodes each (figure 5)")


# --- rooflines ------------------------------------------------------------------------------------


def _rooflines(axes: Axes, measured: Run) -> None:
    """Kernels of degree 7 by arithmetic intensity, and the measured bandwidth as a line."""
    rows = [row for row in measured["rooflines"] if row["degree"] == 7]
    labelled = set()
    for row in rows:
        name = f"{row['version']}: {row['kernel'].replace('_', ' ')}"
        label = "_" if name in labelled else name
        labelled.add(name)
        colours: dict[str, Any] = {"mfc": KERNELS[row["kernel"]], "mec": VERSIONS[row["version"]]}
        mark = MARKS[row["precision"]]
        axes.plot(row["intensity"], row["GFLOPS"], mark, ms=8, mew=1.8, label=label, **colours)
    x = [min(row["intensity"] for row in rows) / 1.3, max(row["intensity"] for row in rows) * 1.3]
    axes.plot(x, [measured["bandwidth"] * n / 1e9 for n in x], "--", color=INK, lw=1.2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flops per byte; circles: double precision, triangles: single")
    axes.set_ylabel("GFLOP/s")
    legend(axes, 2, "lower right", size=8)
    axes.set_ylim(bottom=axes.get_ylim()[0] / 10)  # room for the legend
    rate = f"{measured['bandwidth'] / 1e9:,.0f} GB/s"
    title(axes, f"Kernels under the roofline of {rate}, measured (figure 4c)")


# --- several ranks --------------------------------------------------------------------------------


def _exchange(axes: Axes, measured: Run) -> None:
    """Time that the exchange adds to a stage: bars with overlap, dots without."""
    rows = [
        {**row, "added": _milliseconds(row), "group": f"{row['transport']}\n{label(row)}"}
        for row in measured["exchange"]
    ]
    overlapped = [row for row in rows if row["overlap"]]
    grouped_bars(axes, overlapped, "group", "sent", "added", SENT)
    plain = [row for row in rows if not row["overlap"]]
    used = [sent for sent in SENT if sent in distinct(rows, "sent")]
    groups, _, places = places_of(plain, "group", "sent", used)
    for place, row in zip(places, plain, strict=True):
        axes.plot(place, row["added"], "o", ms=4, mfc=SENT[row["sent"]], mec=INK)
    size = 8 if len(distinct(rows, "transport")) < 4 else 6
    name_groups(axes, range(len(groups)), groups, size)
    axes.set_yscale("log")
    axes.set_ylim(SHORTEST / 2, 10 * max(row["added"] for row in rows))  # room for the legend
    legend(axes, 3)
    axes.set_ylabel("ms")
    title(
        axes,
        "Time that the exchange adds to a stage, with overlap; dots: without; at least "
        f"{1e3 * SHORTEST:g} µs (figures 6, 7)",
    )


def _milliseconds(row: Run) -> float:
    """Time that the exchange adds, ms, or SHORTEST, as the scale is logarithmic."""
    return max(1e3 * float(row["exchange"]), SHORTEST)


def _weak(axes: Axes, measured: Run) -> None:
    """Total speed by number of ranks; dotted: ideal scaling."""
    rows = measured["weak"]
    first = {precision: row for row in reversed(rows) for precision in [row["precision"]]}

    def ideal(row: Run) -> float:
        one = first[row["precision"]]
        return float(row["ranks"] * one["GDOFS"] / one["ranks"])

    def style(precision: str) -> dict[str, Any]:
        line = LINES[precision]
        return {"marker": "o", "ls": line, "color": VERSIONS["solver"], "label": precision}

    curves(axes, rows, "ranks", "GDOFS", "precision", style)
    curves(axes, rows, "ranks", ideal, "precision", lambda name: {"ls": ":", "color": QUIET})
    for row in rows:
        text = f" {100 * row['efficiency']:.0f} %"
        axes.text(row["ranks"], row["GDOFS"], text, va="top", fontsize=9, color=QUIET)
    axes.set_xticks(sorted({row["ranks"] for row in rows}))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("ranks")
    axes.set_ylabel("GDOF/s")
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    elements = f"{rows[0]['elements']:,} elements on each rank"
    title(axes, f"Weak scaling, {rows[0]['configuration']}: {elements} (figure 8)")


draw = Page(
    "Waves by discontinuous Galerkin",
    "N = 7 unless stated",
    [
        Panel("kernels", draw_speed, "one"),
        Panel("kernels", _times, "one"),
        Panel("rooflines", _rooflines, "one"),
        Panel("degrees", draw_degrees, "one"),
        Panel("exchange", _exchange, "several"),
        Panel("weak", _weak, "several"),
    ],
)
