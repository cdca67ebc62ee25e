"""Values on the sides of a box, which are not stored: they follow from the points next to them."""

from __future__ import annotations

from math import hypot

import numpy as np

from groundswell.arrays import HostArray
from groundswell.solvers.cavity.boxes import Box
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.wall_temperature import positions_on, wall_temperature
from groundswell.solvers.cavity.walls import Wall


class WithSides:
    """A field on a box of points with the values on its sides.

    Args:
        inside: the stored values (nz, ny, nx); temperature in K.

    Attributes:
        values: with the ends that the box adds.
    """

    def __init__(self, grid: LevelGrid, box: Box, name: str, inside: HostArray) -> None:
        self._grid, self._box, self._name = grid, box, name
        low, high = (np.array(ends[::-1], int) for ends in (box.low, box.high))
        self.values = np.empty(np.array(inside.shape) + low + high, inside.dtype)
        # The part of the values that is known so far.
        self._known = [slice(b, b + n) for b, n in zip(low, inside.shape, strict=True)]
        self.values[tuple(self._known)] = inside
        for axis in _slowest_first(grid):
            self._add_ends(axis)

    def _add_ends(self, axis: int) -> None:
        known = np.moveaxis(self.values[tuple(self._known)], 2 - axis, 0)
        self._known[2 - axis] = slice(None)
        whole = np.moveaxis(self.values[tuple(self._known)], 2 - axis, 0)
        if self._box.low[axis]:
            whole[0] = self._at_side(axis, known, high=False)
        if self._box.high[axis]:
            is_periodic = self._grid.periodic[axis]
            whole[-1] = known[0] if is_periodic else self._at_side(axis, known[::-1], high=True)

    def _at_side(self, axis: int, f: HostArray, *, high: bool) -> HostArray:
        """The values on a side, given `f`, whose first axis leads away from it."""
        side, name = self._grid.case.walls.pair(axis)[high], self._name
        if not isinstance(side, Wall):
            ratio = self._grid.axes[axis].end(high).ratio
            return _at_plane_of_symmetry(f, ratio, changes_sign=name == "uvw"[axis])
        if name == "p":
            ratio = f.dtype.type(self._grid.axes[axis].end(high).ratio)
            return np.asarray((ratio * f[0] - f[1]) / (ratio - 1))
        if name == "T":
            return self._temperature(axis, side, f, high=high)
        return np.full_like(f[0], side.velocity["uvw".index(name)])

    def _temperature(self, axis: int, wall: Wall, f: HostArray, *, high: bool) -> HostArray:
        """Temperature of a wall, K."""
        of = wall_temperature(self._grid, axis, wall, high)
        along = {
            other: self._box.positions(self._grid, other)[self._known[2 - other]]
            for other in range(3)
            if other != axis
        }
        values = of.at(*positions_on(self._grid, axis, high, along)).astype(f.dtype)
        square = f.dtype.type(self._grid.axes[axis].end(high).ratio ** 2)
        return np.asarray(values + f.dtype.type(of.share) * (square * f[0] - f[1]) / (square - 1))


def _at_plane_of_symmetry(f: HostArray, ratio: float, *, changes_sign: bool) -> HostArray:
    """The value of the even parabola through two points; see `End.ratio`."""
    if changes_sign:
        return np.zeros_like(f[0])
    square = f.dtype.type(ratio * ratio)
    return np.asarray((square * f[0] - f[1]) / (square - 1) if len(f) > 1 else f[0])


def _slowest_first(grid: LevelGrid) -> list[int]:
    """The axes by the speed of their fastest wall: where two walls meet, the faster one counts."""
    sides = (grid.case.walls.pair(axis) for axis in range(3))
    speeds = [max(hypot(*s.velocity) if isinstance(s, Wall) else 0.0 for s in p) for p in sides]
    return sorted(range(3), key=speeds.__getitem__)
