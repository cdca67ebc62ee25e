"""Whether waves of the sources are absorbed, and how the scheme absorbs them."""

from __future__ import annotations

from groundswell.solvers.ultrasound.dispersion import LossyWave, most_absorbing, worst_wave
from groundswell.solvers.ultrasound.source_waves import frequencies
from groundswell.solvers.ultrasound.wave_setup import WaveSetup

FEWEST_STEPS = 4.0  # per period, below which there is no estimate of the error of the absorption


def absorbs_waves(setup: WaveSetup) -> bool:
    """Whether the medium absorbs and a source has a frequency."""
    return setup.materials.is_absorbing and bool(frequencies(setup.source_sections))


def steps_per_period(setup: WaveSetup) -> float:
    """Time steps per period of the highest source frequency."""
    return 1 / (max(frequencies(setup.source_sections)) * setup.dt)


def absorbed_wave(setup: WaveSetup, dt: float | None = None) -> LossyWave | None:
    """The wave of the highest source frequency at the points with the largest absorption.

    None if there is no wave that resembles that of the power law, or too few steps per period.

    Args:
        setup: a case in which waves are absorbed.
        dt: time step, s; by default that of the case.
    """
    if dt is None and steps_per_period(setup) < FEWEST_STEPS:
        return None
    points, highest = most_absorbing(setup.materials), max(frequencies(setup.source_sections))
    return worst_wave(points, highest, setup.reference_speed, setup.dt if dt is None else dt)
