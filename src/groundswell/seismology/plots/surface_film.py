"""A film of the waves on the surface."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.plotting.film import clock, film, frames_of
from groundswell.plotting.map_frame import MapFrame
from groundswell.plotting.refinement import coloured_map, refined
from groundswell.plotting.style import WIDTH, colour_bar, headline, speed_unit, title_of
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.seismology.plots.source import draw_fault, draw_star, event_sentence
from groundswell.seismology.plots.surface_map import Lines, map_frame

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

_MOST_CELLS = 400  # along an axis; the film resolves no more
_SHOWN = 99.5  # per cent of the velocities that colours distinguish


def surface_film(results: str | Path, lines: Lines | None = None) -> Path | None:
    """Draw `surface_velocity.mp4` or `.gif`: vertical velocity of the surface over time.

    Samples are left out if there are more than frames.

    Args:
        results: folder with `surface.nc`.
        lines: as in `map_frame`.

    Returns:
        The path of the film, or None if nothing moves or the surface has no width.

    Raises:
        InputError: the file is missing or damaged.
    """
    folder = Path(results)
    surface = _upward(folder / "surface.nc")
    if min(surface.sizes["x"], surface.sizes["y"]) < 2 or not surface["velocity"].any():
        return None
    frame = map_frame(surface, folder, lines)
    height = min(0.83 * WIDTH * frame.slenderness + 0.6, 1.4 * WIDTH)
    path = folder / "surface_velocity.mp4"
    return film(path, height, lambda figure: _frames(figure, frame, surface))


def _upward(path: Path) -> xarray.Dataset:
    """Upward velocity (time, y, x) at the times of the frames, at as many points as they show."""
    with open_surface(path) as surface:
        steps = {d: -(-surface.sizes[d] // _MOST_CELLS) for d in ("y", "x")}
        steps["time"] = frames_of(surface.sizes["time"]).step
        strides = {dimension: slice(None, None, step) for dimension, step in steps.items()}
        return surface.isel(strides).sel(component="Z").load()


def _frames(figure: Figure, frame: MapFrame, surface: xarray.Dataset) -> Iterator[None]:
    """Draw the map, and change it from frame to frame."""
    velocity, times = surface["velocity"].values, surface["time"].values
    limit = float(np.nanpercentile(np.abs(velocity), _SHOWN)) or float(np.nanmax(np.abs(velocity)))
    unit, name = speed_unit(limit)
    axes = figure.subplots()
    frame.dress(axes)
    mesh = coloured_map(axes, frame, velocity[0] / unit, cmap="RdBu_r")
    mesh.set_clim(-limit / unit, limit / unit)
    colour_bar(axes, mesh, f"Velocity, up ({name})", extend="both")
    subtitle = headline(axes, title_of(surface.attrs), "")
    frame.scale_bar(axes)
    frame.north_arrow(axes)
    draw_fault(axes, frame, surface.attrs)
    draw_star(axes, frame, surface.attrs)
    event = event_sentence(surface.attrs)
    for time, values in zip(clock(times), velocity, strict=True):
        mesh.set_array(refined(values / unit))
        subtitle.set_text(f"{event}Vertical velocity of the surface at {time}")
        yield
