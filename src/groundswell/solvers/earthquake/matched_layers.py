"""The absorbing layers of a run: parameters of matched layers, and the waves that they absorb."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, pi

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.seismology.guided_waves import REFERENCE_WIDTH, SoftGround
from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer
from groundswell.solvers.earthquake.absorbing_reflection import AbsorbedBand, absorbed_band
from groundswell.solvers.earthquake.ground import Ground

SHIFT = 2.0  # frequency shift at the inner edge over 2 pi / duration
HIGHEST_SHIFT = 0.1  # its upper limit over 2 pi times the highest frequency that the grid resolves
# Damping ratio next to a solid that lies on a fluid, such as ice on water. The solid is a plate. It
# has waves with opposite phase and group velocities near the resonances of its thickness, which the
# layers amplify. In uniform layers, the eigenvalues of all waves require ratios of up to 0.03.
PLATE_RATIO, MOST_PLATE_RATIO = 0.03, 0.08


@dataclass(frozen=True, eq=False)
class Absorption:
    """The absorbing layers around the region.

    Args:
        are_matched: whether they are perfectly matched layers; otherwise sponges.
        duration: of the run after time zero, s.
        dt: time step, s.
    """

    ground: Ground
    are_matched: bool
    duration: float
    dt: float

    @property
    def side_width(self) -> int:
        """Width of the layers at the sides, cells."""
        return max(self.ground.grid.before[:2])

    def matched_layer(self, axis: int) -> MatchedLayer:
        """The matched layers at both ends of an axis of the grid.

        The shift at the inner edge follows from the duration, the longest period that a run
        resolves. The uniform shift and the factor of the damping follow from soft ground at the
        sides.
        """
        grid, ground = self.ground.grid, self.soft_ground
        highest = HIGHEST_SHIFT * self.ground.resolved_frequency
        return MatchedLayer(
            grid.before[axis] if self.are_matched else 0,
            grid.after[axis] if self.are_matched else 0,
            grid.cells[axis],
            grid.spacing[axis],
            self.ground.max_wave_speed,
            shift=2 * pi * min(SHIFT / self.duration, highest),
            uniform_shift=ground.frequency_shift(axis) if ground else 0.0,
            factor=ground.damping_factor if ground and not self.plate_rows.any() else 1.0,
        )

    @cached_property
    def plate_rows(self) -> Mask:
        """Rows of the region of solids that lie on a fluid at the sides, and of that fluid, (nz,).

        Rows above them count as well.
        """
        sides = self.ground.statistics.sides
        fluid = sides.slowest >= sides.vp
        below_solid = fluid & np.logical_or.accumulate(~fluid)
        return np.logical_or.accumulate(below_solid[::-1])[::-1]

    @cached_property
    def side_damping_ratios(self) -> Floats:
        """Damping ratio of the layers at the sides in each depth row of the region, (nz,)."""
        ground = self.soft_ground
        if ground is None:
            return np.zeros(self.ground.grid.region[2])
        wider = max(1.0, self.side_width / REFERENCE_WIDTH)
        plate = min(PLATE_RATIO * wider, MOST_PLATE_RATIO)
        return np.maximum(
            ground.damping_ratio(self.side_width), np.where(self.plate_rows, plate, 0)
        )

    @cached_property
    def soft_ground(self) -> SoftGround | None:
        """Soft ground at the sides; None without matched layers there, and in a fluid."""
        statistics = self.ground.statistics
        if not self.are_matched or self.ground.periodic or statistics.vs_max is None:
            return None
        height = self.ground.grid.spacing[2]
        return SoftGround(
            statistics.sides, statistics.vs_max, height, self.ground.resolved_frequency
        )

    @cached_property
    def band(self) -> AbsorbedBand | None:
        """Band in which the layers reflect only a small fraction of plane waves, or None."""
        if not self.are_matched:
            return None
        axis, slowest = 0, float(self.ground.statistics.sides.slowest.min())
        if self.ground.periodic:
            axis, slowest = 2, self.ground.statistics.speed_min
        speeds = slowest, self.ground.max_wave_speed
        return absorbed_band(
            self.matched_layer(axis), self.dt, speeds, self.ground.resolved_frequency
        )

    @cached_property
    def soft_ground_reflection(self) -> float:
        """Estimate of the largest fraction of long surface waves that multiaxial damping reflects.

        In a layer much thinner than the wavelength, this fraction is about the damping ratio times
        the integral of the axial damping over the layer, divided by the speed of the fastest wave.
        """
        ratio = float(self.side_damping_ratios.max())
        return ratio * self.matched_layer(0).decades * log(10) / 2
