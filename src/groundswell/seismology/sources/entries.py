"""The `[[source]]` entries of a case as point sources, and the extent of a rupture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.grids.geography import Geography
from groundswell.seismology.case.sources import AwpRupture, Source, SrfRupture
from groundswell.seismology.formats.srf_content import Plane
from groundswell.seismology.sources.moment import scalar_moment
from groundswell.seismology.sources.point_sources import PointSource

Position = tuple[float, float, float]

_TAKEN_BACK = 0.5  # final over largest moment of a source


@dataclass(frozen=True, eq=False)
class Fault:
    """Slip of an SRF file, in the frame of the grid.

    Args:
        subfaults: number of subfaults, with and without slip.
        slipping: number of subfaults that slip.
        area: area of these, m^2.
        largest_slip: m.
        start, end: times between which they slip, s.
        hypocentre: position (x, y, depth) of the subfault that slips first, m.
        own_rigidity: number of slipping subfaults whose rigidity is from the file; the others have
            that of the medium.
        frame: maps longitudes and latitudes of the file to the grid.
        planes: the segments, if the file has them.
    """

    subfaults: int
    slipping: int
    area: float
    largest_slip: float
    start: float
    end: float
    hypocentre: Position
    own_rigidity: int
    frame: Geography
    planes: tuple[Plane, ...]


@dataclass(frozen=True, eq=False)
class SourceEntry:
    """One `[[source]]` of a case.

    Args:
        section: the entry in the case.
        points: its point sources, at least one, in the order of its file.
        fault: of an SRF file; None for other kinds.
        warnings: doubts about its file, each with a remedy.
    """

    section: Source
    points: list[PointSource]
    fault: Fault | None = None
    warnings: tuple[str, ...] = ()

    @property
    def start(self) -> float:
        """Time at which the source starts, s."""
        return self.fault.start if self.fault else min(point.start for point in self.points)

    @property
    def hypocentre(self) -> Position:
        """Position (x, y, depth) at which it starts, m."""
        if self.fault:
            return self.fault.hypocentre
        return min(self.points, key=lambda point: point.start).position

    def released_by(self, end: float) -> float:
        """Fraction of the moment that is released in a run that ends at `end` (s).

        It is 1 for forces, and for sources that take most of their moment back.
        """
        if isinstance(self.section, SrfRupture | AwpRupture):
            return _released_by(end, self.points)
        (point,), final = self.points, self.section.time_function.integral
        if point.moment is None or abs(final) < _TAKEN_BACK:
            return 1.0
        return point.step * float(point.samples.sum()) / final  # samples end with the run


def _released_by(end: float, points: Sequence[PointSource]) -> float:
    """Fraction of the moment of all points, without signs, that is released by a time (s)."""
    late = total = 0.0
    for point in points:
        assert point.moment is not None  # as files have moments only
        rates, size = np.abs(point.samples), float(scalar_moment(point.moment))
        before = max(0, int((end - point.start) / point.step) + 1)
        late += size * point.step * float(rates[before:].sum())
        total += size * point.step * float(rates.sum())
    return 1 - late / total if late else 1.0
