"""Linear interpolation between two grids of a box: a banded matrix of weights for each axis.

Values beyond the first point follow from the interior points, as in the kernels. The interpolated
values are differences of two flows, so they are zero where a wall prescribes the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Backend
from groundswell.grids.cartesian import GHOSTS
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.wall_temperature import wall_temperature
from groundswell.solvers.cavity.walls import Side, Wall

BEYOND = 3  # points assumed beyond each end of an axis
ROUNDING = 1e-9  # smaller weights are rounding errors


@dataclass(frozen=True)
class Band:
    """A banded matrix: point n is the sum of `weights[n, m]` times source point `first[n] + m`.

    Args:
        first: (points,).
        weights: (points, width).
    """

    first: DeviceArray
    weights: DeviceArray

    @classmethod
    def of(cls, matrix: Floats, offset: int = 0) -> Band:
        """The band of a matrix whose column c belongs to the source point c + offset."""
        used = abs(matrix) > ROUNDING
        columns = np.arange(matrix.shape[1])
        low = np.where(used, columns, columns[-1]).min(axis=1)
        width = int((np.where(used, columns, 0).max(axis=1) - low).max()) + 1
        low = np.minimum(low, matrix.shape[1] - width)
        weights = np.take_along_axis(matrix, low[:, None] + np.arange(width), axis=1)
        return cls(low.astype(np.int64) + offset, np.where(abs(weights) > ROUNDING, weights, 0.0))

    def part(self, rows: slice, start: int, stop: int) -> Band:
        """The band of some rows, for a block `start` to `stop` of the source, relative to `start`.

        It reads nothing beyond the block's ghosts, not even with a weight of zero.
        """
        first, weights = self.first[rows] - start, self.weights[rows]
        width = weights.shape[1]
        low = np.minimum(first, stop - start + GHOSTS - width)
        columns = np.arange(width) - (first - low)[:, None]
        moved = np.take_along_axis(weights, np.maximum(columns, 0), axis=1)
        return Band(low, np.where(columns < 0, 0.0, moved))

    def on(self, backend: Backend, dtype: str) -> Band:
        """A copy on a device, with weights of this type."""
        return Band(*map(backend.to_device, (self.first, self.weights.astype(dtype))))

    @classmethod
    def identity(cls, points: int) -> Band:
        """The identity."""
        return cls(np.arange(points), np.ones((points, 1)))


def interpolation(source: LevelGrid, target: LevelGrid, axis: int, name: str) -> Band:
    """Linear interpolation of a field along one axis, from one grid to another."""
    if source.axes[axis].is_stretched:
        return Band.of(_interpolating(source, target, axis, name))
    return _band(source, target, axis, name, source.grid.spacing[axis])


def restriction(source: LevelGrid, target: LevelGrid, axis: int, name: str) -> Band:
    """Restriction of rates of change to a coarser grid: the scaled transpose of interpolation.

    That of pressure conserves mass: the first point also receives the share of the wall.
    """
    if source.axes[axis].is_stretched:
        return _transposed(source, target, axis, name)
    coarse, fine = target.grid.spacing[axis], source.grid.spacing[axis]
    band = _band(source, target, axis, name, coarse, closed=False)
    return Band(band.first, band.weights * (fine / coarse if source.grid.cells[axis] > 1 else 1.0))


def _band(
    source: LevelGrid, target: LevelGrid, axis: int, name: str, reach: float, *, closed: bool = True
) -> Band:
    """Weights that fall linearly to zero over the distance `reach`, m.

    Args:
        closed: whether a value that a wall leaves free is extrapolated from the points before it;
            zero otherwise.
    """
    n = source.grid.cells[axis]
    if n == 1:
        return Band(np.zeros(1, np.int64), np.ones((1, 1)))
    positions = source.interior_positions(axis)[0] + source.grid.spacing[axis] * np.arange(
        -BEYOND, n + BEYOND
    )
    distance = abs(target.interior_positions(axis)[:, None] - positions)
    matrix = np.maximum(1 - distance / reach, 0.0)
    if source.periodic[axis]:
        return Band.of(matrix, -BEYOND)
    inside = _folded(matrix, source, axis, name, closed=closed)
    return Band.of(inside if closed or name != "p" else _conserving(inside))


def _folded(matrix: Floats, grid: LevelGrid, axis: int, name: str, *, closed: bool) -> Floats:
    """The matrix without the columns of points beyond both ends of an axis of a grid."""
    views = (matrix, matrix[:, ::-1])
    for high, (view, side) in enumerate(zip(views, grid.case.walls.pair(axis), strict=True)):
        _fold(view, _Beyond(grid, side, axis, high, name), closed)
    return matrix[:, BEYOND:-BEYOND]


# --- stretched grids ------------------------------------------------------------------------------


def _interpolating(
    source: LevelGrid, target: LevelGrid, axis: int, name: str, *, closed: bool = True
) -> Floats:
    """The matrix (target points, source points) of linear interpolation between positions."""
    nodes = source.axes[axis].extended(BEYOND)
    at = target.axes[axis].positions
    hats = np.array([np.interp(at, nodes, unit) for unit in np.eye(len(nodes))]).T
    return _folded(hats, source, axis, name, closed=closed)


def _transposed(fine: LevelGrid, coarse: LevelGrid, axis: int, name: str) -> Band:
    """The transpose of interpolation from a coarse grid, in the measure of the cells' lengths."""
    matrix = _interpolating(coarse, fine, axis, name, closed=False).T.copy()
    if name == "p":
        matrix = _conserving(matrix)
    lengths, sums = (g.axes[axis].lengths * g.axes[axis].spacing for g in (fine, coarse))
    return Band.of(matrix * lengths / sums[:, None])


def _conserving(matrix: Floats) -> Floats:
    """The matrix whose columns sum to one: its end rows also receive the shares of walls."""
    lost = 1 - matrix.sum(axis=0)
    middle = len(lost) // 2
    matrix[0, :middle] += lost[:middle]
    matrix[-1, middle:] += lost[middle:]
    return matrix


class _Beyond(NamedTuple):
    """A field beyond a side of a grid."""

    grid: LevelGrid
    side: Side
    axis: int
    high: int
    name: str

    def at_wall(self, wall: Wall) -> Floats:
        """The value on a wall as weights of the first two points."""
        ratio = self.grid.axes[self.axis].end(self.high).ratio
        if self.name == "p":
            return np.array([ratio, -1.0]) / (ratio - 1)
        if self.name == "T":
            share = wall_temperature(self.grid, self.axis, wall, self.high).share
            return share * np.array([ratio**2, -1.0]) / (ratio**2 - 1)
        return np.zeros(2)


def _fold(matrix: Floats, field: _Beyond, closed: bool) -> None:
    """Move the weights beyond the low end to the interior points that determine those values."""
    beyond, first = matrix[:, :BEYOND], matrix[:, BEYOND : 2 * BEYOND]
    if not isinstance(field.side, Wall):
        first += beyond[:, ::-1] * (-1.0 if field.name == "uvw"[field.axis] else 1.0)
    elif closed:
        first[:, :2] += beyond[:, -1:] * field.at_wall(field.side)
