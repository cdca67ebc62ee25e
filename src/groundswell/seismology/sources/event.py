"""Metadata of an earthquake for output files: time, magnitude, position and mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import numpy as np

from groundswell.arrays import Floats
from groundswell.grids.geography import Geography
from groundswell.seismology.case.base import SeismicCase
from groundswell.seismology.case.events import EventSection, as_date
from groundswell.seismology.case.sources import Source
from groundswell.seismology.formats.seismograms import Attributes
from groundswell.seismology.formats.srf_content import Plane
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.moment import to_rtp
from groundswell.seismology.sources.summary import SourceSummary
from groundswell.seismology.survey import Survey


def date_attributes(case: SeismicCase, survey: Survey) -> dict[str, str | None]:
    """The title, and the dates of time 0 and of the event, which all files have as attributes."""
    event = survey.event
    return {
        "title": case.title,
        "reference_time": reference_time(event, survey.summary.centroid_time),
        "origin_time": event.origin_time,
        "centroid_time": event.centroid_time,
    }


def event_attributes(case: SeismicCase, geography: Geography | None, survey: Survey) -> Attributes:
    """Attributes of output files; see `SeriesOptions` and `write_shaking_map`.

    `event_x`, `event_y`, `event_depth` (m) and `event_time` (s) are the centroid, with
    `event_longitude` and `event_latitude` if the case has a geography. Several sources also have an
    epicentre `epicentre_x`, `epicentre_y` (m), and rupture files the outlines of their segments.
    `event_water_depth` is the depth of the water at the centroid, m, if the medium has a fluid.
    `reference_time` is the date of time 0; `origin_time` and `centroid_time` are those of the case.
    """
    event, summary = survey.event, survey.summary
    azimuth = geography.true_azimuth if geography else None
    return {
        **date_attributes(case, survey),
        "event_name": event.name or None,
        "azimuth": azimuth,
        "magnitude": summary.magnitude if event.magnitude is None else event.magnitude,
        "focal_mechanism": _mechanism(case.source, summary, azimuth or 0.0),
        "event_water_depth": survey.water_depth,
        **_positions(summary, geography, several=len(survey.sources) > 1),
        **_outlines(survey.entries),
    }


def reference_time(event: EventSection, centroid: float) -> str | None:
    """The date of time 0: the origin time, or else what the centroid time implies, or None.

    Args:
        centroid: time of the centroid of the sources, s.
    """
    if event.origin_time or event.centroid_time is None:
        return event.origin_time
    return as_date(datetime.fromisoformat(event.centroid_time) - timedelta(seconds=centroid))


def centroid_warnings(event: EventSection, centroid: float, dt: float) -> Iterator[str]:
    """A centroid time of the event that differs from that of the sources.

    Args:
        centroid: time of the centroid of the sources, s.
        dt: the time step, s, up to which they may differ.
    """
    if event.origin_time is None or event.centroid_time is None:
        return
    origin, given = map(datetime.fromisoformat, (event.origin_time, event.centroid_time))
    after = (given - origin).total_seconds()
    if abs(after - centroid) > dt:
        yield (
            f"event.centroid_time is {after:.6g} s after event.origin_time, but the centroid of "
            f"the sources is at {centroid:.6g} s; move the sources by {after - centroid:.6g} s, "
            "with centroid or onset in their time functions"
        )


def _mechanism(
    sections: Sequence[Source], summary: SourceSummary, azimuth: float
) -> list[float] | None:
    """Strike, dip and rake of a single double couple (degrees), or a tensor rr ... tp (N m).

    Args:
        azimuth: of the y axis, degrees.
    """
    only = sections[0] if len(sections) == 1 else None
    if only is not None and only.kind == "double-couple":
        return [only.strike, only.dip, only.rake]
    if summary.magnitude is None:
        return None
    return [float(component) for component in to_rtp(summary.moment, azimuth)]


def _positions(
    summary: SourceSummary, geography: Geography | None, *, several: bool
) -> dict[str, float]:
    x, y, depth = summary.centroid
    attributes = {"event_x": x, "event_y": y, "event_depth": depth}
    attributes["event_time"] = summary.centroid_time
    if geography is not None:
        longitude, latitude = geography.to_lonlat(x, y)
        attributes |= {"event_longitude": float(longitude), "event_latitude": float(latitude)}
    if several:
        attributes |= {"epicentre_x": summary.hypocentre[0], "epicentre_y": summary.hypocentre[1]}
    return attributes


def _outlines(entries: Sequence[SourceEntry]) -> dict[str, Floats]:
    """Outlines of the segments of rupture files in map view, m, separated by NaN."""
    outlines = list(_segments(entries))
    if not outlines:
        return {}
    x, y = np.concatenate(outlines, axis=1)[:, :-1]
    return {"fault_x": x, "fault_y": y}


def _segments(entries: Sequence[SourceEntry]) -> Iterator[Floats]:
    for entry in entries:
        if entry.fault:
            yield from (outline(plane, entry.fault.frame) for plane in entry.fault.planes)


def outline(plane: Plane, geography: Geography) -> Floats:
    """Outline of a fault plane in map view: x and y, m, with NaN at the end, (2, 6)."""
    x, y = geography.to_grid(plane.longitude, plane.latitude)
    angle = np.radians(plane.strike - geography.true_azimuth)
    along = np.array([[np.sin(angle)], [np.cos(angle)]])
    across = np.array([[np.cos(angle)], [-np.sin(angle)]])  # down-dip direction
    half, reach = plane.length / 2, plane.width * np.cos(np.radians(plane.dip))
    u = np.array([-half, half, half, -half, -half, np.nan])
    v = np.array([0, 0, reach, reach, 0, np.nan])
    return np.array([[float(x)], [float(y)]]) + along * u + across * v
