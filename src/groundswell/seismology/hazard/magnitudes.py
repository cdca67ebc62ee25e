"""Magnitude-frequency distributions: annual rates of magnitudes, in bins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.sources.moment import moment_from_magnitude

_ROUNDING = 1e-6  # of a bin; the ends of a range are decimal numbers


@dataclass(frozen=True, eq=False)
class MagnitudeRates:
    """Magnitudes (n,) and their annual rates (n,)."""

    magnitudes: Floats
    rates: Floats

    @property
    def moment_rate(self) -> float:
        """Moment released per year, N m."""
        return moment_rate(self.magnitudes, self.rates)


def moment_rate(magnitudes: Floats, rates: Floats) -> float:
    """Moment released per year by magnitudes (n,) with annual rates (n,), N m."""
    moments = np.array([moment_from_magnitude(magnitude) for magnitude in magnitudes])
    return float(moments @ rates)


def truncated_gutenberg_richter(
    a: float, b: float, lowest: float, highest: float, width: float
) -> MagnitudeRates:
    """Bins of the truncated Gutenberg-Richter distribution, at the magnitudes of their centres.

    The annual rate of earthquakes above m is 10^(a - b m) - 10^(a - b highest), so the rate of a
    bin is 10^(a - b m1) - 10^(a - b m2) (Weichert 1980, BSSA 70, 1337-1346). All bins are equally
    wide, at most `width`, and reach exactly from `lowest` to `highest`. OpenQuake rounds these two
    to multiples of the width instead.

    Raises:
        InputError: the range is empty, or the width is not positive.
    """
    if not (lowest < highest and width > 0 and b >= 0):
        raise InputError(
            f"Gutenberg-Richter from magnitude {lowest:g} to {highest:g}, bins of {width:g} and "
            f"b = {b:g}: give a higher maximum, positive bins and a b that is not negative"
        )
    count = max(math.ceil((highest - lowest) / width - _ROUNDING), 1)
    edges: Floats = np.linspace(lowest, highest, count + 1, dtype=np.float64)
    above: Floats = np.power(10.0, a - b * edges, dtype=np.float64)
    return MagnitudeRates((edges[:-1] + edges[1:]) / 2, -np.diff(above))


def equal_bins(lowest: float, width: float, rates: Floats) -> MagnitudeRates:
    """Rates (n,) of bins of one width, the first of which is centred at `lowest`."""
    return MagnitudeRates(lowest + width * np.arange(len(rates), dtype=np.float64), rates)
