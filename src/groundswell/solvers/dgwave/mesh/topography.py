"""Topography: elements are stretched vertically between the surface and a flat bottom.

The surface of each element of the grid is one polynomial, even if the element is refined.

The bottom lies as deep below the mean elevation as the region is deep, so that ground of constant
elevation is not stretched. In the brick grid, the depth of a position is its true depth below the
surface divided by the stretching factor of its column; x and y are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.grids.axis import Axis
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.leaves import box_nodes
from groundswell.seismology.topography import Elevation
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.spectral_elements.curl_form import longest_edges
from groundswell.spectral_elements.geometry import chunks

LEAST_DEPTH = 0.2  # smallest depth of a column over the depth of the region


@dataclass(frozen=True, eq=False)
class SurfacePolynomials:
    """The surface, a polynomial on each element of the grid.

    Outside the region, it continues the elevation of the region's edge.

    Args:
        elevation: elevation of the region, m, positive upward.
        grid: the elements of the region and of the absorbing layers around it.
        degree: degree of the elements.
    """

    elevation: Elevation
    grid: Bricks
    degree: int

    @property
    def size(self) -> Floats:
        """Size of the region along x, y, z, m."""
        return np.array(self.grid.size)

    @cached_property
    def _heights(self) -> Floats:
        """Elevations at the nodes of the region's surface, (ny, nx), m."""
        return self.elevation(*np.meshgrid(*self._lines()))

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest elevation at nodes, m."""
        return float(self._heights.min()), float(self._heights.max())

    @cached_property
    def mean(self) -> float:
        """The mean elevation of the region's surface, m; exact if the elevation is constant."""
        weights = [self._weights(axis) for axis in (1, 0)]
        lowest = self._heights.min()
        total = np.einsum("y,x,yx->", *weights, self._heights - lowest)
        return float(lowest + total / (weights[0].sum() * weights[1].sum()))

    @property
    def stretching(self) -> tuple[float, float]:
        """The smallest and the largest factor by which columns of elements are stretched."""
        low, high = self.range
        return 1 + (low - self.mean) / self.size[2], 1 + (high - self.mean) / self.size[2]

    @cached_property
    def misfit(self) -> tuple[float, float, float]:
        """Largest distance between the elements' surface and the elevation between nodes.

        Returns:
            The distance, and x and y of the place, m.
        """
        basis = gll(self.degree)
        middles = (basis.points[1:] + basis.points[:-1]) / 2
        matrix = basis.interpolation(middles)
        found = _interpolate(matrix, _interpolate(matrix, self._heights).T).T
        x, y = (axis.at(_places(n, middles)) for n, axis in self._axes)
        gaps = np.abs(found - self.elevation(*np.meshgrid(x, y)))
        row, column = np.unravel_index(np.nanargmax(gaps), gaps.shape)
        return float(gaps[row, column]), float(x[column]), float(y[row])

    def require_valid(self, *, periodic: bool) -> None:
        """Check the elevations at all nodes of the surface.

        Args:
            periodic: whether the sides are periodic.

        Raises:
            InputError: elevations are not finite, too low, or different at periodic sides.
        """
        heights, depth = self._heights, self.size[2]
        if (wrong := np.argwhere(~np.isfinite(heights))).size:
            row, column = wrong[0]
            x, y = self._lines()
            raise InputError(
                f"topography: the elevation at x = {x[column]:g} m, y = {y[row]:g} m is "
                f"{heights[row, column]:g}; it must be finite everywhere; correct the formula or "
                "the data"
            )
        if (lowest := heights.min()) <= (least := self.mean + (LEAST_DEPTH - 1) * depth):
            raise InputError(
                f"topography: the lowest elevation is {lowest:g} m; allowed: values above "
                f"{least:g} m in a region that reaches {depth:g} m below the mean elevation, "
                f"{self.mean:g} m; enlarge grid.size[2]"
            )
        gap = max(np.abs(rows[0] - rows[-1]).max() for rows in (heights, heights.T))
        if periodic and gap > 1e-9 * max(self.size):
            raise InputError(
                f"topography differs by {gap:.3g} m at opposite sides; with boundary.sides "
                '= "periodic", it must also be periodic'
            )

    @property
    def _axes(self) -> list[tuple[int, Axis]]:
        """The number of elements of the region, and the axis, along x and y."""
        return list(zip(self.grid.region[:2], self.grid.axes[:2], strict=True))

    def _lines(self) -> list[Floats]:
        """Coordinates of the nodes along x and y in the region."""
        inside = gll(self.degree).points[:-1]
        return [axis.at(np.append(_places(n, inside), n)) for n, axis in self._axes]

    def _weights(self, axis: int) -> Floats:
        """Quadrature weights of the nodes along x or y in the region."""
        n, positions = self._axes[axis]
        edges = np.diff(positions.at(np.arange(n + 1)))
        each = edges[:, None] * gll(self.degree).weights / 2
        found = np.append(each[:, :-1].ravel(), 0.0)
        found[self.degree :: self.degree] += each[:, -1]
        return found

    def deform(self, points: Floats) -> Floats:
        """Map nodes of elements from positions in the brick grid to true positions, (..., 3)."""
        x, y, z = np.moveaxis(points, -1, 0)
        share = np.clip(1 - z / self.size[2], 0.0, 1.0)
        raised = self._height(x, y) - self.mean
        return np.stack([x, y, z - self.mean - raised * share], axis=-1)

    def longest_edges(self, lower: Floats, upper: Floats) -> Floats:
        """The longest edges of bricks after they are stretched, (bricks,), m.

        Args:
            lower, upper: corners in the brick grid, (bricks, 3), m.
        """
        found = np.empty(len(lower))
        for part in chunks(len(lower), (self.degree + 1) ** AXES):
            nodes = self.deform(box_nodes(lower[part], upper[part], self.degree))
            found[part] = longest_edges(nodes, self.degree)
        return found

    def bricks_of(self, points: Floats) -> Floats:
        """Positions in the brick grid of positions (x, y, depth below the surface), (n, 3)."""
        x, y, depth = np.moveaxis(points, -1, 0)
        raised, bottom = self.height(x, y) - self.mean, self.size[2]
        inside = np.where(depth > 0, depth / (1 + raised / bottom), depth)
        return np.stack([x, y, np.where(inside > bottom, depth - raised, inside)], axis=-1)

    def bottom(self, x: Floats, y: Floats) -> Floats:
        """Depth of the region's bottom below the surface at positions in the region, (n,), m."""
        return self.size[2] - self.mean + self.height(x, y)

    def place(self, points: Floats) -> Floats:
        """True coordinates of positions (x, y, depth below the surface), (n, 3)."""
        x, y, depth = np.moveaxis(points, -1, 0)
        return np.stack([x, y, depth - self.height(x, y)], axis=-1)

    def height(self, x: Floats, y: Floats) -> Floats:
        """Elevation of the elements' surface at positions in the region, (n,)."""
        basis, points = gll(self.degree), (gll(self.degree).points + 1) / 2
        weights, nodes = [], []
        for at, n, axis in zip((x, y), self.grid.region, self.grid.axes, strict=False):
            index = axis.index(at)
            cell = np.clip(np.floor(index), 0, n - 1)
            weights.append(basis.interpolation(2 * (index - cell) - 1))
            nodes.append(axis.at(cell[:, None] + points))
        heights = self._height(nodes[0][:, None, :], nodes[1][:, :, None])
        return np.einsum("pi,pj,pji->p", *weights, heights)

    def _height(self, x: Floats, y: Floats) -> Floats:
        """Elevation, continued beyond the region."""
        x, y = np.broadcast_arrays(x, y)
        inside = (np.clip(a, 0.0, size) for a, size in zip((x, y), self.size, strict=False))
        return self.elevation(*inside)


def _places(count: int, inside: Floats) -> Floats:
    """Indices along an axis of points in each of some elements, from reference coordinates."""
    return np.asarray((np.arange(count)[:, None] + (inside + 1) / 2).ravel())


def _interpolate(matrix: Floats, values: Floats) -> Floats:
    """Interpolate along the last axis, whose nodes are those of elements side by side."""
    degree = matrix.shape[1] - 1
    elements = np.arange(0, values.shape[1] - 1, degree)[:, None] + np.arange(degree + 1)
    return np.asarray((values[:, elements] @ matrix.T).reshape(len(values), -1))
