"""Cells around sources with a moment, which do not yield."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Indices, Mask
from groundswell.grids.cartesian import Grid
from groundswell.seismology.sources.point_sources import PointSource

# Cells up to this distance from a moment along each axis have stresses that contain the moment,
# which is spread over four values, or are next to such stresses.
SPARED = 2.5


@dataclass(frozen=True, eq=False)
class MomentCells:
    """Cells around moments: their stresses and strains contain the moment, not only the rock's.

    Args:
        positions: of the sources, (n, 3), m.
        periodic: whether x and y are periodic.
    """

    grid: Grid
    periodic: bool
    positions: Floats

    @classmethod
    def of(cls, sources: Sequence[PointSource], grid: Grid, periodic: bool) -> MomentCells:
        """The cells around those of the sources that have a moment."""
        positions = [source.position for source in sources if source.moment is not None]
        return cls(grid, periodic, np.array(positions, float).reshape(-1, 3))

    @cached_property
    def _boxes(self) -> Indices:
        """First and last + 1 along x, y and z, (n, 6)."""
        places = self.positions / self.grid.spacing
        low = np.ceil(places - SPARED - 0.5).astype(int)
        high = np.floor(places + SPARED - 0.5).astype(int) + 1
        return np.unique(np.stack([low, high], axis=2).reshape(-1, 6), axis=0)

    def in_row(self, k: int) -> Mask | None:
        """Which cells in row `k` of the region are such, (ny, nx); None if none is."""
        boxes = self._boxes[(self._boxes[:, 4] <= k) & (k < self._boxes[:, 5]), :4]
        if not len(boxes):
            return None
        nx, ny, _ = self.grid.region
        found = np.zeros((ny, nx), bool)
        for i, end_i, j, end_j in np.unique(boxes, axis=0).tolist():
            columns, rows = np.arange(i, end_i), np.arange(j, end_j)
            if self.periodic:
                columns, rows = columns % nx, rows % ny
            inside_x, inside_y = (columns >= 0) & (columns < nx), (rows >= 0) & (rows < ny)
            found[np.ix_(rows[inside_y], columns[inside_x])] = True
        return found
