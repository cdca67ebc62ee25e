"""The plane through the centre of the box in which the main motion takes place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot
from typing import NamedTuple

import numpy as np

from groundswell.solvers.cavity.case import AXES, Driven
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.solid_heat import format_solids
from groundswell.solvers.cavity.walls import Wall


class Direction(NamedTuple):
    """An axis (0, 1 or 2 for x, y or z) and a sign along it."""

    axis: int
    sign: int

    def __str__(self) -> str:
        return "-" * (self.sign < 0) + AXES[self.axis]


@dataclass(frozen=True)
class MiddlePlane:
    """The plane that profiles, peaks and pictures show, by two directions.

    The results in this plane do not depend on the orientation of a cavity.

    Args:
        across: horizontal in pictures; from the hot to the cold wall if they bound this axis.
        up: vertical in pictures; against gravity if the plane contains its axis.
    """

    across: Direction
    up: Direction

    @property
    def normal(self) -> Direction:
        """The direction across the plane."""
        return Direction(3 - self.across.axis - self.up.axis, 1)

    def other(self, axis: int) -> int:
        """The other axis of the plane."""
        return self.up.axis if axis == self.across.axis else self.across.axis


def middle_plane(grid: LevelGrid) -> MiddlePlane:
    """The plane that contains the axes of heating and of gravity, or a moving wall's motion.

    Axes along which nothing varies come last. If the two axes coincide, the second one is the other
    axis with more points or, if both have as many, the next one in cyclic order.
    """
    gravity, heat, lid = list(_up(grid)), list(_heating(grid)), list(_driving(grid))
    signs = {each.axis: each.sign for each in (*lid, *heat, *gravity)}
    known = dict.fromkeys(each.axis for each in (*heat, *gravity, *lid))
    last = next(reversed(known), 2)
    rest = sorted(((last + 1) % 3, (last + 2) % 3), key=lambda axis: -grid.grid.cells[axis])
    order = sorted(dict.fromkeys([*known, *rest, last]), key=lambda axis: not grid.varies(axis))
    pair = order[:2]
    up = gravity[0].axis if gravity and gravity[0].axis in pair else max(pair)
    across = pair[0] if pair[1] == up else pair[1]
    return MiddlePlane(*(Direction(axis, signs.get(axis, 1)) for axis in (across, up)))


def _up(grid: LevelGrid) -> Iterator[Direction]:
    """Against gravity, in a fluid with buoyancy."""
    for axis, lift in enumerate(grid.fluid.buoyancy):
        if lift:
            yield Direction(axis, 1 if lift > 0 else -1)


def _heating(grid: LevelGrid) -> Iterator[Direction]:
    """From the hot to the cold wall."""
    if grid.scales.heat is not None:
        yield Direction(
            grid.scales.heat.axis, 1 if grid.scales.heat.low > grid.scales.heat.high else -1
        )


def _driving(grid: LevelGrid) -> Iterator[Direction]:
    """Along the motion of the fastest wall, and towards this wall."""
    sides = [
        (side.velocity, Direction(axis, sign))
        for axis in range(3)
        for side, sign in zip(grid.case.walls.pair(axis), (-1, 1), strict=True)
        if isinstance(side, Wall) and any(side.velocity)
    ]
    if sides:
        velocity, towards = max(sides, key=lambda side: hypot(*side[0]))
        axis = int(np.argmax(np.abs(velocity)))
        yield from (Direction(axis, 1 if velocity[axis] > 0 else -1), towards)


def plane_attributes(grid: LevelGrid) -> dict[str, str]:
    """The title, the kind of fluid, the axes of the middle plane, and down, for files."""
    case, plane = grid.case, middle_plane(grid)
    axes = f"{AXES[plane.across.axis]} {AXES[plane.up.axis]}"
    down = {} if isinstance(case.fluid, Driven) else {"down": case.fluid.down}
    of_case = {"title": case.title, "fluid": case.fluid.kind}
    return {**of_case, "middle_plane": axes, **down, **format_solids(grid)}
