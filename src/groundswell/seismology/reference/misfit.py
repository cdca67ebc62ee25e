"""Misfits of a seismogram to its reference that are used in benchmarks of solvers.

Time is the last axis of arrays, leading axes are components; `step` is the time step (s).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError, install
from groundswell.seismology.signals import peak_index


def envelope_misfit(
    series: ArrayLike, reference: ArrayLike, step: float, band: tuple[float, float]
) -> Floats:
    """Single-valued envelope misfit EM, globally normalised: () for (n,), (c,) for (c, n).

    Kristekova et al. (2006), BSSA 96, 1836-1850, and (2009), GJI 178, 813-825: Morlet wavelet with
    w0 = 6, 100 frequencies logarithmically spaced in `band` (Hz). Several components are normalised
    by the largest.

    Raises:
        InputError: ObsPy is not installed.
    """
    return _time_frequency("em", series, reference, step, band)


def phase_misfit(
    series: ArrayLike, reference: ArrayLike, step: float, band: tuple[float, float]
) -> Floats:
    """Single-valued phase misfit PM, as `envelope_misfit`; 2 f d at frequency f for a delay d."""
    return _time_frequency("pm", series, reference, step, band)


def relative_misfit(series: ArrayLike, reference: ArrayLike) -> float:
    """L2 norm of the difference over that of the reference; arrays of one shape, over all axes."""
    a, b = np.asarray(series, dtype=float), np.asarray(reference, dtype=float)
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def peak_difference(series: ArrayLike, reference: ArrayLike) -> Floats:
    """Relative difference of the largest absolute values, %."""
    a, b = (np.abs(s).max(axis=-1) for s in (series, reference))
    return np.asarray(100.0 * (a / b - 1.0))


def peak_delay(series: ArrayLike, reference: ArrayLike, step: float) -> Floats:
    """Time from the largest absolute value of the reference to that of the series, s.

    Maxima are interpolated between samples by a parabola.
    """
    return step * (peak_index(np.abs(series)) - peak_index(np.abs(reference)))


def _time_frequency(
    measure: str, series: ArrayLike, reference: ArrayLike, step: float, band: tuple[float, float]
) -> Floats:
    try:
        from obspy.signal import tf_misfit
    except ImportError:
        raise InputError(f"time-frequency misfits need ObsPy; {install('seismology')}") from None
    settings = {"dt": step, "fmin": band[0], "fmax": band[1], "nf": 100, "w0": 6}
    a, b = np.asarray(series, dtype=float), np.asarray(reference, dtype=float)
    return np.asarray(getattr(tf_misfit, measure)(a, b, norm="global", st2_isref=True, **settings))
