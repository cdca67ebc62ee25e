"""The paper's means in the plots of the benchmark of DG waves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from groundswell.bench.drawing import Page, legend, places_of
from groundswell.bench.tables import Measured
from groundswell.plotting.style import INK
from groundswell.solvers.dgwave.benchmarks.draw import (
    DEGREES,
    VERSIONS,
    by_degree,
    compared,
    draw_degrees,
    draw_speed,
    label,
)
from groundswell.solvers.dgwave.benchmarks.published import OVER_64, OVER_BASE, OVER_CPU

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Draw = Callable[[Axes, Measured], None]

LOW, HIGH = "f1s, N = 3", "f1s, N = 7"


def with_means(page: Page) -> Page:
    """The same page, with the paper's means in two panels."""
    marked: dict[Draw, Draw] = {draw_speed: _mark_speed, draw_degrees: _mark_degrees}
    panels = [replace(panel, draw=marked.get(panel.draw, panel.draw)) for panel in page.panels]
    return replace(page, panels=panels)


def _mark_speed(axes: Axes, measured: Measured) -> None:
    """Dashed lines at the paper's mean speed-ups (figure 4a)."""
    draw_speed(axes, measured)
    over_cpu = compared(measured)[0] == "over_cpu"
    over = " over two POWER9" if over_cpu else ""
    means = OVER_CPU if over_cpu else OVER_BASE
    for version, mean in means.items():
        name = f"{version}, mean on a V100{over}: {mean:.4g}"
        axes.axhline(mean, color=VERSIONS[version], ls="--", lw=1.2, label=name)
    legend(axes, 3, size=8)
    axes.margins(y=0.45)


def _mark_degrees(axes: Axes, measured: Measured) -> None:
    """Marks where the bars of degree 7 would end with the paper's mean speed-up (figure 5)."""
    draw_degrees(axes, measured)
    rows = by_degree(measured)
    used = [kind for kind in DEGREES if any(row["kind"] == kind for row in rows)]
    places = places_of(rows, label, "kind", used)[2]
    low = {label(row): row["GDOFS"] for row in rows if row["kind"] == LOW}
    high = [(x, label(row)) for x, row in zip(places, rows, strict=True) if row["kind"] == HIGH]
    x, y = [x for x, _ in high], [OVER_64 * low[name] for _, name in high]
    axes.plot(x, y, "D", ms=4, color=INK, label=f"{OVER_64} times N = 3, the paper's mean for f1s")
    legend(axes, 3)
    axes.margins(y=0.3)
