"""Horizontal motion by direction: RotD50 and RotD100 (Boore 2010, BSSA 100, 1830-1835).

Both horizontal components are turned by every angle from 0 to 180 degrees. RotDnn is a percentile,
over the angles, of the largest absolute value: RotD50 the median and RotD100 the maximum. Neither
depends on the orientation of the sensor.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from groundswell.arrays import Floats

ANGLES = 180  # of series: one each degree
_VALUES = 2**22  # rotated values at a time


def directions(angles: int) -> Floats:
    """Cosines and sines of equally spaced angles from 0 to 180 degrees, (angles, 2)."""
    radians = np.pi * np.arange(angles) / angles
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def rotated_peaks(pairs: Floats, angles: int = ANGLES) -> Floats:
    """Largest absolute value of motion in each direction, (..., angles).

    Args:
        pairs: both horizontal components, (..., 2, samples).
    """
    turned = directions(angles)
    samples = pairs.shape[-1]
    peaks = np.zeros((*pairs.shape[:-2], angles))
    step = max(1, _VALUES // max(1, angles * peaks.size // angles))
    for part in range(ceil(samples / step)):
        along = turned @ pairs[..., part * step : (part + 1) * step]
        np.maximum(peaks, np.abs(along).max(axis=-1), out=peaks)
    return peaks


def rotd(peaks: Floats, percentile: float) -> Floats:
    """RotDnn of the peaks in each direction (..., angles)."""
    return np.asarray(np.percentile(peaks, percentile, axis=-1))
