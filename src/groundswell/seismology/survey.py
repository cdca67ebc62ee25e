"""The sources and receivers of a case."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from groundswell.seismology.case.events import EventSection
from groundswell.seismology.receivers import Station
from groundswell.seismology.sources.entries import Point, SourceEntry
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.seismology.sources.spectra import highest_frequency
from groundswell.seismology.sources.summary import SourceSummary


@dataclass(frozen=True, eq=False)
class Survey:
    """The sources and receivers of a case.

    Args:
        entries: the `[[source]]` entries as point sources; see `build_sources`.
        receivers: all receivers, including those of a station file; see `place_receivers`.
        hypocentre: where a fault starts to break (x, y, depth), m; None without faults.
        skipped: codes of the stations of a file that lie outside the region.
        event: the section `[event]`, completed by events of files; see `complete_event`.
        water_depth: depth of the water at the centroid of the sources, m; None if unknown.
    """

    entries: list[SourceEntry]
    receivers: list[Station]
    hypocentre: Point | None = None
    skipped: tuple[str, ...] = ()
    event: EventSection = field(default_factory=EventSection)
    water_depth: float | None = None

    @cached_property
    def sources(self) -> list[PointSource]:
        """All point sources."""
        return [point for entry in self.entries for point in entry.points]

    @cached_property
    def summary(self) -> SourceSummary:
        """Net moment tensor, magnitude and centroid of all sources."""
        if not self.entries and self.hypocentre:
            return SourceSummary.at(self.hypocentre)
        return SourceSummary.from_entries(self.entries)

    @cached_property
    def frequency(self) -> float:
        """Frequency below which every source has 99 % of its energy, Hz; 0 without sources."""
        return highest_frequency(self.sources) if self.sources else 0.0

    @cached_property
    def places(self) -> list[tuple[str, Point]]:
        """Names, for messages, and positions (x, y, depth), m, of receivers and then of sources."""
        found = [(f"receiver {receiver.name}", receiver.position) for receiver in self.receivers]
        for n, entry in enumerate(self.entries):
            found += [(f"source[{n}]", point.position) for point in entry.points]
        return found
