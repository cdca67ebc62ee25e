"""Net moment, magnitude and position of the sources of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.case.sources import Airgun
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.moment import magnitude_from_moment, scalar_moment
from groundswell.seismology.sources.point_sources import (
    PointSource,
    final_moments,
    total_moments,
)

_ROUNDING = 1e-6  # net moment over total moment below which the net moment is taken as zero


@dataclass(frozen=True, eq=False)
class SourceSummary:
    """Net moment, magnitude and position of the sources of a case, or of one of them.

    Attributes:
        moment: net moment tensor in the frame of the grid, (6,), N m; zero for forces.
        scalar_moment: M0 of the net moment tensor, N m.
        magnitude: Mw of the net moment tensor, to 0.01; None if the net moment is zero.
        summed_moment: sum of the scalar moments of all points and subfaults, N m. It exceeds
            `scalar_moment` where mechanisms differ.
        centroid: centroid of the moment (x, y, depth), m; of forces, the mean position.
        centroid_time: centroid of the magnitude of the moment rate, s; of forces, the mean time.
        hypocentre: position (x, y, depth), m, of the source that starts first.
    """

    moment: Floats
    scalar_moment: float
    magnitude: float | None
    summed_moment: float
    centroid: tuple[float, float, float]
    centroid_time: float
    hypocentre: tuple[float, float, float]

    @classmethod
    def at(cls, hypocentre: tuple[float, float, float]) -> Self:
        """That of an earthquake at time 0 whose moment is yet unknown."""
        return cls(np.zeros(6), 0.0, None, 0.0, hypocentre, 0.0, hypocentre)

    @classmethod
    def from_entries(cls, entries: Sequence[SourceEntry]) -> Self:
        """Summarise one or more sources."""
        points = [point for entry in entries for point in _points(entry)]
        net, totals = final_moments(points).sum(axis=0), total_moments(points)
        size, summed = float(scalar_moment(net)), sum(map(_summed_moment, entries))
        rounding = _ROUNDING * totals.sum()
        is_permanent = size > rounding
        positions = np.array([point.position for point in points])
        x, y, z = np.average(positions, axis=0, weights=totals if totals.any() else None)
        sizes = [total_moments(_points(entry)).sum() for entry in entries]
        times = [entry.centroid_time for entry in entries]
        return cls(
            moment=net if is_permanent else np.zeros(6),
            scalar_moment=size if is_permanent else 0.0,
            magnitude=round(magnitude_from_moment(size), 2) if is_permanent else None,
            summed_moment=summed if summed > rounding else 0.0,
            centroid=(float(x), float(y), float(z)),
            centroid_time=float(np.average(times, weights=sizes if any(sizes) else None)),
            hypocentre=min(entries, key=lambda entry: entry.start).hypocentre,
        )


def _points(entry: SourceEntry) -> list[PointSource]:
    """The points of a source; those of airguns without moments, which are not of an earthquake."""
    if isinstance(entry.section, Airgun):
        return [replace(point, moment=None) for point in entry.points]
    return entry.points


def _summed_moment(entry: SourceEntry) -> float:
    """Sum of the scalar moments of the points of a source, N m.

    The tensors of all components of a point are added first.
    """
    points = _points(entry)
    numbers = np.array([point.number for point in points])
    tensors = np.zeros((numbers.max() + 1, 6))
    np.add.at(tensors, numbers, final_moments(points))
    return float(scalar_moment(tensors).sum())
