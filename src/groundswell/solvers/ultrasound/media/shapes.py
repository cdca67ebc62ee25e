"""Shapes of parts of a medium, and the grid points that they contain.

Coordinates are in metres. A shape with two coordinates, (x, y), extends to infinity along z, as in
two-dimensional grids. Shapes have no smoothed edges: a point is inside or outside. Layers, boxes
and the ends of cylinders are half-open, so that adjacent parts share no point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nextafter, sqrt
from typing import Any, Protocol

import numpy as np

from groundswell.arrays import Floats, Mask

Point = tuple[float, ...]  # (x, y, z), or (x, y)

ROUNDING = 1e-12  # m; above the rounding errors of coordinates, far below any wavelength


class Shape(Protocol):
    """A part of space."""

    @property
    def bounds(self) -> tuple[Point, Point]:
        """Lowest and highest corner of a box that contains the shape."""

    def contains(self, *position: Any) -> Mask:
        """Whether points lie inside; `position` consists of arrays x, y and z that broadcast."""


@dataclass(frozen=True)
class Box:
    """A box along the axes: low <= position < high along each of them."""

    low: Point
    high: Point

    @property
    def bounds(self) -> tuple[Point, Point]:
        """The corners."""
        return self.low, self.high

    def contains(self, *position: Any) -> Mask:
        """Whether points lie inside."""
        inside = np.True_
        for at, low, high in zip(position, self.low, self.high, strict=False):
            inside = inside & (at >= low - ROUNDING) & (at < high - ROUNDING)
        return np.asarray(inside)


@dataclass(frozen=True)
class Sphere:
    """A ball; with `inner`, only its points farther than this from the centre."""

    centre: Point
    radius: float
    inner: float | None = None

    @property
    def bounds(self) -> tuple[Point, Point]:
        """Corners of the cube around the sphere."""
        return _cube(self.centre, self.radius)

    def contains(self, *position: Any) -> Mask:
        """Whether points lie inside."""
        squared = sum(np.square(offset) for offset in _offsets(position, self.centre))
        inside = squared <= _largest_square(self.radius + ROUNDING)
        if self.inner is not None:
            inside = inside & (squared > _largest_square(self.inner + ROUNDING))
        return np.asarray(inside)


@dataclass(frozen=True)
class Cylinder:
    """A circular cylinder with flat ends, from the point `start` to the point `end`."""

    start: Point
    end: Point
    radius: float

    @property
    def bounds(self) -> tuple[Point, Point]:
        """Corners of a box that contains spheres around both ends."""
        corners = [_cube(point, self.radius) for point in (self.start, self.end)]
        lows, highs = zip(*corners, strict=True)
        return tuple(map(min, *lows)), tuple(map(max, *highs))

    def contains(self, *position: Any) -> Mask:
        """Whether points lie inside."""
        axis = np.subtract(self.end, self.start)
        length = float(np.linalg.norm(axis))
        direction = axis / length
        offsets = _offsets(position, self.start)
        along = sum(n * offset for n, offset in zip(direction, offsets, strict=True))
        across = sum(
            np.square(offset - n * along) for n, offset in zip(direction, offsets, strict=True)
        )
        inside = (along >= -ROUNDING) & (along < length - ROUNDING)
        return np.asarray(inside & (across <= _largest_square(self.radius + ROUNDING)))


def layer(axis: int, low: float | None, high: float | None) -> Box:
    """The layer between two coordinates along axis 0 (x), 1 (y) or 2 (z); None is no limit."""
    lows, highs = [-np.inf] * 3, [np.inf] * 3
    lows[axis] = -np.inf if low is None else low
    highs[axis] = np.inf if high is None else high
    return Box(tuple(lows), tuple(highs))


def window_of(shape: Shape, axes: Sequence[Floats]) -> tuple[slice, slice, slice]:
    """Slices (z, y, x) of the points within the bounds of a shape.

    Args:
        shape: the shape.
        axes: ascending coordinates x, y and z of the points, m.
    """
    window = [slice(0, len(at)) for at in axes]
    for axis, (low, high) in enumerate(zip(*shape.bounds, strict=True)):
        start, stop = np.searchsorted(axes[axis], (low - 2 * ROUNDING, high + 2 * ROUNDING))
        window[axis] = slice(int(start), int(stop))
    x, y, z = window
    return z, y, x


def _cube(centre: Point, radius: float) -> tuple[Point, Point]:
    return tuple(at - radius for at in centre), tuple(at + radius for at in centre)


def _largest_square(length: float) -> float:
    """The largest number with a square root, as rounded, of at most `length`.

    Comparisons of squares thus have the results of those of roots, which take longer.
    """
    found = length * length
    while sqrt(found) > length:
        found = nextafter(found, 0.0)
    while found < (after := nextafter(found, inf)) and sqrt(after) <= length:
        found = after
    return found


def _offsets(position: Sequence[Any], origin: Point) -> list[Any]:
    """Position minus origin along each axis of the origin."""
    return [at - start for at, start in zip(position, origin, strict=False)]
