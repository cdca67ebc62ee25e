"""The record section: three components at every station, in the order of distance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.plotting.style import INK, QUIET, headline, picture, speed_unit, title_of
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.plots.source import epicentre, event_sentence

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

_MOST_STATIONS = 24
_ROW_HEIGHT = 0.42  # inches
_LEAST_HEIGHT = 2.5  # of all rows together
_REACH = 0.6  # of a row's height, by the largest swing of its station
_NAMES = {"E": "East", "N": "North", "Z": "Up"}


def record_section(results: str | Path) -> Path:
    """Draw `seismograms.png`: velocity of all components, stations ordered by distance.

    Each station is scaled by its largest component; the number behind a trace is its own peak. Of
    more than 24 stations those evenly spread in the order of distance are shown.

    Args:
        results: folder with `seismograms.h5`.

    Raises:
        InputError: the file is missing or damaged.
    """
    results = Path(results)
    array = read_seismograms(results / "seismograms.h5")
    if not array.sizes["time"]:
        raise InputError(f"{results / 'seismograms.h5'} holds no samples; let the run come further")
    distance = _epicentral_distance(array)
    shown = _spread(np.argsort(distance, kind="stable"), _MOST_STATIONS)
    sentence = _sentence(len(shown), array.sizes["station"])
    array, distance = array[shown], distance[shown]
    unit, unit_name = speed_unit(float(np.abs(array).max()))
    path = results / "seismograms.png"
    with picture(path, height=1.1 + max(_ROW_HEIGHT * len(shown), _LEAST_HEIGHT)) as figure:
        panels = figure.subplots(1, array.sizes["component"], sharey=True, squeeze=False)[0]
        for axes, component in zip(panels, array["component"].values, strict=True):
            _draw_component(axes, array, str(component), unit)
        _name_rows(panels[0], array, distance)
        subtitle = f"{event_sentence(array.attrs)}{sentence} Peaks in {unit_name}"
        headline(panels[0], title_of(array.attrs), subtitle)
    return path


def _epicentral_distance(array: xarray.DataArray) -> NDArray[np.float64]:
    """Distance of every station from the epicentre, m; NaN where that is unknown."""
    if (centre := epicentre(array.attrs)) is None:
        return np.full(array.sizes["station"], np.nan)
    return np.hypot(array["x"].values - centre[0], array["y"].values - centre[1])


def _spread(order: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """At most `most` entries of an order, first and last among them, evenly spread."""
    picked = np.linspace(0, len(order) - 1, min(most, len(order)))
    return order[np.round(picked).astype(np.intp)]


def _sentence(shown: int, count: int) -> str:
    stations = f"{shown} of {count} stations" if shown < count else f"{count} stations"
    return f"Velocity at {stations}, each scaled by its largest component."


def _draw_component(axes: Axes, array: xarray.DataArray, component: str, unit: float) -> None:
    time = array["time"].values
    scales = np.abs(array.values).max(axis=(1, 2))
    for row, trace in enumerate(array.sel(component=component).values):
        axes.axhline(row, color=QUIET, linewidth=0.4, alpha=0.5)
        swing = _REACH * trace / (scales[row] or 1)
        axes.plot(time, row - swing, color=INK, linewidth=0.7)
        peak = np.abs(trace).max() / unit
        axes.annotate(
            f"{peak:.3g}",
            (1, row),
            xytext=(4, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=QUIET,
        )
    axes.set_title(_NAMES.get(component, component), fontsize=11)
    axes.set_xlabel("Time after origin (s)")
    axes.set_ylim(array.sizes["station"] - 0.3, -0.75)
    axes.margins(x=0)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _name_rows(axes: Axes, array: xarray.DataArray, distance: NDArray[np.float64]) -> None:
    labels = [
        f"{station}\n{metres / 1e3:.1f} km" if np.isfinite(metres) else str(station)
        for station, metres in zip(array["station"].values, distance, strict=True)
    ]
    axes.set_yticks(range(len(labels)), labels=labels, fontsize=9, linespacing=0.95)
