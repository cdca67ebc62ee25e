"""Plots of the benchmark of DG waves, in the order of the paper's figures 4 to 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.plotting.style import INK, QUIET, grid_lines, headline, picture
from groundswell.solvers.dgwave.benchmarks.ranks import REDUCED, TRACES, WHOLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Run = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]

VERSIONS = {"base": "#9aa5b1", "f1": "#3b6fb6", "f1s": "#e0a030", "solver": "#0b6e4f"}
KERNELS = {
    "volume": "#3b6fb6",
    "flux": "#c8102e",
    "volume_and_flux": "#7a5195",
    "integrate": "#e0a030",
    "advance": "#0b6e4f",
}
SENT = {WHOLE: "#9aa5b1", REDUCED: "#e0a030", TRACES: "#0b6e4f"}
MARKS = {"double": "o", "single": "^"}
LINES = {"double": "-", "single": "--"}
FILLED = 0.8  # fraction of the width of a group that bars fill
Panel = tuple[str, Callable[["Axes", Run], None]]


def draw(measured: Run, path: Path) -> Path:
    """Draw speed, kernel times, rooflines and degrees; on several ranks, exchange and scaling."""
    panels: list[Panel] = [
        ("kernels", _speed),
        ("kernels", _times),
        ("rooflines", _rooflines),
        ("degrees", _degrees),
    ]
    if measured["ranks"] > 1:
        panels = [("exchange", _exchange), ("weak", _weak)]
    with picture(path, height=3.9 * len(panels)) as figure:
        every = figure.subplots(len(panels))
        for axes, (name, panel) in zip(every, panels, strict=True):
            grid_lines(axes)
            axes.set_axisbelow(True)
            if measured[name]:
                panel(axes, measured)
        device, ranks = measured["devices"][0].split(",")[0], measured["ranks"]
        on = f"{ranks} x {device}" if ranks > 1 else device
        headline(every[0], "Waves by discontinuous Galerkin", f"{on}; N = 7 unless stated")
    return path


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=11)


def _label(row: Mapping[str, Any]) -> str:
    return f"{row['configuration'].replace(', ', chr(10))}\n{row['precision']}"


def _on_device(measured: Run) -> Rows:
    return [row for row in measured["kernels"] if row["device"] == measured["backend"]]


def _legend(axes: Axes, columns: int) -> None:
    axes.legend(loc="upper left", frameon=False, fontsize=9, ncols=columns)
    axes.margins(y=0.2)


# --- bars -----------------------------------------------------------------------------------------


def _bars(axes: Axes, rows: Rows, by: str, value: str, colours: Mapping[Any, str]) -> list[float]:
    """Draw bars, grouped by configuration and coloured by a key; return their positions."""
    groups = list(dict.fromkeys(_label(row) for row in rows))
    used = [name for name in colours if any(row[by] == name for row in rows)]
    width = FILLED / len(used)
    places = [
        groups.index(_label(row)) + width * (used.index(row[by]) + 0.5 - len(used) / 2)
        for row in rows
    ]
    for name in used:
        chosen = [(p, row[value]) for p, row in zip(places, rows, strict=True) if row[by] == name]
        x, heights = zip(*chosen, strict=True)
        axes.bar(x, heights, 0.9 * width, color=colours[name], label=str(name))
    axes.set_xticks(range(len(groups)), groups, fontsize=9)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    return places


def _speed(axes: Axes, measured: Run) -> None:
    """Speed-up over the solver on the CPU if that was measured, else over the base version."""
    rows = _on_device(measured)
    beside_cpu = "host_bandwidth" in measured
    value = "over_cpu" if beside_cpu else "over_base"
    places = _bars(axes, rows, "version", value, VERSIONS)
    for place, row in zip(places, rows, strict=True):
        text = f"{row['GDOFS']:.3g}"
        axes.text(place, row[value], text, ha="center", va="bottom", fontsize=7, color=QUIET)
    _legend(axes, 4)
    axes.set_ylabel("speed-up")
    over = "the solver on the CPU" if beside_cpu else "the base version"
    _title(axes, f"Speed-up over {over}; grey: billion unknowns per second and stage (figure 4a)")


def _times(axes: Axes, measured: Run) -> None:
    """Stacked bars of the time of each kernel in a stage."""
    rows = _on_device(measured)
    groups = list(dict.fromkeys(_label(row) for row in rows))
    width = FILLED / len(VERSIONS)
    for row in rows:
        n = list(VERSIONS).index(row["version"]) + 0.5 - len(VERSIONS) / 2
        place, bottom = groups.index(_label(row)) + width * n, 0.0
        for kernel, seconds in row["kernels"].items():
            axes.bar(place, 1e3 * seconds, 0.9 * width, bottom, color=KERNELS[kernel])
            bottom += 1e3 * seconds
        axes.text(place, bottom, row["version"], ha="center", va="bottom", fontsize=7, color=QUIET)
    for kernel, colour in KERNELS.items():
        axes.bar(0, 0, color=colour, label=kernel.replace("_", " "))
    axes.set_xticks(range(len(groups)), groups, fontsize=9)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    _legend(axes, 5)
    axes.set_ylabel("ms per stage")
    _title(axes, "Time by kernel (figure 4b)")


def _degrees(axes: Axes, measured: Run) -> None:
    """Speed by degree."""
    rows = [
        {**row, "kind": f"{row['version']}, N = {row['degree']}"} for row in measured["degrees"]
    ]
    colours = {
        "f1s, N = 3": "#f4d7a1",
        "f1s, N = 7": VERSIONS["f1s"],
        "solver, N = 3": "#93c5ae",
        "solver, N = 7": VERSIONS["solver"],
    }
    _bars(axes, rows, "kind", "GDOFS", colours)
    _legend(axes, 4)
    axes.set_ylabel("GDOF/s")
    nodes = rows[-1]["elements"] * (rows[-1]["degree"] + 1) ** 3
    _title(axes, f"Two degrees, {nodes / 1e6:,.3g} million nodes each (figure 5)")


# --- rooflines ------------------------------------------------------------------------------------


def _rooflines(axes: Axes, measured: Run) -> None:
    """Kernels of degree 7 by arithmetic intensity, and the measured bandwidth as a line."""
    rows = [row for row in measured["rooflines"] if row["degree"] == 7]
    labelled = set()
    for row in rows:
        name, mark = f"{row['version']}: {row['kernel'].replace('_', ' ')}", MARKS[row["precision"]]
        label = "_" if name in labelled else name
        labelled.add(name)
        colours: dict[str, Any] = {
            "mfc": KERNELS[row["kernel"]],
            "mec": VERSIONS[row["version"]],
            "mew": 1.8,
        }
        axes.plot(row["intensity"], row["GFLOPS"], mark, ms=8, label=label, **colours)
    x = [min(row["intensity"] for row in rows) / 1.3, max(row["intensity"] for row in rows) * 1.3]
    axes.plot(x, [measured["bandwidth"] * n / 1e9 for n in x], "--", color=INK, lw=1.2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flops per byte; circles: double precision, triangles: single")
    axes.set_ylabel("GFLOP/s")
    axes.legend(loc="lower right", frameon=False, fontsize=8, ncols=2)
    axes.set_ylim(bottom=axes.get_ylim()[0] / 10)  # room for the legend
    rate = f"{measured['bandwidth'] / 1e9:,.0f} GB/s"
    _title(axes, f"Kernels under the roofline of {rate}, measured (figure 4c)")


# --- several ranks --------------------------------------------------------------------------------


def _exchange(axes: Axes, measured: Run) -> None:
    """Fraction of a stage that the exchange adds: bars with overlap, dots without."""
    rows = measured["exchange"]
    transports = list(dict.fromkeys(row["transport"] for row in rows))
    groups = list(dict.fromkeys((_label(row), row["transport"]) for row in rows))
    width, labelled = FILLED / len(SENT), set()
    for row in rows:
        n = list(SENT).index(row["sent"]) + 0.5 - len(SENT) / 2
        place = groups.index((_label(row), row["transport"])) + width * n
        colour, height = SENT[row["sent"]], 100 * row["overhead"]
        if row["overlap"]:
            label = "_" if row["sent"] in labelled else row["sent"]
            labelled.add(row["sent"])
            axes.bar(place, height, 0.9 * width, color=colour, label=label)
        else:
            axes.plot(place, height, "o", ms=4, mfc=colour, mec=INK)
    axes.set_xticks(
        range(len(groups)),
        [f"{transport}\n{label}" for label, transport in groups],
        fontsize=8 if len(transports) < 4 else 6,
    )
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    _legend(axes, 3)
    axes.set_ylabel("% of a stage")
    _title(axes, "Time added by the exchange, with overlap; dots: without (figures 6, 7)")


def _weak(axes: Axes, measured: Run) -> None:
    """Total speed by number of ranks; dotted: ideal scaling."""
    rows = measured["weak"]
    for precision in dict.fromkeys(row["precision"] for row in rows):
        chosen = [row for row in rows if row["precision"] == precision]
        ranks = [row["ranks"] for row in chosen]
        speed = [row["GDOFS"] for row in chosen]
        style = "o" + LINES[precision]
        axes.plot(ranks, speed, style, color=VERSIONS["solver"], label=precision)
        axes.plot(ranks, [n * speed[0] / ranks[0] for n in ranks], ":", color=QUIET)
        for n, row in zip(ranks, chosen, strict=True):
            text = f" {100 * row['efficiency']:.0f} %"
            axes.text(n, row["GDOFS"], text, va="top", fontsize=9, color=QUIET)
    axes.set_xticks(sorted({row["ranks"] for row in rows}))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("ranks")
    axes.set_ylabel("GDOF/s")
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    elements = f"{rows[0]['elements']:,} elements on each rank"
    _title(axes, f"Weak scaling, {rows[0]['configuration']}: {elements} (figure 8)")
