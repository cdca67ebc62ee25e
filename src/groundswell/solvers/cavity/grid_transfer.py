"""Linear interpolation between two grids of a box, axis by axis: as bands of weights.

Along each axis a point takes the values of a few neighbours on the other grid. What lies beyond the
first point follows from the points before it, as it does in the kernels; values are differences of
two flows, so what walls hold fixed is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend
from groundswell.grids.cartesian import GHOSTS
from groundswell.solvers.cavity.case import AdiabaticWall, Side, Wall
from groundswell.solvers.cavity.setup import Setup

Floats = NDArray[np.float64]
BEYOND = 3  # points that are thought to lie beyond each end of an axis
NOTHING = 1e-9  # weights that are rounding


@dataclass(frozen=True)
class Band:
    """Point n is the sum over m of `weights[n, m]` times the other grid's point `first[n] + m`."""

    first: Array
    weights: Array

    @classmethod
    def of(cls, matrix: Floats, offset: int = 0) -> Band:
        """The band of a matrix whose column c stands for the point c + offset."""
        used = abs(matrix) > NOTHING
        columns = np.arange(matrix.shape[1])
        low = np.where(used, columns, columns[-1]).min(axis=1)
        width = int((np.where(used, columns, 0).max(axis=1) - low).max()) + 1
        low = np.minimum(low, matrix.shape[1] - width)
        weights = np.take_along_axis(matrix, low[:, None] + np.arange(width), axis=1)
        return cls(low.astype(np.int64) + offset, np.where(abs(weights) > NOTHING, weights, 0.0))

    def part(self, rows: slice, start: int, stop: int) -> Band:
        """The band of some of the points, for a block of the other grid's, counted from its start.

        Nothing beyond the block's ghosts is read, not even with a weight of zero.
        """
        first, weights = self.first[rows] - start, self.weights[rows]
        width = weights.shape[1]
        low = np.minimum(first, stop - start + GHOSTS - width)
        columns = np.arange(width) - (first - low)[:, None]
        moved = np.take_along_axis(weights, np.maximum(columns, 0), axis=1)
        return Band(low, np.where(columns < 0, 0.0, moved))

    def on(self, backend: Backend, dtype: str) -> Band:
        """The same on a device."""
        return Band(*map(backend.to_device, (self.first, self.weights.astype(dtype))))

    @classmethod
    def same(cls, points: int) -> Band:
        """Each point itself."""
        return cls(np.arange(points), np.ones((points, 1)))


def interpolation(source: Setup, target: Setup, axis: int, name: str) -> Band:
    """A field, or a difference of two, from one grid to another."""
    return _band(source, target, axis, name, source.grid.spacing[axis])


def restriction(source: Setup, target: Setup, axis: int, name: str) -> Band:
    """Rates of change to a coarser grid: means, with the weights of interpolation back."""
    wide, near = target.grid.spacing[axis], source.grid.spacing[axis]
    band = _band(source, target, axis, name, wide, closed=False)
    return Band(band.first, band.weights * (near / wide if source.grid.cells[axis] > 1 else 1.0))


def _band(
    source: Setup, target: Setup, axis: int, name: str, reach: float, *, closed: bool = True
) -> Band:
    """Weights that fall to zero over the distance `reach`.

    Args:
        closed: whether what walls leave free follows from the points before them, or is zero.
    """
    n = source.grid.cells[axis]
    if n == 1:
        return Band(np.zeros(1, np.int64), np.ones((1, 1)))
    there = source.inside(axis)[0] + source.grid.spacing[axis] * np.arange(-BEYOND, n + BEYOND)
    far = abs(target.inside(axis)[:, None] - there)
    matrix = np.maximum(1 - far / reach, 0.0)
    low, high = source.case.walls.pair(axis)
    if low.kind == "periodic":
        return Band.of(matrix, -BEYOND)
    for view, side in ((matrix, low), (matrix[:, ::-1], high)):
        _fold(view, side, axis, name, closed)
    return Band.of(matrix[:, BEYOND : n + BEYOND])


def _fold(matrix: Floats, side: Side, axis: int, name: str, closed: bool) -> None:
    """Give the weights of what lies beyond the low end to the points from which it follows."""
    beyond, first = matrix[:, :BEYOND], matrix[:, BEYOND : 2 * BEYOND]
    if not isinstance(side, Wall):
        first += beyond[:, ::-1] * (-1.0 if name == "uvw"[axis] else 1.0)
    elif closed:
        first[:, :2] += beyond[:, -1:] * _at_wall(side, name)


def _at_wall(side: Wall, name: str) -> Floats:
    """What the value on a wall is of the first two points."""
    if name == "p":
        return np.array([2.0, -1.0])
    if name == "T" and isinstance(side, AdiabaticWall):
        return np.array([4.0, -1.0]) / 3
    return np.zeros(2)
