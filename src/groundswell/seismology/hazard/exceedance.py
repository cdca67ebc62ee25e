"""Probabilities that levels of ground motion are exceeded: from samples, or lognormal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from groundswell.arrays import Floats


class Exceedance(Protocol):
    """The ground motion of ruptures at sites, by its distribution."""

    def probabilities(self, site: int, levels: Floats) -> Floats:
        """Probability (ruptures, levels) that the motion at a site exceeds each level."""

    def parts(self, site: int, level: float, edges: Floats) -> Floats | None:
        """Probability (ruptures, bins) that a level is exceeded by motion in each bin of epsilon.

        Epsilon is the number of standard deviations above the mean logarithm. None if the
        distribution is unknown.
        """

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and highest level of interest."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Simulated motion (ruptures, variations, sites) of equally probable variations.

    The motion is not negative. NaN fills ruptures with fewer variations.
    """

    values: Floats
    _sorted: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sorted", np.sort(self.values, axis=1))

    def probabilities(self, site: int, levels: Floats) -> Floats:
        """The fraction of variations above each level."""
        at = self._sorted[:, :, site]
        counts = np.isfinite(at).sum(axis=1)
        rows = [
            (n - np.searchsorted(row[:n], levels, side="right")) / n
            for row, n in zip(at, counts, strict=True)
        ]
        return np.array(rows)

    def parts(self, site: int, level: float, edges: Floats) -> Floats | None:
        """None: samples have no distribution."""
        return None

    def lognormal(self) -> Lognormal:
        """The lognormal distribution of each rupture and site, by the moments of its samples.

        All values are positive. A rupture with one variation has no scatter.
        """
        logs = np.log(self.values)
        counts = np.isfinite(logs).sum(axis=1)
        mean = np.nanmean(logs, axis=1)
        square = np.nansum((logs - mean[:, None]) ** 2, axis=1)
        return Lognormal(mean, np.sqrt(square / np.maximum(counts - 1, 1)))

    @property
    def span(self) -> tuple[float, float]:
        """From the lowest positive to the highest value."""
        positive = self.values[self.values > 0]
        return (float(positive.min()), float(positive.max())) if positive.size else (1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Lognormal:
    """Motion whose logarithm is normally distributed.

    Args:
        mean: of the natural logarithm, (ruptures, sites); -inf beyond the maximum distance.
        deviation: standard deviation of the natural logarithm, (ruptures, sites).
        truncation: largest number of standard deviations from the mean; None for no limit.
    """

    mean: Floats
    deviation: Floats
    truncation: float | None = None

    def probabilities(self, site: int, levels: Floats) -> Floats:
        """The probability of motion above each level."""
        return self._above(self._epsilon(site, levels))

    def parts(self, site: int, level: float, edges: Floats) -> Floats | None:
        """The probability of motion above the level in each bin of epsilon."""
        least = self._epsilon(site, np.array([level]))
        above = self._above(np.maximum(least, edges))
        return above[:, :-1] - above[:, 1:]

    @property
    def span(self) -> tuple[float, float]:
        """From 2 standard deviations below the lowest mean to 4 (or the truncation) above."""
        felt = np.isfinite(self.mean)
        if not felt.any():
            return 1.0, 1.0
        mean, deviation = self.mean[felt], self.deviation[felt]
        most = 4.0 if self.truncation is None else self.truncation
        low, high = (mean - 2 * deviation).min(), (mean + most * deviation).max()
        return float(np.exp(low)), float(np.exp(high))

    def _epsilon(self, site: int, levels: Floats) -> Floats:
        """Standard deviations (ruptures, levels) from the mean to each level."""
        mean, deviation = self.mean[:, site, None], self.deviation[:, site, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            epsilon = (np.log(levels) - mean) / deviation
        sharp = np.where(np.log(levels) < mean, -np.inf, np.inf)
        return np.where(deviation > 0, epsilon, sharp)

    def _above(self, epsilon: Floats) -> Floats:
        """The probability of exceeding a number of standard deviations, with the truncation."""
        if self.truncation is None:
            return np.asarray(ndtr(-epsilon))
        limit = ndtr(-self.truncation)
        share = (ndtr(-epsilon) - limit) / (1.0 - 2.0 * limit)
        return np.asarray(np.clip(share, 0.0, 1.0))
