"""Hazard maps: the level at a return period, at sites or on a grid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.netcdf import open_dataset
from groundswell.plotting.map_frame import MapFrame
from groundswell.plotting.refinement import coloured_map
from groundswell.plotting.style import INK, WIDTH, colour_bar, headline, picture, shades
from groundswell.seismology.hazard.analysis import Hazard
from groundswell.seismology.hazard.curves import probability
from groundswell.seismology.hazard.files import map_of
from groundswell.seismology.hazard.measures import Measure
from groundswell.seismology.map_lines.files import lines_within
from groundswell.seismology.map_lines.lines import Bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

_RANGE = 100.0  # largest ratio of the ends of the colour bar
_MOST_TRACES = 3000
_FEW_TRACES = 100  # which are drawn with a white edge
_MOST_RELIEF = 1000  # samples of the relief along an axis
_RELIEF = ("elevation", "topography", "z")
_SLOPE = 0.35  # root mean square of the slopes of the shaded relief
_MARGIN = 0.04  # of the map around scattered sites


def map_picture(folder: Path, hazard: Hazard, measure: Measure, years: float) -> Path:
    """Draw `map_MEASURE_YEARS.png`, over the relief if the case has one."""
    path = folder / f"map_{measure.file_name}_{years:g}.png"
    values = np.ma.masked_invalid(map_of(hazard, measure, years) / measure.unit[0])
    frame = _frame(hazard)
    height = min(0.83 * WIDTH * frame.slenderness + 0.6, 1.4 * WIDTH)
    with picture(path, height) as figure:
        axes = figure.subplots()
        has_relief = _draw_relief(axes, hazard)
        cells = _draw_values(axes, hazard, frame, values, has_relief)
        _draw_ruptures(axes, hazard)
        frame.dress(axes)
        colour_bar(axes, cells, measure.axis)
        headline(axes, hazard.case.title or "Hazard map", _sentence(hazard, years))
        frame.scale_bar(axes)
    return path


def _sentence(hazard: Hazard, years: float) -> str:
    exposure = hazard.case.exposure
    share = 100 * float(probability(1 / years, exposure))
    chance = f"{share:.2g} % in {exposure:g} years"
    return f"Exceeded once in {years:g} years on average, or with a probability of {chance}"


def _frame(hazard: Hazard) -> MapFrame:
    """The frame of the map: the grid, or a rectangle around the sites."""
    sites = hazard.sites
    u, v = sites.horizontal.T
    if sites.grid is not None:
        u, v = u.reshape(sites.grid)[0], v.reshape(sites.grid)[:, 0]
    else:
        u, v = (_around(axis) for axis in (u, v))
    if not sites.is_geographic:
        return MapFrame(u, v)
    longitude, latitude = np.meshgrid(u, v)
    lines = lines_within(hazard.case.output.map_lines, Bounds.of(u, v))
    return MapFrame(u, v, longitude, latitude, lines=lines)


def _around(values: Floats) -> Floats:
    margin = max(_MARGIN * float(np.ptp(values)), 1e-3 * (1 + abs(float(values.mean()))) / 10)
    return np.linspace(values.min() - margin, values.max() + margin, 50)


def _draw_values(
    axes: Axes, hazard: Hazard, frame: MapFrame, values: np.ma.MaskedArray, over_relief: bool
) -> ScalarMappable:
    """Draw cells of a grid, or points."""
    from matplotlib.colors import LogNorm, Normalize

    highest = float(values.max()) if values.count() else 1.0
    lowest = float(values.min()) if values.count() else 0.0
    norm: Normalize = Normalize(0, highest)
    if highest > 5 * lowest:
        norm = LogNorm(max(lowest, highest / _RANGE), highest, clip=True)
    style: Any = {"norm": norm, "cmap": shades()}
    if (grid := hazard.sites.grid) is not None:
        cells = values.reshape(grid)
        alpha = 0.65 if over_relief else 1.0
        return coloured_map(axes, frame, cells, alpha=alpha, **style)
    u, v = hazard.sites.horizontal.T / (1.0 if hazard.sites.is_geographic else 1e3)
    size = float(np.clip(20000 / len(u), 12, 160))
    return axes.scatter(u, v, size, values, edgecolors=INK, linewidths=0.5, zorder=5, **style)


def _draw_ruptures(axes: Axes, hazard: Hazard) -> None:
    """Draw the top edges of the ruptures."""
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    first = hazard.branches[0].ruptures
    surfaces = [each.surface for each in first if each.surface is not None and each.is_on_map]
    edges = [surface.panels[:, :2, :2] for surface in surfaces[:_MOST_TRACES]]
    if not edges:
        return
    lines = np.unique(np.concatenate(edges).round(1), axis=0)
    frame = hazard.sites.frame
    if frame is None:
        shown = lines / 1e3
    else:
        shown = np.stack(frame.to_lonlat(lines[..., 0], lines[..., 1]), axis=-1)
    few = len(lines) < _FEW_TRACES
    drawn = LineCollection(list(shown), colors=INK, linewidths=1.3, zorder=4)
    drawn.set_alpha(1.0 if few else 0.3)
    if few:
        drawn.set_path_effects([withStroke(linewidth=3, foreground="white")])
    axes.add_collection(drawn)


def require_drawable(hazard: Hazard) -> None:
    """Raise `InputError` if the case has a relief or lines that cannot be drawn."""
    if hazard.case.output.map_lines and not hazard.sites.is_geographic:
        raise InputError(
            "output.map_lines needs sites with longitudes and latitudes; leave it out, or place "
            "the sites by them"
        )
    if (path := hazard.case.output.relief) is not None:
        _read_relief(path, hazard.sites.is_geographic)


def _draw_relief(axes: Axes, hazard: Hazard) -> bool:
    """Shade the relief below the map, if the case has one."""
    if (path := hazard.case.output.relief) is None:
        return False
    from matplotlib.colors import LightSource

    u, v, heights = _read_relief(path, hazard.sites.is_geographic)
    rise, run = (np.diff(heights, axis=1), float(u[1] - u[0]))
    slope = float(np.sqrt((rise**2).mean())) / run or 1.0
    light = LightSource(azdeg=315, altdeg=45)
    shaded = light.hillshade(heights[::-1], _SLOPE / slope, dx=run, dy=float(v[1] - v[0]))
    extent = (u[0], u[-1], v[0], v[-1])
    axes.imshow(shaded, cmap="gray", vmin=-1.5, vmax=1.1, extent=extent, aspect="auto", zorder=0)
    return True


def _read_relief(path: Path, is_geographic: bool) -> tuple[Floats, Floats, Floats]:
    """Coordinates of the map and heights (ny, nx), of ascending coordinates."""
    names = (("longitude", "latitude"), ("lon", "lat")) if is_geographic else (("x", "y"),)
    with open_dataset(path) as data:
        variable = next((name for name in _RELIEF if name in data), None)
        pair = next((p for p in names if all(name in data.dims for name in p)), None)
        if variable is None or pair is None:
            raise InputError(
                f"{path}: a relief needs a variable {', '.join(_RELIEF)} with the dimensions "
                f"{' and '.join(names[0])}"
            )
        steps = {name: slice(None, None, -(-data.sizes[name] // _MOST_RELIEF)) for name in pair}
        chosen = data[variable].isel(steps).sortby(list(pair)).transpose(pair[1], pair[0])
        scale = 1.0 if is_geographic else 1e3
        if min(chosen.shape) < 2:
            raise InputError(f"{path}: a relief needs at least two points along each axis")
        return (
            np.asarray(chosen[pair[0]].values, float) / scale,
            np.asarray(chosen[pair[1]].values, float) / scale,
            np.nan_to_num(np.asarray(chosen.values, float)),
        )
