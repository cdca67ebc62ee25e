"""The soil of a run: what its elements need in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.grids.cartesian import GHOSTS
from groundswell.seismology.plasticity import Elements
from groundswell.seismology.plasticity.rock import RockPoints
from groundswell.seismology.plasticity.soil import Soils
from groundswell.seismology.plasticity.soil_estimates import SoilEstimates
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.plasticity.moments import MomentCells
from groundswell.solvers.earthquake.plasticity.soil_layer import SoilLayer
from groundswell.solvers.earthquake.stability import POINTS_PER_WAVELENGTH


@dataclass(frozen=True, eq=False)
class SoilModel:
    """Soft soil on the grid.

    Args:
        ground: the medium, with soil.
        soils: curves and reference strains.
        moments: cells around sources, which are linear.
    """

    ground: Ground
    soils: Soils
    moments: MomentCells

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
        return np.where(self.may_yield(k), strains, np.inf)

    def may_yield(self, k: int) -> Mask:
        """Which cells of row `k` of the region may yield, (ny, nx)."""
        spared = self.moments.in_row(k)
        found = self.layer.yields(k) & self.layer.inner
        return found if spared is None else found & ~spared

    @cached_property
    def estimates(self) -> SoilEstimates:
        """Extremes of all cells.

        Raises:
            InputError: a value cannot be used.
        """
        rows = [SoilRow.of(self, k) for k in range(self.layer.cells[2])]
        used = [row for row in rows if row.cells]
        nx, ny, nz = self.layer.cells
        slowest = min((row.slowest for row in used), default=np.inf)
        points = POINTS_PER_WAVELENGTH * max(self.layer.grid.spacing)
        return SoilEstimates(
            cells=sum(row.cells for row in rows),
            linear=nx * ny * nz - sum(row.cells for row in rows),
            depth=nz * self.layer.grid.spacing[2],
            reference_strain=_united([row.reference_strain for row in used]),
            yield_strain=_united([row.yield_strain for row in used]),
            surfaces=self.surfaces,
            error=max((self.elements[row.number].error for row in used), default=0.0),
            frequency=slowest / points,
        )

    @cached_property
    def carried(self) -> Floats:
        """The part of the stiffness of normal strains that a row's elements may carry, (rows,).

        1 but in corrected rows, which are transversely isotropic: the rest of their stiffness must
        not be negative, also for the deviatoric strain (1, 1, -2).
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
        return np.where(rows.are_corrected[own], np.minimum(share, 1.0), 1.0)


@dataclass(frozen=True)
class SoilRow:
    """The cells of a depth row that may yield.

    Args:
        cells: their number.
        number: of their curve.
        slowest: least S speed, m/s.
        reference_strain: least and greatest.
        yield_strain: at which the first element of a cell yields, and the last one.
    """

    cells: int
    number: int
    slowest: float = np.inf
    reference_strain: tuple[float, float] = (np.inf, -np.inf)
    yield_strain: tuple[float, float] = (np.inf, -np.inf)

    @classmethod
    def of(cls, soil: SoilModel, k: int) -> SoilRow:
        """Row `k` of the region."""
        strains, number = soil.reference_strains(k), soil.number(k)
        own = np.isfinite(strains)
        if not own.any():
            return cls(0, number)
        vs = np.broadcast_to(soil.layer.medium.plane(k).vs, own.shape)[own]
        low, high = float(strains[own].min()), float(strains[own].max())
        corners = soil.elements[number].strains
        ends = float(low * corners[0]), float(high * corners[-1])
        return cls(int(own.sum()), number, float(vs.min()), (low, high), ends)


def _united(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The least and the greatest value of ranges."""
    return min((a for a, _ in ranges), default=0.0), max((b for _, b in ranges), default=0.0)
