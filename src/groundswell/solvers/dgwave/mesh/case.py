"""The sections `[grid]`, of bricks or with a mesh from a file, and `[refinement]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, TypeAdapter

from groundswell.case.common import ByFile, DataFile, NotEmpty, Section
from groundswell.case.problems import Violation
from groundswell.case.units import Accepts, Frequency, Length, NonNegative, Number, Positive
from groundswell.errors import InputError
from groundswell.grids.axis import Spacing
from groundswell.grids.geography import Geography, require_projected
from groundswell.seismology.case.grid import (
    SIZE_TOLERANCE,
    Azimuth,
    ForEachAxis,
    GridSection,
    Latitude,
    Longitude,
    Position,
    PositiveLength,
    Projection,
    locate_in,
    uneven,
)

# Points per wavelength of waves that count as resolved. Their errors depend on the degree, see
# `plane_wave_errors`: after ten wavelengths, they keep 58 % of their amplitude at degree 4, 97 % at
# degree 8.
POINTS_PER_WAVELENGTH = 5.0
MAX_LEVELS = 6

_ONE = TypeAdapter(PositiveLength)
_EACH = TypeAdapter(Annotated[tuple[PositiveLength, ...], NotEmpty])


def _spacing(value: object) -> Spacing:
    """The edge of all elements along an axis, or a list of the edge of each."""
    one_each = isinstance(value, list | tuple)
    return _EACH.validate_python(value) if one_each else _ONE.validate_python(value)


Edges = Annotated[
    Spacing, PlainValidator(_spacing), Accepts("a length or a list of lengths", "m", "> 0")
]


class BricksSection(GridSection):
    """`[grid]`: size of the region along x (east), y (north) and depth, and edges of its elements.

    `spacing` has one edge for all elements along an axis, or a list of the edge of each.
    """

    spacing: Annotated[tuple[Edges, Edges, Edges], ForEachAxis]  # type: ignore[assignment]
    """Edges of the elements: one length for all axes or one for each, or along an axis a list of
    the edges of all its elements."""

    @property
    def cells(self) -> tuple[int, int, int]:
        """Elements (nx, ny, nz) of the region."""
        nx, ny, nz = (
            len(h) if isinstance(h, tuple) else round(size / h)
            for size, h in zip(self.size, self.spacing, strict=True)
        )
        return nx, ny, nz

    def uneven_sizes(self) -> Iterator[Violation]:
        """Yield the violations of sizes that elements do not fill."""
        for axis, (size, h) in enumerate(zip(self.size, self.spacing, strict=True)):
            if not isinstance(h, tuple):
                yield from ((("size", axis), text) for text in uneven(size, h))
            elif abs(sum(h) - size) > SIZE_TOLERANCE * size:
                total = f"must add up to grid.size[{axis}] = {size:.10g} m"
                yield ("spacing", axis), f"{total}; these edges add up to {sum(h):.10g} m"


class MeshGeographySection(Section):
    """`[grid.geography]` of a mesh: its position and orientation on Earth.

    Without an origin, x and y are east and north in the projection.
    """

    origin: tuple[Longitude, Latitude] | None = None
    """Longitude and latitude of x = y = 0."""
    azimuth: Azimuth = 0.0
    """Direction of the y axis, clockwise from north."""
    projection: Projection = "tmerc"
    """Map projection: "tmerc" (transverse Mercator, centred on the origin) or any that PROJ
    accepts, such as "EPSG:32611"."""

    @property
    def frame(self) -> Geography:
        """Map between (longitude, latitude) and (x, y); raises `InputError`."""
        if self.origin is None:
            require_projected(self.projection)
            return Geography(self.projection, (0.0, 0.0), 0.0, (0.0, 0.0))
        return Geography.from_point(self.origin, (0.0, 0.0), self.azimuth, self.projection)

    def violations(self) -> Iterator[Violation]:
        """No position of the mesh, two directions of its axes, or an unknown projection."""
        needed = 'the coordinate system of x and y of the mesh, such as "EPSG:32611"'
        if self.origin is None and self.projection == "tmerc":
            yield (), f"give origin, the position of x = y = 0, or projection, {needed}"
        elif self.origin is None and self.azimuth:
            yield ("azimuth",), "belongs to origin; without it, y points north in the projection"
        else:
            try:
                _ = self.frame
            except InputError as error:
                yield ("projection",), str(error)


class MeshSection(Section):
    """`[grid]` with a `file`: hexahedra from a mesh file, in m.

    `vertical` is the direction of the mesh's third axis. Positions are given by the x and y of the
    mesh, or by longitude and latitude if it has a geography, and the depth below its surface.
    """

    file: DataFile
    """Mesh of hexahedra, with coordinates in m."""
    vertical: Literal["up", "down"] = "up"
    """Direction of the third axis of the mesh."""
    geography: MeshGeographySection | None = None
    """Position and orientation of the mesh on Earth."""

    @property
    def frame(self) -> Geography | None:
        """Map between (longitude, latitude) and (x, y); None without `[grid.geography]`."""
        return self.geography.frame if self.geography else None

    def locate(self, position: Position) -> tuple[float, float, float]:
        """A position as (x, y, depth), m; see `GridSection`."""
        return locate_in(self.frame, position)

    def misplaced(self, position: Position) -> Iterator[Violation]:
        """Yield the violations of a position that can be found without the mesh."""
        if position.depth < 0:
            yield ("depth",), "lies above the surface; depth is positive downwards"
        try:
            self.locate(position)
        except InputError as error:
            yield ("longitude",), str(error)


AnyGrid = Annotated[Any, ByFile(MeshSection, BricksSection)]


class RefinementSection(Section):
    """`[refinement]`: halve elements where waves are slow, or near faults.

    Elements of `[grid]` are halved, at most `levels` times, until the slowest wave of `frequency`
    spans `points` points. Those that touch a fault, or are nearer to it than `distance`, are halved
    `faults` times. Neighbours differ by at most one level.
    """

    frequency: Annotated[Frequency, Positive] | None = None
    """Highest frequency to resolve; without it, elements are not halved for waves."""
    levels: Annotated[int, Field(ge=1, le=MAX_LEVELS, strict=True)] = 2
    """Largest number of halvings for waves."""
    points: Annotated[Number, Field(ge=2, le=50)] = POINTS_PER_WAVELENGTH
    """Points per wavelength."""
    faults: Annotated[int, Field(ge=1, le=MAX_LEVELS, strict=True)] | None = None
    """Number of halvings of elements at faults; without it, they are not halved."""
    distance: Annotated[Length, NonNegative] = 0.0
    """Distance from faults within which elements are halved."""

    @property
    def deepest(self) -> int:
        """The largest number of times that elements may be halved."""
        return max(self.levels if self.frequency else 0, self.faults or 0)

    def violations(self) -> Iterator[Violation]:
        """Nothing to refine for, or a key without the one that it belongs to."""
        if not (self.frequency or self.faults):
            yield (), "give frequency, to halve elements for waves, or faults, for ruptures"
        belongs = {"levels": "frequency", "points": "frequency", "distance": "faults"}
        for key, to in belongs.items():
            if key in self.model_fields_set and getattr(self, to) is None:
                yield (key,), f"belongs to {to}; give {to}, or remove it"


class ForestSection(Section):
    """`[refinement]` with a `file`: refine the elements like the trees of a p4est forest.

    The file was written by `p8est_save`. Its trees are the elements of `[grid]`, and `vertical` is
    the direction of their third axis.
    """

    file: DataFile
    """Forest that p4est's `p8est_save` wrote; its trees are the elements of the grid."""
    vertical: Literal["up", "down"] = "up"
    """Direction of the third axis of the trees."""


AnyRefinement = Annotated[Any, ByFile(ForestSection, RefinementSection)]
