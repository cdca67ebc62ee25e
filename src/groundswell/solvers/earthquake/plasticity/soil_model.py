"""The soil of a run: what its elements need in each cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.grids.cartesian import GHOSTS
from groundswell.seismology.plasticity import Elements
from groundswell.seismology.plasticity.rock import RockPoints
from groundswell.seismology.plasticity.soil import Soils
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.plasticity.soil_layer import SoilLayer


@dataclass(frozen=True, eq=False)
class SoilModel:
    """Soft soil on the grid.

    Args:
        ground: the medium, with soil.
        soils: curves and reference strains.
    """

    ground: Ground
    soils: Soils

    @property
    def layer(self) -> SoilLayer:
        """Its cells."""
        assert self.ground.soil is not None
        return self.ground.soil

    @property
    def surfaces(self) -> int:
        """Number of elements in each cell."""
        return self.soils.section.surfaces

    @property
    def elements(self) -> tuple[Elements, ...]:
        """The elements of each curve."""
        return self.soils.elements

    def depth(self, k: int) -> float:
        """Depth of the centres of row `k` of the region, m."""
        return (k + 0.5) * self.layer.grid.spacing[2]

    def number(self, k: int) -> int:
        """The curve of the cells of row `k` of the region."""
        return int(self.soils.numbers(np.array([self.depth(k)]))[0])

    def reference_strains(self, k: int) -> Floats:
        """Reference strains of the cells of row `k` of the region, (ny, nx); infinite if linear.

        Raises:
            InputError: a value cannot be used.
        """
        nx, ny, _ = self.layer.grid.region
        hx, hy, _ = self.layer.grid.spacing
        material, x, y = self.layer.medium.plane(k), np.arange(nx) + 0.5, np.arange(ny) + 0.5
        position = {"x": x * hx, "y": y[:, None] * hy, "depth": np.full((), self.depth(k))}
        points = RockPoints.of(position, material)
        strains = self.soils.reference_strains(points).reshape(ny, nx)
        return np.where(self.layer.yields(k), strains, np.inf)

    @cached_property
    def carried(self) -> Floats:
        """The part of the stiffness of each row's cells that its elements may carry, (rows,).

        1 but in corrected rows, which are transversely isotropic: the rest of their stiffness must
        not be negative. Its deviatoric part acts on the strain (1, 1, -2), and shear at the edges
        of a cell may be softer than the harmonic mean of the adjacent cells.
        """
        rows, first = self.ground.rows, GHOSTS + self.layer.first[2]
        own = slice(first, first + self.layer.cells[2])
        if rows is None:
            return np.ones(self.layer.cells[2])
        lam, mu = rows.properties["lam"][own], 1 / rows.properties["compliance"][own]
        along, across = rows.corrections[own, 2:].T
        level, upright = lam + mu + across, lam + 2 * mu + along
        # 1 / (2 mu v C^-1 v) with v = (1, -sqrt 2) / sqrt 3 and the stiffness C of passivity.py
        share = 3 * (level * upright - lam**2) / (mu * (4 * level + upright + 4 * lam))
        soft = rows.corrections[first : own.stop + 1, 1]
        share = np.minimum(share, 1 / np.maximum(soft[1:], soft[:-1]))
        return np.where(self._is_plain(own), 1.0, np.minimum(share, 1.0))

    def _is_plain(self, own: slice) -> Mask:
        """Whether neither a row nor its lower faces are corrected, (rows,)."""
        assert self.ground.rows is not None
        corrected = self.ground.rows.are_corrected
        return np.asarray(~corrected[own] & ~corrected[own.start + 1 : own.stop + 1])
