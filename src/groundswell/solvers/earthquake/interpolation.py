"""Interpolation between grid points, with the same weights for receivers and for sources.

Along each axis a cubic Lagrange polynomial passes through four points. Both are then fourth-order
accurate, and source and receiver are interchangeable (reciprocity). Near a free surface the four
points shift until all of them have values; stencils of vx and vy that include row 0 also include
row -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from groundswell.arrays import Floats
from groundswell.grids.cartesian import Grid, Triple
from groundswell.seismology.sources.entries import Point

Offset = tuple[float, float, float]

HALF = 0.5
# Offsets of the fields from the corner of their cell, in cells along (x, y, z).
VELOCITY_OFFSETS: tuple[Offset, ...] = ((0, HALF, HALF), (HALF, 0, HALF), (HALF, HALF, 0))
STRESS_OFFSETS: tuple[Offset, ...] = (
    *((HALF, HALF, HALF),) * 3,
    (0, 0, HALF),
    (0, HALF, 0),
    (HALF, 0, 0),
)
# First row with values below a free surface. The surface extrapolates vx and vy from row 0 to -1
# over SHEAR_REACH rows (kernels/surface.h). Row 0 then holds the values of a position SURFACE_SHIFT
# rows above it.
VELOCITY_TOPS = (-1, -1, 0)
STRESS_TOP = 0
SHEAR_REACH = 2
SURFACE_SHIFT = (SHEAR_REACH - 1) / 24


@dataclass(frozen=True)
class Stencil:
    """Interpolation weights of the 4 x 4 x 4 points around a position.

    Args:
        first: index (i, j, k) of the first point.
        weights: weights along each axis, (3, 4).
        share: additional factors of the points, (4, 4, 4) along z, y and x.
    """

    first: Triple
    weights: Floats
    share: Floats = field(default_factory=lambda: np.ones((4, 4, 4)))

    def points(self) -> Iterator[tuple[Triple, float]]:
        """Yield each point (i, j, k) of non-zero weight, with its weight."""
        i, j, k = self.first
        for a, b, c in product(range(4), repeat=3):
            weight = float(self.weights[0, a] * self.weights[1, b] * self.weights[2, c])
            weight *= float(self.share[c, b, a])
            if weight:
                yield (i + a, j + b, k + c), weight


def stencil(grid: Grid, position: Point, offset: Offset, top: int | None) -> Stencil:
    """The stencil of a field that lies `offset` after its index and starts at row `top`."""
    index = grid.indices(position, offset)
    first = np.floor(index).astype(int) - 1
    at_surface = top is not None and first[2] <= 0  # row 0 is only accurate together with row -1
    if at_surface:
        first[2] = top
    weights = np.stack([cubic_weights(t) for t in index - first - 1])
    if at_surface and top == -1:
        weights[2] = surface_corrected(weights[2])
    elif at_surface and index[2] < 0:
        weights[2] = linear_weights(index[2])
    return Stencil((int(first[0]), int(first[1]), int(first[2])), weights)


def surface_corrected(weights: Floats) -> Floats:
    """Weights of vx half a row above and below the surface, for the stored rows -1 and 0."""
    above, below, *rest = weights
    stored_above = ((1 - SURFACE_SHIFT) * above - SURFACE_SHIFT * below) / SHEAR_REACH
    return np.array([stored_above, above + below - stored_above, *rest])


def surface_weights(free_surface: bool) -> Floats:
    """Weights of rows -1, 0, 1 and 2, (4,), that give vx or vy at the top of row 0."""
    weights = cubic_weights(-HALF)
    return surface_corrected(weights) if free_surface else weights


def cubic_weights(t: float) -> Floats:
    """Lagrange weights of points -1, 0, 1 and 2 at `t`, (4,)."""
    return np.array(
        [
            -t * (t - 1) * (t - 2) / 6,
            (t + 1) * (t - 1) * (t - 2) / 2,
            -(t + 1) * t * (t - 2) / 2,
            (t + 1) * t * (t - 1) / 6,
        ]
    )


def lagrange_weights(points: Floats, at: float) -> Floats:
    """Weights at `at` of the polynomial through `points`, (n,)."""
    apart = np.subtract.outer(points, points) + np.eye(len(points))
    factors = (at - points) / apart
    np.fill_diagonal(factors, 1.0)
    return np.asarray(factors.prod(axis=1))


def linear_weights(t: float) -> Floats:
    """Weights of points 0, 1, 2 and 3 that extrapolate linearly to `t` < 0, (4,).

    A cubic would extrapolate with weights of both signs, larger than two.
    """
    return np.array([1 - t, t, 0.0, 0.0])
