"""Response spectra at stations: pseudo-spectral acceleration by period."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.errors import counted
from groundswell.plotting.style import (
    ACCENT,
    COLOURS,
    INK,
    QUIET,
    grid_lines,
    headline,
    picture,
    round_numbers,
    title_of,
)
from groundswell.seismology.formats.intensity import NAME, read_intensity
from groundswell.seismology.plots.record_section import evenly
from groundswell.seismology.plots.source import event_sentence

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

_MOST, _COLUMNS = 9, 3  # stations that are shown, and in a row
_ROW = 2.3  # inches
_RANGE = 1e3  # largest ratio of the ends of the axis of acceleration
_FEW_DECADES = 100.0  # ratio of the ends below which 1, 2 and 5 in a decade have labels
_HORIZONTAL = (("E", COLOURS[0], "East"), ("N", COLOURS[1], "North"))
_ROTATED = (("rotd50", INK, 2.0, "RotD50"), ("rotd100", ACCENT, 1.0, "RotD100"))


def response_spectra(results: str | Path) -> Path | None:
    """Draw `response_spectra.png`: spectra of stations, the strongest first.

    At most 9 stations are shown, evenly distributed from the strongest to the weakest. Returns None
    if there are spectra of no or of one period.

    Args:
        results: folder with `intensity.nc`.

    Raises:
        InputError: `intensity.nc` is missing or damaged.
    """
    results = Path(results)
    measures = read_intensity(results / NAME)
    if measures.sizes.get("period", 0) < 2:
        return None
    measures = measures.sortby("period")
    strength = _strength(measures)
    shown = evenly(np.argsort(-strength, kind="stable"), _MOST)
    columns = min(len(shown), _COLUMNS)
    rows = -(-len(shown) // columns)
    path = results / "response_spectra.png"
    with picture(path, height=0.6 + _ROW * rows * (3 / columns) ** 0.7) as figure:
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, n in zip(panels.flat, shown, strict=False):
            _draw(axes, measures.isel(station=int(n)))
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        _dress(panels, float(strength.max()), measures["period"].values)
        headline(panels[0, 0], title_of(measures.attrs), _sentence(measures, len(shown)))
    return path


def _strength(measures: xarray.Dataset) -> Floats:
    """The largest spectral acceleration of each station, (stations,)."""
    found = np.zeros(measures.sizes["station"])
    for name in ("psa", "rotd50", "rotd100"):
        if name in measures:
            values = measures[name].values
            found = np.maximum(found, values.reshape(len(found), -1).max(axis=1))
    return found


def _draw(axes: Axes, station: xarray.Dataset) -> None:
    periods = station["period"].values
    if "psa" in station:
        for component, colour, label in _HORIZONTAL:
            values = station["psa"].sel(component=component).values
            axes.plot(periods, values, color=colour, linewidth=0.9, label=label)
    for name, colour, width, label in _ROTATED:
        if name in station:
            axes.plot(periods, station[name].values, color=colour, linewidth=width, label=label)
    name = str(station["station"].item())
    axes.set_title(name, fontsize=10, fontweight="bold", loc="left")


def _dress(panels: HostArray, largest: float, periods: Floats) -> None:
    """Set the scales, and label the outer axes."""
    first = panels[0, 0]
    first.set_xscale("log")
    first.set_yscale("log")
    first.set_xlim(periods[0], periods[-1])
    low, high = first.get_ylim()
    if largest > 0:
        first.set_ylim(max(low, largest / _RANGE), high)
    first.set_xticks(round_numbers(0.999 * periods[0], 1.001 * periods[-1]))
    low, high = first.get_ylim()
    if high < _FEW_DECADES * low:
        first.set_yticks(round_numbers(low, high))
    for axis in (first.xaxis, first.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter("")
    for axes in panels.flat:
        grid_lines(axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("PSA (m/s²)")
    for column in panels.T:
        last = [axes for axes in column if axes.get_visible()][-1]
        last.set_xlabel("Period (s)")
        last.tick_params(labelbottom=True)
    first.legend(fontsize=8, frameon=False, loc="best", labelcolor=QUIET)


def _sentence(measures: xarray.Dataset, shown: int) -> str:
    count = measures.sizes["station"]
    damping = 100 * float(measures.attrs.get("damping", 0.05))
    total = counted(count, "station")
    stations = f"{shown} of {total}" if shown < count else total
    return f"{event_sentence(measures.attrs)}Response spectra at {stations}, damping {damping:g} %"
