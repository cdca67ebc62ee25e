"""Hazard curves: annual rates of exceedance by level."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.plotting.style import (
    COLOURS,
    INK,
    QUIET,
    grid_lines,
    headline,
    picture,
    round_numbers,
)
from groundswell.seismology.hazard.analysis import Hazard
from groundswell.seismology.hazard.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis

_ROOM = 4.0  # factor of rates below the lowest return period
_MOST_BRANCHES = 20
_MOST_TICKS = 9
_FLAT = 0.97  # share of the rate of all ruptures above which a curve is flat


def curves_picture(folder: Path, hazard: Hazard, measure: Measure, sites: Sequence[str]) -> Path:
    """Draw `curves_MEASURE.png`: mean, fractiles and branches at up to three sites."""
    path = folder / f"curves_{measure.file_name}.png"
    with picture(path, 6.0) as figure:
        axes = figure.add_subplot()
        highest = _draw_curves(axes, hazard, measure, sites)
        lowest = 1 / max(hazard.case.return_periods) / _ROOM
        axes.set(xscale="log", yscale="log", ylim=(lowest, 2 * highest))
        axes.set(xlabel=measure.axis, ylabel="Annual rate of exceedance")
        _limit(axes, hazard, measure, sites, lowest)
        grid_lines(axes)
        _mark_return_periods(axes, hazard.case.return_periods)
        axes.legend(frameon=False, loc="lower left")
        headline(axes, hazard.case.title or "Hazard curves", _sentence(hazard))
    return path


def _draw_curves(axes: Axes, hazard: Hazard, measure: Measure, sites: Sequence[str]) -> float:
    """Draw the curves of each site; returns the highest rate."""
    one, highest = hazard.curves.sel(measure=str(measure)), 0.0
    levels = one["level"].values / measure.unit[0]
    for site, colour in zip(sites, COLOURS, strict=False):
        at = one.isel(site=hazard.sites.index(site))
        if at.sizes["branch"] > 1:
            for rates in at["branch_rate"].values[:_MOST_BRANCHES]:
                axes.plot(levels, _shown(rates), color=colour, linewidth=0.7, alpha=0.5)
            if at.sizes["fractile"] > 1:
                ends = at["rate_fractile"].values[[0, -1]]
                low, high = np.maximum(ends, np.finfo(float).tiny)
                axes.fill_between(levels, low, high, color=colour, alpha=0.12, linewidth=0)
        axes.plot(levels, _shown(at["rate"].values), color=colour, linewidth=2.2, label=site)
        highest = max(highest, float(at["rate"].max()))
    return highest or 1.0


def _shown(rates: Floats) -> Floats:
    """Rates without zeros, which have no logarithm."""
    return np.where(rates > 0, rates, np.nan)


def _limit(
    axes: Axes, hazard: Hazard, measure: Measure, sites: Sequence[str], lowest: float
) -> None:
    """Limit the levels to those whose rates are shown and differ from that of all ruptures."""
    one = hazard.curves.sel(measure=str(measure), site=list(sites))
    falls = one["rate"] < _FLAT * one["rate"].max()
    seen = ((one["rate"] >= lowest) & falls).any("site").values
    levels = one["level"].values[seen] / measure.unit[0]
    if len(levels) > 1:
        axes.set_xlim(levels[0] / 1.3, levels[-1] * 1.3)
    decimal_ticks(axes.xaxis)


def decimal_ticks(axis: XAxis | YAxis) -> None:
    """Label a logarithmic axis at round numbers, which are written as decimals."""
    from matplotlib.ticker import NullLocator

    ticks = round_numbers(*sorted(axis.get_view_interval()))
    if len(ticks) > _MOST_TICKS:
        ticks = [tick for tick in ticks if f"{tick:e}"[0] == "1"]
    axis.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


def _mark_return_periods(axes: Axes, periods: Sequence[float]) -> None:
    for years in periods:
        axes.axhline(1 / years, color=QUIET, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            f"{years:g} years",
            (1, 1 / years),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            fontsize=9,
            color=INK,
        )


def _sentence(hazard: Hazard) -> str:
    """Explanation of the lines."""
    if len(hazard.branches) == 1:
        return f"{hazard.branches[0].name}; dashed: return periods"
    shares = hazard.case.fractiles
    band = f", shaded: {100 * shares[0]:g} to {100 * shares[-1]:g} %" if len(shares) > 1 else ""
    return f"Mean of {len(hazard.branches)} branches (thin lines){band}; dashed: return periods"
