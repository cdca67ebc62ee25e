"""Plots of the benchmark: the operator and its roofline, figures of merit, throughput."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.bench.drawing import PEER, Page, Panel, curves, distinct, legend, title
from groundswell.bench.merging import runs_by_ranks
from groundswell.errors import counted
from groundswell.plotting.style import INK
from groundswell.solvers.poisson.benchmarks.draw_bakeoff import BAKEOFF
from groundswell.solvers.poisson.benchmarks.problems import METRICS
from groundswell.solvers.poisson.benchmarks.published import (
    HIPBONE_ON_H200,
    OPERATOR,
    OPERATOR_DEGREE,
)
from groundswell.solvers.poisson.benchmarks.tables import published_peaks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Run = Mapping[str, Any]  # what was measured on some number of ranks
COLOURS = {"stored": "#3b6fb6", "straight": "#b7791f", "affine": "#0b6e4f"}
LINES = ("-", "--", ":", "-.")  # of one rank, and of more
MARKS = {3: "^", 7: "o", 15: "s"}
PER_RANK = "degrees of freedom of a rank (N³ per element)"
PUBLISHED_MARKS = ("v", "D", "^")  # of hipBone on three devices

ROOM = 1.15  # for the legend above the largest value


def draw(measured: Run, path: Path) -> Path:
    """Plot the operator on one rank, and sweeps, with earlier ones on other numbers of ranks.

    Bake-off problems have a picture of their own, `..._bakeoff.png`.
    """
    BAKEOFF(measured, path.with_stem(f"{path.stem}_bakeoff"))
    return PAGE({**measured, "runs": runs_by_ranks(measured, path.parent)}, path)


def _operator(axes: Axes, measured: Run) -> None:
    rows = measured["operator"]

    def style(metric: str) -> dict[str, Any]:
        return {"marker": "o", "color": COLOURS[metric], "label": f"metric {METRICS[metric]}"}

    curves(axes, rows, "degree", "gflops", "metric", style)
    stored = [row for row in rows if row["metric"] == "stored"]
    roofline = {"ls": "--", "color": INK, "label": "its roofline"}
    curves(axes, stored, "degree", "roofline", "metric", lambda metric: roofline)
    for (machine, gflops), mark in zip(OPERATOR.items(), PUBLISHED_MARKS, strict=True):
        label = f"hipBone, {machine}: {gflops:,.0f}"
        axes.plot(OPERATOR_DEGREE, gflops, mark, color=PEER, mfc="none", ms=8, label=label)
    title(
        axes,
        f"The operator; roofline of {_rates(measured)} GB/s and "
        f"{measured['peak'] / 1e9:,.0f} GFLOP/s, both measured",
    )
    _finish(axes, "degree", "GFLOP/s", 2, beside_gpus=measured["backend"] == "cpu")


def _rates(measured: Run) -> str:
    """The smallest and the largest rate measured with the operators."""
    rates = [row["rate"] for row in measured["operator"]]
    ends = (min(rates), max(rates))
    return " to ".join(dict.fromkeys(f"{rate / 1e9:,.0f}" for rate in ends))


def _finish(axes: Axes, x: str, y: str, columns: int, *, beside_gpus: bool = False) -> None:
    """Labels and legend; a logarithmic axis where a CPU stands beside published GPUs."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if beside_gpus:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, ROOM * axes.get_ylim()[1])
    legend(axes, columns, "best", size=8)


def _merit(axes: Axes, measured: Run) -> None:
    runs = measured["runs"]
    _sweep(axes, runs, "fom", 1.0)
    label = "hipBone on H200, metric stored"
    for run in runs:
        for row in run["iterations"]:
            key = (run["ranks"], row["degree"], row["edge"])
            if row["metric"] == "stored" and key in HIPBONE_ON_H200:
                place, merit = row["dofs"] / run["ranks"], HIPBONE_ON_H200[key][1]
                axes.plot(place, merit, MARKS[row["degree"]], color=PEER, label=label)
                label = "_nothing more"
    title(axes, "NekBone's figure of merit, all ranks")
    on_cpu = measured["backend"] == "cpu"
    _finish(axes, PER_RANK, "GFLOP/s", max(2, len(runs)), beside_gpus=on_cpu)


def _throughput(axes: Axes, measured: Run) -> None:
    runs = measured["runs"]
    _sweep(axes, runs, "throughput", 1e9)
    title(axes, "Degrees of freedom x iterations / (ranks x s)")
    _finish(axes, PER_RANK, "billion a second", max(2, len(runs)))


def _efficiency(axes: Axes, measured: Run) -> None:
    """Efficiency of the figure of merit against ranks, with table 2."""
    peaks = [*published_peaks(measured)]
    marks = dict(zip(distinct(peaks, "machine"), PUBLISHED_MARKS, strict=True))

    def published(machine: str) -> dict[str, Any]:
        return {"marker": marks[machine], "color": PEER, "label": machine}

    def ours(metric: str) -> dict[str, Any]:
        return {"marker": "s", "color": COLOURS[metric], "label": f"here, {METRICS[metric]}"}

    rows = [row for run in measured["runs"] for row in run.get("peaks", ())]
    for shown, by, style in ((peaks, "machine", published), (rows, "metric", ours)):
        curves(axes, shown, "ranks", lambda row: 100 * row["efficiency"], by, style)
    axes.set_xscale("log", base=2)
    powers = {row["ranks"] for row in peaks if row["ranks"].bit_count() == 1}
    ticks = sorted(powers | {row["ranks"] for row in rows})
    axes.set_xticks(ticks, [str(n) for n in ticks])
    title(axes, "Efficiency of the figure of merit, N = 15, relative to one rank (table 2)")
    _finish(axes, "ranks", "%", 2)


def _sweep(axes: Axes, runs: Sequence[Run], y: str, unit: float) -> None:
    """Curves by degree and metric, with another line for each number of ranks."""
    for run, line in zip(runs, cycle(LINES)):
        more = f", {counted(run['ranks'], 'rank')}" * (len(runs) > 1)
        curves(axes, run["iterations"], _size, lambda row: row[y] / unit, _kind, _style(line, more))
    axes.set_xscale("log")


def _size(row: Run) -> float:
    return float(row["dofs"] / row["ranks"])


def _kind(row: Run) -> tuple[int, str]:
    return row["degree"], row["metric"]


def _style(line: str, more: str) -> Callable[[tuple[int, str]], dict[str, Any]]:
    """The style of a curve by degree and metric; `more` ends the label."""

    def style(kind: tuple[int, str]) -> dict[str, Any]:
        degree, metric = kind
        label, mark = f"N = {degree}, {METRICS[metric]}{more}", MARKS.get(degree, ".")
        return {"color": COLOURS[metric], "linestyle": line, "marker": mark, "label": label}

    return style


PAGE = Page(
    "Poisson's equation on spectral elements",
    "double precision; degrees of freedom: N³ per element",
    [
        Panel("operator", _operator, "one"),
        Panel("iterations", _merit),
        Panel("iterations", _throughput),
        Panel("peaks", _efficiency, "several"),
    ],
    3.4,
)
