"""Temperature on walls: of each kind of wall, from the two points of the fluid next to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.expressions import Expression
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.walls import (
    AdiabaticWall,
    ConductingWall,
    FixedWall,
    FluxWall,
    Profile,
    RobinWall,
    Wall,
)


@dataclass(frozen=True)
class WallTemperature:
    """The temperature of a wall, value + share Ta, with Ta = (4 T1 - T2) / 3 between even points.

    T1 and T2 are those of the first and the second point, and Ta that of an adiabatic wall. With
    the one-sided gradient of second order, (4 T1 - T2 - 3 T) / (2 h), this meets every linear
    condition between temperature and heat flux. If the second point is r times as far from the wall
    as the first, Ta is (r^2 T1 - T2) / (r^2 - 1).

    Args:
        share: 0 where the wall's temperature is given, 1 where the flux is.
        value: a number or a function of position, K.
        factor: of this value.
    """

    share: float
    value: Profile
    factor: float = 1.0

    @property
    def is_uniform(self) -> bool:
        """Whether the value is a number."""
        return not isinstance(self.value, str)

    def offset(self, neutral: float) -> float:
        """What is added to the value where temperatures are those less the neutral one, K."""
        return -neutral * (1 - self.share)

    def at(self, x: Floats, y: Floats, z: Floats) -> Floats:
        """The first term, K, at positions of one shape, m."""
        return self.factor * Expression(self.value)(x, y, z)


def wall_temperature(grid: LevelGrid, axis: int, wall: Wall, high: int) -> WallTemperature:
    """The temperature of a wall at the low or the high end of an axis."""
    end, conductivity = grid.axes[axis].end(high), grid.case.conductivity
    nearer = 1 + end.ratio  # the gradient is nearer (Ta - T) / second
    if isinstance(wall, FixedWall):
        return WallTemperature(0.0, wall.temperature)
    if isinstance(wall, FluxWall):
        return WallTemperature(1.0, wall.flux, end.second / (nearer * conductivity))
    if isinstance(wall, RobinWall):
        lost = end.second * wall.h / conductivity
        return WallTemperature(nearer / (nearer + lost), wall.ambient, lost / (nearer + lost))
    if isinstance(wall, ConductingWall):
        return WallTemperature(0.0, grid.scales.conducting_profile)
    assert isinstance(wall, AdiabaticWall)
    return WallTemperature(1.0, 0.0)


def positions_on(grid: LevelGrid, axis: int, high: bool, along: dict[int, Floats]) -> list[Floats]:
    """Positions x, y and z on a side, m, each of the shape of a field without `axis`.

    Args:
        along: positions along the other two axes, by axis.
    """
    rows, columns = (a for a in (2, 1, 0) if a != axis)
    on = dict(
        zip((rows, columns), np.meshgrid(along[rows], along[columns], indexing="ij"), strict=True)
    )
    on[axis] = np.full(on[rows].shape, grid.case.grid.size[axis] * high)
    return [on[a] for a in range(3)]
