"""Parameters of the matched layers of a set-up, and the frequencies that they absorb."""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING

from groundswell.seismology.guided_waves import SoftGround
from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer
from groundswell.solvers.earthquake.absorbing_reflection import AbsorbedBand, absorbed_band

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

SHIFT = 2.0  # frequency shift at the inner edge over 2 pi / duration
HIGHEST_SHIFT = 0.1  # its upper limit over 2 pi times the highest frequency that the grid resolves


def matched_layer(setup: Setup, axis: int) -> MatchedLayer:
    """The matched layers at both ends of an axis of the grid.

    The shift at the inner edge follows from the duration, the longest period that a run resolves.
    The uniform shift and the factor of the damping follow from soft ground at the sides.
    """
    grid = setup.grid
    highest = HIGHEST_SHIFT * setup.resolved_frequency
    ground = soft_ground(setup)
    return MatchedLayer(
        grid.before[axis] if setup.has_pml else 0,
        grid.after[axis] if setup.has_pml else 0,
        grid.cells[axis],
        grid.spacing[axis],
        setup.max_wave_speed,
        shift=2 * pi * min(SHIFT / setup.case.time.duration, highest),
        uniform_shift=ground.frequency_shift(axis) if ground else 0.0,
        factor=ground.damping_factor if ground else 1.0,
    )


def soft_ground(setup: Setup) -> SoftGround | None:
    """Soft ground at the sides; None if they have no matched layers, or the medium is a fluid."""
    statistics = setup.statistics
    if not setup.has_pml or setup.periodic or statistics.vs_max is None:
        return None
    height = setup.grid.spacing[2]
    return SoftGround(statistics.sides, statistics.vs_max, height, setup.resolved_frequency)


def absorbed_frequencies(setup: Setup) -> AbsorbedBand | None:
    """Band in which the layers reflect only a small fraction of plane waves, or None."""
    if not setup.has_pml:
        return None
    axis, slowest = 0, float(setup.statistics.sides.slowest.min())
    if setup.periodic:
        axis, slowest = 2, setup.statistics.speed_min
    speeds = slowest, setup.max_wave_speed
    return absorbed_band(matched_layer(setup, axis), setup.dt, speeds, setup.resolved_frequency)


def soft_ground_reflection(setup: Setup) -> float:
    """Estimate of the largest fraction of long surface waves that multiaxial damping reflects.

    In a layer much thinner than the wavelength, this fraction is about the damping ratio times the
    integral of the axial damping over the layer, divided by the speed of the fastest wave.
    """
    ground = soft_ground(setup)
    if ground is None:
        return 0.0
    ratio = float(ground.damping_ratio(setup.side_width).max())
    return ratio * matched_layer(setup, 0).decades * log(10) / 2
