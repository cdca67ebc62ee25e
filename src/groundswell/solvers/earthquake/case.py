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
    """Condition at the surface."""
    sides: Literal["pml", "sponge", "periodic"] = "pml"
    """Condition at the four sides. The bottom is the same, or a matched layer if they are periodic.
    """
    width: Width = 10
    """Width of the absorbing layers: a number of cells, or a length. Sponges need 20 cells. `check`
    shows the frequencies that matched layers absorb, and how much they reflect."""


# --- faults ---------------------------------------------------------------------------------------


class SplitNodeFault(FaultSection):
    """`[[fault]]`: an upright plane along x or y that breaks by itself."""

    viscosity: Annotated[float, Field(ge=0, le=MOST_VISCOUS)] = 0.0
    """Damping of oscillations of slip from cell to cell, in time steps."""


# --- output ---------------------------------------------------------------------------------------

FieldName = Literal["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz", "plastic_strain"]


class VolumeOutput(SurfaceOutput):
    """Snapshots of whole fields, each at its own points of the staggered grid.

    Stresses are those of half a step later. The vector `velocity` of ParaView points up.
    """

    fields: Annotated[tuple[FieldName, ...], NotEmpty] = ("vx", "vy", "vz")
    """Fields to write."""

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
    """Whether to write peak ground velocity and acceleration at the surface: the largest magnitude
    of the horizontal vector over all steps, unfiltered."""
    volumes: VolumeOutput | None = None
    """Snapshots of whole fields, for ParaView."""
    fault_points: FaultPointsOutput | None = None
    """Time series at points on faults."""
    rupture: RuptureOutput | None = None
    """Slip of faults over time, also as a source in SRF."""
    strain_green_tensor: StrainGreenTensorOutput | None = None
    """Strain at points due to a force at a station, for `groundswell synthesize`."""


# --- run ------------------------------------------------------------------------------------------


class EarthquakeRun(RunSection):
    """`[run]`: how memory variables and materials are stored.

    `memory` is "half" for memory variables in 16 bits. With `materials = "classes"` each cell has a
    16-bit number of a record in a table, which changes no result.
    """

    decisive: ClassVar[tuple[str, ...]] = (*RunSection.decisive, "memory")

    memory: Literal["full", "half"] = "full"
    """Storage of the memory variables of attenuation: 32 bits ("full") or 16 ("half"), which
    changes seismograms by about 1e-4 of their peak."""
    materials: Literal["cells", "classes"] = "cells"
    """Storage of materials: each property of each cell, or 16 bits per cell and a table of up to
    65,536 materials, which changes no result. It is for layers and blocks."""

    def violations(self) -> Iterator[Violation]:
        """Memory variables in 16 bits in double precision."""
        yield from super().violations()
        if self.memory == "half" and self.precision == "double":
            yield ("memory",), 'must be "full" where precision = "double"'


# --- the case -------------------------------------------------------------------------------------


class EarthquakeCase(SeismicCase):
    """The case of an earthquake: `[grid]`, `[medium]`, `[[source]]` or `[[fault]]`, outputs.

    >>> import groundswell as gs
    >>> case = gs.earthquake.EarthquakeCase(
    ...     grid={"size": ["3 km", "3 km", "2 km"], "spacing": "100 m"},
    ...     medium={"kind": "homogeneous", "vp": 3600.0, "vs": 2000.0, "rho": 2500.0},
    ...     source=[
    ...         {
    ...             **{"kind": "explosion", "x": "1.5 km", "y": "1.5 km", "depth": "1 km"},
    ...             **{"magnitude": 4, "time_function": {"kind": "cosine", "rise": 0.5}},
    ...         }
    ...     ],
    ...     time={"duration": "1 s"},
    ... )
    >>> case.source[0].depth  # m
    1000.0

    `load_case` builds it from a file. Built by keyword, as in `EarthquakeCase(grid={"size": ...})`,
    values may be numbers in SI units, text with a unit, tables or sections.

    Raises:
        CaseError: the case is invalid; lists every problem.
    """

    solver: Literal["earthquake"] = "earthquake"
    output: EarthquakeOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    boundary: BoundarySection = BoundarySection()
    """Conditions at the surface, the sides and the bottom."""
    run: EarthquakeRun = EarthquakeRun()
    source: tuple[PlacedSource, ...] = ()
    fault: tuple[SplitNodeFault, ...] = ()
    """Faults that break by themselves. Repeat the table for more."""
    plasticity: Annotated[DruckerPragerSection | IwanSection, TaggedUnion("model")] | None = None
    """Rock or soil that yields in strong shaking."""

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
