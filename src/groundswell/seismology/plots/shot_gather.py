"""Shot gather: pressure at hydrophones as wiggles, offset against time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.errors import InputError
from groundswell.plotting.style import INK, distance_unit, headline, picture, title_of
from groundswell.seismology.formats.seismograms import PRESSURE, read_seismograms
from groundswell.seismology.motion import noise_level, without_noise
from groundswell.seismology.plots.record_section import evenly
from groundswell.seismology.plots.source import event_sentence
from groundswell.seismology.receivers import instruments
from groundswell.seismology.source_distances import offsets

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes


_MAX_TRACES = 96  # in a panel
_HEIGHT = 6.5  # inches
_AMPLITUDE = 1.2  # largest deflection of a trace, in distances of traces
_UNITS = ((1e6, "MPa"), (1e3, "kPa"), (1.0, "Pa"), (1e-3, "mPa"))


def shot_gather(results: str | Path) -> Path:
    """Draw `shot_gather.png`: pressure by offset from the source and time, positive lobes filled.

    Hydrophones and ocean-bottom nodes have a panel each. Each trace is scaled by its peak. At most
    96 traces of a panel are shown, evenly distributed in the order of offset.

    Args:
        results: folder with `pressure.h5`.

    Raises:
        InputError: the file is missing or damaged.
    """
    results = Path(results)
    array = read_seismograms(results / PRESSURE.file, PRESSURE).squeeze("component", drop=True)
    if not array.sizes["time"]:
        raise InputError(f"{results / PRESSURE.file} has no samples yet; let the run continue")
    raw, array = array, without_noise(array)
    kinds = list(dict.fromkeys(array["kind"].values))
    path = results / "shot_gather.png"
    with picture(path, _HEIGHT) as figure:
        panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
        for axes, kind in zip(panels, kinds, strict=True):
            _draw(axes, array[array["kind"].values == kind], str(kind))
        panels[0].set_ylabel("Time (s)")
        subtitle = f"{event_sentence(array.attrs)}{_sentence(raw)}"
        headline(panels[0], title_of(array.attrs, "Shot gather"), subtitle)
    return path


def _sentence(array: xarray.DataArray) -> str:
    largest = float(np.abs(array).max())
    unit, name = next((u for u in _UNITS if largest >= u[0]), _UNITS[-1])
    peaks, noise = np.abs(array.values).max(axis=-1), noise_level(array)
    has_noise = bool(((peaks > 0) & (peaks <= noise)).any())
    flat = f", or flat if below {noise / unit:.1g} {name}" if has_noise else ""
    return f"Pressure, each trace scaled by its peak, at most {largest / unit:.3g} {name}{flat}."


def _draw(axes: Axes, array: xarray.DataArray, kind: str) -> None:
    """Draw the traces of one kind of instrument."""
    along = offsets(array)
    shown = evenly(np.argsort(along, kind="stable"), _MAX_TRACES)
    values, along, time = array.values[shown], along[shown], array["time"].values
    unit, name = distance_unit(float(np.abs(along).max()))
    apart = float(np.median(np.diff(along))) if len(along) > 1 else 1.0
    for at, trace in zip(along / unit, values, strict=True):
        deflection = _AMPLITUDE * apart / unit * trace / (np.abs(trace).max() or 1)
        axes.plot(at + deflection, time, color=INK, linewidth=0.5)
        axes.fill_betweenx(time, at, at + deflection, where=deflection > 0, color=INK, linewidth=0)
    axes.set_title(instruments(kind, array.sizes["station"]), fontsize=11)
    axes.set_xlabel(f"Offset ({name})")
    if len(along) == 1:  # the axis shows no distances
        axes.set_xticks(along / unit, [f"{along[0] / unit:.4g}"])
    axes.set_ylim(time[-1], time[0])
    axes.margins(x=0.02)
    axes.spines[["top", "right"]].set_visible(False)
