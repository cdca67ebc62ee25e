"""Misfits of a seismogram to its reference that are used in benchmarks of solvers.

Time is the last axis of arrays, leading axes are components; `step` is the time step (s).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError, install


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
    return step * (_peak_index(np.abs(series)) - _peak_index(np.abs(reference)))


def resample(time: ArrayLike, values: ArrayLike, new_time: ArrayLike) -> Floats:
    """Interpolate `values` (..., n) at times `time` (n,) to `new_time` (m,) by a quintic spline.

    There is no anti-alias filter: use `lowpass` before resampling to a larger step.
    """
    from scipy.interpolate import make_interp_spline

    return np.asarray(make_interp_spline(time, values, k=5, axis=-1)(new_time))


def lowpass(values: ArrayLike, step: float, corner: float) -> Floats:
    """Zero-phase Butterworth low-pass of order 4, applied forward and backward along the last axis.

    The amplitude response is 1/2 at `corner` (Hz) and decreases as for order 8.
    """
    from scipy.signal import butter, sosfiltfilt

    sections = butter(4, corner, fs=1.0 / step, output="sos")
    return sosfiltfilt(sections, np.asarray(values, dtype=float), axis=-1)


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


def _peak_index(magnitude: Floats) -> Floats:
    """Position of the maximum along the last axis, samples, interpolated by a parabola."""
    top = np.clip(magnitude.argmax(axis=-1), 1, magnitude.shape[-1] - 2)[..., None]
    before, at, after = (np.take_along_axis(magnitude, top + i, -1)[..., 0] for i in (-1, 0, 1))
    curvature = before - 2.0 * at + after
    shift = np.divide(0.5 * (before - after), curvature, out=np.zeros_like(at), where=curvature < 0)
    return top[..., 0] + np.clip(shift, -1.0, 1.0)
