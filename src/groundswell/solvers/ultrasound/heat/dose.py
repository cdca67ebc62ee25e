"""Thermal dose: cumulative equivalent minutes at 43 degrees Celsius (CEM43).

Sapareto & Dewey (1984), Int. J. Radiat. Oncol. Biol. Phys. 10, 787-800: the integral of
R^(43 - T) over time, with R = 0.5 above 43 degrees and 0.25 below.
"""

from __future__ import annotations

from math import log

import numpy as np

from groundswell.arrays import DeviceArray

THRESHOLD = 43.0  # degrees Celsius
ABOVE, BELOW = log(2), log(4)  # -ln R
LESION = 240.0  # CEM43 from which tissue counts as destroyed, minutes
MINUTE = 60.0  # s


def dose_of(before: DeviceArray | float, after: DeviceArray | float, seconds: float) -> DeviceArray:
    """CEM43 (minutes) while temperatures change linearly; exact for these.

    Args:
        before, after: temperatures at the beginning and at the end, degrees Celsius.
        seconds: the time between, s.
    """
    low, high = np.minimum(before, after), np.maximum(before, after)
    rise = high - low
    share = (high - THRESHOLD) / np.where(rise > 0, rise, 1.0)
    hot = np.where(rise > 0, np.clip(share, 0.0, 1.0), high >= THRESHOLD)
    above = _mean(ABOVE, np.maximum(low, THRESHOLD), np.maximum(high, THRESHOLD))
    below = _mean(BELOW, np.minimum(low, THRESHOLD), np.minimum(high, THRESHOLD))
    return seconds / MINUTE * (hot * above + (1 - hot) * below)


def _mean(rate: float, low: DeviceArray, high: DeviceArray) -> DeviceArray:
    """The mean of exp(rate (T - 43)) over temperatures between two."""
    rise = rate * (high - low)
    with np.errstate(over="ignore"):  # infinite at temperatures far beyond boiling
        growth = np.where(rise > 0, np.expm1(rise) / np.where(rise > 0, rise, 1.0), 1.0)
        return np.exp(rate * (low - THRESHOLD)) * growth
