"""Lines in degrees: their points checked, in degrees, and clipped to a map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.grids.geography import Geography, to_lonlat

Line = Floats  # (n, 2): longitude and latitude, degrees
Lines = Sequence[Line]

_MARGIN = 0.05  # of the map, on each side
_ALONG = 33  # points along each side of a region, whose sides are curves on a map in degrees


class Bounds(NamedTuple):
    """Longitudes and latitudes of the edges of a map, degrees."""

    west: float
    east: float
    south: float
    north: float

    @classmethod
    def of(cls, longitude: ArrayLike, latitude: ArrayLike) -> Bounds:
        """The bounds of points, and a margin."""
        (west, east), (south, north) = (
            (float(np.min(c)), float(np.max(c))) for c in (longitude, latitude)
        )
        dx, dy = _MARGIN * (east - west), _MARGIN * (north - south)
        return cls(west - dx, east + dx, south - dy, north + dy)

    @classmethod
    def of_region(cls, geography: Geography) -> Bounds:
        """The bounds of the region of a frame, and a margin."""
        t, (x, y) = np.linspace(0, 1, _ALONG), geography.size
        zeros, ones = np.zeros_like(t), np.ones_like(t)
        across = np.concatenate([t, t, zeros, ones]) * x
        up = np.concatenate([zeros, ones, t, t]) * y
        return cls.of(*geography.to_lonlat(across, up))


def as_line(points: object, path: Path) -> Line:
    """Points of a file as an array (n, 2); heights and other columns are left out.

    Raises:
        InputError: the points are not pairs of finite numbers.
    """
    try:
        pairs = [(float(point[0]), float(point[1])) for point in points]  # type: ignore[attr-defined]
    except (TypeError, ValueError, LookupError, OverflowError):
        pairs = [(np.nan, np.nan)]
    line = np.array(pairs, float).reshape(-1, 2)
    if not np.isfinite(line).all():
        raise InputError(f"{path} has a line whose points are not pairs of numbers")
    return line


def to_degrees(lines: Lines, system: str | None, path: Path) -> Lines:
    """Lines as longitudes and latitudes (WGS 84).

    Args:
        system: the coordinate system of the lines; None for longitudes and latitudes.

    Raises:
        InputError: the system is unknown, or a point is none of the Earth's.
    """
    if system is not None and lines:
        ends = np.cumsum([len(line) for line in lines])[:-1]
        try:
            degrees = to_lonlat(system, *np.concatenate(lines).T)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        lines = np.split(np.column_stack(degrees), ends)
    for line in lines:
        _require_degrees(line, path)
    return lines


def _require_degrees(line: Line, path: Path) -> None:
    outside = (np.abs(line) > (360, 90)).any(axis=1)
    if outside.any():
        longitude, latitude = line[outside][0]
        raise InputError(
            f"{path} has a point ({longitude:g}, {latitude:g}), which is no longitude from -360 to "
            "360 and latitude from -90 to 90; write degrees, in this order"
        )


def clipped(lines: Lines, bounds: Bounds) -> list[Line]:
    """The parts of lines that may be visible within the bounds: those with a segment near it.

    Longitudes become those within 180 degrees of the map's centre.
    """
    return [part for line in lines for part in _visible(line, bounds)]


def _visible(line: Line, bounds: Bounds) -> Iterator[Line]:
    if len(line) < 2:
        return
    middle = (bounds.west + bounds.east) / 2
    x, y = (line[:, 0] - middle + 180) % 360 - 180 + middle, line[:, 1]
    near = _meets(x, bounds.west, bounds.east) & _meets(y, bounds.south, bounds.north)
    near &= np.abs(np.diff(x)) < 180  # others cross the far side of the Earth
    edges = np.flatnonzero(np.diff(np.concatenate([[False], near, [False]]).astype(int)))
    for first, last in edges.reshape(-1, 2):
        yield np.column_stack([x[first : last + 1], y[first : last + 1]])


def _meets(values: Floats, low: float, high: float) -> NDArray[np.bool_]:
    """Whether each segment has a part between two values of a coordinate."""
    start, end = values[:-1], values[1:]
    return (np.minimum(start, end) <= high) & (np.maximum(start, end) >= low)
