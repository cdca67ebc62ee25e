"""Plots of bake-off problems: rates over size by degree, as CEED draws them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from groundswell.bench.drawing import PEER, Page, Panel, curves, distinct, legend, title
from groundswell.bench.tables import Measured, Row
from groundswell.solvers.poisson.benchmarks.bakeoff import KEYS
from groundswell.solvers.poisson.benchmarks.published import NEKRS_BP5

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OPERATORS = ("mass", "Laplacian", "Laplacian, nodal")  # of each pair of problems
KINDS = ("scalar", "3-vector")
ROOM = 1.2  # for the legend above the largest value
NEKRS_DOFS = 8000 * 7**3
SHADES = (0.0, 0.9)  # of the colour map, from the lowest degree to the highest
UNITS = ((1e9, "billion"), (1e6, "million"))


def _rates(axes: Axes, measured: Measured, key: str) -> None:
    """Rates with stored factors, which all problems have."""
    from matplotlib import colormaps

    rows = [row for row in measured[key] if row["metric"] == "stored"]
    degrees = sorted(distinct(rows, "degree"))
    low, high = SHADES
    step = (high - low) / max(1, len(degrees) - 1)
    shades = {n: colormaps["viridis"](low + k * step) for k, n in enumerate(degrees)}

    def style(degree: int) -> dict[str, Any]:
        return {"color": shades[degree], "marker": "o", "ms": 3, "label": f"N = {degree}"}

    unit, name = _unit_of(measured)
    curves(axes, rows, _size, lambda row: row["throughput"] / unit, "degree", style)
    if key == "bp5" and measured["backend"] == "cuda":
        for machine, rate in NEKRS_BP5.items():
            axes.plot(NEKRS_DOFS, rate / unit, "s", color=PEER)
            axes.annotate(f" nekRS, {machine}", (NEKRS_DOFS, rate / unit), fontsize=8, color=PEER)
    _finish(axes, key, name)


def _unit_of(measured: Measured) -> tuple[float, str]:
    """The same unit in all panels."""
    largest = max(row["throughput"] for key in KEYS for row in measured.get(key, ()))
    return next((unit for unit in UNITS if largest >= unit[0]), UNITS[-1])


def _finish(axes: Axes, key: str, unit: str) -> None:
    number = KEYS.index(key)
    axes.set_xscale("log")
    axes.set_xlabel("degrees of freedom of a rank (N³ per element)")
    axes.set_ylabel(f"{unit} DOFs x iterations / s")
    axes.set_ylim(0, ROOM * axes.get_ylim()[1])
    legend(axes, 4, "best", size=8)
    title(axes, f"{key.upper()}: {OPERATORS[number // 2]}, {KINDS[number % 2]}")


def _size(row: Row) -> float:
    return float(row["dofs"] / row["ranks"])


BAKEOFF = Page(
    "CEED's bake-off problems",
    "conjugate gradients, double precision, stored factors",
    [Panel(key, partial(_rates, key=key)) for key in KEYS],
    3.4,
    columns=2,
)
