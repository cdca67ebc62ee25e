"""Peak ground velocity of many variations of a rupture, as shares of variations that exceed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.errors import counted
from groundswell.formats.netcdf import open_netcdf
from groundswell.plotting.style import COLOURS, grid_lines, headline, picture, speed_unit, title_of
from groundswell.seismology.formats.seismograms import VELOCITY

if TYPE_CHECKING:
    import xarray

    from groundswell.arrays import Floats

_HEIGHT = 5.0  # inches
_LINES = ("-", "--", ":", "-.")
_MAX_STATIONS = len(_LINES) * len(COLOURS)


def draw_variations(path: Path) -> Path:
    """Draw `variations.png`: the share of variations whose peak ground velocity exceeds a value.

    At most 12 stations are shown, the first ones.

    Args:
        path: a file of variations, see `green/outputs.py`.

    Raises:
        InputError: the file is missing or damaged.
    """
    with open_netcdf(path, required=(VELOCITY.name, "station")) as found:
        peaks = peak_velocities(found[VELOCITY.name][:, :_MAX_STATIONS])
        names, attrs = found["station"].values.astype(str), dict(found.attrs)
    unit, unit_name = speed_unit(float(peaks.max(initial=0.0)))
    with picture(path.with_suffix(".png"), _HEIGHT) as figure:
        axes = figure.subplots()
        share = 100 * (1 - np.arange(len(peaks) + 1) / len(peaks))
        for n, (station, values) in enumerate(zip(names, peaks.T, strict=False)):
            line, colour = _LINES[n // len(COLOURS)], COLOURS[n % len(COLOURS)]
            peak = np.append(0.0, np.sort(values)) / unit
            axes.step(peak, share, line, color=colour, where="post", label=station)
        axes.set_xlabel(f"Peak ground velocity ({unit_name})")
        axes.set_ylabel("Variations that exceed it (%)")
        axes.set_ylim(0, 102)
        axes.set_xlim(left=0)
        axes.legend(frameon=False)
        grid_lines(axes)
        subtitle = f"{counted(len(peaks), 'variation')} at {counted(len(names), 'station')}"
        headline(axes, title_of(attrs), subtitle)
    return path.with_suffix(".png")


def peak_velocities(velocity: xarray.DataArray) -> Floats:
    """Largest horizontal velocity, m/s, (variations, stations)."""
    east, north = (velocity.sel(component=name).values for name in "EN")
    return np.asarray(np.sqrt(east**2 + north**2).max(axis=-1), np.float64)
