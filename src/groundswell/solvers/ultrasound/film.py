"""A film of the pressure in the plane of `film_plane`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.formats.netcdf import open_netcdf
from groundswell.plotting.film import clock, film, frames_of
from groundswell.plotting.style import INK, colour_bar, headline, plane_height, title_of
from groundswell.simulation.summary import read_summary
from groundswell.solvers.ultrasound.case import FILM_FILE
from groundswell.solvers.ultrasound.planes import (
    draw_outline,
    ends,
    interpolation_of,
    outlined_property,
)
from groundswell.solvers.ultrasound.units import MM, US, pressure_unit

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage


def pressure_film(results: str | Path) -> Path | None:
    """Draw `film.mp4` or `.gif`: the pressure in a plane over time.

    Colours are symmetric: red for compression, blue for rarefaction, up to the largest pressure of
    the film. Lines outline the parts of the medium.

    Args:
        results: folder with `film.nc`.

    Returns:
        The path of the film, or None if there is no pressure.

    Raises:
        InputError: a file is damaged.
    """
    folder = Path(results)
    plane = _read(folder / FILM_FILE)
    if len(read_summary(folder)["case"]["region"]) == 2:
        plane = plane.drop_vars("z")
    if not plane["p"].any():
        return None
    _, up, across = plane["p"].dims
    height = plane_height(plane[across].values, plane[up].values)
    outline = _outline(folder, plane)
    return film(folder / "film.mp4", height, lambda figure: _frames(figure, plane, outline))


def _read(path: Path) -> xarray.Dataset:
    """The pressure (time, up, across) at the times of frames; a third axis is a number."""
    with open_netcdf(path, ("time", "x", "y", "p")) as recorded:
        frames = slice(None, None, frames_of(recorded.sizes["time"]).step)
        plane = recorded.isel(time=frames).load()
    across, up = [axis for axis in "xyz" if plane.sizes.get(axis, 1) > 1]
    return plane.squeeze(set(plane["p"].dims) - {"time", up, across}).transpose("time", up, across)


def _outline(folder: Path, plane: xarray.Dataset) -> xarray.DataArray | None:
    """The property in the plane whose boundaries are drawn, if one varies."""
    whole, (_, up, across) = outlined_property(folder), plane["p"].dims
    if whole is None:
        return None
    (normal,) = {*"xyz"} - {up, across}
    at = float(plane[normal]) if normal in plane else 0.0
    return whole.sel({normal: at}, method="nearest").transpose(up, across).load()


def _frames(
    figure: Figure, plane: xarray.Dataset, outline: xarray.DataArray | None
) -> Iterator[None]:
    """Draw the plane, and change it from frame to frame."""
    values, axes = plane["p"].values, figure.subplots()
    limit = float(np.abs(values).max())
    unit, name = pressure_unit(limit)
    image = _draw_plane(axes, plane["p"][0] / unit, limit / unit)
    colour_bar(axes, image, f"Pressure ({name})")
    if outline is not None:
        draw_outline(axes, outline, INK)
    subtitle = headline(axes, title_of(plane.attrs, "Ultrasound"), "")
    scale = f"; colours to ±{limit / unit:.3g} {name}, the largest of the film"
    place = _place(plane)
    for time, pressure in zip(clock(plane["time"].values / US, "µs"), values, strict=True):
        image.set_data(pressure / unit)
        subtitle.set_text(f"Pressure{place} at {time}{scale}")
        yield


def _draw_plane(axes: Axes, values: xarray.DataArray, limit: float) -> AxesImage:
    up, across = map(str, values.dims)
    extent = (*ends(values[across].values), *ends(values[up].values))
    axes.set(xlabel=f"{across} (mm)", ylabel=f"{up} (mm)")
    style: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    smooth = interpolation_of(values)
    return axes.imshow(values, origin="lower", extent=extent, interpolation=smooth, **style)


def _place(plane: xarray.Dataset) -> str:
    """The position of the plane as text; empty in two dimensions."""
    normal = next((axis for axis in "xyz" if axis not in plane["p"].dims), "")
    return f" in the plane {normal} = {float(plane[normal]) / MM:.4g} mm" if normal in plane else ""
