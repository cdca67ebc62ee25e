"""The case file of the cavity solver: `CavityCase`, made of the sections of this file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import hypot
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, SerializeAsAny, WrapValidator

from groundswell.case.common import Case, DataFile, OutputSection, RunSection, Section, TaggedUnion
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import Recordable
from groundswell.case.units import Count, Flag, Length, Number, Positive, Speed, Unit

Diffusivity = Annotated[float, Unit("m^2/s", "a diffusivity", "1.5e-5 m^2/s"), Positive]
Expansion = Annotated[float, Unit("1/K", "a thermal expansion", "3.4e-3 1/K"), Positive]
Acceleration = Annotated[float, Unit("m/s^2", "an acceleration", "9.81 m/s^2"), Positive]
Temperature = Annotated[float, Unit("K", "a temperature", "300 K")]

AXES = ("x", "y", "z")
FIELDS = ("p", "u", "v", "w", "T")
SIDES = (("west", "east"), ("south", "north"), ("bottom", "top"))  # low and high, by axis
SPEED_OF_LIGHT = 299_792_458.0  # m/s
MIN_POINTS = 5  # along an axis that has walls: what a shifted fourth difference spans


# --- what flows -----------------------------------------------------------------------------------


class Downward(Section):
    """What fluids that feel gravity share: where down is."""

    down: Literal["-x", "x", "-y", "y", "-z", "z"] = "-z"


class Convection(Downward):
    """`kind = "rayleigh"`: a fluid by its Rayleigh and Prandtl numbers; free-fall speed is 1.

    They refer to the distance and the temperature difference of the two walls of fixed temperature.
    """

    kind: Literal["rayleigh"]
    rayleigh: Annotated[Number, Positive]
    prandtl: Annotated[Number, Positive] = 0.71


class Substance(Downward):
    """`kind = "properties"`: a fluid by its properties, in SI."""

    kind: Literal["properties"]
    viscosity: Diffusivity
    diffusivity: Diffusivity
    expansion: Expansion
    gravity: Acceleration = 9.81


class Driven(Section):
    """`kind = "reynolds"`: a fluid without buoyancy, by the Reynolds number of its fastest wall.

    It refers to the box's longest side.
    """

    kind: Literal["reynolds"]
    reynolds: Annotated[Number, Positive]


Fluid = Annotated[Convection | Substance | Driven, TaggedUnion()]


# --- what bounds it -------------------------------------------------------------------------------


class Wall(Section):
    """A wall without slip; `velocity` is its own."""

    velocity: tuple[Speed, Speed, Speed] = (0.0, 0.0, 0.0)


class FixedWall(Wall):
    """`kind = "fixed"`: a wall of one temperature."""

    kind: Literal["fixed"]
    temperature: Temperature


class AdiabaticWall(Wall):
    """`kind = "adiabatic"`: a wall that lets no heat through."""

    kind: Literal["adiabatic"]


class ConductingWall(Wall):
    """`kind = "conducting"`: its temperature runs straight from one fixed wall to the other."""

    kind: Literal["conducting"]


class Open(Section):
    """`kind = "symmetry"` or `"periodic"`: no wall."""

    kind: Literal["symmetry", "periodic"]


Side = Annotated[FixedWall | AdiabaticWall | ConductingWall | Open, TaggedUnion()]


class Heat(NamedTuple):
    """Two opposite walls and their temperatures, at the low and the high end of their axis."""

    axis: int
    low: float
    high: float


class WallsSection(Section):
    """`[walls]`: the six sides; by default the differentially heated cavity."""

    west: Side = FixedWall(kind="fixed", temperature=0.5)
    east: Side = FixedWall(kind="fixed", temperature=-0.5)
    south: Side = AdiabaticWall(kind="adiabatic")
    north: Side = AdiabaticWall(kind="adiabatic")
    bottom: Side = AdiabaticWall(kind="adiabatic")
    top: Side = AdiabaticWall(kind="adiabatic")

    def pair(self, axis: int) -> tuple[Side, Side]:
        """The sides at the low and the high end of an axis."""
        low, high = (getattr(self, name) for name in SIDES[axis])
        return low, high

    @property
    def heated(self) -> list[Heat]:
        """Pairs of opposite walls whose fixed temperatures differ."""
        found = []
        for axis in range(3):
            low, high = self.pair(axis)
            if isinstance(low, FixedWall) and isinstance(high, FixedWall):
                found.append(Heat(axis, low.temperature, high.temperature))
        return [heat for heat in found if heat.low != heat.high]

    def violations(self) -> Iterator[Violation]:
        """Half a period, walls that move through themselves, a straight line to nowhere."""
        for axis, names in enumerate(SIDES):
            kinds = [side.kind for side in self.pair(axis)]
            if kinds.count("periodic") == 1:
                yield (names[kinds.index("periodic")],), f"is periodic, so {names} must both be"
            for name, side in zip(names, self.pair(axis), strict=True):
                if isinstance(side, Wall) and hypot(*side.velocity) > SPEED_OF_LIGHT:
                    yield (name, "velocity"), f"must be slower than light, {SPEED_OF_LIGHT:.0f} m/s"
                if isinstance(side, Wall) and side.velocity[axis]:
                    yield (name, "velocity"), f"must be 0 along {AXES[axis]}: it is a wall"
                if isinstance(side, ConductingWall) and [heat.axis for heat in self.heated] in (
                    [],
                    [axis],
                ):
                    yield (name, "kind"), "needs two walls of fixed temperatures on another axis"


# --- grid, time, output ---------------------------------------------------------------------------


class GridSection(Section):
    """`[grid]`: the box, and points along each axis, walls not counted."""

    size: tuple[
        Annotated[Length, Positive], Annotated[Length, Positive], Annotated[Length, Positive]
    ] = (1.0, 1.0, 1.0)
    points: tuple[Count, Count, Count]


class TimeSection(Section):
    """`[time]`: how the flow goes on until it stands still.

    `courant` scales the longest stable step. `steps` is the most that are made; the run ends when
    all residuals, in units of the flow's own speed and size, have fallen to `tolerance`; that is
    looked at every `look` steps. With `local` each point makes the longest steps that it stands.
    The flow begins on the coarsest of `levels` grids, each of half as many points along an axis as
    the one before; then steps are cycles through all of them. By default there are as many as
    resolve the flow, and one where steps are global or of Euler's scheme.
    """

    scheme: Literal["euler", "rk3", "rk4"] = "rk3"
    local: Flag = True
    courant: Annotated[Number, Positive] | None = None
    levels: Count | None = None
    steps: Count | None = None
    tolerance: Annotated[Number, Positive] | None = None
    look: Count | None = None
    dissipation: Annotated[Number, Positive] = 0.01
    compressibility: Annotated[Number, Positive] = 0.1

    @property
    def multigrid(self) -> bool:
        """Whether these steps smooth the errors that coarser grids cannot see."""
        return self.local and self.scheme != "euler"

    def violations(self) -> Iterator[Violation]:
        """Coarser grids for steps that they do not speed up."""
        if (self.levels or 1) > 1 and not self.multigrid:
            yield ("levels",), 'must be 1 unless local is true and scheme is "rk3" or "rk4"'


def _as_flow(value: Any, handler: Any) -> Any:
    """The file of a flow; from Python also its arrays by name: x, y, z; fields (nz, ny, nx)."""
    import numpy as np

    if not isinstance(value, Mapping):
        return handler(value)
    found = {name: np.asarray(value[name]) for name in (*AXES, *FIELDS) if name in value}
    if missing := [name for name in (*AXES, *FIELDS) if name not in found]:
        reject([((), f"lacks {', '.join(missing)}")])
    if hasattr(value, "transpose"):  # an xarray.Dataset, whose axes may have any order
        found |= {name: value[name].transpose("z", "y", "x").values for name in FIELDS}
    shape = tuple(found[axis].size for axis in AXES[::-1])
    for name, array in found.items():
        wanted = shape if name in FIELDS else (array.size,)
        if array.shape != wanted or array.dtype.kind not in "fiu":
            reject([((name,), f"must be an array {wanted} of numbers; found {array.shape}")])
    return found


class StartSection(Section):
    """`[start]`: the `flow.nc` of another run in the same box, to begin with instead of rest."""

    flow: Annotated[SerializeAsAny[DataFile], WrapValidator(_as_flow)]


class CavityRun(RunSection):
    """`[run]`, in double precision unless it says otherwise."""

    precision: Literal["single", "double"] = "double"


class CavityOutput(OutputSection):
    """`[output]`: profiles and heat fluxes are always written, whole fields if wanted."""

    recordable: ClassVar[Recordable] = Recordable(FIELDS, timed=False, files=("flow.nc",))

    fields: Flag = True


def _bounded(points: tuple[int, int, int], walls: WallsSection) -> Iterator[Violation]:
    for axis in range(3):
        mirrors = all(side.kind in ("symmetry", "periodic") for side in walls.pair(axis))
        if points[axis] < MIN_POINTS and not (mirrors and points[axis] == 1):
            alone = ", or 1 between two sides that are symmetry or periodic"
            yield ("grid", "points"), f"must be at least {MIN_POINTS} along {AXES[axis]}{alone}"


class CavityCase(Case):
    """Flow in a box: `[fluid]`, `[walls]`, `[grid]`, and how it is brought to rest.

    Raises `CaseError`.
    """

    solver: Literal["cavity"] = "cavity"
    time: TimeSection = TimeSection()
    output: CavityOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: CavityRun = CavityRun()
    fluid: Fluid
    walls: WallsSection = WallsSection()
    grid: GridSection
    start: StartSection | None = None

    def violations(self) -> Iterator[Violation]:
        """Points too few, and fluids that nothing moves or that no number describes."""
        yield from _bounded(self.grid.points, self.walls)
        if isinstance(self.fluid, Convection) and len(self.walls.heated) != 1:
            yield ("fluid", "kind"), "needs one axis with two walls of different fixed temperature"
        if isinstance(self.fluid, Driven) and not self.fastest_wall:
            yield ("fluid", "kind"), "needs a wall with a velocity"

    @property
    def fastest_wall(self) -> float:
        """Speed of the fastest wall."""
        sides = [side for axis in range(3) for side in self.walls.pair(axis)]
        return max((hypot(*side.velocity) for side in sides if isinstance(side, Wall)), default=0.0)
