"""Schema of the case file of the earthquake solver: `EarthquakeCase`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field, ValidationInfo, field_validator

from groundswell.case.common import NotEmpty, Section, repeated
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable
from groundswell.case.units import Flag
from groundswell.seismology.case.base import SeismicCase
from groundswell.seismology.case.boundaries import Width
from groundswell.seismology.case.media import (
    Attenuation,
    NoAttenuation,
)
from groundswell.seismology.case.outputs import SeismicOutput, SurfaceOutput


class BoundarySection(Section):
    """`[boundary]`: boundary conditions, and the width of absorbing layers in cells or m.

    With periodic sides, the bottom is a perfectly matched layer.
    """

    top: Literal["free-surface", "absorbing"] = "free-surface"
    sides: Literal["pml", "sponge", "periodic"] = "pml"
    width: Width = 10


# --- output ---------------------------------------------------------------------------------------

FieldName = Literal["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"]


class VolumeOutput(SurfaceOutput):
    """Snapshots of whole fields."""

    fields: Annotated[tuple[FieldName, ...], NotEmpty] = ("vx", "vy", "vz")

    def violations(self) -> Iterator[Violation]:
        """A field named twice."""
        yield from repeated("fields", self.fields)


class EarthquakeOutput(SeismicOutput):
    """`[output]`: seismograms, maps and volumes."""

    recordable: ClassVar[Recordable] = Recordable(
        get_args(FieldName),
        files=("seismograms.h5", "shaking_map.nc", "surface.nc", "volumes.vtkhdf"),
    )

    shaking_map: Flag = True
    volumes: VolumeOutput | None = None


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
    attenuation: Attenuation = NoAttenuation(model="none")
    boundary: BoundarySection = BoundarySection()

    @field_validator("attenuation")
    @classmethod
    def _has_q(cls, attenuation: Attenuation, info: ValidationInfo) -> Attenuation:
        medium = info.data.get("medium")
        if attenuation.model != "none" and medium and medium.has_q is False:
            reject([(("model",), 'needs qp and qs in [medium]; add them, or use "none"')])
        return attenuation

    def violations(self) -> Iterator[Violation]:
        """A medium with quality factors in a case without `attenuation.model`."""
        if "attenuation" not in self.model_fields_set and self.medium.has_q:
            models = '"constant", "power-law" or, to ignore them, "none"'
            yield (
                ("attenuation", "model"),
                f"is required since the medium has qp and qs: {models}",
            )
