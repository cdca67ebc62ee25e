"""The case file of the ultrasound solver: `UltrasoundCase` and its sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PlainValidator

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
from groundswell.case.units import Count, CountOrZero, Flag, Length, Number, Positive, Pressure
from groundswell.solvers.ultrasound.media import MediumSection
from groundswell.solvers.ultrasound.source_case import Position, SourceSection

Edge = Annotated[Length, Positive]
Speed = Annotated[units.Speed, Positive]
FIELDS = ("p", "ux", "uy", "uz")
SMALLEST_AXIS = 8  # points
PEAK_FILE, MEDIUM_FILE = "peak_pressure.nc", "medium.nc"
PEAK_RECORD = RecordSection(
    fields=("p",), where={"kind": "all"}, what=("max", "min", "rms"), file=PEAK_FILE
)


def _two_or_three(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(entries) not in (2, 3):
        reject([((), "must have 2 or 3 entries: x, y and, in three dimensions, z")])
    return entries


class GridSection(Section):
    """`[grid]`: points of the region, without the absorbing layers.

    Points lie at origin + i spacing. A grid with two axes is two-dimensional.
    """

    points: Annotated[tuple[Count, ...], AfterValidator(_two_or_three)] | None = None
    size: Annotated[tuple[Edge, ...], AfterValidator(_two_or_three)] | None = None
    spacing: Edge | Annotated[tuple[Edge, ...], AfterValidator(_two_or_three)]
    origin: Position = (0.0, 0.0, 0.0)

    @property
    def spacings(self) -> tuple[float, float, float]:
        """Distances of points along x, y and z, m; that along z is of no importance in 2-D."""
        given = self.spacing if isinstance(self.spacing, tuple) else (self.spacing,) * 3
        x, y, z = (*given, given[0])[:3]
        return x, y, z

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of points along x, y and z; 1 along z in two dimensions."""
        if self.points is not None:
            found = self.points
        else:
            assert self.size is not None
            found = tuple(round(n / h) for n, h in zip(self.size, self.spacings, strict=False))
        x, y, z = (*found, 1)[:3]
        return x, y, z

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of points and size, different numbers of axes, or too few points."""
        yield from exactly_one(self, "points", "size")
        key = "points" if self.points is not None else "size"
        axes = len(self.points or self.size or ())
        if isinstance(self.spacing, tuple) and len(self.spacing) != axes:
            yield ("spacing",), f"must be one length, or {axes} as in {key}"
        elif axes and min(self.counts[:axes]) < SMALLEST_AXIS:
            yield (key,), f"must be at least {SMALLEST_AXIS} points along each axis"


class UltrasoundTime(TimeSection):
    """`[time]`: the duration, and the step, or "auto" for the Courant number `courant`.

    The Courant number is the distance that the fastest wave travels in a step, over the smallest
    spacing. `reference_speed` is the speed of the k-space correction, by default the largest one.
    """

    courant: Annotated[Number, Positive] = 0.3
    reference_speed: Speed | None = None


class BoundarySection(Section):
    """`[boundary]`: perfectly matched layers.

    `width` is the number of points of each layer, by default one for which transforms are fast; 0
    makes the region periodic. The layers are outside of the region unless `inside` is true.
    `strength` is the largest absorption, Np per point.
    """

    width: (
        CountOrZero
        | Annotated[tuple[CountOrZero, ...], AfterValidator(_two_or_three)]
        | Literal["auto"]
    ) = "auto"
    strength: Annotated[Number, Positive] = 2.0
    inside: Flag = False


# --- initial pressure -----------------------------------------------------------------------------


class InitialBase(Section):
    """Keys of every initial pressure; `smooth` removes wavenumbers that the grid cannot carry."""

    smooth: Flag = True


class BallSection(InitialBase):
    """`kind = "ball"`: a ball, or a disc in two dimensions, of uniform pressure."""

    kind: Literal["ball"]
    centre: Position
    radius: Edge
    pressure: Pressure


class GaussianSection(InitialBase):
    """`kind = "gaussian"`: pressure exp(-r^2 / (2 width^2)) around a point."""

    kind: Literal["gaussian"]
    centre: Position
    width: Edge
    pressure: Pressure


def _as_pressures(value: Any) -> Any:
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
    """`kind = "array"`: pressures of all points of the region, Pa, in a NumPy file or an array."""

    kind: Literal["array"]
    file: DataFile | None = None
    values: Annotated[Any, PlainValidator(_as_pressures)] | None = None

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of file and values."""
        yield from exactly_one(self, "file", "values")


InitialSection = Annotated[BallSection | GaussianSection | ArraySection, TaggedUnion()]


# --- the case -------------------------------------------------------------------------------------


class OverlapSection(Section):
    """`[overlap]`: how ranks share the grid; see the guide on the local Fourier basis.

    `points` is the least overlap on either side of a block, by default that for `accuracy`, the
    error of the pressure relative to transforms of the whole grid.
    """

    points: Count | None = None
    accuracy: Annotated[Number, Field(gt=0, lt=1)] = 1e-3


class UltrasoundOutput(OutputSection):
    """`[output]`: the folder, records of pressure and velocity, and maps of the whole region.

    With `maps`, the largest, least and root mean square pressure of every point go to PEAK_FILE.
    `medium` writes the properties that vary to MEDIUM_FILE.
    """

    recordable: ClassVar[Recordable] = Recordable(FIELDS, files=(PEAK_FILE, MEDIUM_FILE))

    maps: Flag = True
    medium: Flag = True

    @property
    def records(self) -> tuple[RecordSection, ...]:
        """The records of the case and those of the maps."""
        return (*self.record, PEAK_RECORD) if self.maps else self.record


class UltrasoundRun(RunSection):
    """`[run]`."""


class UltrasoundCase(Case):
    """Ultrasound: `[grid]`, `[medium]`, `[initial]`, `[[source]]`, `[boundary]`, `[time]`.

    Raises:
        CaseError: the case is invalid.
    """

    solver: Literal["ultrasound"] = "ultrasound"
    grid: GridSection
    medium: MediumSection
    time: UltrasoundTime
    boundary: BoundarySection = BoundarySection()
    initial: InitialSection | None = None
    source: tuple[SourceSection, ...] = ()
    overlap: OverlapSection = OverlapSection()
    output: UltrasoundOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: UltrasoundRun = UltrasoundRun()

    def violations(self) -> Iterator[Violation]:
        """A case without sound, or layers that leave no region."""
        if self.initial is None and not self.source:
            yield ("source",), "is required: give an [initial] pressure or a [[source]]"
        widths = self.boundary.width
        if isinstance(widths, tuple) and len(widths) != (3 if self.grid.counts[2] > 1 else 2):
            yield ("boundary", "width"), "must be one number, or one for each axis of the grid"
