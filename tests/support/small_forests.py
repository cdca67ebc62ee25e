"""Small random forests of octrees, and which of their leaves touch, by comparing all pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_refinement import refine

Periodic = tuple[bool, bool, bool]


def small_forest(seed: int, periodic: Periodic = (False, False, False), most: int = 3) -> Forest:
    """A graded box of up to `most` roots along an axis, fine near a point and here and there."""
    rng = np.random.default_rng(seed)
    edges = [np.cumsum(rng.uniform(0.2, 2.0, rng.integers(2, most + 2))) - 2.0 for _ in range(3)]
    target = [rng.choice([line[0], line[-1], rng.uniform(line[0], line[-1])]) for line in edges]

    def wanted(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.bool_]:
        near = ((lower <= target) & (upper >= target)).all(axis=1)
        return (near & (rng.random(len(near)) < 0.9)) | (rng.random(len(near)) < 0.05)

    return refine(uniform_forest(edges, 0, periodic), wanted, 5)


def touching(forest: Forest) -> NDArray[np.int64]:
    """Rows of leaf, other leaf, and how they touch along x, y and z, (pairs, 5).

    Along an axis, -1 and 1 are for an other leaf just below and above, 0 for one alongside. Leaves
    touch across periodic boundaries as well, also themselves.
    """
    low, size = forest.anchors(), forest.sizes()[:, None]
    high, rows = low + size, []
    box = np.array(forest.roots) << forest.max_level
    for shift in product(*[(-1, 0, 1) if wraps else (0,) for wraps in forest.periodic]):
        moved = np.array(shift) * box
        below, above = high[:, None] - (low + moved), (high + moved) - low[:, None]
        touch = ((below >= 0) & (above >= 0)).all(axis=-1)
        sides = (below == 0).astype(int) - (above == 0)
        touch &= sides.any(axis=-1)
        leaf, other = np.nonzero(touch)
        rows.append(np.column_stack([leaf, other, sides[leaf, other]]))
    return np.concatenate(rows)
