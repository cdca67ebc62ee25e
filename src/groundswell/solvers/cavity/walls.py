"""The six sides of a box: walls, planes of symmetry and periodic sides."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import Annotated, Literal, NamedTuple

from groundswell.case import units
from groundswell.case.common import Section, TaggedUnion
from groundswell.case.problems import Violation
from groundswell.case.units import InRange, Unit

Temperature = Annotated[float, Unit("K", "a temperature", "300 K"), InRange]
Speed = Annotated[units.Speed, InRange]

AXES = ("x", "y", "z")
SIDES = (("west", "east"), ("south", "north"), ("bottom", "top"))  # low and high end, by axis
SPEED_OF_LIGHT = 299_792_458.0  # m/s


class Wall(Section):
    """A no-slip wall; `velocity` is the wall's own, m/s."""

    velocity: tuple[Speed, Speed, Speed] = (0.0, 0.0, 0.0)


class FixedWall(Wall):
    """`kind = "fixed"`: a wall of fixed, uniform temperature, K."""

    kind: Literal["fixed"]
    temperature: Temperature


class AdiabaticWall(Wall):
    """`kind = "adiabatic"`: a wall without heat flux."""

    kind: Literal["adiabatic"]


class ConductingWall(Wall):
    """`kind = "conducting"`: a wall whose temperature varies linearly between the fixed walls."""

    kind: Literal["conducting"]


class Open(Section):
    """`kind = "symmetry"` or `"periodic"`: a side without a wall."""

    kind: Literal["symmetry", "periodic"]


Side = Annotated[FixedWall | AdiabaticWall | ConductingWall | Open, TaggedUnion()]


class HeatedWalls(NamedTuple):
    """Temperatures of two opposite walls at the low and the high end of an axis, K."""

    axis: int
    low: float
    high: float


class WallsSection(Section):
    """`[walls]`: the six sides; the default is the differentially heated cavity."""

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
    def heated_pairs(self) -> list[HeatedWalls]:
        """Pairs of opposite walls whose fixed temperatures differ."""
        pairs = []
        for axis in range(3):
            low, high = self.pair(axis)
            if isinstance(low, FixedWall) and isinstance(high, FixedWall):
                pairs.append(HeatedWalls(axis, low.temperature, high.temperature))
        return [pair for pair in pairs if pair.low != pair.high]

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
                    yield (name, "velocity"), f"must be 0 along {AXES[axis]}, normal to the wall"
                if isinstance(side, ConductingWall) and [
                    heat.axis for heat in self.heated_pairs
                ] in ([], [axis]):
                    yield (
                        (name, "kind"),
                        "needs two opposite walls of different fixed temperatures on another axis",
                    )
