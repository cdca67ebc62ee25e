"""The six sides of a box: walls, planes of symmetry and periodic sides."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, BeforeValidator, PlainValidator

from groundswell.case import units
from groundswell.case.common import Section, TaggedUnion
from groundswell.case.expressions import Expression
from groundswell.case.problems import Violation, reject
from groundswell.case.units import LARGEST, SMALLEST, Accepts, InRange, Positive, Unit, is_quantity

Speed = Annotated[units.Speed, InRange]

AXES = ("x", "y", "z")
SIDES = (("west", "east"), ("south", "north"), ("bottom", "top"))  # low and high end, by axis
SPEED_OF_LIGHT = 299_792_458.0  # m/s

Profile = str | float  # a function of x, y and z, m, as text, or a number


SAMPLES = 33  # along each axis, to find extremes of functions


def extremes(
    profile: Profile, size: tuple[float, float, float], axis: int, high: bool
) -> tuple[float, float]:
    """The lowest and the highest of samples of a function on a side of a box of this size, m."""
    lines = [np.linspace(0.0, length, SAMPLES) for length in size]
    lines[axis] = np.array([size[axis] * high])
    values = Expression(profile)(*np.meshgrid(*lines))
    return float(values.min()), float(values.max())


def _or_formula(unit: Unit) -> Accepts:
    """Description of the values of `_profile`."""
    return Accepts(f"{unit.noun} or an expression of x, y and z", unit.unit)


def _profile(unit: Unit) -> PlainValidator:
    """A validator of quantities of this unit that may be functions of position."""

    def read(value: object) -> Profile:
        if not isinstance(value, str) or is_quantity(value):
            return unit.read(value)
        try:
            Expression(value)
        except ValueError as error:
            reject([((), str(error))])
        return value

    return PlainValidator(read)


def _in_range(value: Profile) -> Profile:
    if not isinstance(value, str) and value and not SMALLEST <= abs(value) <= LARGEST:
        reject([((), f"must have a magnitude from {SMALLEST:g} to {LARGEST:g}")])
    return value


_Bounded = AfterValidator(_in_range)
_TEMPERATURE = Unit("K", "a temperature", "300 K")
_FLUX = Unit("W/m^2", "a heat flux", "100 W/m^2")
Temperature = Annotated[Profile, _profile(_TEMPERATURE), _Bounded, _or_formula(_TEMPERATURE)]
HeatFlux = Annotated[Profile, _profile(_FLUX), _Bounded, _or_formula(_FLUX)]
HeatTransfer = Annotated[
    float, Unit("W/m^2/K", "a heat transfer coefficient", "10 W/m^2/K"), Positive, InRange
]


class Wall(Section):
    """A no-slip wall; `velocity` is the wall's own, m/s."""

    velocity: tuple[Speed, Speed, Speed] = (0.0, 0.0, 0.0)
    """Velocity of the wall along x, y and z; 0 along its normal."""


class FixedWall(Wall):
    """`kind = "fixed"`: a wall of fixed temperature, K, uniform or a function of position."""

    kind: Literal["fixed"]
    temperature: Temperature
    """Temperature of the wall."""


class AdiabaticWall(Wall):
    """`kind = "adiabatic"`: a wall without heat flux."""

    kind: Literal["adiabatic"]


class ConductingWall(Wall):
    """`kind = "conducting"`: a wall whose temperature varies linearly between the fixed walls."""

    kind: Literal["conducting"]


class FluxWall(Wall):
    """`kind = "flux"`: a wall through which heat enters the fluid, W/m^2; negative: leaves."""

    kind: Literal["flux"]
    flux: HeatFlux
    """Heat that enters the fluid through the wall; negative if it leaves."""


class RobinWall(Wall):
    """`kind = "robin"`: a wall that loses heat to its surroundings, h (T - ambient), W/m^2."""

    kind: Literal["robin"]
    h: HeatTransfer
    """Heat transfer coefficient."""
    ambient: Temperature
    """Temperature of the surroundings."""


class Open(Section):
    """`kind = "symmetry"` or `"periodic"`: a side without a wall."""

    kind: Literal["symmetry", "periodic"]


OPENINGS = ("inlet", "inflow", "outlet", "outflow", "open")


def _not_an_opening(value: object) -> object:
    if isinstance(value, dict) and value.get("kind") in OPENINGS:
        text = 'must be a wall, "symmetry" or "periodic": no fluid enters or leaves the box'
        reject([(("kind",), text)])
    return value


