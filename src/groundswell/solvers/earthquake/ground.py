"""The ground on the grid: the medium, its attenuation, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Indices, Mask, Reals
from groundswell.grids.cartesian import GHOSTS, Grid
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.media.material import Material, Medium
from groundswell.seismology.media.profile import find_profile
from groundswell.seismology.media.statistics import MediumStatistics
from groundswell.solvers.earthquake import moduli
from groundswell.solvers.earthquake.effective import DepthRows, effective_rows
from groundswell.solvers.earthquake.moduli import elastic_properties
from groundswell.solvers.earthquake.passivity import make_passive
from groundswell.solvers.earthquake.phase_interpolation import Interpolation
from groundswell.solvers.earthquake.phases import Phases
from groundswell.solvers.earthquake.plasticity.soil_layer import SoilLayer
from groundswell.solvers.earthquake.stability import POINTS_PER_WAVELENGTH, equivalent_speed


@dataclass(frozen=True, eq=False)
class Ground:
    """The medium of a grid.

    Args:
        periodic: whether x and y are periodic.
        free_surface: whether z = 0 is a free surface.
        statistics: extremes of the medium.
        relaxation: relaxation mechanisms; None without attenuation.
        reference_frequency: at which the wave speeds of the medium apply, Hz.
        soil: cells of soft soil, which have no attenuation: their losses are those of yielding.
    """

    grid: Grid
    periodic: bool
    free_surface: bool
    medium: Medium
    statistics: MediumStatistics
    relaxation: Relaxation | None
    reference_frequency: float
    soil: SoilLayer | None = None

    def properties(self, material: Material) -> dict[str, Reals]:
        """The moduli and inverse quality factors of a material in the form of the solver."""
        return moduli.properties(material, self.relaxation, self.reference_frequency)

    @cached_property
    def rows(self) -> DepthRows | None:
        """Parameters of the depth rows if the medium varies along z only; otherwise None."""
        profile = find_profile(self.medium)
        if profile is None or len(profile.interfaces) == 1:
            return None
        rows = effective_rows(profile, self.grid, self.properties, mirrored=self.free_surface)
        if self.relaxation is None:
            return rows
        rows = make_passive(rows, self.relaxation)
        if self.soil is None:
            return rows
        elastic = effective_rows(profile, self.grid, elastic_properties, mirrored=self.free_surface)
        k = np.arange(len(rows.corrections)) - GHOSTS - self.grid.before[2]
        return rows.with_rows_of(elastic, self._are_soil(k))

    def _are_soil(self, rows: Indices) -> Mask:
        """Whether rows of a region that varies with depth only are soft soil, (n,)."""
        assert self.soil is not None
        inside = np.clip(rows, 0, self.grid.region[2] - 1)
        return np.array([bool(self.soil.yields(int(k)).all()) for k in inside])

    def padded_plane(self, k: int) -> dict[str, Reals]:
        """Each property of plane `k` of the grid with its ghosts, (ny + 4, nx + 4).

        Cells outside the region repeat its outermost cells, or its opposite side on periodic axes.
        """
        if self.rows:
            plane = {name: rows[k + GHOSTS] for name, rows in self.rows.properties.items()}
        else:
            region_k = int(np.clip(k - self.grid.before[2], 0, self.grid.region[2] - 1))
            plane = self._plane(region_k)
        return {name: self._padded(values) for name, values in plane.items()}

    def _padded(self, values: Reals) -> Reals:
        """A plane of the region with layers and ghosts; a view if all its cells are equal."""
        grid = self.grid
        (low_x, low_y, _), (high_x, high_y, _) = grid.before, grid.after
        y, x = width = (
            (low_y + GHOSTS, high_y + GHOSTS),
            (low_x + GHOSTS, high_x + GHOSTS),
        )
        nx, ny, _ = grid.region
        if np.size(values) == 1:
            return np.broadcast_to(values, (ny + sum(y), nx + sum(x)))
        whole = np.broadcast_to(values, (ny, nx))
        return np.pad(whole, width, mode="wrap" if self.periodic else "edge")

    def _plane(self, k: int) -> dict[str, Reals]:
        """Properties of row `k` of the region."""
        material = self.medium.plane(k)
        found = self.properties(material)
        if self.soil is None or self.relaxation is None:
            return found
        elastic, yields = elastic_properties(material), self.soil.yields(k)
        return {name: np.where(yields, elastic[name], found[name]) for name in found}

    @cached_property
    def phases(self) -> Phases | None:
        """Which cells are fluid and which are solid; None if there is no fluid."""
        rows = self.rows
        slips = np.isinf(rows.corrections[:, 1]) if rows else np.zeros(0, bool)
        if not (self.statistics.fluid_cells or slips.any()):
            return None
        last = self.grid.cells[2] + GHOSTS - 1
        inner = slice(GHOSTS, -GHOSTS)

        def plane(k: int) -> Mask:
            row = min(max(k, -GHOSTS), last)
            return np.isfinite(self.padded_plane(row)["compliance"][inner, inner])

        profile = find_profile(self.medium) if rows else None
        return Phases(
            self.grid,
            self.periodic,
            plane,
            frozenset((np.flatnonzero(slips) - GHOSTS).tolist()),
            profile,
        )

    @cached_property
    def interpolation(self) -> Interpolation:
        """The weights of grid values at sources and receivers."""
        return Interpolation(self.grid, self.free_surface, self.phases)

    @cached_property
    def max_wave_speed(self) -> float:
        """Speed of the fastest P wave, m/s; unrelaxed if the medium is anelastic."""
        if self.relaxation is None or self.statistics.qp_min is None:
            return self.statistics.vp_max
        ratio = self.relaxation.modulus_ratio(1 / self.statistics.qp_min, self.reference_frequency)
        return self.statistics.vp_max * float(np.sqrt(ratio))

    @cached_property
    def limiting_speed(self) -> float:
        """Wave speed that limits the time step, m/s.

        This is the speed of the fastest P wave, or of faster waves that interfaces and layers
        thinner than a cell guide on the grid.
        """
        bound = equivalent_speed(self.rows, self.grid.spacing) if self.rows else 0.0
        return max(self.max_wave_speed, bound)

    @property
    def resolved_frequency(self) -> float:
        """Frequency at which the slowest wave spans POINTS_PER_WAVELENGTH cells, Hz."""
        return self.statistics.speed_min / (POINTS_PER_WAVELENGTH * max(self.grid.spacing))
