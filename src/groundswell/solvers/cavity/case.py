"""The case file of the cavity solver: `CavityCase` and its sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import ceil, hypot, inf, isfinite
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, SerializeAsAny, WrapValidator, model_validator

from groundswell.case import units
from groundswell.case.common import Case, DataFile, OutputSection, RunSection, Section, TaggedUnion
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable
from groundswell.case.units import Count, Flag, InRange, Positive, Unit
from groundswell.solvers.cavity.dimensionless import units_of_numbers
from groundswell.solvers.cavity.grid_section import GridSection, stretching_violations
from groundswell.solvers.cavity.solids import Conductivity, SolidSection, solid_violations
from groundswell.solvers.cavity.walls import AXES as AXES
from groundswell.solvers.cavity.walls import SIDES, Wall, WallsSection, extremes, profiles

Diffusivity = Annotated[float, Unit("m^2/s", "a diffusivity", "1.5e-5 m^2/s"), Positive, InRange]
Expansion = Annotated[float, Unit("1/K", "a thermal expansion", "3.4e-3 1/K"), Positive, InRange]
Acceleration = Annotated[float, Unit("m/s^2", "an acceleration", "9.81 m/s^2"), Positive, InRange]
Length = Annotated[units.Length, Positive, InRange]
Number = Annotated[units.Number, Positive, InRange]

FIELDS = ("p", "u", "v", "w", "T")
MAX_STEPS, ROUNDING = 10_000_000, 1e-9  # in time; relative rounding of their number
MIN_POINTS = 5  # along an axis with walls: the span of a one-sided fourth difference


# --- fluid ----------------------------------------------------------------------------------------


class Downward(Section):
    """The direction of gravity, for fluids with buoyancy."""

    down: Literal["-x", "x", "-y", "y", "-z", "z"] = "-z"
    """Direction of gravity."""


class Convection(Downward):
    """`kind = "rayleigh"`: a fluid defined by its Rayleigh and Prandtl numbers.

    They refer to the distance and the temperature difference of the two walls of fixed temperature.
    The free-fall speed is 1.
    """

    kind: Literal["rayleigh"]
    rayleigh: Number
    """Rayleigh number, of the distance and the difference of the two walls of fixed temperature."""
    prandtl: Number = 0.71
    """Prandtl number."""


class Substance(Downward):
    """`kind = "properties"`: a fluid defined by its physical properties, in SI units.

    `conductivity` (of heat) is for solids, and for walls with a heat flux or a heat transfer
    coefficient.
    """

    kind: Literal["properties"]
    viscosity: Diffusivity
    """Kinematic viscosity nu."""
    diffusivity: Diffusivity
    """Thermal diffusivity."""
    expansion: Expansion
    """Coefficient of thermal expansion."""
    conductivity: Conductivity | None = None
    """Thermal conductivity, for solids and walls that exchange heat."""
    gravity: Acceleration = 9.81
    """Acceleration of gravity."""


class Driven(Section):
    """`kind = "reynolds"`: a fluid without buoyancy, defined by its Reynolds number.

    It refers to the speed of the fastest wall and the longest side of the box.
    """

    kind: Literal["reynolds"]
    reynolds: Number
    """Reynolds number, of the speed of the fastest wall and the longest side of the box."""


Fluid = Annotated[Convection | Substance | Driven, TaggedUnion()]


# --- time, output ---------------------------------------------------------------------------


class TimeSection(Section):
    """`[time]`: the iteration to the steady state, or the flow's development in time.

    Without `duration`, the run ends when all residuals, in units of the flow's reference speed and
    length, are at most `tolerance`, or after `steps` steps. With `step`, these are implicit steps
    of this length, by default where the flow is nearly unstable. With `duration`, the flow develops
    in time, in equal steps of length `step`; the iteration finds the flow at the end of each. The
    solver checks the residuals every `check_every` steps. `courant` scales the longest stable step.
    With `local`, each point takes its own longest stable step. The flow starts on the coarsest of
    `levels` grids, each with half as many points along an axis as the next finer one; a step is
    then a cycle through all grids in use. By default the solver uses all grids that resolve the
    flow, or one with global steps or Euler's scheme.
    """

    duration: Annotated[units.Time, Positive, InRange] | None = None
    """Duration of flow in time; without it, the flow is steady."""
    step: Annotated[units.Time, Positive, InRange] | None = None
    """Length of the implicit steps, required for flow in time. In steady flow between a hot
    and a cold wall above Ra = 1.5e7, 0.5 L/U by default."""
    scheme: Literal["euler", "rk3", "rk4"] = "rk3"
    """Runge-Kutta scheme of the iteration; "euler" excludes coarser grids and implicit steps."""
    local: Flag = True
    """Whether each point takes its own longest stable step."""
    courant: Number | None = None
    """Factor of the estimated stability limit; 0.5, 1.0 and 1.2 by default for the three schemes.
    """
    levels: Count | None = None
    """Largest number of grids of the multigrid, each with half as many points along an axis as the
    next finer one; by default all that resolve the flow."""
    steps: Count | None = None
    """Largest number of steps or cycles; 1,000,000 by default, 10,000 with several grids, 100 for
    each step in time."""
    tolerance: Annotated[units.Number, Positive] | None = None
    """Residual at which the iteration ends; 1e-8 by default, 1e-5 in single precision and in time.
    """
    check_every: Count | None = None
    """Steps between checks of the residuals; 100 by default, 1 with several grids."""
    dissipation: Number = 0.01
    """Factor of the fourth-order dissipation of pressure."""
    compressibility: Number = 1.0
    """Factor of the artificial compressibility."""

    @property
    def multigrid(self) -> bool:
        """Whether the scheme is a smoother for multigrid."""
        return self.local and self.scheme != "euler"

    @property
    def is_unsteady(self) -> bool:
        """Whether the flow develops in time."""
        return self.duration is not None

    @property
    def dt(self) -> float:
        """The implicit step, s; infinite if the case gives none."""
        return self.step or inf

    @property
    def steps_in_time(self) -> int:
        """The number of these steps, rounded up; 0 for steady flow."""
        return ceil((self.duration or 0.0) / self.dt * (1 - ROUNDING))

    def violations(self) -> Iterator[Violation]:
        """A duration without a step, and schemes that are not smoothers where one is needed."""
        if self.duration is not None and self.step is None:
            yield ("step",), "is required with a duration"
        elif self.duration is not None and self.step is not None and self.step > self.duration:
            yield ("step",), f"must be at most the duration, {self.duration:g} s"
        elif self.steps_in_time > MAX_STEPS:
            yield ("step",), f"must be at least duration / {MAX_STEPS:,}"
        if self.is_unsteady and self.check_every is not None:
            yield ("check_every",), "is for steady flow; leave it out where there is a duration"
        if self.step is not None and not self.multigrid:
            key = "duration" if self.is_unsteady else "step"
            yield (key,), 'needs local = true and scheme = "rk3" or "rk4"'
        if (self.levels or 1) > 1 and not self.multigrid:
            yield ("levels",), 'must be 1 unless local is true and scheme is "rk3" or "rk4"'


def _as_flow(value: Any, handler: Any) -> Any:
    """Validate a flow: a file, or from Python arrays by name: x, y, z; fields (nz, ny, nx)."""
    import numpy as np

    if not isinstance(value, Mapping):
        return handler(value)
    arrays = {name: np.asarray(value[name]) for name in (*AXES, *FIELDS) if name in value}
    if missing := [name for name in (*AXES, *FIELDS) if name not in arrays]:
        reject([((), f"lacks {', '.join(missing)}")])
    if hasattr(value, "transpose"):  # an xarray.Dataset may have its axes in any order
        arrays |= {name: value[name].transpose("z", "y", "x").values for name in FIELDS}
    shape = tuple(arrays[axis].size for axis in AXES[::-1])
    for name, array in arrays.items():
        expected = shape if name in FIELDS else (array.size,)
        if array.shape != expected or array.dtype.kind not in "fiu":
            reject(
                [
                    (
                        (name,),
                        f"must be an array {expected} of numbers, not {array.dtype} {array.shape}",
                    )
                ]
            )
    return arrays


class StartSection(Section):
    """`[start]`: the initial flow, the `flow.nc` of another run in the same box; default: rest."""

    flow: Annotated[SerializeAsAny[DataFile], WrapValidator(_as_flow)]
    """Initial flow: the flow.nc of another run in the same box, on any grid."""


class CavityRun(RunSection):
    """`[run]`; the default precision is double."""

    precision: Literal["single", "double"] = "double"


class CavityOutput(OutputSection):
    """`[output]`: a run always writes profiles and heat fluxes, whole fields only with `fields`.

    `film` is for flow in time: a film of the middle plane.
    """

    recordable: ClassVar[Recordable] = Recordable(FIELDS, files=("flow.nc", "film.nc"))

    fields: Flag = True
    """Whether to write all fields to flow.nc."""
    film: Flag = False
    """Whether to make a film of the middle plane, for flow in time."""


def _point_violations(points: tuple[int, int, int], walls: WallsSection) -> Iterator[Violation]:
    for axis in range(3):
        has_no_walls = all(side.kind in ("symmetry", "periodic") for side in walls.pair(axis))
        if points[axis] < MIN_POINTS and not (has_no_walls and points[axis] == 1):
            flat = "1 where both sides are symmetry or periodic"
            yield ("grid", "points"), f"must be at least {MIN_POINTS} along {AXES[axis]}, or {flat}"


class CavityCase(Case):
    """Flow in a box: `[fluid]`, `[walls]`, `[grid]`, `[time]`, `[start]` and `[output]`.

    >>> import groundswell as gs
    >>> case = gs.cavity.CavityCase(
    ...     grid={"points": [31, 31, 31]}, fluid={"kind": "rayleigh", "rayleigh": 1e5}
    ... )
    >>> case.walls.west.kind, case.time.is_unsteady
    ('fixed', False)

    Raises:
        CaseError: the case is invalid.
    """

    solver: Literal["cavity"] = "cavity"
    time: TimeSection = TimeSection()
    """The iteration to the steady state, or flow in time."""
    output: CavityOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: CavityRun = CavityRun()
    fluid: Fluid
    """The fluid, by dimensionless numbers or by its properties."""
    walls: WallsSection = WallsSection()
    """Conditions at the six sides of the box."""
    grid: GridSection
    """The box and its points."""
    solid: tuple[SolidSection, ...] = ()
    """Blocks that conduct heat. Repeat the table for more."""
    start: StartSection | None = None
    """Initial flow; at rest by default."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_units(cls, content: Any) -> Any:
        reject(units_of_numbers(content))
        return content

    def violations(self) -> Iterator[Violation]:
        """Grids with too few points, and fluids whose dimensionless numbers are undefined."""
        yield from _point_violations(self.grid.points, self.walls)
        yield from stretching_violations(self.grid, self.walls)
        if not self.time.is_unsteady:
            if self.output.film:
                yield ("output", "film"), "is for flow in time, with time.duration; leave it out"
            untimed = replace(self.output.recordable, timed=False)
            for location, text in untimed.violations(self.output.record):
                yield ("output", *location), text
        yield from self._heat_violations()
        yield from self._solid_violations()
        if isinstance(self.fluid, Convection) and len(self.walls.heated_pairs) != 1:
            yield (
                ("fluid", "kind"),
                "needs one axis with two walls of different uniform fixed temperatures",
            )
        if isinstance(self.fluid, Driven) and not self.fastest_wall:
            yield ("fluid", "kind"), "needs a wall with a velocity"

    def _heat_violations(self) -> Iterator[Violation]:
        exchanging = self.walls.exchanging
        for axis, names in enumerate(SIDES):
            for high, (name, side) in enumerate(zip(names, self.walls.pair(axis), strict=True)):
                for key, profile in profiles(side).items():
                    if not isfinite(sum(extremes(profile, self.grid.size, axis, bool(high)))):
                        yield ("walls", name, key), "is not finite everywhere on the wall"
        if isinstance(self.fluid, Substance) and exchanging and self.fluid.conductivity is None:
            yield ("fluid", "conductivity"), f"is required for walls.{next(iter(exchanging))}"
        if exchanging and not self.walls.has_level and not self.time.is_unsteady:
            yield (
                ("walls", next(iter(exchanging)), "kind"),
                'cannot be "flux" unless another wall is "fixed" or "robin": the temperature of '
                "steady flow would be undefined",
            )

    def _solid_violations(self) -> Iterator[Violation]:
        yield from solid_violations(self.solid, self.walls, self.grid.size)
        if self.solid and isinstance(self.fluid, Substance) and self.fluid.conductivity is None:
            yield ("fluid", "conductivity"), "is required for solid[0]"
        for n, solid in enumerate(self.solid):
            if self.time.is_unsteady and solid.heat_capacity is None:
                yield ("solid", n, "heat_capacity"), "is required for flow in time"
            if solid.power and not self.walls.has_level and not self.time.is_unsteady:
                yield (
                    ("solid", n, "power"),
                    'needs a wall that is "fixed" or "robin": the temperature of steady flow would '
                    "be undefined",
                )

    @property
    def conserves_heat(self) -> bool:
        """Whether the fluid conserves heat exactly; see `WallsSection.conserves_heat`."""
        return bool(self.solid) or self.walls.conserves_heat

    @property
    def conductivity(self) -> float:
        """Thermal conductivity, W/m/K; 1 in dimensionless cases."""
        return (isinstance(self.fluid, Substance) and self.fluid.conductivity) or 1.0

    @property
    def fastest_wall(self) -> float:
        """Speed of the fastest wall, m/s; 0 without a moving wall."""
        sides = [side for axis in range(3) for side in self.walls.pair(axis)]
        return max((hypot(*side.velocity) for side in sides if isinstance(side, Wall)), default=0.0)
