"""The case file of the ultrasound solver: `UltrasoundCase` and its sections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import GenericAlias
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PlainValidator, TypeAdapter
from pydantic_core import core_schema

from groundswell.case import units
from groundswell.case.common import (
    Case,
    DataFile,
    OutputSection,
    RunSection,
    Section,
    TaggedUnion,
    TimeSection,
    exactly_one,
)
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable, RecordSection
from groundswell.case.units import (
    Accepts,
    Count,
    CountOrZero,
    Flag,
    Length,
    Number,
    Positive,
    Pressure,
)
from groundswell.case.value_text import accepted
from groundswell.solvers.ultrasound.media import MediumSection
from groundswell.solvers.ultrasound.source_case import Position, SourceSection, two_or_three

Edge = Annotated[Length, Positive]
Speed = Annotated[units.Speed, Positive]
FIELDS = ("p", "ux", "uy", "uz")
SMALLEST_AXIS, LARGEST_AXIS = 8, 2**20  # points
ROUNDING = 1e-6  # spacings by which a size may differ from a whole number of them
PEAK_FILE, MEDIUM_FILE, FILM_FILE = "peak_pressure.nc", "medium.nc", "film.nc"
PEAK_RECORD = RecordSection(
    fields=("p",), where={"kind": "all"}, what=("max", "min", "rms"), file=PEAK_FILE
)


@dataclass(frozen=True)
class OneOrEach:
    """Annotation of one value for all axes of the grid, or a list with one value per axis.

    Args:
        kind: type of the values.
        word: text that is allowed instead of values, such as "auto".
    """

    kind: Any
    word: str | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    @property
    def accepts(self) -> Accepts:
        """Description of valid values, for the reference."""
        one = accepted(self.kind)
        word = f'"{self.word}", ' if self.word else ""
        return replace(one, text=f"{word}{one.text}, or a list of one for each axis")

    def _read(self, value: object) -> object:
        if isinstance(value, list | tuple):
            entries: Any = GenericAlias(tuple, (self.kind, ...))
            return two_or_three(TypeAdapter(entries).validate_python(value))
        if self.word is None or not isinstance(value, str):
            return TypeAdapter(self.kind).validate_python(value)
        if value != self.word:
            reject([((), f'must be "{self.word}", a number, or a list of one for each axis')])
        return value


class GridSection(Section):
    """`[grid]`: the points of the region, which does not include absorbing layers outside it.

    Points lie at origin + i spacing. A grid with two axes is two-dimensional.
    """

    points: Annotated[tuple[Count, ...], AfterValidator(two_or_three)] | None = None
    """Points of the region along x, y and, in three dimensions, z; from 8 to 2^20."""
    size: Annotated[tuple[Edge, ...], AfterValidator(two_or_three)] | None = None
    """Lengths of the region, in whole spacings, instead of points."""
    spacing: Annotated[float | tuple[float, ...], OneOrEach(Edge)]
    """Distance between points: one length for all axes, or one for each."""
    origin: Position = (0.0, 0.0, 0.0)
    """Position of the first point."""

    @property
    def spacings(self) -> tuple[float, float, float]:
        """Grid spacings along x, y and z, m; the spacing along z is not used in 2-D."""
        given = self.spacing if isinstance(self.spacing, tuple) else (self.spacing,) * 3
        x, y, z = (*given, given[0])[:3]
        return x, y, z

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of points along x, y and z; 1 along z in two dimensions."""
        x, y, z = (*map(round, self._lengths), 1)[:3]
        return x, y, z

    @property
    def _lengths(self) -> tuple[float, ...]:
        """Length along each axis of the grid, in spacings."""
        if self.points is not None:
            return self.points
        return tuple(n / h for n, h in zip(self.size or (), self.spacings, strict=False))

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of points and size, different numbers of axes, or too few points."""
        yield from exactly_one(self, "points", "size")
        key = "points" if self.points is not None else "size"
        lengths = self._lengths
        if isinstance(self.spacing, tuple) and len(self.spacing) != len(lengths) > 0:
            yield ("spacing",), f"must be one length, or {len(lengths)} as in {key}"
            return
        for axis, (n, h) in enumerate(zip(lengths, self.spacings, strict=False)):
            if not SMALLEST_AXIS - ROUNDING <= n <= LARGEST_AXIS:
                yield (
                    (key, axis),
                    f"has {n:.6g} points; it must have from {SMALLEST_AXIS} to {LARGEST_AXIS}. "
                    "For two dimensions, leave z out",
                )
            elif abs(n - round(n)) > ROUNDING:
                yield (
                    (key, axis),
                    f"must be a whole number of spacings; nearest: {int(n) * h:g} m or "
                    f"{(int(n) + 1) * h:g} m",
                )


class UltrasoundTime(TimeSection):
    """`[time]`: the duration and the step. With `step = "auto"`, `courant` determines the step.

    The Courant number is the distance that the fastest wave travels in a step, divided by the
    smallest spacing. An automatic step is at most 90 % of the stability limit, and divides the
    duration. `reference_speed` is the sound speed of the k-space correction, by default the
    largest sound speed of the medium.
    """

    courant: Annotated[Number, Positive] = 0.3
    """Distance that the fastest wave travels in an automatic step, in spacings."""
    reference_speed: Speed | None = None
    """Sound speed of the k-space correction; the largest in the medium by default."""


class BoundarySection(Section):
    """`[boundary]`: perfectly matched layers.

    `width` is the number of points of each layer. The default is the width for which transforms
    are fastest, from 20 to 40 points in two dimensions and from 10 to 20 in three; layers inside
    the region have 20 or 10. With 0, the axis is periodic. `strength` is the largest absorption,
    Np per point.
    """

    width: Annotated[
        int | tuple[int, ...] | Literal["auto"], OneOrEach(CountOrZero, word="auto")
    ] = "auto"
    """Points of each absorbing layer: one number for all axes, or one for each; 0 makes an axis
    periodic. "auto" chooses a width with fast transforms."""
    strength: Annotated[Number, Positive] = 2.0
    """Largest absorption, Np per point."""
    inside: Flag = False
    """Whether the layers are inside the region."""


# --- initial pressure -----------------------------------------------------------------------------


class InitialBase(Section):
    """Keys of every initial pressure; `smooth` reduces high wavenumbers by a Blackman window."""

    smooth: Flag = True
    """Whether a Blackman window reduces high wavenumbers."""


class BallSection(InitialBase):
    """`kind = "ball"`: a ball, or a disc in two dimensions, of uniform pressure."""

    kind: Literal["ball"]
    centre: Position
    """Centre of the ball."""
    radius: Edge
    """Radius of the ball."""
    pressure: Pressure
    """Pressure in the ball."""


class GaussianSection(InitialBase):
    """`kind = "gaussian"`: pressure exp(-r^2 / (2 width^2)) around a point."""

    kind: Literal["gaussian"]
    centre: Position
    """Point of the largest pressure."""
    width: Edge
    """Standard deviation."""
    pressure: Pressure
    """Largest pressure."""


def _as_pressures(value: object) -> object:
    import numpy as np

    if (
        not isinstance(value, np.ndarray)
        or value.ndim not in (2, 3)
        or value.dtype.kind not in "fiu"
    ):
        reject(
            [((), "must be a NumPy array (nz, ny, nx) or (ny, nx) of numbers; from Python only")]
        )
    return value


class ArraySection(InitialBase):
    """`kind = "array"`: pressure at all points of the region, Pa, in a NumPy file or an array."""

    kind: Literal["array"]
    file: DataFile | None = None
    """NumPy file (.npy) with the pressure at all points, (nz, ny, nx) or (ny, nx)."""
    values: Annotated[Any, PlainValidator(_as_pressures), Accepts("an array", "Pa")] | None = None
    """Array of the same shape, from Python only, instead of a file."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of file and values."""
        yield from exactly_one(self, "file", "values")


