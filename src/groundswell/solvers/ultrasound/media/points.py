"""Points of a grid, and those that lie in the region of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError

AXES = "xyz"


@dataclass(frozen=True)
class GridPoints:
    """Points of a rectilinear grid, including those of the absorbing layers.

    Args:
        axes: ascending coordinates x, y and z, m.
        region: slices of the points of the region along x, y and z.
    """

    axes: tuple[Floats, Floats, Floats]
    region: tuple[slice, slice, slice]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (nz, ny, nx) of an array with one value per point."""
        x, y, z = map(len, self.axes)
        return z, y, x

    @property
    def region_shape(self) -> tuple[int, int, int]:
        """Shape (nz, ny, nx) of an array with one value per point of the region."""
        x, y, z = (part.stop - part.start for part in self.region)
        return z, y, x

    def region_limits(self, axis: int) -> tuple[float, float]:
        """Coordinates of the first and the last point of the region along an axis, m."""
        at = self.axes[axis][self.region[axis]]
        return float(at[0]), float(at[-1])

    def in_region(self, axis: int) -> Floats:
        """Coordinates of all points along an axis; those of layers are at the region's edge, m."""
        return np.clip(self.axes[axis], *self.region_limits(axis))


def grid_points(positions: Sequence[ArrayLike], low: ArrayLike, high: ArrayLike) -> GridPoints:
    """Find the points of the region between the corners `low` and `high`, (x, y, z), m.

    If an axis has a single point, as in two-dimensional grids, this point is always included.

    Raises:
        InputError: the region contains no point along an axis.
    """
    x, y, z = (np.asarray(at, float) for at in positions)
    limits = zip(AXES, (x, y, z), np.asarray(low, float), np.asarray(high, float), strict=True)
    first, second, third = (_within(*of_axis) for of_axis in limits)
    return GridPoints((x, y, z), (first, second, third))


def _within(axis: str, at: Floats, low: float, high: float) -> slice:
    if len(at) == 1:
        return slice(0, 1)
    rounding = 1e-6 * (at[1] - at[0])
    start, stop = np.searchsorted(at, (low - rounding, high + rounding))
    if start == stop:
        raise InputError(
            f"the region from {axis} = {low:g} m to {high:g} m contains no grid point; the grid "
            f"extends from {at[0]:g} m to {at[-1]:g} m"
        )
    return slice(int(start), int(stop))
