"""The `[[source]]` entries of a case as point sources, and properties of ruptures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.grids.geography import Geography
from groundswell.seismology.case.events import EventFile
from groundswell.seismology.case.sources import Airgun, Source
from groundswell.seismology.formats.srf_content import Plane
from groundswell.seismology.sources.moment import scalar_moment
from groundswell.seismology.sources.point_sources import PointSource, total_moments
from groundswell.seismology.sources.time_functions import TimeFunction
from groundswell.seismology.sources.time_tables import centroid_of

Point = tuple[float, float, float]

# Final moment over largest moment below which a time function is a transient, without a permanent
# moment.
_TRANSIENT = 0.5


@dataclass(frozen=True, eq=False)
class Fault:
    """Slip of an SRF file, in the frame of the grid.

    Args:
        subfaults: number of subfaults, with and without slip.
        slipping: number of subfaults that slip.
        area: total area of the slipping subfaults, m^2.
        largest_slip: largest slip of a subfault, m.
        start, end: times of the first and the last slip, s.
        hypocentre: position (x, y, depth) of the subfault that slips first, m.
        own_rigidity: number of slipping subfaults whose rigidity is in the file; the others have
            the rigidity of the medium.
        frame: mapping from longitudes and latitudes of the file to the grid.
        planes: the planar segments, if the file has them.
    """

    subfaults: int
    slipping: int
    area: float
    largest_slip: float
    start: float
    end: float
    hypocentre: Point
    own_rigidity: int
    frame: Geography
    planes: tuple[Plane, ...]


@dataclass(frozen=True, eq=False)
class SourceEntry:
    """One `[[source]]` of a case.

    Args:
        section: the entry in the case.
        points: its point sources, at least one; those of a file are in the order of the file.
        fault: the fault of an SRF file; None for other kinds.
        warnings: warnings about its file, each with a remedy.
        time_function: that of an event of a file; others have theirs in the section.
    """

    section: Source
    points: list[PointSource]
    fault: Fault | None = None
    warnings: tuple[str, ...] = ()
    time_function: TimeFunction | None = None

    @property
    def function(self) -> TimeFunction | None:
        """The time function of its only point; None for files of several points."""
        if isinstance(self.section, EventFile):
            return self.time_function
        return getattr(self.section, "time_function", None)

    @property
    def start(self) -> float:
        """Time at which the source starts, s."""
        return self.fault.start if self.fault else min(point.start for point in self.points)

    @property
    def centroid_time(self) -> float:
        """Centroid of the magnitude of the moment rate (or of the force), s."""
        return self.function.centroid_time if self.function else _centroid_time(self.points)

    @property
    def hypocentre(self) -> Point:
        """Position (x, y, depth) at which the source starts, m."""
        if self.fault:
            return self.fault.hypocentre
        return min(self.points, key=lambda point: point.start).position

    def released_by(self, end: float) -> float:
        """Fraction of the moment that is released in a run that ends at `end` (s).

        It is 1 for forces and airguns, and for transients, whose final moment is less than half of
        the largest.
        """
        if isinstance(self.section, Airgun):
            return 1.0
        if self.function is None:
            return _released_by(end, self.points)
        (point,), final = self.points, self.function.integral
        if point.moment is None or abs(final) < _TRANSIENT:
            return 1.0
        return point.step * float(point.samples.sum()) / final  # samples end with the run


def _centroid_time(points: Sequence[PointSource]) -> float:
    """Centroid of the magnitude of the moment rate of the points of a file, s."""
    times = [p.start + p.step * np.arange(p.samples.size) for p in points]
    centroids = [centroid_of(t, p.samples) for t, p in zip(times, points, strict=True)]
    return float(np.average(centroids, weights=total_moments(points)))


def _released_by(end: float, points: Sequence[PointSource]) -> float:
    """Fraction of the moment of all points that is released by the time `end` (s).

    Moments of opposite signs add up.
    """
    late = total = 0.0
    for point in points:
        assert point.moment is not None  # files have no forces
        rates, size = np.abs(point.samples), float(scalar_moment(point.moment))
        before = max(0, int((end - point.start) / point.step) + 1)
        late += size * point.step * float(rates[before:].sum())
        total += size * point.step * float(rates.sum())
    return 1 - late / total if late else 1.0
