"""Sampled signals as waves on the grid: their wavenumbers, amplitudes and pressure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi

import numpy as np
from scipy.fft import dct, idct

from groundswell.arrays import Floats, Reals
from groundswell.solvers.ultrasound.point_source import PointSource

MOST_SIGNALS = 64  # of a source that are examined, at equal distances among its signals
SILENCE = 8  # samples of silence before and after a signal, as it may begin or end with a jump


@dataclass(frozen=True)
class Pulses:
    """Cosine series of sampled signals.

    Args:
        amplitudes: of each signal, relative to the largest value of all, (signals, terms).
        wavenumbers: of the terms in the slowest medium, rad per point, (terms,).
    """

    amplitudes: Floats
    wavenumbers: Floats

    @property
    def wavenumber(self) -> float:
        """Mean wavenumber of waves that the grid resolves, weighted by energy, rad per point."""
        energy = (self.amplitudes**2).sum(axis=0) * (self.wavenumbers <= pi)
        return float(energy @ self.wavenumbers / energy.sum()) if energy.any() else pi

    def largest(self, transfer: Callable[[Floats], Floats]) -> float:
        """The largest value of the signals after a filter, a function of the wavenumber."""
        filtered = self.amplitudes * transfer(self.wavenumbers)
        return float(np.abs(idct(filtered, norm="ortho")).max())


def pulses_of(sources: Sequence[PointSource], radians_per_sample: float) -> list[Pulses]:
    """The signals of each source that has any.

    Args:
        radians_per_sample: phase, in the slowest medium, of the waves whose wavenumber is one
            radian per point: the time step times the slowest speed over the widest spacing.
    """
    signals = (source.signals.reshape(len(source.signals), -1).T for source in sources)
    return [_pulses(found, radians_per_sample) for found in signals if np.any(found)]


def _pulses(signals: Reals, radians_per_sample: float) -> Pulses:
    chosen = signals[:: max(1, len(signals) // MOST_SIGNALS)].astype(np.float64)
    padded = np.pad(chosen / np.abs(signals).max(), ((0, 0), (SILENCE, SILENCE)))
    terms = np.arange(padded.shape[1])
    return Pulses(dct(padded, norm="ortho"), pi * terms / len(terms) / radians_per_sample)
