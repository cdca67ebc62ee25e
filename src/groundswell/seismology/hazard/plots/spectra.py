"""Uniform hazard spectra: levels at a return period by natural period."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.plotting.style import COLOURS, grid_lines, headline, picture
from groundswell.seismology.hazard.analysis import Hazard
from groundswell.seismology.hazard.measures import Measure
from groundswell.seismology.hazard.plots.curves import decimal_ticks


def spectral_measures(measures: Sequence[Measure]) -> list[Measure]:
    """The measures of one spectrum, by period: those with the name of the first spectral one."""
    spectral = [measure for measure in measures if measure.is_spectral]
    same = [measure for measure in spectral if measure.name == spectral[0].name]
    return sorted(same, key=lambda measure: measure.period or 0.0)


def spectrum_picture(folder: Path, hazard: Hazard, site: str) -> Path:
    """Draw `spectrum_SITE.png`: the mean and fractiles at up to three return periods."""
    measures = spectral_measures(hazard.case.measures)
    path = folder / f"spectrum_{hazard.sites.file_name(site)}.png"
    scale = measures[0].unit[0]
    names = [str(measure) for measure in measures]
    at = hazard.curves.isel(site=hazard.sites.index(site)).sel(measure=names) / scale
    periods = np.array([measure.period for measure in measures])
    has_spread = len(hazard.branches) > 1 and at.sizes["fractile"] > 1
    with picture(path, 5.0) as figure:
        axes = figure.add_subplot()
        for years, colour in zip(hazard.case.return_periods, COLOURS, strict=False):
            one = at.sel(return_period=years)
            if has_spread:
                ends = one["map_fractile"].values[[0, -1]]
                axes.fill_between(periods, *ends, color=colour, alpha=0.15, linewidth=0)
            style: Any = {"color": colour, "marker": "o", "markersize": 5, "linewidth": 2}
            axes.plot(periods, one["map"].values, label=f"{years:g} years", **style)
        axes.set(xscale="log", yscale="log", xlabel="Period (s)")
        axes.set_ylabel(f"Spectral acceleration ({measures[0].unit[1]})")
        axes.set_xticks(periods, [f"{period:g}" for period in periods])
        decimal_ticks(axes.yaxis)
        axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        grid_lines(axes)
        axes.legend(title="Return period", frameon=False)
        title = hazard.case.title or "Uniform hazard spectrum"
        headline(axes, f"{title}: {site}", _sentence(hazard, has_spread))
    return path


def _sentence(hazard: Hazard, has_spread: bool) -> str:
    shares, count = hazard.case.fractiles, len(hazard.branches)
    if not has_spread:
        return "Uniform hazard spectra: each level has the same return period"
    band = f"{100 * shares[0]:g} to {100 * shares[-1]:g} %"
    return f"Uniform hazard spectra: mean and fractiles of {band} of {count} branches"