InitialSection = Annotated[BallSection | GaussianSection | ArraySection, TaggedUnion()]


# --- the case -------------------------------------------------------------------------------------


class OverlapSection(Section):
    """`[overlap]`: overlap between the blocks of several processes.

    `points` is the minimum overlap on either side of a block. By default it follows from
    `accuracy`, the largest difference of the pressure from that of one rank, relative to the
    largest pressure anywhere. Not all media and sources allow every accuracy: `check`
    shows an estimate.
    """

    points: Count | None = None
    """Smallest overlap on either side of a block, instead of an accuracy."""
    accuracy: Annotated[Number, Field(gt=0, lt=1)] = 1e-3
    """Largest difference of the pressure from that of one rank, relative to the largest pressure
    anywhere."""


class UltrasoundOutput(OutputSection):
    """`[output]`: the folder, records of pressure and velocity, and maps of the whole region.

    With `maps`, `peak_pressure.nc` contains the maximum, minimum and root mean square pressure at
    every point. With `medium`, `medium.nc` contains the properties that vary in space. With `film`,
    the run makes a film of the pressure, whose samples are in `film.nc`.
    """

    recordable: ClassVar[Recordable] = Recordable(FIELDS, files=(PEAK_FILE, MEDIUM_FILE, FILM_FILE))

    maps: Flag = True
    """Whether to write the maximum, minimum and root mean square pressure at every point."""
    medium: Flag = True
    """Whether to write the properties of the medium that vary."""
    film: Flag = False
    """Whether to make a film of the pressure in a plane along the beam."""

    @property
    def records(self) -> tuple[RecordSection, ...]:
        """The records of the case and those of the maps."""
        return (*self.record, PEAK_RECORD) if self.maps else self.record


