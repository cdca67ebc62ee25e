"""Operations on sampled signals: interpolation, calculus, filters and maxima between samples.

Time is the last axis of arrays. Derivatives and integrals are those of a quintic spline through the
samples. At the angular frequency w and the interval h, the relative error of a derivative is about
(w h)^6 / 5000: 0.5 % at 4 samples per period and 1e-5 at 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

ORDER = 4  # of Butterworth filters


def resample(time: ArrayLike, values: ArrayLike, new_time: ArrayLike) -> Floats:
    """Interpolate `values` (..., n) at times `time` (n,) to `new_time` (m,) by a quintic spline.

    There is no anti-alias filter: use `lowpass` before resampling to a larger step.
    """
    return np.asarray(_spline(time, values)(new_time))


def derivative(values: ArrayLike, interval: float) -> Floats:
    """The derivative of `values` (..., n) at the samples, which are `interval` (s) apart."""
    time = interval * np.arange(np.shape(values)[-1])
    return np.asarray(_spline(time, values).derivative()(time))


def integral(values: ArrayLike, interval: float) -> Floats:
    """The integral of `values` (..., n), `interval` (s) apart, from the first sample to each."""
    time = interval * np.arange(np.shape(values)[-1])
    return np.asarray(_spline(time, values).antiderivative()(time))


def _spline(time: ArrayLike, values: ArrayLike) -> BSpline:
    """The quintic spline through samples (..., n); of a lower degree if there are fewer than 6."""
    from scipy.interpolate import make_interp_spline

    samples = np.shape(values)[-1]
    degree = max(k for k in (1, 3, 5) if k < max(samples, 2))
    return make_interp_spline(time, np.asarray(values, float), k=degree, axis=-1)


def lowpass(values: ArrayLike, step: float, corner: float) -> Floats:
    """Zero-phase Butterworth low-pass of order 4, applied forward and backward along the last axis.

    The amplitude response is 1/2 at `corner` (Hz) and decreases as for order 8.
    """
    from scipy.signal import butter

    return _both_ways(butter(ORDER, corner, fs=1.0 / step, output="sos"), values)


def bandpass(values: ArrayLike, step: float, band: tuple[float, float]) -> Floats:
    """Zero-phase Butterworth band-pass of order 4, applied forward and backward; see `lowpass`.

    The amplitude response is 1/2 at both ends of `band` (Hz).
    """
    from scipy.signal import butter

    return _both_ways(butter(ORDER, band, "bandpass", fs=1.0 / step, output="sos"), values)


def without_aliases(values: ArrayLike, step: float, new_step: float) -> Floats:
    """Remove what samples `new_step` (s) apart cannot represent; nothing if that is not longer.

    A zero-phase Chebyshev filter of type 2 suppresses frequencies above the new Nyquist frequency
    to less than 1e-6 of their amplitude. It changes those below 0.7 times that frequency by less
    than 0.2 %.
    """
    if new_step <= step:
        return np.asarray(values, dtype=float)
    from scipy.signal import cheby2

    stop = 0.5 / new_step  # Hz
    return _both_ways(cheby2(12, 60, stop, fs=1.0 / step, output="sos"), values)


def _both_ways(sections: Floats, values: ArrayLike) -> Floats:
    """Apply second-order sections forward and backward."""
    from scipy.signal import sosfiltfilt

    values = np.asarray(values, dtype=float)
    padding = min(3 * (2 * len(sections) + 1), values.shape[-1] - 1)
    return np.asarray(sosfiltfilt(sections, values, axis=-1, padlen=padding))


def peak_index(magnitude: Floats) -> Floats:
    """Position of the maximum along the last axis, samples, interpolated by a parabola."""
    top = np.clip(magnitude.argmax(axis=-1), 1, magnitude.shape[-1] - 2)[..., None]
    before, at, after = (np.take_along_axis(magnitude, top + i, -1)[..., 0] for i in (-1, 0, 1))
    curvature = before - 2.0 * at + after
    shift = np.divide(0.5 * (before - after), curvature, out=np.zeros_like(at), where=curvature < 0)
    return top[..., 0] + np.clip(shift, -1.0, 1.0)
