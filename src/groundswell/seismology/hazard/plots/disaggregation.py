"""Disaggregation: contributions by distance and magnitude, epsilon and rupture."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.plotting.style import ACCENT, grid_lines, headline, picture, shades
from groundswell.seismology.hazard.analysis import Hazard
from groundswell.seismology.hazard.disaggregation import EPSILONS, Disaggregation
from groundswell.seismology.hazard.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_RUPTURES = 10
_LEAST = 0.1  # %; bins and ruptures that contribute less are not shown
_LIGHTEST, _DARKEST = 0.12, 0.85  # of the colours of magnitudes


def disaggregation_picture(folder: Path, hazard: Hazard, site: str, measure: Measure) -> Path:
    """Draw `disaggregation_SITE_MEASURE.png`."""
    found = hazard.disaggregations[site, measure]
    path = folder / f"disaggregation_{hazard.sites.file_name(site)}_{measure.file_name}.png"
    has_epsilon = found.rates.shape[2] > 1
    with picture(path, 6.2 if has_epsilon else 4.6) as figure:
        layout: Any = [["bins", "ruptures"], *([["epsilon", "ruptures"]] if has_epsilon else [])]
        axes = figure.subplot_mosaic(layout, width_ratios=[1.7, 1])
        _draw_bins(axes["bins"], found)
        _draw_ruptures(axes["ruptures"], found)
        if has_epsilon:
            _draw_epsilon(axes["epsilon"], found)
        for each in axes.values():
            grid_lines(each)
            each.set_axisbelow(True)
        headline(axes["bins"], _title(hazard, site), _sentence(hazard, found, measure))
    return path


def _title(hazard: Hazard, site: str) -> str:
    return f"{hazard.case.title}: {site}" if hazard.case.title else f"Disaggregation at {site}"


def _sentence(hazard: Hazard, found: Disaggregation, measure: Measure) -> str:
    assert hazard.case.disaggregation is not None
    years, (scale, unit) = hazard.case.disaggregation.return_period, measure.unit
    magnitude, distance = found.means
    level = f"{found.level / scale:.3g} {unit}".strip()
    where = f" at {distance / 1e3:.0f} km" if np.isfinite(distance) else ""
    title = measure.title[0].upper() + measure.title[1:]
    return f"{title} above {level} ({years:g} years); on average magnitude {magnitude:.1f}{where}"


def _draw_bins(axes: Axes, found: Disaggregation) -> None:
    """Bars by distance, stacked by magnitude; bars by magnitude without distances."""
    shares = 100 * found.rates.sum(axis=2) / found.total
    if not len(found.distances):
        centres = (found.magnitudes[:-1] + found.magnitudes[1:]) / 2
        bar = 0.85 * float(np.diff(found.magnitudes)[0])
        axes.bar(centres, shares[:, 0], bar, color=ACCENT)
        axes.set(xlabel="Magnitude", ylabel="Contribution (%)")
        return
    edges = found.distances / 1e3
    used = np.flatnonzero(shares.sum(axis=1) > _LEAST)
    tones = shades()(np.linspace(_LIGHTEST, _DARKEST, max(len(used), 2)))
    bases = np.cumsum(shares, axis=0) - shares
    for m, tone in zip(used, tones, strict=False):
        label = f"{found.magnitudes[m]:g} to {found.magnitudes[m + 1]:g}"
        middle, width = (edges[:-1] + edges[1:]) / 2, 0.85 * np.diff(edges)
        axes.bar(middle, shares[m], width, bases[m], color=tone, label=label, edgecolor="white")
    last = int(np.flatnonzero(shares.sum(axis=0) > _LEAST)[-1])
    axes.set_xlim(0, edges[min(last + 2, len(edges) - 1)])
    axes.set_ylim(0, 1.05 * float(shares.sum(axis=0).max()))
    axes.set(xlabel="Distance from the rupture (km)", ylabel="Contribution (%)")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], title="Magnitude", frameon=False)


def _draw_epsilon(axes: Axes, found: Disaggregation) -> None:
    shares = 100 * found.rates.sum(axis=(0, 1)) / found.total
    inner = [f"{low:g} to {high:g}" for low, high in pairwise(EPSILONS[1:-1])]
    names = [f"below {EPSILONS[1]:g}", *inner, f"above {EPSILONS[-2]:g}"]
    axes.bar(names, shares, 0.7, color=ACCENT)
    axes.set(xlabel="Epsilon: standard deviations above the median", ylabel="Contribution (%)")


def _draw_ruptures(axes: Axes, found: Disaggregation) -> None:
    """Bars of the ruptures that contribute most."""
    shown = {name: 100 * rate / found.total for name, rate in found.by_rupture.items()}
    largest = [(name, share) for name, share in shown.items() if share > _LEAST]
    largest = largest[:_MOST_RUPTURES][::-1]
    names = [name if len(name) <= 20 else f"{name[:17]}..." for name, _ in largest]
    shares = [share for _, share in largest]
    axes.barh(range(len(names)), shares, 0.7, color=ACCENT)
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="Contribution (%)", ylim=(-0.7, len(names) - 0.3))
    axes.set_title("Largest ruptures", fontsize=11, loc="left")
