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


def nodes(grid: LevelGrid, axis: int) -> Floats:
    """Positions of points with a wall, or an image in a plane of symmetry, at each end."""
    x, size = grid.interior_positions(axis), grid.case.grid.size[axis]
    low, high = grid.case.walls.pair(axis)
    if low.kind == "periodic":
        h = size / len(x)
        return np.array([x[0] - h, *x, x[-1] + h])
    before = -x[0] if low.kind == "symmetry" else 0.0
    after = 2 * size - x[-1] if high.kind == "symmetry" else size
    return np.array([before, *x, after])


def between(first: Floats, last: Floats, parts: int = SAMPLES) -> Floats:
    """Middles of equal parts of intervals, (n, parts)."""
    fractions = (np.arange(parts) + 0.5) / parts
    return np.asarray(first[:, None] + (last - first)[:, None] * fractions)


def in_cells(grid: LevelGrid, axis: int) -> Floats:
    """Samples in the cells of points along an axis, half of them on each side of the point."""
    x = nodes(grid, axis)
    middles, half = (x[1:] + x[:-1]) / 2, SAMPLES // 2
    before, after = between(middles[:-1], x[1:-1], half), between(x[1:-1], middles[1:], half)
    return np.concatenate([before, after], axis=1)


def weights(grid: LevelGrid, axis: int) -> Floats:
    """Parts of cells that these samples stand for; the two sides of a point may differ."""
    steps = np.diff(nodes(grid, axis))
    sides = np.stack([steps[:-1], steps[1:]], axis=1) / (steps[:-1] + steps[1:])[:, None]
    return np.repeat(sides, SAMPLES // 2, axis=1) / (SAMPLES // 2)


def face_conductivity(grid: LevelGrid, axis: int) -> Floats:
    """Conductivity between points along an axis, which is put first: parallel, then in series."""
    x = nodes(grid, axis)
    samples = [in_cells(grid, a) for a in range(3)]
    samples[axis] = between(x[:-1], x[1:])
    order = (axis, *(a for a in (2, 1, 0) if a != axis))
    shaped = {a: _shaped(samples[a], n) for n, a in enumerate(order)}
    k = material(grid, *(shaped[a] for a in range(3)))["conductivity"]
    parallel = np.einsum("isjtku,jt,ku->isjk", k, *(weights(grid, a) for a in order[1:]))
    return np.asarray(1 / (1 / parallel).mean(axis=1))


def cell_means(grid: LevelGrid, name: str) -> Floats:
    """Means of a property of the material over cells, (nz, ny, nx)."""
    x, y, z = (_shaped(in_cells(grid, a), n) for a, n in ((0, 2), (1, 1), (2, 0)))
    parts = (weights(grid, a) for a in (2, 1, 0))
    return np.einsum("isjtku,is,jt,ku->ijk", material(grid, x, y, z)[name], *parts)


def _shaped(samples: Floats, dim: int) -> Floats:
    """Samples (n, SAMPLES) as axes 2 dim and 2 dim + 1 of six."""
    shape = [1] * 6
    shape[2 * dim : 2 * dim + 2] = samples.shape
    return samples.reshape(shape)
