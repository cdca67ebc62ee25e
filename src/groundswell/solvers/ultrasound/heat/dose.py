"""Thermal dose: cumulative equivalent minutes at 43 degrees Celsius (CEM43).

Sapareto & Dewey (1984), Int. J. Radiat. Oncol. Biol. Phys. 10, 787-800: the integral of
R^(43 - T) over time, with R = 0.5 above 43 degrees and 0.25 below.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats

THRESHOLD = 43.0  # degrees Celsius
ABOVE, BELOW = log(2), log(4)  # -ln R
LESION = 240.0  # CEM43 from which tissue counts as destroyed, minutes
MINUTE = 60.0  # s


def dose_of(before: ArrayLike, after: ArrayLike, seconds: float) -> Floats:
    """CEM43 (minutes) while temperatures change linearly; exact for these.

    Args:
        before, after: temperatures at the beginning and at the end, degrees Celsius.
        seconds: the time between, s.
    """
    low, high = np.minimum(before, after), np.maximum(before, after)
    rise = np.asarray(high - low)
    hot = np.where(high >= THRESHOLD, 1.0, 0.0)
    np.divide(high - THRESHOLD, rise, out=hot, where=rise > 0)
    hot = np.clip(hot, 0.0, 1.0)
    above = _mean(ABOVE, np.maximum(low, THRESHOLD), np.maximum(high, THRESHOLD))
    below = _mean(BELOW, np.minimum(low, THRESHOLD), np.minimum(high, THRESHOLD))
    return np.asarray(seconds / MINUTE * (hot * above + (1 - hot) * below))


def _mean(rate: float, low: Floats, high: Floats) -> Floats:
    """The mean of exp(rate (T - 43)) over temperatures between two."""
    rise = rate * (high - low)
    growth = np.ones_like(rise)
    np.divide(np.expm1(rise), rise, out=growth, where=rise > 0)
    return np.asarray(np.exp(rate * (low - THRESHOLD)) * growth)
