"""Boxes of the points of a grid, with the sides that they touch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from groundswell.arrays import Floats
from groundswell.grids.cartesian import Part, Triple
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.solid_grid import fluid_centre

Ends = tuple[bool, bool, bool]  # along x, y and z


@dataclass(frozen=True)
class Box:
    """Stored points of a grid, and the sides to which their values are extended.

    Args:
        start, stop: the first stored point (i, j, k), and the one after the last.
        low, high: whether values on the side at this end of an axis are added.
    """

    start: Triple
    stop: Triple
    low: Ends
    high: Ends

    @classmethod
    def whole(cls, grid: LevelGrid) -> Box:
        """All points; the first one of a periodic axis is repeated at its end."""
        x, y, z = (not is_periodic for is_periodic in grid.periodic)
        return cls((0, 0, 0), grid.points, (x, y, z), (True,) * 3)

    @classmethod
    def of_part(cls, grid: LevelGrid, part: Part) -> Box:
        """A rank's points, and the sides that they touch; nothing is repeated."""
        ends = zip(part.start, part.cells, grid.points, grid.periodic, strict=True)
        x, y, z = ((not p and s == 0, not p and s + n == end) for s, n, end, p in ends)
        low, high = zip(x, y, z, strict=True)
        (i, j, k), (nx, ny, nz) = part.start, part.cells
        return cls(part.start, (i + nx, j + ny, k + nz), low, high)

    @classmethod
    def centre(cls, grid: LevelGrid) -> Box:
        """The point whose pressure is zero."""
        i, j, k = fluid_centre(grid)
        return cls((i, j, k), (i + 1, j + 1, k + 1), (False,) * 3, (False,) * 3)

    @classmethod
    def line(cls, grid: LevelGrid, axis: int) -> Box:
        """All points along an axis, around the line through the centre of the box."""
        found = cls.whole(grid)
        for other in range(3):
            if other != axis:
                found = found._around_middle(grid, other)
        return found

    @classmethod
    def near(cls, grid: LevelGrid, axis: int, *, high: bool) -> Box:
        """The two layers of points next to a wall."""
        points = grid.points[axis]
        layers = (max(points - 2, 0), points) if high else (0, min(points, 2))
        return cls.whole(grid)._cut(axis, layers, (not high, high))

    @property
    def slices(self) -> tuple[slice, slice, slice]:
        """Of the stored points in an array (nz, ny, nx) of the grid."""
        x, y, z = (slice(*ends) for ends in zip(self.start, self.stop, strict=True))
        return z, y, x

    @property
    def cells(self) -> Triple:
        """Number of stored points along x, y and z."""
        x, y, z = (stop - start for start, stop in zip(self.start, self.stop, strict=True))
        return x, y, z

    def first(self, grid: LevelGrid, axis: int) -> int:
        """Index of the first value along an axis among those with both ends."""
        return self.start[axis] + int(not grid.periodic[axis]) - int(self.low[axis])

    def positions(self, grid: LevelGrid, axis: int) -> Floats:
        """Positions of the values along an axis, with the ends that are added, m."""
        first, ends = self.first(grid, axis), int(self.low[axis]) + int(self.high[axis])
        return grid.positions(axis)[first : first + self.cells[axis] + ends]

    def _around_middle(self, grid: LevelGrid, axis: int) -> Box:
        """The same with the one or two points around the middle of an axis; all if it has few."""
        positions = grid.positions(axis)
        low, high = around(positions, middle_of(positions))
        before = int(not grid.periodic[axis])
        start, stop = low - before, high + 1 - before
        is_inside = start >= 0 and stop <= grid.points[axis]
        return self._cut(axis, (start, stop), (False, False)) if is_inside else self

    def _cut(self, axis: int, points: tuple[int, int], ends: tuple[bool, bool]) -> Box:
        """The same with these points and ends along an axis."""
        changed = {"start": points[0], "stop": points[1], "low": ends[0], "high": ends[1]}
        found = {}
        for name, value in changed.items():
            along = list(getattr(self, name))
            along[axis] = value
            found[name] = tuple(along)
        return replace(self, **found)


def middle_of(positions: Floats) -> float:
    """The middle of an axis, given the positions of its points with both ends."""
    return float((positions[0] + positions[-1]) / 2)


def around(positions: Floats, at: float) -> tuple[int, int]:
    """The points next to a position on either side; twice the same if it is that of a point."""
    high = int(np.searchsorted(positions, at - 1e-9 * abs(at)))
    return (high, high) if np.isclose(positions[high], at) else (high - 1, high)
