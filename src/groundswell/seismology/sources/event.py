"""What every output file says about the earthquake: when, how large, where, and how it slipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from groundswell.grids.geography import Geography
from groundswell.seismology.formats.srf import Plane, read_planes
from groundswell.seismology.sources.moment import magnitude_from_moment, scalar_moment, to_rtp
from groundswell.seismology.sources.point_sources import PointSource, net_moment

Array = NDArray[np.float64]
_ROUNDING = 1e-6  # of the moment that acts back and forth: if no more stays, nothing does


class HasEvent(Protocol):
    """A set-up with sources, such as that of an earthquake solver."""

    @property
    def case(self) -> Any: ...
    @property
    def geography(self) -> Geography | None: ...
    @property
    def sources(self) -> Sequence[PointSource]: ...
    @property
    def release(self) -> Release: ...


@dataclass(frozen=True, eq=False)
class Release:
    """What the sources of a case release together.

    Attributes:
        moment: (6,) net moment tensor in the grid's frame, N m; zero for forces.
        magnitude: Mw of it, to 0.01; None where no moment stays.
        centroid: (x, y, depth), m, of the moment; of forces, the mean of their places.
        beginning: (x, y, depth), m, of the source that acts first.
    """

    moment: Array
    magnitude: float | None
    centroid: tuple[float, float, float]
    beginning: tuple[float, float, float]

    @classmethod
    def of(cls, sources: Sequence[PointSource]) -> Self:
        """Sum up at least one source."""
        net, acting = net_moment(sources), _acting_moments(sources)
        size = float(scalar_moment(net))
        stays = size > _ROUNDING * acting.sum()
        places = np.array([source.position for source in sources])
        x, y, z = np.average(places, axis=0, weights=acting if acting.any() else None)
        return cls(
            moment=net if stays else np.zeros(6),
            magnitude=round(magnitude_from_moment(size), 2) if stays else None,
            centroid=(float(x), float(y), float(z)),
            beginning=min(sources, key=lambda source: source.start).position,
        )


def _acting_moments(sources: Sequence[PointSource]) -> Array:
    """Scalar moment that each source releases, counted positive when it is given back, too, N m."""
    tensors = np.array([np.zeros(6) if s.moment is None else s.moment for s in sources])
    turnovers = np.array([s.step * np.abs(s.samples).sum() for s in sources])
    return scalar_moment(tensors) * turnovers


def event_attributes(setup: HasEvent) -> dict[str, Any]:
    """Attributes of the files of a run, as `SeismogramWriter` and `write_shaking_map` list them.

    `event_x`, `event_y`, `event_depth` (m) are the centroid of the moment, with `event_longitude`
    and `event_latitude` where the case has geography. Of several sources there are also
    `epicentre_x` and `epicentre_y`, above the first, and of rupture files the segments' outlines.
    """
    event, geography, release = setup.case.event, setup.geography, setup.release
    return {
        "title": setup.case.title,
        "event_name": event.name or None,
        "origin_time": event.origin_time,
        "azimuth": geography.true_azimuth if geography else None,
        "magnitude": release.magnitude if event.magnitude is None else event.magnitude,
        "focal_mechanism": _mechanism(setup),
        **_places(release, geography, several=len(setup.sources) > 1),
        **_outlines(setup),
    }


def _mechanism(setup: HasEvent) -> list[float] | None:
    """Strike, dip and rake of a single double couple (degrees), or a tensor rr ... tp (N m)."""
    first, *others = setup.case.source
    if first.kind == "double-couple" and not others:
        return [first.strike, first.dip, first.rake]
    if setup.release.magnitude is None:
        return None
    azimuth = setup.geography.true_azimuth if setup.geography else 0.0
    return [float(component) for component in to_rtp(setup.release.moment, azimuth)]


def _places(release: Release, geography: Geography | None, *, several: bool) -> dict[str, float]:
    x, y, depth = release.centroid
    found = {"event_x": x, "event_y": y, "event_depth": depth}
    if geography is not None:
        longitude, latitude = geography.to_lonlat(x, y)
        found |= {"event_longitude": float(longitude), "event_latitude": float(latitude)}
    if several:
        found |= {"epicentre_x": release.beginning[0], "epicentre_y": release.beginning[1]}
    return found


def _outlines(setup: HasEvent) -> dict[str, Array]:
    """Outlines of the segments of rupture files, seen from above, parted by NaN."""
    outlines = list(_segments(setup))
    if not outlines:
        return {}
    x, y = np.concatenate(outlines, axis=1)[:, :-1]
    return {"fault_x": x, "fault_y": y}


def _segments(setup: HasEvent) -> Iterator[Array]:
    for source in setup.case.source:
        if source.kind == "srf" and setup.geography is not None:
            for plane in read_planes(setup.case.resolve(source.file)):
                yield outline(plane, setup.geography)


def outline(plane: Plane, geography: Geography) -> Array:
    """The way round a fault plane as seen from above: x and y in m, NaN at the end, (2, 6)."""
    x, y = geography.to_grid(plane.longitude, plane.latitude)
    angle = np.radians(plane.strike - geography.true_azimuth)
    along = np.array([[np.sin(angle)], [np.cos(angle)]])
    across = np.array([[np.cos(angle)], [-np.sin(angle)]])  # where the plane dips to
    half, reach = plane.length / 2, plane.width * np.cos(np.radians(plane.dip))
    u = np.array([-half, half, half, -half, -half, np.nan])
    v = np.array([0, 0, reach, reach, 0, np.nan])
    return np.array([[float(x)], [float(y)]]) + along * u + across * v
