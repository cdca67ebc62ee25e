"""Values between grid points: the same weights read a receiver and spread a source.

Along each axis four points carry the cubic through them (Lagrange), so both are fourth-order
accurate and a source and a receiver may change places (reciprocity). Next to a free surface two
points carry a line, because only one row above it holds mirrored values.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from groundswell.grids.cartesian import Grid

HALF = 0.5
# How far a value sits from the corner of its cell, in cells along (x, y, z).
VELOCITY_OFFSETS = ((0, HALF, HALF), (HALF, 0, HALF), (HALF, HALF, 0))
STRESS_OFFSETS = (
    *((HALF, HALF, HALF),) * 3,
    (0, 0, HALF),
    (0, HALF, 0),
    (HALF, 0, 0),
)
# Sign of the image above a free surface: tractions turn, everything else stays.
VELOCITY_MIRRORS = (1, 1, 1)
STRESS_MIRRORS = (1, 1, -1, 1, -1, -1)

Position = tuple[float, float, float]
Offset = tuple[float, float, float]


@dataclass(frozen=True)
class Stencil:
    """4 x 4 x 4 points around a position: the first one's index and weights along each axis."""

    first: tuple[int, int, int]
    weights: NDArray[np.float64]  # (3 axes, 4 points)


def stencil(grid: Grid, position: Position, offset: Offset, *, free_surface: bool) -> Stencil:
    """Weights for the value at a position (m) of a field that sits `offset` off its index."""
    place = grid.indices(position, offset)
    first = np.floor(place).astype(int) - 1
    weights = np.stack([cubic_weights(x - np.floor(x)) for x in place])
    if free_surface and first[2] < -1:
        weights[2] = linear_weights(place[2] - np.floor(place[2]))
    return Stencil((int(first[0]), int(first[1]), int(first[2])), weights)


def cubic_weights(t: float) -> NDArray[np.float64]:
    """Lagrange weights of points -1, 0, 1, 2 at t in [0, 1)."""
    return np.array(
        [
            -t * (t - 1) * (t - 2) / 6,
            (t + 1) * (t - 1) * (t - 2) / 2,
            -(t + 1) * t * (t - 2) / 2,
            (t + 1) * t * (t - 1) / 6,
        ]
    )


def linear_weights(t: float) -> NDArray[np.float64]:
    """Weights of points -1, 0, 1, 2 of the line between 0 and 1."""
    return np.array([0.0, 1 - t, t, 0.0])


def spread(
    grid: Grid, position: Position, offset: Offset, *, mirror: int | None
) -> list[tuple[tuple[int, int, int], float]]:
    """Cells (i, j, k) that share a point source, and each one's share.

    Args:
        mirror: sign that the field's image above the free surface has, or None without a surface.
            Shares above the surface belong to the image and come back with that sign; on the
            surface itself both are the same point. Shares outside the grid are dropped.
    """
    points = stencil(grid, position, offset, free_surface=mirror is not None)
    shares: dict[tuple[int, int, int], float] = {}
    for x, y, z in product(range(4), repeat=3):
        weight = points.weights[0, x] * points.weights[1, y] * points.weights[2, z]
        i, j, k = (p + n for p, n in zip(points.first, (x, y, z), strict=True))
        if mirror is not None:
            k, factor = _reflect(k, on_surface=offset[2] == 0, mirror=mirror)
            weight *= factor
        inside = all(0 <= n < count for n, count in zip((i, j, k), grid.cells, strict=True))
        if weight and inside:
            shares[i, j, k] = shares.get((i, j, k), 0.0) + weight
    return list(shares.items())


def _reflect(k: int, *, on_surface: bool, mirror: int) -> tuple[int, int]:
    """Row that answers for row k, and the factor it takes; `on_surface`: row 0 is at z = 0."""
    if on_surface and k == 0:
        return 0, 1 + mirror
    if k >= 0:
        return k, 1
    return (-k if on_surface else -1 - k), mirror
