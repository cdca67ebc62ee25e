"""Schema of the case file of the earthquake solver: `EarthquakeCase`."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo, field_validator

from groundswell.case.common import Case, NotEmpty, OutputSection, Section, TimeSection, repeated
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable
from groundswell.case.units import Count, Flag, Positive, Time, Unit
from groundswell.seismology.case.grid import GridSection, Position, misplaced
from groundswell.seismology.case.media import (
    ArraySection,
    Attenuation,
    AwpSection,
    MediumSection,
    NoAttenuation,
)
from groundswell.seismology.case.sources import (
    EventSection,
    Receiver,
    ReceiverFile,
    Source,
    SrfRupture,
    long_codes,
    misplaced_rupture,
    repeated_codes,
)

_WIDTH = Unit("m", "a width", "800 m")


def _width(value: Any) -> int | float:
    """A width: a number of cells (int), or a length with a unit, in m (float)."""
    width = float(_WIDTH.read(value)) if isinstance(value, str) else value
    is_count = isinstance(value, int) and not isinstance(value, bool)
    if not (is_count or isinstance(value, str)) or width <= 0:
        reject([((), 'must be a whole number of cells, at least 1, or a length such as "800 m"')])
    return width  # type: ignore[no-any-return]


class BoundarySection(Section):
    """`[boundary]`: boundary conditions, and the width of absorbing layers in cells or m.

    With periodic sides, the bottom is a perfectly matched layer.
    """

    top: Literal["free-surface", "absorbing"] = "free-surface"
    sides: Literal["pml", "sponge", "periodic"] = "pml"
    width: Annotated[int | float, PlainValidator(_width)] = 10

    def cells(self, spacing: float) -> int:
        """Width of a layer across cells of `spacing` (m)."""
        return self.width if isinstance(self.width, int) else ceil(self.width / spacing - 1e-6)


# --- output ---------------------------------------------------------------------------------------

Format = Literal["hdf5", "sac", "mseed"]
FieldName = Literal["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"]
Interval = Annotated[Time, Positive]


class SeismogramOutput(Section):
    """What the receivers record; without an interval, every time step.

    The interval is kept exactly: an automatic time step divides it.
    """

    interval: Interval | None = None
    formats: Annotated[tuple[Format, ...], NotEmpty] = ("hdf5",)

    def violations(self) -> Iterator[Violation]:
        """A format named twice."""
        yield from repeated("formats", self.formats)


class SurfaceOutput(Section):
    """Time series of velocity on the surface, at every `stride`-th cell.

    The interval is rounded to whole time steps.
    """

    interval: Interval
    stride: Count = 1


class VolumeOutput(SurfaceOutput):
    """Snapshots of whole fields."""

    fields: Annotated[tuple[FieldName, ...], NotEmpty] = ("vx", "vy", "vz")

    def violations(self) -> Iterator[Violation]:
        """A field named twice."""
        yield from repeated("fields", self.fields)


class EarthquakeOutput(OutputSection):
    """`[output]`: seismograms, maps and volumes."""

    recordable: ClassVar[Recordable] = Recordable(
        get_args(FieldName),
        files=("seismograms.h5", "shaking_map.nc", "surface.nc", "volumes.vtkhdf"),
    )

    seismograms: SeismogramOutput = SeismogramOutput()
    surface: SurfaceOutput | None = None
    shaking_map: Flag = True
    volumes: VolumeOutput | None = None

    def longer_than(self, duration: float) -> Iterator[Violation]:
        """Intervals in which a run of `duration` s would record nothing."""
        for name in ("seismograms", "surface", "volumes"):
            interval = getattr(getattr(self, name), "interval", None)
            if interval is not None and interval > duration:
                yield (name, "interval"), f"must be at most the duration, {duration:g} s"


# --- the case -------------------------------------------------------------------------------------


def _placed_source(source: Source, info: ValidationInfo) -> Source:
    grid = info.data.get("grid")
    if grid and isinstance(source, Position):
        reject(misplaced(source, grid))
    if grid and isinstance(source, SrfRupture):
        reject(misplaced_rupture(source, grid))
    return source


def _placed_receiver(receiver: Receiver, info: ValidationInfo) -> Receiver:
    if grid := info.data.get("grid"):
        reject(misplaced(receiver, grid))
    if output := info.data.get("output"):
        reject(long_codes(receiver, output.seismograms.formats))
    return receiver


class EarthquakeCase(Case):
    """The case of an earthquake: `[grid]`, `[medium]`, `[[source]]` and its outputs.

    `load_case` builds it from a file. Built by keyword, as in `EarthquakeCase(grid={"size": ...})`,
    values may be numbers in SI units, text with a unit, tables or sections.

    Raises:
        CaseError: the case is invalid; lists every problem.
    """

    solver: Literal["earthquake"] = "earthquake"
    time: TimeSection
    output: EarthquakeOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    grid: GridSection
    medium: MediumSection
    attenuation: Attenuation = NoAttenuation(model="none")
    boundary: BoundarySection = BoundarySection()
    event: EventSection = EventSection()
    source: Annotated[tuple[Annotated[Source, AfterValidator(_placed_source)], ...], NotEmpty]
    receiver: tuple[Annotated[Receiver, AfterValidator(_placed_receiver)], ...] = ()
    receivers: ReceiverFile | None = None

    # A check of two sections belongs to the later one, so that it runs even if a third is invalid.

    @field_validator("output")
    @classmethod
    def _within_duration(cls, output: EarthquakeOutput, info: ValidationInfo) -> EarthquakeOutput:
        if time := info.data.get("time"):
            reject(output.longer_than(time.duration))
        return output

    @field_validator("medium")
    @classmethod
    def _matches_the_grid(cls, medium: MediumSection, info: ValidationInfo) -> MediumSection:
        grid = info.data.get("grid")
        if grid and isinstance(medium, AwpSection | ArraySection) and medium.cells != grid.cells:
            key = "cells" if isinstance(medium, AwpSection) else "vp"
            allowed = f"has {medium.cells} cells (nx, ny, nz), but the region {grid.cells}"
            reject([((key,), allowed)])
        return medium

    @field_validator("attenuation")
    @classmethod
    def _has_q(cls, attenuation: Attenuation, info: ValidationInfo) -> Attenuation:
        medium = info.data.get("medium")
        if attenuation.model != "none" and medium and medium.has_q is False:
            reject([(("model",), 'needs qp and qs in [medium]; add them, or use "none"')])
        return attenuation

    @field_validator("receiver")
    @classmethod
    def _unique(cls, receiver: tuple[Receiver, ...]) -> tuple[Receiver, ...]:
        reject(repeated_codes(receiver))
        return receiver

    @field_validator("receivers")
    @classmethod
    def _one_list(cls, receivers: ReceiverFile | None, info: ValidationInfo) -> ReceiverFile | None:
        if receivers and info.data.get("receiver"):
            reject([((), "give stations as [[receiver]] or in a file, not both")])
        return receivers

    def violations(self) -> Iterator[Violation]:
        """A medium with quality factors in a case without `attenuation.model`."""
        if "attenuation" not in self.model_fields_set and self.medium.has_q:
            models = '"constant", "power-law" or, to ignore them, "none"'
            yield (
                ("attenuation", "model"),
                f"is required since the medium has qp and qs: {models}",
            )
