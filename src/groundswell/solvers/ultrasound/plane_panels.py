"""Maps in the planes of the grid through a point, side by side with one scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.plotting.style import INK, WIDTH, picture
from groundswell.solvers.ultrasound.planes import ends, interpolation_of
from groundswell.solvers.ultrasound.transducers import Surface
from groundswell.solvers.ultrasound.units import MM

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Plane = tuple[str, str]  # its horizontal and its vertical axis
PLANES: tuple[Plane, ...] = (("x", "y"), ("x", "z"), ("y", "z"))
SURFACE, SURFACE_STEPS = "#37d5c8", 400  # colour; points along a side of the picture
_HIGHEST = 7.0  # inches, largest height of a panel
_LEFT, _BELOW, _BAR = 0.75, 0.6, 1.3  # inches, for labels on the left and below, and the colour bar


@contextmanager
def plane_picture(path: Path, cuts: Sequence[xarray.DataArray]) -> Iterator[list[Axes]]:
    """A picture with a panel for each plane, and axes for the colour bar; see `picture`."""
    scale = _scale(cuts)
    with picture(path, scale * max(map(_height, cuts)) + _BELOW) as figure:
        yield _panels(figure, cuts, scale)


def colour_bar(axes: Axes, image: AxesImage, label: str) -> None:
    """Draw the colour bar of an image in its axes."""
    bar = axes.figure.colorbar(image, cax=axes, label=label)
    bar.outline.set_visible(False)


def planes_of(position: Mapping[str, float]) -> list[Plane]:
    """The planes of the grid through a position."""
    return [axes for axes in PLANES if set(axes) <= set(position)]


def _width(cut: xarray.DataArray) -> float:
    """Horizontal extent of a plane, m."""
    return float(np.ptp(cut[cut.dims[1]].values))


def _height(cut: xarray.DataArray) -> float:
    """Vertical extent of a plane, m."""
    return float(np.ptp(cut[cut.dims[0]].values))


def _scale(cuts: Sequence[xarray.DataArray]) -> float:
    """Inches per metre for planes side by side."""
    room = WIDTH - len(cuts) * _LEFT - _BAR
    return min(room / sum(map(_width, cuts)), _HIGHEST / max(map(_height, cuts)))


def _panels(figure: Figure, cuts: Sequence[xarray.DataArray], scale: float) -> list[Axes]:
    """Panels of one scale, and the axes of the colour bar."""
    figure.set_layout_engine("none")
    inches = figure.get_size_inches()[1]
    left, found = _LEFT, []
    for cut in cuts:
        width, height = scale * _width(cut), scale * _height(cut)
        place = (left / WIDTH, _BELOW / inches, width / WIDTH, height / inches)
        found.append(figure.add_axes(place))
        left += width + _LEFT
    bar = ((left - _LEFT + 0.15) / WIDTH, _BELOW / inches, 0.2 / WIDTH, height / inches)
    return [*found, figure.add_axes(bar)]


def through(
    values: xarray.DataArray, position: Mapping[str, float], plane: Plane
) -> xarray.DataArray:
    """The values (vertical, horizontal) of a plane through a position."""
    others = {str(axis) for axis in values.dims} - set(plane)
    at = {axis: position.get(axis, float(values[axis][0])) for axis in others}
    return values.sel(at, method="nearest").transpose(*plane[::-1]).load()


def draw_plane(
    axes: Axes,
    values: xarray.DataArray,
    position: Mapping[str, float],
    limits: tuple[float, float],
) -> AxesImage:
    """Draw values with the colours of a range, and a cross at a position."""
    up, across = map(str, values.dims)
    image = axes.imshow(
        values,
        origin="lower",
        extent=(*ends(values[across].values), *ends(values[up].values)),
        cmap="magma",
        interpolation=interpolation_of(values),
        clim=limits,
    )
    axes.plot(position[across] / MM, position[up] / MM, "+", color=INK, markersize=9)
    axes.set(xlabel=f"{across} (mm)", ylabel=f"{up} (mm)")
    return image


def draw_surfaces(
    axes: Axes, surfaces: Sequence[Surface], position: Mapping[str, float], plane: Plane
) -> bool:
    """Draw where the surfaces of transducers cross a plane through a position.

    Returns:
        Whether there is anything to draw.
    """
    if not surfaces:
        return False
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    step = MM * max(right - left, high - low) / SURFACE_STEPS
    others = [axis for axis in position if axis not in plane]
    points = [_near(surface.sample(step).points, position, others, step) for surface in surfaces]
    across, up = (np.concatenate([p["xyz".index(axis)] for p in points]) for axis in plane)
    axes.plot(across / MM, up / MM, ".", color=SURFACE, markersize=2.5)
    axes.set(xlim=(left, right), ylim=(low, high))
    return len(across) > 0


def _near(
    points: Floats, position: Mapping[str, float], others: Sequence[str], step: float
) -> Floats:
    """Coordinates (3, n) of the points within a step of a position along some axes."""
    away = [np.abs(points[:, "xyz".index(axis)] - position[axis]) <= step for axis in others]
    return np.asarray(points[np.all(away, axis=0)] if away else points).T
