"""The picture of a treatment: the largest temperatures, and the lesion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.formats.netcdf import open_dataset
from groundswell.plotting.style import headline, title_of
from groundswell.solvers.ultrasound.heat.dose import LESION
from groundswell.solvers.ultrasound.heat.treatment import HEAT_FILE
from groundswell.solvers.ultrasound.plane_panels import (
    colour_bar,
    draw_plane,
    plane_picture,
    planes_of,
    through,
)
from groundswell.solvers.ultrasound.planes import draw_outline, outlined_property
from groundswell.solvers.ultrasound.units import MM, place_text

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

CONTOUR = "#37d5c8"


def heat_picture(results: str | Path) -> Path | None:
    """Draw `heat.png`: the largest temperatures around the hottest point, and the lesion.

    Args:
        results: folder with `heat.nc`.

    Returns:
        The path of the picture, or None if nothing became warmer.

    Raises:
        InputError: a file is damaged.
    """
    folder = Path(results)
    found = open_dataset(folder / HEAT_FILE)
    largest = found["temperature_max"]
    limits = float(found["hottest"][0]), float(largest.max())
    if not limits[1] > limits[0]:
        return None
    position = _hottest(largest)
    planes, outline = planes_of(position), outlined_property(folder)
    cuts = [through(largest, position, plane) for plane in planes]
    path, has_lesion = folder / "heat.png", float(found["dose"].max()) >= LESION
    with plane_picture(path, cuts) as panels:
        for axes, cut, plane in zip(panels, cuts, planes, strict=False):
            image = draw_plane(axes, cut, position, limits)
            if outline is not None:
                draw_outline(axes, through(outline, position, plane))
            if has_lesion:
                _draw_lesion(axes, through(found["dose"], position, plane))
        colour_bar(panels[-1], image, "Largest temperature (°C)")
        peak = f"{found.attrs['peak_temperature']:.3g} °C at {place_text(position)}"
        line = f"; line: {LESION:g} CEM43" if has_lesion else ""
        headline(panels[0], title_of(found.attrs, "Heat"), peak + line)
    return path


def _hottest(temperature: xarray.DataArray) -> dict[str, float]:
    """The position of the largest value, by axis with more than one point."""
    at = temperature.isel(temperature.argmax(...))
    return {axis: float(at[axis]) for axis in "xyz" if temperature.sizes[axis] > 1}


def _draw_lesion(axes: Axes, dose: xarray.DataArray) -> None:
    """Draw the boundary of the points with the dose of a lesion."""
    up, across = (dose[axis].values / MM for axis in dose.dims)
    levels = np.log(np.clip(dose.values, 1e-6, 1e300))  # doses vary by orders of magnitude
    axes.contour(across, up, levels, levels=[np.log(LESION)], colors=CONTOUR, linewidths=1.2)
