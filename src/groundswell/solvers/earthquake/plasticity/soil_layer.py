"""The layer of soft soil: the cells of the grid that may yield."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Mask
from groundswell.errors import InputError
from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Grid, Part, Triple
from groundswell.seismology.case.soil import IwanSection
from groundswell.seismology.media.material import Medium

FAR = 2**30  # cells, beyond every grid


@dataclass(frozen=True, eq=False)
class SoilLayer:
    """The uppermost depth rows of the region.

    Args:
        depth_rows: number of rows of the region.
        vs_limit: S speed from which cells are linear, m/s.
    """

    grid: Grid
    medium: Medium
    depth_rows: int
    vs_limit: float

    @classmethod
    def of(cls, section: object, grid: Grid, medium: Medium) -> SoilLayer | None:
        """The rows whose centres are above the depth that the case gives; None without soil.

        Args:
            section: `[plasticity]` of the case.

        Raises:
            InputError: there are none, or the region ends above this depth.
        """
        if not isinstance(section, IwanSection):
            return None
        h, available = grid.spacing[2], grid.region[2]
        rows = int(np.ceil(section.depth / h - 0.5 - 1e-9))
        if not 1 <= rows <= available:
            raise InputError(
                f"plasticity.depth = {section.depth:g} m must be between the centre of the "
                f"uppermost cells, {h / 2:g} m, and the bottom of the region, {available * h:g} m"
            )
        limit = np.inf if section.vs_limit is None else section.vs_limit
        return cls(grid, medium, rows, limit)

    @property
    def first(self) -> Triple:
        """The first cell that may yield."""
        return self.grid.before

    @property
    def cells(self) -> Triple:
        """Number of cells along each axis.

        The last cell before an absorbing layer is linear, since its high edges are in the layer.
        """
        (x, y, z), below = self.grid.region, self.grid.after[2] > 0
        return x, y, min(self.depth_rows, z - below)

    @property
    def yielding(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The first and the last cell of the grid that yield along x and y.

        They are FAR away if there is no absorbing layer.
        """
        grid = self.grid
        x, y = (
            (before or -FAR, before + n - 2 if after else FAR)
            for before, n, after in zip(grid.before[:2], grid.region, grid.after, strict=False)
        )
        return x, y

    @property
    def end(self) -> int:
        """The first depth row of the grid below the layer."""
        return self.first[2] + self.cells[2]

    def block(self, part: Part) -> Block:
        """The layer's cells in a part of the grid, (z, y, x); empty if there are none."""
        start, shape = [], []
        for axis in (2, 1, 0):
            low = max(self.first[axis] - part.start[axis], 0)
            high = self.first[axis] + self.cells[axis] - part.start[axis]
            start.append(low)
            shape.append(max(min(high, part.cells[axis]) - low, 0))
        return Block(tuple(start), tuple(shape))

    def yields(self, k: int) -> Mask:
        """Which cells of depth row `k` of the region have no attenuation; they may yield.

        It broadcasts to (ny, nx).
        """
        vs = np.asarray(self.medium.plane(k).vs)
        return (vs < self.vs_limit) & (k < self.cells[2])

    @property
    def inner(self) -> Mask:
        """Which cells of a row are not the last before an absorbing layer, (ny, nx)."""
        (nx, ny, _), (after_x, after_y, _) = self.grid.region, self.grid.after
        found = np.ones((ny, nx), bool)
        found[:, nx - (after_x > 0) :] = False
        found[ny - (after_y > 0) :] = False
        return found
