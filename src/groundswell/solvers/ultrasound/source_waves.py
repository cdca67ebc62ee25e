"""Waves that the sources emit: their frequencies, resolution and absorption."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

import numpy as np

from groundswell.solvers.ultrasound.dispersion import LossyWave, most_absorbing, worst_wave
from groundswell.solvers.ultrasound.overlap_error import WAVENUMBER, Wave
from groundswell.solvers.ultrasound.source_case import SampledSignal

if TYPE_CHECKING:
    from groundswell.solvers.ultrasound.wave_setup import WaveSetup

FEWEST_STEPS = 4.0  # per period, below which there is no estimate of the error of the absorption


def frequencies(setup: WaveSetup) -> list[float]:
    """Frequencies of the sources, Hz; sampled signals have none."""
    signals = (section.signal for section in setup.source_sections)
    return [signal.frequency for signal in signals if not isinstance(signal, SampledSignal)]


def points_per_wavelength(setup: WaveSetup) -> float | None:
    """Points per wavelength of the highest source frequency in the slowest medium.

    None if no source has a frequency.
    """
    found = frequencies(setup)
    if not found:
        return None
    widest = max(setup.grid.spacing[: setup.axes])
    return setup.smallest_speed / max(found) / widest


def absorbs_waves(setup: WaveSetup) -> bool:
    """Whether the medium absorbs and a source has a frequency."""
    return setup.materials.is_absorbing and bool(frequencies(setup))


def steps_per_period(setup: WaveSetup) -> float:
    """Time steps per period of the highest source frequency."""
    return 1 / (max(frequencies(setup)) * setup.dt)


def absorbed_wave(setup: WaveSetup, dt: float | None = None) -> LossyWave | None:
    """The wave of the highest source frequency at the points with the largest absorption.

    None if there is no wave that resembles that of the power law, or too few steps per period.

    Args:
        setup: a case in which waves are absorbed.
        dt: time step, s; by default that of the case.
    """
    if dt is None and steps_per_period(setup) < FEWEST_STEPS:
        return None
    points, highest = most_absorbing(setup.materials), max(frequencies(setup))
    return worst_wave(points, highest, setup.reference_speed, setup.dt if dt is None else dt)


def wave(setup: WaveSetup) -> Wave:
    """The waves of the sources; if none has a frequency, waves of 4 points per wavelength."""
    points, found, materials = points_per_wavelength(setup), frequencies(setup), setup.materials
    per_point = WAVENUMBER if points is None else 2 * pi / points
    slowest = setup.smallest_speed * per_point / (2 * pi * max(setup.grid.spacing[: setup.axes]))
    impedance = float(np.max(np.multiply(materials.density, materials.speed)))
    return Wave(
        per_point,
        max(found, default=slowest),
        max(
            (s.pressure or (s.velocity or 0) * impedance for s in setup.source_sections),
            default=0.0,
        ),
        max(n * h for n, h in zip(setup.grid.region, setup.grid.spacing, strict=True)),
    )
