"""What is read and drawn of a run: the pressure at its end, if the case records it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.formats import netcdf
from groundswell.plotting.style import colour_bar, headline, picture, title_of
from groundswell.report.pictures import Picture

if TYPE_CHECKING:
    import xarray

NAME = "pressure.nc"  # what = "final"


def fields(folder: Path) -> xarray.Dataset:
    """Pressure at the end, (z, y, x), Pa."""
    return netcdf.read_netcdf(folder / NAME, ("p_final", "x", "y", "z"))


def draw_pressure(folder: Path) -> Path:
    """Draw the pressure in the middle plane across y."""
    found, path = fields(folder), folder / "pressure.png"
    plane = found["p_final"].isel(y=found.sizes["y"] // 2)
    largest = float(np.abs(plane).max()) or 1.0
    with picture(path, 6.0) as figure:
        axes = figure.add_subplot()
        image = axes.pcolormesh(found.x, found.z, plane, cmap="RdBu_r", vmin=-largest, vmax=largest)
        axes.set(xlabel="x (m)", ylabel="z (m)", aspect="equal")
        colour_bar(axes, image, "Pressure (Pa)")
        headline(axes, title_of(found.attrs, "Pressure"), "In the middle plane, at the end")
    return path


PICTURES = [Picture(NAME, "pressure.png", "Pressure in the middle plane", draw_pressure)]
