"""Hazard curves: rates of exceedance, probabilities, maps, and fractiles over branches.

The annual rate at which motion x is exceeded is the sum over ruptures of their rates times the
probability that the rupture exceeds x (Cornell 1968, BSSA 58, 1583-1606; for simulated variations
Graves et al. 2011, Pure Appl. Geophys. 168, 367-381, equation 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.seismology.hazard.exceedance import Exceedance


def exceedance_rates(motion: Exceedance, rates: Floats, levels: Floats, sites: int) -> Floats:
    """Annual rates (sites, levels) at which levels are exceeded.

    Args:
        motion: the ground motion of the ruptures.
        rates: annual rates of the ruptures, (ruptures,).
        levels: of motion, (levels,).
        sites: number of sites.
    """
    return np.array([rates @ motion.probabilities(site, levels) for site in range(sites)])


def probability(rate: ArrayLike, years: float) -> Floats:
    """Probability of one or more events in a Poisson process, 1 - exp(-rate years)."""
    return np.asarray(-np.expm1(-np.asarray(rate, float) * years))


def level_at(levels: Floats, rates: Floats, rate: float) -> Floats:
    """Levels (...) that are exceeded at a rate: interpolated in log rate and log level.

    The level lies between the last level whose rate is at least `rate` and the next one. If the
    rate of the next one is 0, the last one is returned.

    Args:
        levels: increasing, (levels,).
        rates: rates of exceedance, which do not increase, (..., levels).
        rate: the rate of the levels to find.

    Returns:
        NaN where all rates are below `rate`, or all above it.
    """
    count = (rates >= rate).sum(axis=-1)
    last = np.clip(count - 1, 0, len(levels) - 2)
    below, above = (_take(rates, last + n) for n in (0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(above > 0, np.log(below / rate) / np.log(below / above), 0.0)
    share, logs = np.clip(share, 0.0, 1.0), np.log(levels)
    found = np.exp(logs[last] + share * (logs[last + 1] - logs[last]))
    exact = (count == len(levels)) & (rates[..., -1] == rate)
    inside = (count > 0) & (count < len(levels))
    return np.where(exact, levels[-1], np.where(inside, found, np.nan))


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """The weighted mean over branches, the first axis of `values` (branches, ...)."""
    return np.asarray(np.tensordot(weights / weights.sum(), values, axes=1))


def fractile(values: Floats, weights: Floats, share: float) -> Floats:
    """The lowest value (...) that branches with at least this share of all weights do not exceed.

    Args:
        values: (branches, ...).
        weights: of the branches, (branches,).
        share: between 0 and 1, such as 0.84.
    """
    order = np.argsort(values, axis=0, kind="stable")
    summed = np.cumsum(weights[order], axis=0) / weights.sum()
    first = np.argmax(summed >= share - 1e-12, axis=0)
    return _take(np.moveaxis(np.take_along_axis(values, order, axis=0), 0, -1), first)


def _take(values: Floats, index: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Floats:
    """One value of the last axis for each index (...)."""
    return np.asarray(np.take_along_axis(values, index[..., None], axis=-1)[..., 0])
