"""Solid blocks on a cavity's points by sampling the material, for the oracle of its kernels.

Exact where surfaces lie on points, or halfway or a quarter of the way between them.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.solvers.cavity.level_grid import LevelGrid

SAMPLES = 8  # along an interval between two points


def material(grid: LevelGrid, x: Floats, y: Floats, z: Floats) -> dict[str, Floats]:
    """Conductivity and capacity over those of the fluid, and heat released by volume."""
    of_fluid = np.ones(np.broadcast_shapes(x.shape, y.shape, z.shape))
    found = {"conductivity": of_fluid, "capacity": of_fluid, "heat": 0 * of_fluid}
    for solid in grid.case.solid:
        inside = of_fluid > 0
        for axis, s in enumerate((x, y, z)):
            length = grid.case.grid.size[axis]
            s = s % length if grid.periodic[axis] else s
            inside = inside & (s > solid.low[axis]) & (s < solid.high[axis])
        volume = np.prod(np.subtract(solid.high, solid.low))
        values = {
            "conductivity": solid.conductivity / grid.case.conductivity,
            "capacity": solid.heat_capacity or 1.0,
            "heat": solid.power / volume,
        }
        found = {n: np.where(inside, values[n], old) for n, old in found.items()}
    return found


def still(grid: LevelGrid) -> np.ndarray:
    """Whether points are in a solid or on its surface."""
    found = np.zeros(grid.grid.shape, bool)
    for solid in grid.case.solid:
        inside = []
        for axis in (2, 1, 0):
            s, close = grid.interior_positions(axis), 1e-9
            length = grid.case.grid.size[axis] if grid.periodic[axis] else 0.0
            low, high = solid.low[axis] - close, solid.high[axis] + close
            inside.append(((s > low) & (s < high)) | ((s + length > low) & (s + length < high)))
        found[np.ix_(*inside)] = True
    return found


def between(first: Floats, last: Floats) -> Floats:
    """Middles of equal parts of intervals, (n, SAMPLES)."""
    parts = (np.arange(SAMPLES) + 0.5) / SAMPLES
    return np.asarray(first[:, None] + (last - first)[:, None] * parts)


def in_cells(grid: LevelGrid, axis: int) -> Floats:
    """Samples in the cells of points along an axis."""
    points, half = grid.interior_positions(axis), grid.grid.spacing[axis] / 2
    return between(points - half, points + half)


def face_conductivity(grid: LevelGrid, axis: int) -> Floats:
    """Conductivity between points along an axis, which is put first: parallel, then in series."""
    points, h = grid.interior_positions(axis), grid.grid.spacing[axis]
    every = np.append(points[0] - h, points)
    samples = [in_cells(grid, a) for a in range(3)]
    samples[axis] = between(every, every + h)
    order = (axis, *(a for a in (2, 1, 0) if a != axis))
    shaped = {a: _shaped(samples[a], n) for n, a in enumerate(order)}
    k = material(grid, *(shaped[a] for a in range(3)))["conductivity"]
    return np.asarray(1 / (1 / k.mean(axis=(3, 5))).mean(axis=1))


def cell_means(grid: LevelGrid, name: str) -> Floats:
    """Means of a property of the material over cells, (nz, ny, nx)."""
    x, y, z = (_shaped(in_cells(grid, a), n) for a, n in ((0, 2), (1, 1), (2, 0)))
    return np.asarray(material(grid, x, y, z)[name].mean(axis=(1, 3, 5)))


def _shaped(samples: Floats, dim: int) -> Floats:
    """Samples (n, SAMPLES) as axes 2 dim and 2 dim + 1 of six."""
    shape = [1] * 6
    shape[2 * dim : 2 * dim + 2] = samples.shape
    return samples.reshape(shape)
