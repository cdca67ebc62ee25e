"""Disaggregation: contributions of ruptures, magnitudes and distances to a rate of exceedance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.hazard.exceedance import Exceedance
from groundswell.seismology.hazard.ruptures import Ruptures

EPSILONS = np.array([-np.inf, -2.0, -1.0, 0.0, 1.0, 2.0, np.inf])  # edges of bins


@dataclass(frozen=True, eq=False)
class Contribution:
    """The data of a branch at one site that disaggregation needs.

    Args:
        weight: weight of the branch among all branches.
        ruptures: its ruptures.
        motion: their ground motion.
        distances: of the ruptures from the site, m, (ruptures,); NaN if unknown.
    """

    weight: float
    ruptures: Ruptures
    motion: Exceedance
    distances: Floats


@dataclass(frozen=True, eq=False)
class Disaggregation:
    """Annual rates at which a level is exceeded at a site, by contribution.

    Args:
        level: the level, SI units.
        by_rupture: rates by the name of the rupture, largest first.
        magnitudes, distances: edges of bins; distances (m) are empty if unknown.
        rates: rates (magnitudes, distances, epsilons) of bins; a single bin of distance if
            distances are unknown, and of epsilon if the motion has no distribution.
        means: mean magnitude and distance (m), weighted by rate; NaN if distances are unknown.
    """

    level: float
    by_rupture: dict[str, float]
    magnitudes: Floats
    distances: Floats
    rates: Floats
    means: tuple[float, float]

    @property
    def total(self) -> float:
        """The annual rate at which the level is exceeded."""
        return float(self.rates.sum())


def disaggregate(
    branches: Sequence[Contribution], site: int, level: float, bins: tuple[float, float]
) -> Disaggregation:
    """The contributions to the mean rate at which a level is exceeded at a site.

    Bazzurro & Cornell (1999), BSSA 89, 501-520. The rates add up to the mean rate.

    Args:
        branches: all branches; their weights add up to 1.
        site: number of the site.
        level: of motion.
        bins: width of bins of magnitude and of distance (m).
    """
    parts = [_by_epsilon(branch, site, level) for branch in branches]
    if any(part.shape[1] == 1 for part in parts):  # a branch without distribution
        parts = [part.sum(axis=1, keepdims=True) for part in parts]
    magnitudes = np.concatenate([branch.ruptures.magnitudes for branch in branches])
    distances = np.concatenate([branch.distances for branch in branches])
    known = bool(np.isfinite(distances).all())
    m_edges = _edges(magnitudes, bins[0])
    d_edges = _edges(distances, bins[1], lowest=0.0) if known else np.array([])
    rates = np.concatenate(parts)
    binned = np.zeros((len(m_edges) - 1, max(len(d_edges) - 1, 1), rates.shape[1]))
    row = _bin(magnitudes, m_edges)
    column = _bin(distances, d_edges) if known else np.zeros(len(rates), int)
    np.add.at(binned, (row, column), rates)
    shares = rates.sum(axis=1) / max(rates.sum(), np.finfo(float).tiny)
    means = float(shares @ magnitudes), float(shares @ distances)
    return Disaggregation(level, _by_rupture(branches, parts), m_edges, d_edges, binned, means)


def _by_epsilon(branch: Contribution, site: int, level: float) -> Floats:
    """Weighted rates (ruptures, epsilons) of exceedance of a branch."""
    found = branch.motion.parts(site, level, EPSILONS)
    if found is None:
        found = branch.motion.probabilities(site, np.array([level]))
    return branch.weight * branch.ruptures.rates[:, None] * found


def _by_rupture(branches: Sequence[Contribution], parts: Sequence[Floats]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for branch, part in zip(branches, parts, strict=True):
        for name, rate in zip(branch.ruptures.names, part.sum(axis=1), strict=True):
            totals[name] = totals.get(name, 0.0) + float(rate)
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


def _edges(values: Floats, width: float, lowest: float | None = None) -> Floats:
    """Edges of bins of a width, at its multiples; all values are below the last edge."""
    first = floor(float(values.min()) / width + 1e-9) if lowest is None else round(lowest / width)
    last = floor(float(values.max()) / width + 1e-9) + 1
    return np.asarray(width * np.arange(first, last + 1), np.float64)


def _bin(values: Floats, edges: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    """The number of the bin of each value; those on an edge belong to the bin above it."""
    at = np.searchsorted(edges * (1 - 1e-12), values, side="right") - 1
    return np.clip(at, 0, len(edges) - 2)
