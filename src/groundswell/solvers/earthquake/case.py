"""Schema of the case file of the earthquake solver: `EarthquakeCase`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field, ValidationInfo, field_validator

from groundswell.case.common import NotEmpty, OutputSection, Section, repeated
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable
from groundswell.case.units import Count, Flag
from groundswell.seismology.case.base import SeismicCase
from groundswell.seismology.case.boundaries import Width
from groundswell.seismology.case.outputs import Interval, SeismogramOutput


class BoundarySection(Section):
    """`[boundary]`: boundary conditions, and the width of absorbing layers in cells or m.

    With periodic sides, the bottom is a perfectly matched layer.
    """

    top: Literal["free-surface", "absorbing"] = "free-surface"
    sides: Literal["pml", "sponge", "periodic"] = "pml"
    width: Width = 10


# --- output ---------------------------------------------------------------------------------------

FieldName = Literal["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"]


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


class EarthquakeCase(SeismicCase):
    """The case of an earthquake: `[grid]`, `[medium]`, `[[source]]` and its outputs.

    `load_case` builds it from a file. Built by keyword, as in `EarthquakeCase(grid={"size": ...})`,
    values may be numbers in SI units, text with a unit, tables or sections.

    Raises:
        CaseError: the case is invalid; lists every problem.
    """

    solver: Literal["earthquake"] = "earthquake"
    output: EarthquakeOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    boundary: BoundarySection = BoundarySection()

    @field_validator("output")
    @classmethod
    def _within_duration(cls, output: EarthquakeOutput, info: ValidationInfo) -> EarthquakeOutput:
        if time := info.data.get("time"):
            reject(output.longer_than(time.duration))
        return output
