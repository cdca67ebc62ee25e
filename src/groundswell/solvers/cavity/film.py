"""A film of the middle plane of a flow in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.formats.netcdf import open_netcdf
from groundswell.plotting.film import clock, film, frames_of
from groundswell.plotting.style import INK, colour_bar, headline, plane_height, title_of
from groundswell.solvers.cavity.solid_heat import read_outlines

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARROWS, LONGEST = 24, 2.5  # along the longer axis; the longest, in distances between arrows
VELOCITY = {"x": "u", "y": "v", "z": "w"}  # the component along each axis


def flow_film(results: str | Path) -> Path:
    """Draw `film.mp4` or `.gif`: temperature, or speed, and velocity in the middle plane.

    Args:
        results: folder with `film.nc`.

    Raises:
        InputError: the file is damaged.
    """
    source = Path(results) / "film.nc"
    with open_netcdf(source, ("time", "x", "y", "z", *VELOCITY.values(), "T")) as recorded:
        across, up = str(recorded.attrs["middle_plane"]).split()
        frames = slice(None, None, frames_of(recorded.sizes["time"]).step)
        (normal,) = {"x", "y", "z"} - {across, up}
        plane = recorded.isel(time=frames).assign_attrs(middle=float(recorded[normal].mean()))
        plane = plane.transpose("time", up, across).load()
    height = plane_height(plane[across].values, plane[up].values)
    return film(source.with_suffix(".mp4"), height, lambda figure: _frames(figure, plane))


def _frames(figure: Figure, plane: xarray.Dataset) -> Iterator[None]:
    """Draw the plane, and change it from frame to frame."""
    _, up, across = plane["T"].dims
    speeds = [plane[VELOCITY[str(axis)]].values for axis in (across, up)]
    is_heated = bool(np.ptp(plane["T"].values) > 0)
    values = plane["T"].values if is_heated else np.hypot(*speeds)
    colours = "RdBu_r" if is_heated else "viridis"
    axes = figure.subplots()
    label = partial(label_of, plane.attrs)
    axes.set(xlabel=label(str(across), "m"), ylabel=label(str(up), "m"), aspect="equal")
    mesh = axes.pcolormesh(plane[across], plane[up], values[0], cmap=colours, shading="gouraud")
    mesh.set_clim(float(values.min()), float(values.max()))
    colour_bar(axes, mesh, label("Temperature", "K") if is_heated else label("Speed", "m/s"))
    arrows = _arrows(axes, plane, speeds, INK if is_heated else "white")
    draw_solids(axes, plane, str(across), str(up))
    if plane.attrs.get("down") == up:
        axes.invert_yaxis()
    subtitle = headline(axes, title_of(plane.attrs, "Flow"), "")
    for n, time in enumerate(clock(plane["time"].values)):
        mesh.set_array(values[n])
        arrows(n)
        at = time if has_units(plane.attrs) else f"time {time.removesuffix(' s')}"
        subtitle.set_text(f"Middle plane at {at}")
        yield


def has_units(attrs: Mapping[str, object]) -> bool:
    """Whether values of a file with these attributes have units; not known in older files."""
    return attrs.get("fluid") == "properties"


def label_of(attrs: Mapping[str, object], name: str, unit: str) -> str:
    """The label of a quantity, with its unit if values have units."""
    return f"{name} ({unit})" if has_units(attrs) else name


def _evenly(positions: Floats, every: slice) -> Integers:
    """Indices of the points nearest to some of as many evenly spaced positions."""
    even = np.linspace(positions[0], positions[-1], len(positions))[every]
    return np.unique(abs(positions[:, None] - even).argmin(axis=0))


def draw_solids(axes: Axes, plane: xarray.Dataset, across: str, up: str) -> None:
    """Draw the outlines of solids in a plane, whose attribute `middle` is its position."""
    from matplotlib.patches import Rectangle

    text, at = str(plane.attrs.get("solids", "")), float(plane.attrs.get("middle", 0.0))
    limits = {"xlim": axes.get_xlim(), "ylim": axes.get_ylim()}
    for x, y, width, height in read_outlines(text, across, up, at):
        axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=INK, linewidth=1.6))
    axes.set(**limits)


def _arrows(
    axes: Axes, plane: xarray.Dataset, speeds: Sequence[Floats], colour: str
) -> Callable[[int], None]:
    """Draw arrows of velocity; returns a function that shows those of a frame.

    Args:
        speeds: components across and up, (time, up, across).
    """
    _, up, across = plane["T"].dims
    step = max(1, -(-max(plane.sizes[up], plane.sizes[across]) // ARROWS))
    every = slice(step // 2, None, step)
    columns, rows = (_evenly(plane[axis].values, every) for axis in (across, up))
    u, v = (speed[:, rows[:, None], columns] for speed in speeds)
    at = [plane[across].values[columns], plane[up].values[rows]]
    fastest = float(np.hypot(*speeds).max()) or 1.0
    spacing = float(np.diff(plane[across].values).mean())
    scale = fastest / (LONGEST * step * spacing)
    look = {"color": colour, "width": 0.0015, "angles": "xy", "scale_units": "xy", "scale": scale}
    drawn = axes.quiver(*at, u[0], v[0], **look)
    return lambda n: drawn.set_UVC(u[n], v[n])
