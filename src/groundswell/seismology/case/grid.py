"""Section `[grid]` of a case, and positions in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, cast

from pydantic import BeforeValidator, Field

from groundswell.case.common import Section, exactly_one
from groundswell.case.problems import Violation, reject
from groundswell.case.units import Angle, Length, Positive
from groundswell.errors import InputError
from groundswell.grids.geography import Geography

_MAX_CELLS = 2**31 - 1  # along an axis
_MOVE = "move it, or enlarge grid.size"
SIZE_TOLERANCE = 1e-6  # relative deviation from a whole number of cells

Longitude = Annotated[Angle, Field(ge=-180, le=360)]
Latitude = Annotated[Angle, Field(ge=-90, le=90)]
Azimuth = Annotated[Angle, Field(ge=-360, le=360)]
Projection = Annotated[str, Field(max_length=1000)]


class Position(Section):
    """A position: x and y in the frame of the grid, or longitude and latitude; and a depth."""

    x: Length | None = None
    """Distance from the corner of the region to the east, or along the rotated x axis."""
    y: Length | None = None
    """Distance from the corner of the region to the north, or along the rotated y axis."""
    longitude: Longitude | None = None
    """Longitude, instead of x; requires `[grid.geography]`."""
    latitude: Latitude | None = None
    """Latitude, instead of y; requires `[grid.geography]`."""
    depth: Length
    """Depth below the surface, positive downwards."""

    @property
    def geographic(self) -> bool:
        """Whether the position is given by longitude and latitude."""
        return self.longitude is not None

    @property
    def horizontal(self) -> tuple[float, float]:
        """(longitude, latitude) in degrees, or (x, y) in m."""
        pair = (self.longitude, self.latitude) if self.geographic else (self.x, self.y)
        return cast(tuple[float, float], pair)

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of the pairs x, y and longitude, latitude."""
        names = ("x", "y", "longitude", "latitude")
        given = tuple(name for name in names if getattr(self, name) is not None)
        if given not in (names[:2], names[2:]):
            yield (), "give either x and y, or longitude and latitude"


class GeographySection(Section):
    """`[grid.geography]`: position and orientation of the region on Earth."""

    origin: tuple[Longitude, Latitude] | None = None
    """Longitude and latitude of the corner x = y = 0."""
    center: tuple[Longitude, Latitude] | None = None
    """Longitude and latitude of the centre of the region, instead of the corner."""
    azimuth: Azimuth = 0.0
    """Direction of the y axis, clockwise from north."""
    projection: Projection = "tmerc"
    """Map projection: "tmerc" (transverse Mercator, centred on the region) or any that PROJ
    accepts, such as "EPSG:32611"."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of corner and centre."""
        yield from exactly_one(self, "origin", "center")


@lru_cache(maxsize=64)
def _frame(geography: GeographySection, size: tuple[float, float]) -> Geography:
    """The geographic frame of a region of `size` (x, y), m; raises `InputError`."""
    if geography.origin is not None:
        return Geography.from_origin(
            geography.origin, size, geography.azimuth, geography.projection
        )
    assert geography.center is not None
    return Geography.from_center(geography.center, size, geography.azimuth, geography.projection)


def _for_each_axis(value: object) -> object:
    return value if isinstance(value, list | tuple) else (value, value, value)


def _one_edge(value: object) -> object:
    if isinstance(value, list | tuple):
        reject([((), "must be one edge for all cells of the axis, not one for each")])
    return value


PositiveLength = Annotated[Length, Positive]
Lengths = tuple[PositiveLength, PositiveLength, PositiveLength]
Edge = Annotated[PositiveLength, BeforeValidator(_one_edge)]
ForEachAxis = BeforeValidator(_for_each_axis)  # one value counts for all


class GridSection(Section):
    """`[grid]`: size of the region along x (east), y (north) and depth, and edges of its cells.

    Absorbing layers are added outside the region.
    """

    size: Lengths
    """Size of the region along x, y and depth, in whole cells."""
    spacing: Annotated[tuple[Edge, Edge, Edge], ForEachAxis]
    """Edges of the cells: one length for all axes, or one for each."""
    geography: GeographySection | None = None
    """Position and orientation of the region on Earth."""

    @property
    def cells(self) -> tuple[int, int, int]:
        """Cells (nx, ny, nz) of the region."""
        nx, ny, nz = (round(size / h) for size, h in zip(self.size, self.spacing, strict=True))
        return nx, ny, nz

    @property
    def frame(self) -> Geography | None:
        """Map between (longitude, latitude) and (x, y); None without `[grid.geography]`."""
        return _frame(self.geography, self.size[:2]) if self.geography else None

    def locate(self, position: Position) -> tuple[float, float, float]:
        """A position as (x, y, depth), m.

        Raises:
            InputError: it is given by longitude and latitude and there is no geography, or it lies
                outside the range of the projection.
        """
        return locate_in(self.frame, position)

    def misplaced(self, position: Position) -> Iterator[Violation]:
        """Yield the violations of a position outside the region."""
        if position.depth < 0:
            yield ("depth",), "lies above the surface; depth is positive downwards"
        elif position.depth > self.size[2]:
            deep = f"lies below the region, which is {self.size[2]:g} m deep"
            yield ("depth",), f"{deep}; {_MOVE}"
        keys = ("longitude", "latitude") if position.geographic else ("x", "y")
        try:
            located = self.locate(position)
        except InputError as error:
            yield (keys[0],), str(error)
            return
        for key, axis, coordinate, size in zip(keys, "xy", located, self.size, strict=False):
            # Projections round positions on the edge by up to a millimetre.
            if not -1e-3 <= coordinate <= size + 1e-3:
                where = f"{axis} is {coordinate:.6g} m, not 0 to {size:g} m"
                yield (key,), f"lies outside the region: {where}; {_MOVE}"

    def violations(self) -> Iterator[Violation]:
        """Sizes that are not whole numbers of cells, and projections that do not fit the region."""
        yield from self.uneven_sizes()
        if self.geography:
            try:
                _frame(self.geography, self.size[:2])
            except InputError as error:
                yield ("geography",), str(error)

    def uneven_sizes(self) -> Iterator[Violation]:
        """Yield the violations of sizes that are not whole numbers of cells."""
        for axis, (size, h) in enumerate(zip(self.size, self.spacing, strict=True)):
            yield from ((("size", axis), text) for text in uneven(size, h))


def locate_in(frame: Geography | None, position: Position) -> tuple[float, float, float]:
    """A position as (x, y, depth), m; see `GridSection.locate`."""
    x, y = position.horizontal
    if position.geographic:
        if frame is None:
            raise InputError("needs [grid.geography]; without it give x and y")
        x, y = map(float, frame.to_grid(x, y))
    return x, y, position.depth


def uneven(size: float, h: float) -> Iterator[str]:
    """Yield the violation of a size that is not a whole number of cells of edge `h`."""
    if not 0.5 <= size / h <= _MAX_CELLS:
        yield f"must be between one and {_MAX_CELLS} cells of {h:g} m"
    elif abs(round(size / h) * h - size) > SIZE_TOLERANCE * size:
        below = int(size / h)
        nearest = [f"{n * h:.10g} m" for n in (below, below + 1) if n]
        yield f"must be a whole number of cells of {h:g} m; nearest: {' or '.join(nearest)}"
