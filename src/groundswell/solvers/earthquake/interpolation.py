"""Values between grid points: the same weights read a receiver and spread a source.

Along each axis four points carry the cubic through them (Lagrange), so both are fourth-order
accurate and a source and a receiver may change places (reciprocity). Beside a free surface the four
points move until all of them hold values, and vx and vy that touch row 0 take row -1 along.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from groundswell.grids.cartesian import Grid

Position = tuple[float, float, float]
Offset = tuple[float, float, float]
Cell = tuple[int, int, int]

HALF = 0.5
# How far a value sits from the corner of its cell, in cells along (x, y, z).
VELOCITY_OFFSETS: tuple[Offset, ...] = ((0, HALF, HALF), (HALF, 0, HALF), (HALF, HALF, 0))
STRESS_OFFSETS: tuple[Offset, ...] = (
    *((HALF, HALF, HALF),) * 3,
    (0, 0, HALF),
    (0, HALF, 0),
    (HALF, 0, 0),
)
# First row with values where the top is a free surface: it sets vx and vy one row above itself, as
# those of row 0 and their slope times SHEAR_REACH rows (kernels/surface.h). For that, row 0 itself
# settles at what belongs SETTLED rows above it.
VELOCITY_TOPS = (-1, -1, 0)
STRESS_TOP = 0
SHEAR_REACH = 2
SETTLED = (SHEAR_REACH - 1) / 24


@dataclass(frozen=True)
class Stencil:
    """4 x 4 x 4 points around a position: the first one's index and weights along each axis."""

    first: Cell
    weights: NDArray[np.float64]  # (3 axes, 4 points)

    def points(self) -> Iterator[tuple[Cell, float]]:
        """Every point (i, j, k) that has a weight, with it."""
        i, j, k = self.first
        for a, b, c in product(range(4), repeat=3):
            weight = float(self.weights[0, a] * self.weights[1, b] * self.weights[2, c])
            if weight:
                yield (i + a, j + b, k + c), weight


def velocity_stencils(grid: Grid, position: Position, free_surface: bool) -> list[Stencil]:
    """Weights for vx, vy and vz at a position (m)."""
    tops = VELOCITY_TOPS if free_surface else (None,) * 3
    pairs = zip(VELOCITY_OFFSETS, tops, strict=True)
    return [_stencil(grid, position, offset, top) for offset, top in pairs]


def stress_stencils(grid: Grid, position: Position, free_surface: bool) -> list[Stencil]:
    """Weights for sxx, syy, szz, sxy, sxz and syz at a position (m)."""
    top = STRESS_TOP if free_surface else None
    return [_stencil(grid, position, offset, top) for offset in STRESS_OFFSETS]


def _stencil(grid: Grid, position: Position, offset: Offset, top: int | None) -> Stencil:
    """Weights for a field that sits `offset` off its index and has values from row `top` down."""
    place = grid.indices(position, offset)
    first = np.floor(place).astype(int) - 1
    at_surface = top is not None and first[2] <= 0  # row 0 is only right together with row -1
    if at_surface:
        first[2] = top
    weights = np.stack([cubic_weights(t) for t in place - first - 1])
    if at_surface and top == -1:
        weights[2] = _as_surface_has_it(weights[2])
    elif at_surface and place[2] < 0:
        weights[2] = linear_weights(place[2])
    return Stencil((int(first[0]), int(first[1]), int(first[2])), weights)


def _as_surface_has_it(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of vx half a row above and below the surface, for what rows -1 and 0 hold instead."""
    above, below, *rest = weights
    there = ((1 - SETTLED) * above - SETTLED * below) / SHEAR_REACH
    return np.array([there, above + below - there, *rest])


def surface_weights(free_surface: bool) -> NDArray[np.float64]:
    """Weights of rows -1, 0, 1 and 2 in vx or vy at the top of row 0."""
    weights = cubic_weights(-HALF)
    return _as_surface_has_it(weights) if free_surface else weights


def cubic_weights(t: float) -> NDArray[np.float64]:
    """Lagrange weights of points -1, 0, 1, 2 at t."""
    return np.array(
        [
            -t * (t - 1) * (t - 2) / 6,
            (t + 1) * (t - 1) * (t - 2) / 2,
            -(t + 1) * t * (t - 2) / 2,
            (t + 1) * t * (t - 1) / 6,
        ]
    )


def linear_weights(t: float) -> NDArray[np.float64]:
    """Weights of points 0, 1, 2, 3 at t < 0, outside of them: the line through the first two.

    A cubic would reach out with weights of more than two and of both signs.
    """
    return np.array([1 - t, t, 0.0, 0.0])
