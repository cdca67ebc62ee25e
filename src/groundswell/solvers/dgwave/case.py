"""Schema of the case file of the DG wave solver: `DgWaveCase`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo, field_validator

from groundswell.case.common import (
    CODECS,
    NotEmpty,
    RunSection,
    Section,
    repeated,
)
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable
from groundswell.case.units import Accepts, Flag
from groundswell.case.value_text import words
from groundswell.errors import did_you_mean, listed
from groundswell.seismology.case.base import PlacedSource, SeismicCase
from groundswell.seismology.case.fault import (
    FaultSection,
    misplaced_plane,
    missing_excitation,
    repeated_names,
)
from groundswell.seismology.case.fault_outputs import FaultPointsOutput, RuptureOutput
from groundswell.seismology.case.green import StrainGreenTensorOutput
from groundswell.seismology.case.outputs import Interval, SeismicOutput
from groundswell.seismology.case.plasticity import (
    STRAIN,
    DruckerPragerSection,
    strains_recorded,
    unknown_materials,
)
from groundswell.seismology.case.receivers import Instrument
from groundswell.seismology.case.topography import TopographySection
from groundswell.solvers.dgwave.boundaries.case import BoundarySection
from groundswell.solvers.dgwave.materials.case import AnyMedium, CellwiseSection, VolumesSection
from groundswell.solvers.dgwave.mesh.case import (
    AnyGrid,
    AnyRefinement,
    BricksSection,
    ForestSection,
    MeshSection,
    RefinementSection,
)

MAX_DEGREE = 15
MAX_MECHANISMS = 6  # more mechanisms do not improve the fit
FLUXES = {"riemann": 1.0, "central": 0.0}
FIELDS = ("p", "vx", "vy", "vz", "sxx", "syy", "szz", "syz", "sxz", "sxy", STRAIN)


def _upwind(value: Any) -> float:
    """The weight of the Riemann flux, from its name or a number."""
    if isinstance(value, str) and value in FLUXES:
        return FLUXES[value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        reject([((), 'must be "riemann", "central", or a number from 0 (central) to 1 (Riemann)')])
    return float(value)


_UPWIND = Accepts(f"{words([*FLUXES])} or a number", bounds="≥ 0, ≤ 1")


class MethodSection(Section):
    """`[method]`: degree of the elements, flux, equations, material and attenuation.

    With "auto", the equations are acoustic (pressure and velocity) if the whole medium is fluid,
    and elastic otherwise. `flux` is the weight of the Riemann flux; the rest is the central flux.
    With `material` "element", each element has its average material; with "node", each node has the
    material at its position. Attenuation uses `mechanisms` relaxation mechanisms at each node.
    """

    degree: Annotated[int, Field(ge=1, le=MAX_DEGREE, strict=True)] = 4
    """Polynomial degree of the elements."""
    flux: Annotated[float, PlainValidator(_upwind), _UPWIND] = 1.0
    """Flux between elements: "riemann", "central", or the weight of the Riemann flux."""
    equations: Literal["auto", "acoustic", "elastic"] = "auto"
    """Equations: "auto" is acoustic if the whole medium is fluid, and elastic otherwise."""
    mechanisms: Annotated[int, Field(ge=2, le=MAX_MECHANISMS, strict=True)] = 3
    """Number of relaxation mechanisms of attenuation."""
    material: Literal["element", "node"] = "element"
    """Whether each element has its average material, or each node the one at its position."""


class VolumeOutput(Section):
    """Snapshots of whole fields; the interval is rounded to whole time steps."""

    interval: Interval
    """Time between snapshots, rounded to whole steps."""
    fields: Annotated[tuple[str, ...], NotEmpty] = ("vx", "vy", "vz")
    """Fields to write."""

    def violations(self) -> Iterator[Violation]:
        """Yield unknown and repeated fields."""
        for n, name in enumerate(self.fields):
            if name not in FIELDS:
                yield ("fields", n), f"must be {listed(FIELDS)}{did_you_mean(name, FIELDS)}"
        yield from repeated("fields", self.fields)


class DgWaveOutput(SeismicOutput):
    """`[output]`: seismograms, the motion of the surface, snapshots, and the final fields.

    By default, a shaking map is written if no water reaches the surface.
    """

    recordable: ClassVar[Recordable] = Recordable(
        FIELDS,
        kinds=("points", "line", "plane"),
        files=(
            *("seismograms.h5", "pressure.h5", "shaking_map.nc", "surface.nc"),
            *("intensity.nc", "intensity_maps.nc", "map_lines.geojson"),
            *("volumes.vtkhdf", "fields.vtkhdf"),
            *("fault.nc", "fault_points.nc", "rupture.nc", "plastic_strain.nc"),
            "strain_green_tensor.h5",
        ),
        on_elements=True,
    )

    shaking_map: Flag | None = None
    """Whether to write peak ground velocity and acceleration at the surface; by default unless
    water reaches it."""
    volumes: VolumeOutput | None = None
    """Snapshots of whole fields, for ParaView."""
    final_fields: Flag = False
    """Whether to write all fields at the end."""
    fault_points: FaultPointsOutput | None = None
    """Time series at points on faults."""
    rupture: RuptureOutput | None = None
    """Slip of faults over time, also as a source in SRF."""
    strain_green_tensor: StrainGreenTensorOutput | None = None
    """Strain at points due to a force at a station, for `groundswell synthesize`."""


def _lossless(codec: str) -> str:
    """Validate a codec; the biased rounding of lossy ones adds energy."""
    if codec not in CODECS:
        reject([((), f"must be {listed(CODECS)}; to send fewer bits, set narrow")])
    return codec


class DgWaveRun(RunSection):
    """`[run]` of this solver, which divides the elements by cost along a space-filling curve."""

    unsupported: ClassVar[tuple[str, ...]] = ("processes", "lossy")

    codec: Annotated[str, AfterValidator(_lossless), Accepts(words(CODECS))] = "auto"
    """Lossless compression of messages: "none", "mpc", or "auto", the faster one between hosts."""


def _misplaced_fault(fault: FaultSection, grid: object) -> Iterator[Violation]:
    """Yield the violations of a fault that the grid cannot have."""
    on_mesh = isinstance(grid, MeshSection)
    if on_mesh and fault.plane:
        yield ("plane",), "is available only on a grid of bricks; give the surface of the mesh"
    elif not on_mesh and fault.surface:
        yield ("surface",), "is available only on a mesh from a file; give a plane"
    elif isinstance(grid, BricksSection):
        yield from misplaced_plane(fault, grid)


class DgWaveCase(SeismicCase):
    """A case of acoustic or elastic waves: `[grid]`, `[medium]`, `[[source]]` and outputs.

    >>> import groundswell as gs
    >>> case = gs.dgwave.DgWaveCase(
    ...     grid={"size": ["3 km", "3 km", "2 km"], "spacing": "500 m"},
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

    The elements are the cells of `[grid]`, or those of a mesh file.

    Raises:
        CaseError: the case is invalid; lists every problem.
    """

    instruments = get_args(Instrument)

    solver: Literal["dgwave"] = "dgwave"
    grid: AnyGrid  # type: ignore[assignment]
    """The region and its elements, or a mesh from a file."""
    medium: AnyMedium  # type: ignore[assignment]
    output: DgWaveOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: DgWaveRun = DgWaveRun()
    method: MethodSection = MethodSection()
    """Degree of the elements, flux and equations."""
    refinement: AnyRefinement | None = None
    """Halving of elements where waves are slow, or near faults."""
    boundary: BoundarySection = BoundarySection()
    """Conditions at the surface, the sides and the bottom, or at the surfaces of a mesh."""
    topography: TopographySection | None = None
    """Elevation of the surface."""
    source: tuple[PlacedSource, ...] = ()
    fault: tuple[FaultSection, ...] = ()
    """Faults that break by themselves. Repeat the table for more."""
    plasticity: DruckerPragerSection | None = None
    """Rock that yields in strong shaking."""

    def violations(self) -> Iterator[Violation]:
        """Nothing that excites waves, and what is asked of faults or of rock that are not there."""
        yield from super().violations()
        yield from missing_excitation(self.source, self.fault)
        if getattr(self.refinement, "faults", None) and not self.fault:
            yield ("refinement", "faults"), "there are no faults; add [[fault]], or remove it"
        if not self.plasticity:
            yield from strains_recorded(self.output)

    @field_validator("medium")
    @classmethod
    def _is_of_the_grid(cls, medium: object, info: ValidationInfo) -> object:
        if "grid" not in info.data:
            return medium
        if not isinstance(info.data["grid"], MeshSection):
            if isinstance(medium, VolumesSection):
                reject([(("kind",), '"volumes" is available only on a mesh from a file')])
        elif isinstance(medium, CellwiseSection):
            reject(
                [(("kind",), "needs the cells of a grid; use another kind on a mesh from a file")]
            )
        return medium

    @field_validator("boundary")
    @classmethod
    def _is_for_the_grid(cls, boundary: BoundarySection, info: ValidationInfo) -> BoundarySection:
        if "grid" not in info.data:
            return boundary
        given, on_mesh = boundary.model_fields_set, isinstance(info.data["grid"], MeshSection)
        wrong = given - {"surfaces"} if on_mesh else given & {"surfaces"}
        allowed = "mesh from a file" if not on_mesh else "grid of bricks; use boundary.surfaces"
        reject([((key,), f"is available only on a {allowed}") for key in sorted(wrong)])
        return boundary

    @field_validator("method")
    @classmethod
    def _has_nodal_medium(cls, method: MethodSection, info: ValidationInfo) -> MethodSection:
        medium = info.data.get("medium")
        if method.material == "node" and isinstance(medium, CellwiseSection):
            why = "the medium has one value for each element; give layers or a NetCDF model"
            reject([(("material",), f'must be "element": {why}')])
        return method

    @field_validator("refinement", "topography")
    @classmethod
    def _has_a_grid(cls, section: object, info: ValidationInfo) -> object:
        if section and isinstance(info.data.get("grid"), MeshSection):
            cure = {
                "refinement": "remove it, and refine the mesh",
                "topography": "remove it; surface and sea floor are those of the mesh",
            }[str(info.field_name)]
            reject([((), f"is available only on a grid of bricks; {cure}")])
        return section

    @field_validator("fault")
    @classmethod
    def _lies_in_the_grid(
        cls, fault: tuple[FaultSection, ...], info: ValidationInfo
    ) -> tuple[FaultSection, ...]:
        reject(repeated_names(fault))
        if grid := info.data.get("grid"):
            reject(
                ((n, *at), text)
                for n, each in enumerate(fault)
                for at, text in _misplaced_fault(each, grid)
            )
        return fault

    @field_validator("plasticity", mode="before")
    @classmethod
    def _is_no_soil(cls, section: object) -> object:
        if isinstance(section, dict) and section.get("model") == "iwan":
            reject([(("model",), 'soft soil needs solver = "earthquake"')])
        return section

    @field_validator("plasticity")
    @classmethod
    def _has_materials(
        cls, rock: DruckerPragerSection | None, info: ValidationInfo
    ) -> DruckerPragerSection | None:
        if rock and (medium := info.data.get("medium")):
            volumes = [*medium.volumes] if isinstance(medium, VolumesSection) else None
            reject(unknown_materials(rock, volumes))
        return rock

    @field_validator("refinement")
    @classmethod
    def _has_finer_medium(
        cls, refinement: RefinementSection | ForestSection | None, info: ValidationInfo
    ) -> RefinementSection | ForestSection | None:
        if refinement and isinstance(info.data.get("medium"), CellwiseSection):
            reject([((), "needs a medium that is defined everywhere: layers or a NetCDF model")])
        return refinement
