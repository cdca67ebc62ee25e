"""Parameters of the matched layers of a set-up, and the frequencies that they absorb."""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.seismology.guided_waves import REFERENCE_WIDTH, SoftGround
from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer
from groundswell.solvers.earthquake.absorbing_reflection import AbsorbedBand, absorbed_band

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

SHIFT = 2.0  # frequency shift at the inner edge over 2 pi / duration
HIGHEST_SHIFT = 0.1  # its upper limit over 2 pi times the highest frequency that the grid resolves
# Damping ratio next to a solid that lies on a fluid, such as ice on water. The solid is a plate. It
# has waves with opposite phase and group velocities near the resonances of its thickness, which the
# layers amplify. In uniform layers, the eigenvalues of all waves require ratios of up to 0.03.
PLATE_RATIO, MOST_PLATE_RATIO = 0.03, 0.08


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
        factor=ground.damping_factor if ground and not plate_rows(setup).any() else 1.0,
    )


def plate_rows(setup: Setup) -> NDArray[np.bool_]:
    """Rows of the region of solids that lie on a fluid at the sides, and of that fluid, (nz,).

    Rows above them count as well.
    """
    sides = setup.statistics.sides
    fluid = sides.slowest >= sides.vp
    below_solid = fluid & np.logical_or.accumulate(~fluid)
    return np.logical_or.accumulate(below_solid[::-1])[::-1]


def side_damping_ratios(setup: Setup) -> NDArray[np.float64]:
    """Damping ratio of the layers at the sides in each depth row of the region, (nz,)."""
    ground = soft_ground(setup)
    if ground is None:
        return np.zeros(setup.grid.region[2])
    wider = max(1.0, setup.side_width / REFERENCE_WIDTH)
    plate = min(PLATE_RATIO * wider, MOST_PLATE_RATIO)
    return np.maximum(ground.damping_ratio(setup.side_width), np.where(plate_rows(setup), plate, 0))


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
    ratio = float(side_damping_ratios(setup).max())
    return ratio * matched_layer(setup, 0).decades * log(10) / 2
