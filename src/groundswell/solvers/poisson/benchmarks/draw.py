"""Plots of the benchmark: the operator and its roofline, figures of merit, throughput."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.solvers.poisson.benchmarks.problems import METRICS
from groundswell.solvers.poisson.benchmarks.published import HIPBONE_ON_H200

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Run = Mapping[str, Any]  # what was measured on some number of ranks
PEER, LIMIT = "#9aa5b1", "#1f2933"
COLOURS = {"stored": "#3b6fb6", "straight": "#b7791f", "affine": "#0b6e4f"}
LINES = ("-", "--", ":", "-.")  # of one rank, and of more
MARKS = {3: "^", 7: "o", 15: "s"}


def draw(measured: Mapping[str, Any], path: Path) -> Path:
    """Plot the operator on one rank, and sweeps, with earlier ones on other numbers of ranks."""
    from groundswell.plotting.style import headline, picture

    runs = [measured, *_earlier(path.parent, measured)]
    runs.sort(key=lambda run: run["ranks"])
    parts = [_operator] * ("operator" in measured) + [_merit, _throughput]
    with picture(path, height=3.4 * len(parts)) as figure:
        panels = figure.subplots(len(parts), squeeze=False)[:, 0]
        for axes, part in zip(panels, parts, strict=True):
            part(axes, [measured] if part is _operator else runs)
            axes.grid(alpha=0.25)
            axes.legend(frameon=False, fontsize=8, ncols=max(2, len(runs)))
            axes.spines[["top", "right"]].set_visible(False)
        device, ranks = measured["devices"][0].split(",")[0], measured["ranks"]
        on = f"{ranks} x {device}" if ranks > 1 else device
        headline(panels[0], "Poisson's equation on spectral elements", f"{on}; double precision")
    return path


def _earlier(folder: Path, measured: Mapping[str, Any]) -> list[Run]:
    """Earlier results of this benchmark on the same devices with other numbers of ranks."""
    found = [json.loads(path.read_text()) for path in folder.glob("bench_poisson*.json")]
    same = [run for run in found if run["devices"][0] == measured["devices"][0]]
    return [run for run in same if run["ranks"] != measured["ranks"]]


def _operator(axes: Axes, runs: Sequence[Run]) -> None:
    [measured] = runs
    for metric in dict.fromkeys(row["metric"] for row in measured["operator"]):
        rows = [row for row in measured["operator"] if row["metric"] == metric]
        degrees = [row["degree"] for row in rows]
        axes.plot(
            degrees,
            _of(rows, "gflops"),
            "o-",
            color=COLOURS[metric],
            label=f"metric {METRICS[metric]}",
        )
        if metric == "stored":
            axes.plot(degrees, _of(rows, "roofline"), "--", color=LIMIT, label="its roofline")
    axes.set_ylim(bottom=0)
    axes.set_title(
        f"The operator; roofline of {_rates(measured)} GB/s and "
        f"{measured['peak'] / 1e9:,.0f} GFLOP/s, both measured",
        loc="left",
        fontsize=11,
    )
    axes.set_xlabel("degree")
    axes.set_ylabel("GFLOP/s")


def _rates(measured: Run) -> str:
    """The smallest and the largest rate measured with the operators."""
    rates = [row["rate"] for row in measured["operator"]]
    ends = (min(rates), max(rates))
    return " to ".join(dict.fromkeys(f"{rate / 1e9:,.0f}" for rate in ends))


def _merit(axes: Axes, runs: Sequence[Run]) -> None:
    _sweep(axes, runs, "fom", 1.0)
    label = "hipBone on H200, metric stored"
    for measured in runs:
        for row in measured["iterations"]:
            key = (measured["ranks"], row["degree"], row["edge"])
            if row["metric"] == "stored" and key in HIPBONE_ON_H200:
                place, merit = row["dofs"] / measured["ranks"], HIPBONE_ON_H200[key][1]
                axes.plot(place, merit, MARKS[row["degree"]], color=PEER, label=label)
                label = "_nothing more"
    axes.set_title("NekBone's figure of merit, all ranks", loc="left", fontsize=11)
    axes.set_xlabel("degrees of freedom of a rank")
    axes.set_ylabel("GFLOP/s")


def _throughput(axes: Axes, runs: Sequence[Run]) -> None:
    _sweep(axes, runs, "throughput", 1e9)
    axes.set_title("Degrees of freedom x iterations / (ranks x s)", loc="left", fontsize=11)
    axes.set_xlabel("degrees of freedom of a rank")
    axes.set_ylabel("billion a second")


def _sweep(axes: Axes, runs: Sequence[Run], y: str, unit: float) -> None:
    for run, line in zip(runs, cycle(LINES)):
        ranks, every = run["ranks"], run["iterations"]
        for degree, metric in dict.fromkeys((row["degree"], row["metric"]) for row in every):
            rows = [row for row in every if (row["degree"], row["metric"]) == (degree, metric)]
            axes.plot(
                [row["dofs"] / ranks for row in rows],
                [row[y] / unit for row in rows],
                color=COLOURS[metric],
                linestyle=line,
                marker=MARKS.get(degree, "."),
                label=f"N = {degree}, {METRICS[metric]}" + f", {ranks} ranks" * (len(runs) > 1),
            )
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)


def _of(rows: list[Mapping[str, Any]], name: str) -> list[float]:
    return [row[name] for row in rows]
