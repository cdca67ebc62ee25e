"""The bricks of a box, graded along each axis, and of absorbing layers around it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.grids.axis import Axis, Spacings
from groundswell.grids.cartesian import Triple


@dataclass(frozen=True)
class Bricks:
    """Elements of a region and of absorbing layers around it, before they are halved.

    Elements of layers have the edge of the region's outermost ones.

    Args:
        region: number of elements (x, y, z) of the region; its corner is the origin.
        spacing: edges of its elements along each axis, m.
        before, after: width of the layers on the low and the high side of each axis, elements.
    """

    region: Triple
    spacing: Spacings
    before: Triple = (0, 0, 0)
    after: Triple = (0, 0, 0)

    @property
    def axes(self) -> tuple[Axis, Axis, Axis]:
        """The elements of the region along x, y and z."""
        x, y, z = map(Axis, self.spacing)
        return x, y, z

    @property
    def cells(self) -> Triple:
        """Number of elements (x, y, z), layers included."""
        nx, ny, nz = (
            b + n + a for b, n, a in zip(self.before, self.region, self.after, strict=True)
        )
        return nx, ny, nz

    @property
    def count(self) -> int:
        """Number of elements, layers included."""
        return prod(self.cells)

    @property
    def size(self) -> tuple[float, float, float]:
        """Size of the region (x, y, z), m."""
        x, y, z = (float(axis.at(n)) for axis, n in zip(self.axes, self.region, strict=True))
        return x, y, z

    @property
    def faces(self) -> list[Floats]:
        """Positions of the elements' faces along x, y and z, layers included, m."""
        along = zip(self.axes, self.cells, self.before, strict=True)
        return [axis.at(np.arange(n + 1) - before) for axis, n, before in along]

    def thickness(self, axis: int) -> tuple[float, float]:
        """Thickness of the layers on the low and the high side of an axis, m."""
        low, high = self.axes[axis].ends
        return self.before[axis] * low, self.after[axis] * high

    def indices(self, points: Floats) -> Floats:
        """Fractional indices, from the region's corner, of positions (..., 3)."""
        along = zip(self.axes, np.moveaxis(points, -1, 0), strict=True)
        return np.stack([axis.index(at) for axis, at in along], axis=-1)

    def nearest(self, cells: Integers, level: int) -> Integers:
        """The nearest elements of the region, halved `level` times, to others, (n, 3).

        Indices count from the region's corner.
        """
        return np.clip(cells, 0, np.array(self.region) * 2**level - 1)