Side = Annotated[
    FixedWall | AdiabaticWall | ConductingWall | FluxWall | RobinWall | Open,
    TaggedUnion(),
    BeforeValidator(_not_an_opening),
]


def uniform_temperature(side: Section) -> float | None:
    """The temperature of a wall of fixed, uniform temperature, K; None for other sides."""
    value = side.temperature if isinstance(side, FixedWall) else None
    return None if isinstance(value, str) else value


def profiles(side: Section) -> dict[str, Profile]:
    """The quantities of a side that may be functions of position, by key."""
    keys = ("temperature", "flux", "ambient")
    return {key: getattr(side, key) for key in keys if hasattr(side, key)}


class HeatedWalls(NamedTuple):
    """Temperatures of two opposite walls at the low and the high end of an axis, K."""

    axis: int
    low: float
    high: float


class WallsSection(Section):
    """`[walls]`: the six sides; the default is the differentially heated cavity."""

    west: Side = FixedWall(kind="fixed", temperature=0.5)
    """Side at the low end of x."""
    east: Side = FixedWall(kind="fixed", temperature=-0.5)
    """Side at the high end of x."""
    south: Side = AdiabaticWall(kind="adiabatic")
    """Side at the low end of y."""
    north: Side = AdiabaticWall(kind="adiabatic")
    """Side at the high end of y."""
    bottom: Side = AdiabaticWall(kind="adiabatic")
    """Side at the low end of z."""
    top: Side = AdiabaticWall(kind="adiabatic")
    """Side at the high end of z."""

    def pair(self, axis: int) -> tuple[Side, Side]:
        """The sides at the low and the high end of an axis."""
        low, high = (getattr(self, name) for name in SIDES[axis])
        return low, high

    @property
    def heated_pairs(self) -> list[HeatedWalls]:
        """Pairs of opposite walls whose fixed, uniform temperatures differ."""
        pairs = []
        for axis in range(3):
            low, high = (uniform_temperature(side) for side in self.pair(axis))
            if low is not None and high is not None and low != high:
                pairs.append(HeatedWalls(axis, low, high))
        return pairs

    @property
    def exchanging(self) -> dict[str, FluxWall | RobinWall]:
        """The walls with a heat flux or a heat transfer coefficient, by name."""
        sides = {name: getattr(self, name) for names in SIDES for name in names}
        return {n: side for n, side in sides.items() if isinstance(side, FluxWall | RobinWall)}

    @property
    def conserves_heat(self) -> bool:
        """Whether the fluid conserves heat exactly: where walls do more than keep temperatures.

        Between walls of uniform temperatures, symmetry balances the heat.
        """
        sides = (side for axis in range(3) for side in self.pair(axis))
        return bool(self.exchanging) or any(
            isinstance(profile, str) for side in sides for profile in profiles(side).values()
        )

    @property
    def has_level(self) -> bool:
        """Whether a wall sets the level of temperature: fluxes alone leave it open."""
        sides = (side for axis in range(3) for side in self.pair(axis))
        return any(isinstance(side, FixedWall | RobinWall) for side in sides)

    def violations(self) -> Iterator[Violation]:
        """Unpaired periodic sides, invalid wall velocities, conducting walls without a gradient."""
        for axis, names in enumerate(SIDES):
            kinds = [side.kind for side in self.pair(axis)]
            if kinds.count("periodic") == 1:
                yield (
                    (names[kinds.index("periodic")],),
                    f"is periodic, so both {names[0]} and {names[1]} must be",
                )
            for name, side in zip(names, self.pair(axis), strict=True):
                if isinstance(side, Wall) and hypot(*side.velocity) > SPEED_OF_LIGHT:
                    yield (
                        (name, "velocity"),
                        f"must not exceed the speed of light, {SPEED_OF_LIGHT:.0f} m/s",
                    )
                if isinstance(side, Wall) and side.velocity[axis]:
                    yield (
                        (name, "velocity"),
                        f"must be 0 along {AXES[axis]}, normal to the wall: no fluid enters or "
                        "leaves the box",
                    )
                if isinstance(side, ConductingWall) and [
                    heat.axis for heat in self.heated_pairs
                ] in ([], [axis]):
                    yield (
                        (name, "kind"),
                        "needs two opposite walls of different fixed temperatures on another axis",
                    )
