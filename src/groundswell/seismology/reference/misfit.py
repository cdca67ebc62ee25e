"""Misfits of a seismogram to its reference that are used in benchmarks of solvers.

Time is the last axis of arrays, leading axes are components; `step` is the time step (s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.errors import InputError
from groundswell.seismology.reference.pulse import Floats


@dataclass(frozen=True)
class Misfit:
    """All misfits of a comparison; arrays over the leading axes of the series."""

    envelope: Floats  # time-frequency envelope misfit; 0.05 is 5 %
    phase: Floats  # time-frequency phase misfit; 1 is half a period
    l2: Floats  # relative L2 norm of the difference
    peak_difference: Floats  # %, positive if the series is larger
    peak_delay: Floats  # s, positive if the series is later


def compare(
    series: ArrayLike, reference: ArrayLike, step: float, band: tuple[float, float]
) -> Misfit:
    """Compute all misfits of `series` to `reference`, (n,) or (components, n).

    Args:
        band: frequency band of the time-frequency misfits, Hz.

    Raises:
        InputError: the series cannot be compared, or ObsPy is not installed.
    """
    return Misfit(
        envelope=envelope_misfit(series, reference, step, band),
        phase=phase_misfit(series, reference, step, band),
        l2=l2_misfit(series, reference),
        peak_difference=peak_difference(series, reference),
        peak_delay=peak_delay(series, reference, step),
    )


def envelope_misfit(
    series: ArrayLike,
    reference: ArrayLike,
    step: float,
    band: tuple[float, float],
    frequencies: int = 100,
) -> Floats:
    """Single-valued envelope misfit EM, globally normalised: () for (n,), (c,) for (c, n).

    Kristekova et al. (2006), BSSA 96, 1836-1850, and (2009), GJI 178, 813-825: Morlet wavelet with
    w0 = 6, `frequencies` logarithmically spaced in `band` (Hz). Several components are normalised
    by the largest.

    Raises:
        InputError: the series cannot be compared, or ObsPy is not installed.
    """
    return _time_frequency("em", series, reference, step, band, frequencies)


def phase_misfit(
    series: ArrayLike,
    reference: ArrayLike,
    step: float,
    band: tuple[float, float],
    frequencies: int = 100,
) -> Floats:
    """Single-valued phase misfit PM, as `envelope_misfit`; 2 f d at frequency f for a delay d."""
    return _time_frequency("pm", series, reference, step, band, frequencies)


def l2_misfit(series: ArrayLike, reference: ArrayLike) -> Floats:
    """L2 norm of the difference over that of the reference, along the last axis."""
    a, b = _pair(series, reference)
    return np.linalg.norm(a - b, axis=-1) / np.linalg.norm(b, axis=-1)


def peak_difference(series: ArrayLike, reference: ArrayLike) -> Floats:
    """Relative difference of the largest absolute values, %."""
    a, b = _pair(series, reference)
    return 100.0 * (np.abs(a).max(axis=-1) / np.abs(b).max(axis=-1) - 1.0)


def peak_delay(series: ArrayLike, reference: ArrayLike, step: float) -> Floats:
    """Time from the largest absolute value of the reference to that of the series, s.

    Maxima are interpolated between samples by a parabola.
    """
    a, b = _pair(series, reference)
    return step * (_peak_index(np.abs(a)) - _peak_index(np.abs(b)))


def resample(time: ArrayLike, values: ArrayLike, new_time: ArrayLike) -> Floats:
    """Interpolate `values` (..., n) at times `time` (n,) to `new_time` (m,) by a quintic spline.

    There is no anti-alias filter: use `lowpass` before resampling to a larger step.

    Raises:
        InputError: `new_time` extends beyond `time`, or the arguments are invalid.
    """
    from scipy.interpolate import make_interp_spline

    t, new = np.asarray(time, dtype=float), np.asarray(new_time, dtype=float)
    y = np.asarray(values, dtype=float)
    if t.ndim != 1 or t.size < 6 or np.any(np.diff(t) <= 0) or y.shape[-1:] != t.shape:
        raise InputError(
            f"resample: times of shape {t.shape} for values of shape {y.shape}; needs six or more "
            f"increasing times, one for each value"
        )
    slack = 1e-6 * (t[1] - t[0])  # for rounding errors
    if new.min() < t[0] - slack or new.max() > t[-1] + slack:
        raise InputError(
            f"resample: times {new.min():g} to {new.max():g} s are beyond the data from {t[0]:g} "
            f"to {t[-1]:g} s"
        )
    return make_interp_spline(t, y, k=5, axis=-1)(new)


def lowpass(values: ArrayLike, step: float, corner: float, order: int = 4) -> Floats:
    """Zero-phase Butterworth low-pass along the last axis, applied forward and backward.

    The amplitude response is 1/2 at `corner` (Hz) and decreases as for twice the `order`.

    Raises:
        InputError: the corner is not between 0 and the Nyquist frequency.
    """
    from scipy.signal import butter, sosfiltfilt

    nyquist = 0.5 / step
    if not 0.0 < corner < nyquist:
        raise InputError(
            f"low-pass corner {corner:g} Hz: must lie between 0 and the Nyquist frequency "
            f"{nyquist:g} Hz"
        )
    sections = butter(order, corner, fs=1.0 / step, output="sos")
    return sosfiltfilt(sections, np.asarray(values, dtype=float), axis=-1)


def _time_frequency(
    measure: str,
    series: ArrayLike,
    reference: ArrayLike,
    step: float,
    band: tuple[float, float],
    frequencies: int,
) -> Floats:
    try:
        from obspy.signal import tf_misfit
    except ImportError:
        raise InputError(
            "time-frequency misfits need ObsPy; install it: pip install 'groundswell[seismology]'"
        ) from None
    a, b = _pair(series, reference)
    low, high = band
    if a.ndim > 2 or not 0.0 < low < high <= 0.5 / step:
        raise InputError(
            f"time-frequency misfit of shape {a.shape} in {low:g} to {high:g} Hz: needs shape (n,) "
            f"or (components, n) and 0 < low < high <= Nyquist frequency {0.5 / step:g} Hz"
        )
    settings = {"dt": step, "fmin": low, "fmax": high, "nf": frequencies, "w0": 6}
    values = getattr(tf_misfit, measure)(a, b, norm="global", st2_isref=True, **settings)
    return np.asarray(values)


def _pair(series: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(series, dtype=float), np.asarray(reference, dtype=float)
    if a.shape != b.shape or a.ndim == 0:
        raise InputError(
            f"cannot compare a series of shape {a.shape} with a reference of shape {b.shape}; "
            f"resample both to the same times"
        )
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        raise InputError("cannot compare series with NaN or infinite values")
    if not np.all(np.any(b != 0.0, axis=-1)):
        raise InputError("a component of the reference is zero; leave it out")
    return a, b


def _peak_index(magnitude: Floats) -> Floats:
    """Position of the maximum along the last axis, samples, interpolated by a parabola."""
    top = np.clip(magnitude.argmax(axis=-1), 1, magnitude.shape[-1] - 2)[..., None]
    before, at, after = (np.take_along_axis(magnitude, top + i, -1)[..., 0] for i in (-1, 0, 1))
    curvature = before - 2.0 * at + after
    shift = np.divide(0.5 * (before - after), curvature, out=np.zeros_like(at), where=curvature < 0)
    return top[..., 0] + np.clip(shift, -1.0, 1.0)
