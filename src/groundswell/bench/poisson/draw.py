"""The benchmark as pictures: the operator and its roofline, figures of merit, throughput."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.bench.poisson.problems import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PEER, LIMIT = "#9aa5b1", "#1f2933"
COLOURS = {"stored": "#3b6fb6", "affine": "#0b6e4f"}
MARKS = {3: "^", 7: "o", 15: "s"}


def draw(measured: Mapping[str, Any], path: Path) -> Path:
    """On one rank the operator, too."""
    from groundswell.report.style import headline, picture

    parts = [_operator] * ("operator" in measured) + [_merit, _throughput]
    with picture(path, height=3.4 * len(parts)) as figure:
        panels = figure.subplots(len(parts), squeeze=False)[:, 0]
        for axes, part in zip(panels, parts, strict=True):
            part(axes, measured)
            axes.grid(alpha=0.25)
            axes.legend(frameon=False, fontsize=9)
            axes.spines[["top", "right"]].set_visible(False)
        device, ranks = measured["devices"][0].split(",")[0], measured["ranks"]
        on = f"{ranks} x {device}" if ranks > 1 else device
        headline(panels[0], "Poisson's equation on spectral elements", f"{on}; double precision")
    return path


def _operator(axes: Axes, measured: Mapping[str, Any]) -> None:
    for metric in METRICS:
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
        f"The operator; roofline of {measured['rate'] / 1e9:,.0f} GB/s and "
        f"{measured['peak'] / 1e9:,.0f} GFLOP/s, both measured",
        loc="left",
        fontsize=11,
    )
    axes.set_xlabel("degree")
    axes.set_ylabel("GFLOP/s")


def _merit(axes: Axes, measured: Mapping[str, Any]) -> None:
    _sweep(axes, measured, "dofs", "fom", 1.0)
    label = "hipBone on an H200, metric stored"
    for row in measured["published"]["hipbone"]:
        same = [r for r in measured["iterations"] if _size(r) == _size(row)]
        if same:
            axes.plot(same[0]["dofs"], row["fom"], MARKS[row["degree"]], color=PEER, label=label)
            label = "_nothing more"
    axes.set_title("NekBone's figure of merit, all ranks", loc="left", fontsize=11)
    axes.set_xlabel("degrees of freedom")
    axes.set_ylabel("GFLOP/s")


def _throughput(axes: Axes, measured: Mapping[str, Any]) -> None:
    _sweep(axes, measured, "dofs", "throughput", 1e9, each=measured["ranks"])
    axes.set_title("Degrees of freedom x iterations / (ranks x s)", loc="left", fontsize=11)
    axes.set_xlabel("degrees of freedom of a rank")
    axes.set_ylabel("thousand million")


def _sweep(
    axes: Axes, measured: Mapping[str, Any], x: str, y: str, unit: float, each: int = 1
) -> None:
    for degree in sorted({row["degree"] for row in measured["iterations"]}):
        for metric in METRICS:
            rows = [
                r for r in measured["iterations"] if (r["degree"], r["metric"]) == (degree, metric)
            ]
            places, values = [r[x] / each for r in rows], [r[y] / unit for r in rows]
            label, mark = f"N = {degree}, metric {METRICS[metric]}", MARKS.get(degree, ".")
            axes.plot(places, values, color=COLOURS[metric], marker=mark, label=label)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)


def _size(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["degree"], row["edge"]


def _of(rows: list[Mapping[str, Any]], name: str) -> list[float]:
    return [row[name] for row in rows]
