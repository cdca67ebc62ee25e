"""Schema of the case file of the earthquake solver: `EarthquakeCase`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field, ValidationInfo, field_validator

from groundswell.case.common import NotEmpty, RunSection, Section, TaggedUnion, repeated
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable
from groundswell.case.units import Flag
from groundswell.seismology.case.base import PlacedSource, SeismicCase
from groundswell.seismology.case.boundaries import Width
from groundswell.seismology.case.fault import (
    FaultSection,
    misplaced_plane,
    missing_excitation,
    repeated_names,
)
from groundswell.seismology.case.fault_outputs import FaultPointsOutput, RuptureOutput
from groundswell.seismology.case.green import StrainGreenTensorOutput
from groundswell.seismology.case.outputs import SeismicOutput, SurfaceOutput
from groundswell.seismology.case.plasticity import (
    DruckerPragerSection,
    strains_recorded,
    unknown_materials,
)
from groundswell.seismology.case.soil import IwanSection

MOST_VISCOUS = 0.5  # with which the scheme is stable


class BoundarySection(Section):
    """`[boundary]`: boundary conditions, and the width of absorbing layers in cells or m.

    With periodic sides, the bottom is a perfectly matched layer.
    """

    top: Literal["free-surface", "absorbing"] = "free-surface"
    sides: Literal["pml", "sponge", "periodic"] = "pml"
    width: Width = 10


# --- faults ---------------------------------------------------------------------------------------


class SplitNodeFault(FaultSection):
    """`[[fault]]`, with a `viscosity` of the stress that acts on its jumps, in time steps."""

    viscosity: Annotated[float, Field(ge=0, le=MOST_VISCOUS)] = 0.0


# --- output ---------------------------------------------------------------------------------------

FieldName = Literal["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz", "plastic_strain"]


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
        files=(
            *("seismograms.h5", "shaking_map.nc", "surface.nc", "volumes.vtkhdf"),
            *("fault.nc", "fault_points.nc", "rupture.nc", "plastic_strain.nc"),
            *("strain_green_tensor.h5", "intensity.nc", "intensity_maps.nc", "map_lines.geojson"),
        ),
    )

    shaking_map: Flag = True
    volumes: VolumeOutput | None = None
    fault_points: FaultPointsOutput | None = None
    rupture: RuptureOutput | None = None
    strain_green_tensor: StrainGreenTensorOutput | None = None


# --- run ------------------------------------------------------------------------------------------


class EarthquakeRun(RunSection):
    """`[run]`: how memory variables and materials are stored.

    `memory` is "half" for memory variables in 16 bits. With `materials = "classes"` each cell has a
    16-bit number of a record in a table, which changes no result.
    """

    decisive: ClassVar[tuple[str, ...]] = (*RunSection.decisive, "memory")

    memory: Literal["full", "half"] = "full"
    materials: Literal["cells", "classes"] = "cells"

    def violations(self) -> Iterator[Violation]:
        """Memory variables in 16 bits in double precision."""
        yield from super().violations()
        if self.memory == "half" and self.precision == "double":
            yield ("memory",), 'must be "full" where precision = "double"'


# --- the case -------------------------------------------------------------------------------------


class EarthquakeCase(SeismicCase):
    """The case of an earthquake: `[grid]`, `[medium]`, `[[source]]` or `[[fault]]`, outputs.

    `load_case` builds it from a file. Built by keyword, as in `EarthquakeCase(grid={"size": ...})`,
    values may be numbers in SI units, text with a unit, tables or sections.

    Raises:
        CaseError: the case is invalid; lists every problem.
    """

    solver: Literal["earthquake"] = "earthquake"
    output: EarthquakeOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    boundary: BoundarySection = BoundarySection()
    run: EarthquakeRun = EarthquakeRun()
    source: tuple[PlacedSource, ...] = ()
    fault: tuple[SplitNodeFault, ...] = ()
    plasticity: Annotated[DruckerPragerSection | IwanSection, TaggedUnion("model")] | None = None

    def violations(self) -> Iterator[Violation]:
        """Nothing that excites waves, or the plastic strain of rock that does not yield."""
        yield from super().violations()
        yield from missing_excitation(self.source, self.fault)
        if not self.plasticity:
            yield from strains_recorded(self.output)

    @field_validator("plasticity")
    @classmethod
    def _has_materials(
        cls, plasticity: DruckerPragerSection | IwanSection | None
    ) -> DruckerPragerSection | IwanSection | None:
        if isinstance(plasticity, DruckerPragerSection):
            reject(unknown_materials(plasticity, None))
        return plasticity

    @field_validator("fault")
    @classmethod
    def _lies_in_the_grid(
        cls, fault: tuple[SplitNodeFault, ...], info: ValidationInfo
    ) -> tuple[SplitNodeFault, ...]:
        reject(repeated_names(fault))
        if grid := info.data.get("grid"):
            for n, each in enumerate(fault):
                reject(((n, *at), text) for at, text in misplaced_plane(each, grid))
        return fault
