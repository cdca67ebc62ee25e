"""Which cells of the grid are fluid and which are solid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from groundswell.arrays import Integers, Mask
from groundswell.grids.cartesian import Grid, Triple
from groundswell.seismology.media.profile import Profile
from groundswell.seismology.sources.entries import Point

TOUCHING = 1e-6  # distance in cells below which a position is on a face
PLANES_KEPT = 64


@dataclass(frozen=True, eq=False)
class Phases:
    """Fluid and solid cells. Beyond the grid, its outermost cells or its periodic image repeat.

    Args:
        grid: the grid.
        periodic: whether x and y are periodic.
        plane: function of a depth row that returns whether its cells are solid, (ny, nx).
        slipping: faces between depth rows that touch a fluid, even where both rows are solid.
        profile: the medium, if it varies with depth only.
    """

    grid: Grid
    periodic: bool
    plane: Callable[[int], Mask]
    slipping: frozenset[int] = frozenset()
    profile: Profile | None = None
    _kept: Callable[[int], Mask] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kept", lru_cache(PLANES_KEPT)(self.plane))

    def solid(self, k: int, y: Integers, x: Integers) -> Mask:
        """Whether the cells of row `k` with indices y (m,) and x (n,) are solid, (m, n)."""
        return self._kept(k)[np.ix_(self._fold(y, 1), self._fold(x, 0))]

    def slips(self, k: int) -> bool:
        """Whether the upper faces of row `k` touch a fluid, even where both rows are solid."""
        return k in self.slipping

    def contains(self, y: Integers, x: Integers) -> Mask:
        """Whether cells are in the grid, or repeat its cells periodically, (m, n)."""
        inside = [
            self.periodic | ((n >= 0) & (n < self.grid.cells[axis])) for axis, n in ((1, y), (0, x))
        ]
        return np.asarray(np.logical_and.outer(*inside))

    def is_solid(self, position: Point) -> bool:
        """Whether a position (m) is in a solid, or on its boundary."""
        index = self.grid.indices(position, (0, 0, 0))
        if self.profile is not None:
            nearby = position[2] + TOUCHING * self.grid.spacing[2] * np.array([-1.0, 1.0])
            return bool((self.profile.sample(np.maximum(nearby, 0.0)).vs > 0).any())
        x, y, z = (np.unique(np.floor(n + np.array([-1, 1]) * TOUCHING).astype(int)) for n in index)
        return any(bool(self.solid(int(k), y, x).any()) for k in z)

    def are_alike(self, first: Triple, count: int) -> bool:
        """Whether a cube of `count` cells along each axis is all fluid or all solid."""
        x, y, z = (np.arange(n, n + count) for n in first)
        rows = [self.solid(int(k), y, x) for k in z]
        slips = any(self.slips(int(k)) for k in z)
        return not slips and (all(r.all() for r in rows) or not any(r.any() for r in rows))

    def resists_shear(self, on_face: tuple[bool, bool, bool], cell: Triple) -> bool:
        """Whether the edge between cells, on their lower faces along these axes, is in a solid."""
        x, y, z = (
            np.arange(n - low, n + 1) for n, low in zip(cell, map(int, on_face), strict=True)
        )
        slips = on_face[2] and self.slips(cell[2])
        return not slips and all(bool(self.solid(int(k), y, x).all()) for k in z)

    def _fold(self, n: Integers, axis: int) -> Integers:
        count = self.grid.cells[axis]
        return n % count if self.periodic else n.clip(0, count - 1)
