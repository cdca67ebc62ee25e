"""The `[grid]` of an earthquake case, and the positions in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field

from groundswell.case.common import Section, exactly_one
from groundswell.case.problems import Fault
from groundswell.case.units import Angle, Length, Positive
from groundswell.errors import InputError
from groundswell.grids.geography import Geography

_MOST_CELLS = 2**31 - 1  # along an axis
_MOVE = "move it, or enlarge grid.size"
_INEXACT = 1e-6  # of a size, by which it may miss a whole number of cells

Longitude = Annotated[Angle, Field(ge=-180, le=360)]
Latitude = Annotated[Angle, Field(ge=-90, le=90)]


class Position(Section):
    """A place: x and y in the grid's frame, or longitude and latitude; depth below the surface."""

    x: Length | None = None
    y: Length | None = None
    longitude: Longitude | None = None
    latitude: Latitude | None = None
    depth: Length

    @property
    def geographic(self) -> bool:
        """Whether it is given by longitude and latitude."""
        return self.longitude is not None

    @property
    def horizontal(self) -> tuple[float, float]:
        """(longitude, latitude) in degrees, or (x, y) in m, whichever is given."""
        pair = (self.longitude, self.latitude) if self.geographic else (self.x, self.y)
        return cast(tuple[float, float], pair)

    def faults(self) -> Iterator[Fault]:
        """Neither, or both, of the two ways to give a place."""
        names = ("x", "y", "longitude", "latitude")
        given = tuple(name for name in names if getattr(self, name) is not None)
        if given not in (names[:2], names[2:]):
            yield (), "give either x and y, or longitude and latitude"


class GeographySection(Section):
    """`[grid.geography]`: where the region lies on Earth, and which way it is turned."""

    origin: tuple[Longitude, Latitude] | None = None
    center: tuple[Longitude, Latitude] | None = None
    azimuth: Annotated[Angle, Field(ge=-360, le=360)] = 0.0
    projection: Annotated[str, Field(max_length=1000)] = "tmerc"

    def faults(self) -> Iterator[Fault]:
        """Not exactly one of corner and middle."""
        yield from exactly_one(self, "origin", "center")


@lru_cache(maxsize=64)
def _place(geography: GeographySection, size: tuple[float, float]) -> Geography:
    """The frame of a region of `size` (x, y), m; raises `InputError`."""
    if geography.origin is not None:
        return Geography.from_origin(
            geography.origin, size, geography.azimuth, geography.projection
        )
    assert geography.center is not None
    return Geography.from_center(geography.center, size, geography.azimuth, geography.projection)


def _for_each_axis(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value, value, value)


PositiveLength = Annotated[Length, Positive]
Lengths = tuple[PositiveLength, PositiveLength, PositiveLength]


class GridSection(Section):
    """`[grid]`: the region, along x (east), y (north) and depth, and the edges of its cells.

    Absorbing layers are added outside.
    """

    size: Lengths
    spacing: Annotated[Lengths, BeforeValidator(_for_each_axis)]
    geography: GeographySection | None = None

    @property
    def cells(self) -> tuple[int, int, int]:
        """Cells (nx, ny, nz) of the region."""
        nx, ny, nz = (round(size / h) for size, h in zip(self.size, self.spacing, strict=True))
        return nx, ny, nz

    @property
    def frame(self) -> Geography | None:
        """Longitude and latitude to and from x and y; `None` without [grid.geography]."""
        return _place(self.geography, self.size[:2]) if self.geography else None

    def locate(self, position: Position) -> tuple[float, float, float]:
        """A position as (x, y, depth), m; raises `InputError` without a map, or off it."""
        x, y = position.horizontal
        if position.geographic:
            if self.frame is None:
                raise InputError("needs [grid.geography]; without it give x and y")
            x, y = map(float, self.frame.to_grid(x, y))
        return x, y, position.depth

    def faults(self) -> Iterator[Fault]:
        """Sizes that are no whole number of cells, and maps that do not fit the region."""
        for axis, (size, h) in enumerate(zip(self.size, self.spacing, strict=True)):
            yield from ((("size", axis), text) for text in _uneven(size, h))
        if self.geography:
            try:
                _place(self.geography, self.size[:2])
            except InputError as error:
                yield ("geography",), str(error)


def _uneven(size: float, h: float) -> Iterator[str]:
    """Why a size does not divide into cells of edge `h`, if it does not."""
    if not 0.5 <= size / h <= _MOST_CELLS:
        yield f"must be between one and {_MOST_CELLS} cells of {h:g} m"
    elif abs(round(size / h) * h - size) > _INEXACT * size:
        below = int(size / h)
        nearest = [f"{n * h:.10g} m" for n in (below, below + 1) if n]
        yield f"must be a whole number of cells of {h:g} m; nearest: {' or '.join(nearest)}"


def misplaced(position: Position, grid: GridSection) -> Iterator[Fault]:
    """Why a position is not one of the grid's region, if it is not."""
    if position.depth < 0:
        yield ("depth",), "lies above the surface; depth is positive downwards"
    elif position.depth > grid.size[2]:
        deep = f"lies below the region, which is {grid.size[2]:g} m deep"
        yield ("depth",), f"{deep}; {_MOVE}"
    keys = ("longitude", "latitude") if position.geographic else ("x", "y")
    try:
        here = grid.locate(position)
    except InputError as error:
        yield (keys[0],), str(error)
        return
    for key, axis, at, size in zip(keys, "xy", here, grid.size, strict=False):
        # Positions on the edge lose up to a millimetre on the way over the map.
        if not -1e-3 <= at <= size + 1e-3:
            outside = f"lies outside the region: {axis} is {at:.6g} m, not 0 to {size:g} m"
            yield (key,), f"{outside}; {_MOVE}"