class UltrasoundRun(RunSection):
    """`[run]`: how the properties of the medium are stored.

    With `materials = "classes"` each point has the number, in 8 or 16 bits, of a record in a table,
    which changes no result.
    """

    materials: Literal["cells", "classes"] = "cells"
    """Storage of materials: each property of each point, or 8 or 16 bits per point and a table of
    up to 65,536 materials."""


class UltrasoundCase(Case):
    """Ultrasound: `[grid]`, `[medium]`, `[initial]`, `[[source]]`, `[boundary]`, `[time]`.

    >>> import groundswell as gs
    >>> case = gs.ultrasound.UltrasoundCase(
    ...     grid={"points": [64, 48], "spacing": "0.25 mm"},
    ...     medium={"speed": 1500.0, "density": 1000.0},
    ...     initial={"kind": "ball", "centre": ["8 mm", "6 mm"], "radius": "2 mm", "pressure": 1e5},
    ...     time={"duration": "5 us"},
    ... )
    >>> case.grid.spacing  # m
    0.00025

    Raises:
        CaseError: the case is invalid.
    """

    solver: Literal["ultrasound"] = "ultrasound"
    grid: GridSection
    """The region and its points."""
    medium: MediumSection
    """Sound speed, density, absorption and nonlinearity."""
    time: UltrasoundTime
    """Duration and time step."""
    boundary: BoundarySection = BoundarySection()
    """Perfectly matched layers."""
    initial: InitialSection | None = None
    """Pressure at time 0."""
    source: tuple[SourceSection, ...] = ()
    """Transducers. Repeat the table for more."""
    overlap: OverlapSection = OverlapSection()
    """Overlap between the blocks of ranks."""
    output: UltrasoundOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: UltrasoundRun = UltrasoundRun()

    def violations(self) -> Iterator[Violation]:
        """A case without any source, or lists and directions for another number of axes."""
        axes = 3 if self.grid.counts[2] > 1 else 2
        if self.initial is None and not self.source:
            yield ("source",), "is required: give an [initial] pressure or a [[source]]"
        widths = self.boundary.width
        if isinstance(widths, tuple) and len(widths) != axes:
            yield ("boundary", "width"), "must be one number, or one for each axis of the grid"
        for n, source in enumerate(self.source):
            if axes == 2 and source.direction and source.direction[2]:
                yield ("source", n, "direction"), "must have z = 0: the grid has two dimensions"
