"""Solid blocks in a case: `[[solid]]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Annotated

from groundswell.case import units
from groundswell.case.common import Section
from groundswell.case.problems import Violation
from groundswell.case.units import InRange, Positive, Unit
from groundswell.solvers.cavity.walls import (
    AXES,
    SIDES,
    FluxWall,
    RobinWall,
    Wall,
    WallsSection,
)

Position = Annotated[units.Length, InRange]
Conductivity = Annotated[
    float, Unit("W/m/K", "a thermal conductivity", "0.026 W/m/K"), Positive, InRange
]
HeatCapacity = Annotated[
    float, Unit("J/m^3/K", "a heat capacity by volume", "2.4e6 J/m^3/K"), Positive, InRange
]
Power = Annotated[float, Unit("W", "a power", "0.5 W"), InRange]

ROUNDING = 1e-9  # of the box's size: ends that differ by less coincide
Ends = tuple[float, float]


class SolidSection(Section):
    """`[[solid]]`: a block that conducts heat, from `low` to `high`; nothing flows in it.

    `heat_capacity` is for flow in time. `power` is the heat that the whole block releases. Where
    dimensionless numbers define the fluid, `conductivity` and `heat_capacity` are relative to those
    of the fluid, and `power` is divided by the fluid's conductivity.
    """

    low: tuple[Position, Position, Position]
    """Lowest corner of the block."""
    high: tuple[Position, Position, Position]
    """Highest corner of the block."""
    conductivity: Conductivity
    """Thermal conductivity; relative to the fluid's where numbers define the fluid."""
    heat_capacity: HeatCapacity | None = None
    """Heat capacity by volume, for flow in time; relative to the fluid's where numbers define the
    fluid."""
    power: Power = 0.0
    """Heat that the whole block releases; divided by the fluid's conductivity where numbers define
    the fluid."""

    @property
    def volume(self) -> float:
        """Volume, m^3."""
        return prod(b - a for a, b in zip(self.low, self.high, strict=True))

    def ends(self, axis: int) -> Ends:
        """Its ends along an axis, m."""
        return self.low[axis], self.high[axis]

    def violations(self) -> Iterator[Violation]:
        """Corners out of order."""
        for n, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if not low < high:
                yield ("high", n), f"must be greater than low[{n}], {low:g} m"


def solid_violations(
    solids: Sequence[SolidSection], walls: WallsSection, size: tuple[float, float, float]
) -> Iterator[Violation]:
    """Blocks that leave a box of this size, m, overlap, or touch walls that they cannot touch."""
    for n, solid in enumerate(solids):
        for name in touched_sides(solid, size):
            if reason := _unfit(getattr(walls, name)):
                yield ("solid", n), f"touches walls.{name}, {reason}; leave a gap"
        for axis, name in enumerate(AXES):
            low, high, length = *solid.ends(axis), size[axis]
            if low < -ROUNDING * length:
                yield ("solid", n, "low", axis), f"must be 0 or more: the box starts at {name} = 0"
            if high > length * (1 + ROUNDING):
                text = f"must be at most {length:g}, where the box ends along {name}"
                yield ("solid", n, "high", axis), text
    for (m, one), (n, other) in combinations(enumerate(solids), 2):
        if all(_overlap(one.ends(a), other.ends(a), size[a]) for a in range(3)):
            yield ("solid", n), f"overlaps solid[{m}]; blocks may touch, but not overlap"


def _overlap(one: Ends, other: Ends, length: float) -> bool:
    return min(one[1], other[1]) - max(one[0], other[0]) > ROUNDING * length


def touched_sides(solid: SolidSection, size: tuple[float, float, float]) -> Iterator[str]:
    """Names of the sides of a box of this size, m, that a block touches."""
    for axis, (low, high) in enumerate(SIDES):
        close = ROUNDING * size[axis]
        if abs(solid.low[axis]) <= close:
            yield low
        if abs(solid.high[axis] - size[axis]) <= close:
            yield high


def _unfit(side: Section) -> str | None:
    """Why no block can touch a side; None if one can."""
    if isinstance(side, Wall) and any(side.velocity):
        return "which moves"
    if isinstance(side, FluxWall | RobinWall):
        return f'whose kind is "{side.kind}"'
    return None
