"""Metadata of an earthquake for output files: time, magnitude, position and mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from groundswell.grids.geography import Geography
from groundswell.seismology.case.sources import Airgun, EventSection, as_date
from groundswell.seismology.formats.srf_content import Plane
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.moment import magnitude_from_moment, scalar_moment, to_rtp
from groundswell.seismology.sources.point_sources import (
    PointSource,
    final_moments,
    total_moments,
)

Array = NDArray[np.float64]
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

    moment: Array
    scalar_moment: float
    magnitude: float | None
    summed_moment: float
    centroid: tuple[float, float, float]
    centroid_time: float
    hypocentre: tuple[float, float, float]

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


def date_attributes(setup: Any) -> dict[str, str | None]:
    """The title, and the dates of time 0 and of the event, which all files have as attributes."""
    event = setup.case.event
    return {
        "title": setup.case.title,
        "reference_time": reference_time(event, setup.source_summary.centroid_time),
        "origin_time": event.origin_time,
        "centroid_time": event.centroid_time,
    }


def event_attributes(setup: Any) -> dict[str, Any]:
    """Attributes of output files; see `SeismogramWriter` and `write_shaking_map`.

    `event_x`, `event_y`, `event_depth` (m) and `event_time` (s) are the centroid, with
    `event_longitude` and `event_latitude` if the case has a geography. Several sources also have an
    epicentre `epicentre_x`, `epicentre_y` (m), and rupture files the outlines of their segments.
    `reference_time` is the date of time 0; `origin_time` and `centroid_time` are those of the case.
    """
    event, geography, summary = setup.case.event, setup.geography, setup.source_summary
    return {
        **date_attributes(setup),
        "event_name": event.name or None,
        "azimuth": geography.true_azimuth if geography else None,
        "magnitude": summary.magnitude if event.magnitude is None else event.magnitude,
        "focal_mechanism": _mechanism(setup),
        **_positions(summary, geography, several=len(setup.sources) > 1),
        **_outlines(setup),
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


def _mechanism(setup: Any) -> list[float] | None:
    """Strike, dip and rake of a single double couple (degrees), or a tensor rr ... tp (N m)."""
    first, *others = setup.case.source
    if first.kind == "double-couple" and not others:
        return [first.strike, first.dip, first.rake]
    if setup.source_summary.magnitude is None:
        return None
    azimuth = setup.geography.true_azimuth if setup.geography else 0.0
    return [float(component) for component in to_rtp(setup.source_summary.moment, azimuth)]


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


def _outlines(setup: Any) -> dict[str, Array]:
    """Outlines of the segments of rupture files in map view, m, separated by NaN."""
    outlines = list(_segments(setup))
    if not outlines:
        return {}
    x, y = np.concatenate(outlines, axis=1)[:, :-1]
    return {"fault_x": x, "fault_y": y}


def _segments(setup: Any) -> Iterator[Array]:
    for entry in setup.source_entries:
        if entry.fault:
            yield from (outline(plane, entry.fault.frame) for plane in entry.fault.planes)


def outline(plane: Plane, geography: Geography) -> Array:
    """Outline of a fault plane in map view: x and y, m, with NaN at the end, (2, 6)."""
    x, y = geography.to_grid(plane.longitude, plane.latitude)
    angle = np.radians(plane.strike - geography.true_azimuth)
    along = np.array([[np.sin(angle)], [np.cos(angle)]])
    across = np.array([[np.cos(angle)], [-np.sin(angle)]])  # down-dip direction
    half, reach = plane.length / 2, plane.width * np.cos(np.radians(plane.dip))
    u = np.array([-half, half, half, -half, -half, np.nan])
    v = np.array([0, 0, reach, reach, 0, np.nan])
    return np.array([[float(x)], [float(y)]]) + along * u + across * v
