"""Acceleration and displacement from samples of velocity.

The acceleration between two samples of velocity is their difference divided by the interval h. It
is the value at the middle of the interval, and its sum reproduces the samples. At the angular
frequency w, this underestimates the acceleration by the fraction (w h)^2 / 24. `oversampled` makes
h smaller by a cubic spline through the samples.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats


def acceleration(velocity: Floats, interval: float) -> Floats:
    """Acceleration (..., samples), m/s^2, from velocity (..., samples), m/s.

    Value n is that half an interval before sample n. The first value is 0: the velocity before the
    record is assumed to be constant; before the record of a run, the ground is at rest.

    Args:
        interval: time between samples, s.
    """
    return np.diff(velocity, axis=-1, prepend=velocity[..., :1]) / interval


def displacement(velocity: Floats, interval: float) -> Floats:
    """Displacement (..., samples) since the first sample, m, by the trapezoidal rule.

    Args:
        velocity: (..., samples), m/s.
        interval: time between samples, s.
    """
    middles = (velocity[..., 1:] + velocity[..., :-1]) / 2
    moved = np.zeros(velocity.shape)
    moved[..., 1:] = interval * np.cumsum(middles, axis=-1)
    return moved


def oversampled(values: Floats, factor: int) -> Floats:
    """Samples `factor` times as dense, (..., factor * (samples - 1) + 1).

    They lie on a cubic spline through the given samples. Between these, the relative error at the
    angular frequency w is (w h)^4 / 384, if that is small.

    Args:
        values: (..., samples).
    """
    samples = values.shape[-1]
    if factor == 1 or samples < 2:
        return values
    from scipy.interpolate import CubicSpline

    places = np.arange(factor * (samples - 1) + 1) / factor
    return np.asarray(CubicSpline(np.arange(samples), values, axis=-1)(places))
