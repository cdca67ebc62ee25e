"""Parameters of the matched layers of a set-up, and the frequencies that they absorb."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer
from groundswell.solvers.earthquake.absorbing_reflection import absorbed_band
from groundswell.solvers.earthquake.guided_waves import SoftGround

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

SHIFT = 2.0  # frequency shift at the inner edge over 2 pi / duration
HIGHEST_SHIFT = 0.1  # its upper limit over 2 pi times the highest frequency that the grid resolves


def matched_layer(setup: Setup, axis: int) -> MatchedLayer:
    """The matched layers at both ends of an axis of the grid.

    The frequency shift follows from the duration of the run, the longest period that it resolves.
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
    )


def soft_ground(setup: Setup) -> SoftGround | None:
    """Soft ground at the sides; None if they have no matched layers, or the medium is a fluid."""
    statistics = setup.statistics
    if not setup.has_pml or setup.periodic or statistics.vs_max is None:
        return None
    height = setup.grid.spacing[2]
    return SoftGround(statistics.sides, statistics.vs_max, height, setup.resolved_frequency)


def absorbed_frequencies(setup: Setup) -> tuple[float, float] | None:
    """Band in which the layers reflect less than 0.1 % of plane waves, Hz, or None."""
    if not setup.has_pml:
        return None
    speeds = setup.statistics.speed_min, setup.max_wave_speed
    layer = matched_layer(setup, 2 if setup.periodic else 0)
    return absorbed_band(layer, setup.dt, speeds, setup.resolved_frequency)


def soft_ground_reflection(setup: Setup) -> float:
    """Largest fraction of each wave that the layers reflect next to soft ground, an estimate."""
    ground = soft_ground(setup)
    return 0.0 if ground is None else float(ground.damping_ratio(setup.side_width).max())
