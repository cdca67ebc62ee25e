"""Operations on sampled signals: interpolation, filters and maxima between samples.

Time is the last axis of arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats


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


def peak_index(magnitude: Floats) -> Floats:
    """Position of the maximum along the last axis, samples, interpolated by a parabola."""
    top = np.clip(magnitude.argmax(axis=-1), 1, magnitude.shape[-1] - 2)[..., None]
    before, at, after = (np.take_along_axis(magnitude, top + i, -1)[..., 0] for i in (-1, 0, 1))
    curvature = before - 2.0 * at + after
    shift = np.divide(0.5 * (before - after), curvature, out=np.zeros_like(at), where=curvature < 0)
    return top[..., 0] + np.clip(shift, -1.0, 1.0)
