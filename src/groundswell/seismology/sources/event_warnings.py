"""Warnings about sources that do not fit the event, the receivers or the end of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.case.base import SeismicCase
from groundswell.seismology.case.events import EventSection
from groundswell.seismology.receivers import Station
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.event import centroid_warnings
from groundswell.seismology.sources.summary import SourceSummary
from groundswell.seismology.survey import Survey

MAGNITUDE_ERROR = 0.1
LARGEST_RECORDED = 9.6  # Mw; Chile 1960, Kanamori (1977), J. Geophys. Res. 82, 2981-2987: 9.5
RELEASED = 0.99  # fraction of a moment that is released within the run
_SHOWN = 5  # number of receivers that are named


def source_warnings(case: SeismicCase, survey: Survey, dt: float, speed: float) -> Iterator[str]:
    """Sources that contradict the event or do not fit into the run, and receivers out of reach.

    Args:
        dt: the time step, s.
        speed: that of the fastest wave, m/s.
    """
    entries, end = survey.entries, case.time.duration
    yield from event_warnings(survey.event, survey.summary, entries, dt)
    if entries:
        yield from unfinished_sources(entries, end)
        yield from unreached_receivers(survey.receivers, entries, speed, end)


def event_warnings(
    event: EventSection, summary: SourceSummary, entries: Sequence[SourceEntry], dt: float
) -> Iterator[str]:
    """Sources that contradict `[event]`, and warnings about their files.

    Args:
        summary: of all sources.
        dt: the time step, s.
    """
    given, released = event.magnitude, summary.magnitude
    if given is not None and released is not None and abs(given - released) > MAGNITUDE_ERROR:
        yield (
            f"event.magnitude is {given:g}, but the sources release Mw {released:.2f}; correct it, "
            "or the moments of the sources"
        )
    if released is not None and released > LARGEST_RECORDED:
        yield (
            f"the sources release Mw {released:.2f}, more than any recorded earthquake; if their "
            'moments are in dyn cm, write them as "1e25 dyn cm"'
        )
    yield from centroid_warnings(event, summary.centroid_time, dt)
    for n, entry in enumerate(entries):
        yield from (f"source[{n}]: {warning}" for warning in entry.warnings)


def unfinished_sources(entries: Sequence[SourceEntry], end: float) -> Iterator[str]:
    """Sources that have not released all of their moment when the run ends, at the time `end`."""
    for n, entry in enumerate(entries):
        if (part := entry.released_by(end)) < RELEASED:
            yield (
                f"source[{n}] releases {100 * part:.0f} % of its moment before the run ends at "
                f"{end:g} s; lengthen time.duration"
            )


def unreached_receivers(
    receivers: Sequence[Station], entries: Sequence[SourceEntry], speed: float, end: float
) -> Iterator[str]:
    """Receivers that no wave reaches before the time `end`, at the largest `speed` (m/s)."""
    points = [point for entry in entries for point in entry.points]
    positions = np.array([point.position for point in points])
    starts = np.array([point.start for point in points])
    names = [
        receiver.name
        for receiver in receivers
        if _arrival(positions - receiver.position, starts, speed) > end
    ]
    if names:
        listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        yield f"the run ends before any wave reaches {listed}; lengthen time.duration"


def _arrival(away: Floats, starts: Floats, speed: float) -> float:
    """Time of the first arrival from points at the offsets `away` (n, 3), m."""
    return float((starts + np.linalg.norm(away, axis=1) / speed).min())
