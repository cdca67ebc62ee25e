"""Record section: all components at all stations, sorted by epicentral distance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Indices
from groundswell.errors import InputError, counted
from groundswell.plotting.labels import label_trace
from groundswell.plotting.style import (
    INK,
    QUIET,
    distance_text,
    headline,
    picture,
    speed_unit,
    title_of,
)
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.motion import noise_level, without_noise
from groundswell.seismology.plots.source import event_sentence
from groundswell.seismology.source_distances import epicentral_distances

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

_MAX_STATIONS = 24
_ROW_HEIGHT = 0.42  # inches
_MIN_HEIGHT = 2.5  # inches, of all rows
_AMPLITUDE = 0.6  # largest amplitude of a station, in row heights
_NAMES = {"E": "East", "N": "North", "Z": "Up"}


def record_section(results: str | Path) -> Path:
    """Draw `seismograms.png`: velocity of all components, stations sorted by distance.

    Each station is scaled by its largest component; the number after a trace is its peak. Traces
    that are rounding errors of the largest one are drawn as zero, and the number is their limit. At
    most 24 stations are shown, evenly distributed in the order of distance.

    Args:
        results: folder with `seismograms.h5`.

    Raises:
        InputError: the file is missing or damaged.
    """
    results = Path(results)
    array = read_seismograms(results / "seismograms.h5")
    if not array.sizes["time"]:
        raise InputError(f"{results / 'seismograms.h5'} has no samples yet; let the run continue")
    distance = epicentral_distances(array)
    shown = evenly(np.argsort(distance, kind="stable"), _MAX_STATIONS)
    sentence = _sentence(len(shown), array.sizes["station"])
    noise, array, distance = noise_level(array), without_noise(array)[shown], distance[shown]
    unit, unit_name = speed_unit(float(np.abs(array).max()))
    path = results / "seismograms.png"
    with picture(path, height=1.1 + max(_ROW_HEIGHT * len(shown), _MIN_HEIGHT)) as figure:
        panels = figure.subplots(1, array.sizes["component"], sharey=True, squeeze=False)[0]
        for axes, component in zip(panels, array["component"].values, strict=True):
            _draw_component(axes, array, str(component), (unit, noise))
        _label_rows(panels[0], array, distance)
        subtitle = f"{event_sentence(array.attrs)}{sentence} Peaks in {unit_name}"
        headline(panels[0], title_of(array.attrs), subtitle)
    return path


def evenly(order: Indices, count: int) -> Indices:
    """At most `count` entries of `order`, evenly distributed, with the first and the last."""
    selected = np.linspace(0, len(order) - 1, min(count, len(order)))
    return order[np.round(selected).astype(np.intp)]


def _sentence(shown: int, count: int) -> str:
    total = counted(count, "station")
    stations = f"{shown} of {total}" if shown < count else total
    return f"Velocity at {stations}, each scaled by its largest component."


def _draw_component(
    axes: Axes, array: xarray.DataArray, component: str, scale: tuple[float, float]
) -> None:
    """Draw the traces of a component.

    Args:
        scale: the unit of the peaks, and the peak up to which traces are drawn as zero, m/s.
    """
    time = array["time"].values
    scales = np.abs(array.values).max(axis=(1, 2))
    for row, trace in enumerate(array.sel(component=component).values):
        axes.axhline(row, color=QUIET, linewidth=0.4, alpha=0.5)
        displacement = _AMPLITUDE * trace / (scales[row] or 1)
        axes.plot(time, row - displacement, color=INK, linewidth=0.7)
        label_trace(axes, _peak(float(np.abs(trace).max()), *scale), row)
    axes.set_title(_NAMES.get(component, component), fontsize=11)
    axes.set_xlabel(f"Time{' after origin' * ('origin_time' in array.attrs)} (s)")
    axes.set_ylim(array.sizes["station"] - 0.3, -0.75)
    axes.margins(x=0)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _peak(peak: float, unit: float, noise: float) -> str:
    """The peak of a trace in a unit; of a trace that is drawn as zero, its limit."""
    return f"{peak / unit:.3g}" if peak or not noise else f"< {noise / unit:.1g}"


def _label_rows(axes: Axes, array: xarray.DataArray, distance: Floats) -> None:
    largest = float(np.nanmax(distance, initial=0.0))
    labels = [
        f"{station}\n{distance_text(metres, largest)}" if np.isfinite(metres) else str(station)
        for station, metres in zip(array["station"].values, distance, strict=True)
    ]
    axes.set_yticks(range(len(labels)), labels=labels, fontsize=9, linespacing=0.95)
