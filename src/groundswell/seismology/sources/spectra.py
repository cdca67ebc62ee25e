"""Frequencies that sources radiate."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.seismology.sources.point_sources import PointSource

MAX_SPECTRA = 256  # number of sources whose spectra are computed, evenly spread over all
ENDED = 0.01  # last sample of a source that has ended, over its largest; see _spectral_energy


def highest_frequency(sources: Sequence[PointSource]) -> float:
    """Frequency below which every source has 99 % of its spectral energy in the run, Hz."""
    return max(corner_frequency(source.samples, source.step) for source in _sample(sources))


def energy_below(frequency: float, sources: Sequence[PointSource]) -> float:
    """Fraction of its energy that a source radiates below a frequency (Hz): largest of all."""
    return max(
        radiated_energy_below(frequency, source.samples, source.step) for source in _sample(sources)
    )


def _sample(sources: Sequence[PointSource]) -> Sequence[PointSource]:
    """At most MAX_SPECTRA of the sources, evenly spread, so that long lists take little time."""
    return sources[:: ceil(len(sources) / MAX_SPECTRA)]


def corner_frequency(samples: Reals, step: float) -> float:
    """Frequency (Hz) below which 99 % of the spectral energy of `samples` (n,) lies.

    Args:
        step: time between samples, s.
    """
    frequencies, density = _spectral_energy(samples, step)
    energy = _integrate(density)
    return float(np.interp(0.99 * energy[-1], energy, frequencies))


def radiated_energy_below(frequency: float, samples: Reals, step: float) -> float:
    """Fraction of the energy that a source radiates below a frequency (Hz), 0 to 1.

    In the far field, velocity is proportional to the time derivative of `samples` (Aki & Richards
    2002, eq. 4.32).

    Args:
        samples: moment rate or force, (n,).
        step: time between samples, s.
    """
    frequencies, density = _spectral_energy(samples, step)
    energy = _integrate(frequencies**2 * density)
    return float(np.interp(frequency, frequencies, energy) / energy[-1])


def _spectral_energy(samples: Reals, step: float) -> tuple[Floats, Floats]:
    """Frequencies (Hz) and spectral energy density of samples.

    If the run ends before the source does, a step to zero would add high frequencies that the
    source does not radiate. The samples then continue as their own mirror image, without a step.
    """
    if abs(samples[-1]) > ENDED * np.abs(samples).max():
        samples = np.concatenate([samples, samples[::-1]])
    padded = 8 * len(samples)
    density = np.abs(np.fft.rfft(samples, padded)) ** 2
    return np.asarray(np.fft.rfftfreq(padded, step), float), np.asarray(density, float)


def _integrate(density: Floats) -> Floats:
    """Cumulative integral by the trapezoidal rule with unit spacing."""
    return np.asarray(np.cumsum(density) - 0.5 * (density[0] + density))
