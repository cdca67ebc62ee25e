"""Schema of the case file of the DG wave solver: `DgWaveCase`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, PlainValidator, ValidationInfo, field_validator

from groundswell.case.common import NotEmpty, RunSection, Section, repeated, unsupported
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable
from groundswell.case.units import Flag, Frequency, Number, Positive
from groundswell.errors import did_you_mean, listed
from groundswell.seismology.case.base import SeismicCase
from groundswell.seismology.case.boundaries import Width
from groundswell.seismology.case.media import ArraySection, AwpSection
from groundswell.seismology.case.outputs import Interval, SeismicOutput
from groundswell.seismology.case.sources import Instrument

MAX_DEGREE = 15
FLUXES = {"riemann": 1.0, "central": 0.0}
FIELDS = ("p", "vx", "vy", "vz", "sxx", "syy", "szz", "syz", "sxz", "sxy")


def _upwind(value: Any) -> float:
    """The share of the Riemann flux, from its name or a number."""
    if isinstance(value, str) and value in FLUXES:
        return FLUXES[value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        reject([((), 'must be "riemann", "central", or a number from 0 (central) to 1 (Riemann)')])
    return float(value)


class MethodSection(Section):
    """`[method]`: degree of the elements, flux between them, and equations.

    The equations are acoustic, with pressure and velocity, if the whole medium is fluid; otherwise
    they are elastic. `flux` is the share of the Riemann flux; the rest is the central flux.
    """

    degree: Annotated[int, Field(ge=1, le=MAX_DEGREE, strict=True)] = 4
    flux: Annotated[float, PlainValidator(_upwind)] = 1.0
    equations: Literal["auto", "acoustic", "elastic"] = "auto"


class RefinementSection(Section):
    """`[refinement]`: halve elements where waves are slow, so that points per wavelength are even.

    Elements of `[grid]` are divided, at most `levels` times, until the slowest wave of `frequency`
    spans `points` points. Neighbours differ by one division at most.
    """

    frequency: Annotated[Frequency, Positive]
    levels: Annotated[int, Field(ge=1, le=6, strict=True)] = 2
    points: Annotated[Number, Field(ge=2, le=50)] = 5.0


Boundary = Literal["damping", "absorbing", "free-surface", "rigid"]


class BoundarySection(Section):
    """`[boundary]`: conditions at the top, the sides and the bottom of the region.

    "damping" adds layers of elements outside the region, `width` elements or metres wide, in which
    waves decay; "absorbing" absorbs waves at normal incidence only.
    """

    top: Boundary = "free-surface"
    sides: Literal[Boundary, "periodic"] = "damping"
    bottom: Boundary = "damping"
    width: Width = 6


class VolumeOutput(Section):
    """Snapshots of whole fields; the interval is rounded to whole time steps."""

    interval: Interval
    fields: Annotated[tuple[str, ...], NotEmpty] = ("vx", "vy", "vz")

    def violations(self) -> Iterator[Violation]:
        """Unknown fields, and a field named twice."""
        for n, name in enumerate(self.fields):
            if name not in FIELDS:
                yield ("fields", n), f"must be {listed(FIELDS)}{did_you_mean(name, FIELDS)}"
        yield from repeated("fields", self.fields)


class DgWaveOutput(SeismicOutput):
    """`[output]`: seismograms, the motion of the surface, and the fields at the end of the run.

    By default, there is a shaking map if no water reaches the surface.
    """

    recordable: ClassVar[Recordable] = Recordable(
        FIELDS,
        kinds=("points", "line", "plane"),
        files=(
            *("seismograms.h5", "pressure.h5", "shaking_map.nc", "surface.nc"),
            *("volumes.vtkhdf", "fields.vtkhdf"),
        ),
    )

    shaking_map: Flag | None = None
    volumes: VolumeOutput | None = None
    final_fields: Flag = False


class DgWaveRun(RunSection):
    """`[run]` of this solver, whose ranks take equal shares of the elements along a curve."""

    def violations(self) -> Iterator[Violation]:
        """Options of solvers on Cartesian grids."""
        yield from super().violations()
        yield from unsupported(self, "processes", "overlap", "narrow", "codec", "lossy")


class DgWaveCase(SeismicCase):
    """The case of acoustic or elastic waves: `[grid]`, `[medium]`, `[[source]]` and its outputs.

    The cells of `[grid]` are the elements.

    Raises:
        CaseError: the case is invalid; lists every problem.
    """

    instruments = get_args(Instrument)

    solver: Literal["dgwave"] = "dgwave"
    output: DgWaveOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: DgWaveRun = DgWaveRun()
    method: MethodSection = MethodSection()
    refinement: RefinementSection | None = None
    boundary: BoundarySection = BoundarySection()

    @field_validator("refinement")
    @classmethod
    def _has_finer_medium(
        cls, refinement: RefinementSection | None, info: ValidationInfo
    ) -> RefinementSection | None:
        if refinement and isinstance(info.data.get("medium"), AwpSection | ArraySection):
            reject([((), "needs a medium that is not given for the elements of [grid] alone")])
        return refinement
