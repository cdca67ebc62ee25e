"""Earthquakes from files: QuakeML, CMTSOLUTION, NDK, FOCMEC and other formats of ObsPy.

ObsPy's events have SI units and tensors along r (up), t (south) and p (east), whatever the format.
An event has a hypocentre, which gives its origin time, and perhaps a centroid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.seismology.formats import cmtsolution
from groundswell.seismology.formats.obspy_files import read_with_obspy

_TENSOR = ("m_rr", "m_tt", "m_pp", "m_rt", "m_rp", "m_tp")
_RANDOM = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")  # identifiers of ObsPy
_NO_TIME = "origin time"  # in ObsPy's warning that it has set a date to 1970
_REMEDY = "give QuakeML, CMTSOLUTION, NDK or FOCMEC"
_SHOWN = 3  # number of ObsPy's warnings that are passed on


@dataclass(frozen=True)
class Place:
    """A hypocentre or centroid: its date, longitude and latitude (degrees) and depth (m)."""

    time: datetime | None
    longitude: float | None
    latitude: float | None
    depth: float | None


@dataclass(frozen=True)
class Mechanism:
    """A focal mechanism, and the time function that belongs to it; None where unknown.

    Args:
        centroid: of the moment tensor.
        tensor: components rr, tt, pp, rt, rp, tp, N m.
        plane: strike, dip and rake of a nodal plane, degrees.
        moment: scalar moment, N m.
        shape: of the moment rate: "triangle", "box car", "trapezoid" or "unknown".
        duration, rise, decay: of the moment rate, s.
    """

    centroid: Place | None
    tensor: tuple[float, ...] | None
    plane: tuple[float, float, float] | None
    moment: float | None
    shape: str = "unknown"
    duration: float | None = None
    rise: float | None = None
    decay: float | None = None


@dataclass(frozen=True)
class CatalogueEvent:
    """An earthquake of a file.

    Args:
        identifier: in the file; empty if it has none.
        names: its region and other descriptions.
        hypocentre: place and origin time; None if the file has none.
        mechanisms: all focal mechanisms.
        preferred: index of the preferred one; None if the file prefers none of several.
        magnitudes: by type, such as "Mwc".
    """

    identifier: str
    names: tuple[str, ...]
    hypocentre: Place | None
    mechanisms: tuple[Mechanism, ...]
    preferred: int | None
    magnitudes: dict[str, float]

    @property
    def moment_magnitude(self) -> float | None:
        """The first magnitude of a type that starts with Mw; None without."""
        found = (size for kind, size in self.magnitudes.items() if kind.lower().startswith("mw"))
        return next(found, None)

    @property
    def centroid(self) -> Place | None:
        """That of the preferred or first mechanism."""
        chosen = self.mechanisms[self.preferred or 0] if self.mechanisms else None
        return chosen.centroid if chosen else None


@dataclass(frozen=True)
class Catalogue:
    """The events of a file, at least one, and ObsPy's warnings about it."""

    events: tuple[CatalogueEvent, ...]
    warnings: tuple[str, ...]


def read_catalogue(path: Path | str) -> Catalogue:
    """Read all events of a file.

    Raises:
        InputError: ObsPy is not installed, or cannot read the file, or finds no event in it.
    """
    found, texts = read_with_obspy(path, "read_events", "an earthquake", _REMEDY)
    if any(getattr(event, "_format", "") == cmtsolution.FORMAT for event in found):
        cmtsolution.require_order(path)
    with read_errors_reported(path, "an earthquake", _REMEDY):
        events = tuple(map(_event, found))
    if not events:
        raise InputError(f"{path}: the file has no events")
    if wrong := next((text for text in texts if _NO_TIME in text), ""):
        raise InputError(f"{path}: the origin time cannot be read ({wrong}); correct it")
    name = Path(path).name
    return Catalogue(events, tuple(f"{name}: ObsPy warns: {text}" for text in texts[:_SHOWN]))


# --- conversion of ObsPy's objects ----------------------------------------------------------------


def _event(event: Any) -> CatalogueEvent:
    found = [_mechanism(each, event.origins) for each in event.focal_mechanisms]
    hypocentre = _hypocentre(event)
    size = {str(m.magnitude_type or "M"): float(m.mag) for m in reversed(event.magnitudes)}
    return CatalogueEvent(
        "" if _RANDOM.search(event.resource_id.id) else event.resource_id.id,
        tuple(str(each.text) for each in event.event_descriptions if each.text),
        _place(hypocentre) if hypocentre else None,
        tuple(found),
        _preferred(event, found),
        dict(reversed(size.items())),
    )


def _preferred(event: Any, found: Sequence[Mechanism]) -> int | None:
    """The preferred mechanism, or the only one, or the only one with a moment tensor."""
    ids = [each.resource_id for each in event.focal_mechanisms]
    if event.preferred_focal_mechanism_id in ids:
        return ids.index(event.preferred_focal_mechanism_id)
    complete = [n for n, each in enumerate(found) if each.tensor] or [*range(len(found))]
    return complete[0] if len(complete) == 1 else None


def _hypocentre(event: Any) -> Any:
    """The preferred origin that is not a centroid, or the first one; None if there is none."""
    others = [each for each in event.origins if not _is_centroid(each, event)]
    preferred = [each for each in others if each.resource_id == event.preferred_origin_id]
    return next(iter(preferred + others), None)


def _is_centroid(origin: Any, event: Any) -> bool:
    """Whether an origin is of this type or, without a type, was derived with a moment tensor."""
    if origin.origin_type is not None:
        return str(origin.origin_type) == "centroid"
    tensors = [each.moment_tensor for each in event.focal_mechanisms if each.moment_tensor]
    is_derived = origin.resource_id in [each.derived_origin_id for each in tensors]
    return is_derived and len(event.origins) > 1


def _place(origin: Any) -> Place:
    time = origin.time.datetime if origin.time is not None else None
    return Place(time, *(_number(origin[name]) for name in ("longitude", "latitude", "depth")))


def _mechanism(mechanism: Any, origins: Sequence[Any]) -> Mechanism:
    moment, plane = mechanism.moment_tensor, _plane(mechanism.nodal_planes)
    if moment is None:
        return Mechanism(None, None, plane, None)
    own = [each for each in origins if each.resource_id == moment.derived_origin_id]
    own = own or [each for each in origins if str(each.origin_type) == "centroid"]
    is_other = bool(own) and str(own[0].origin_type or "centroid") == "centroid"
    centroid = _place(own[0]) if is_other and (len(origins) > 1 or own[0].origin_type) else None
    size = _number(moment.scalar_moment)
    return Mechanism(centroid, _tensor(moment.tensor), plane, size, *_time_function(moment))


def _tensor(tensor: Any) -> tuple[float, ...] | None:
    """The six components, NaN where one is missing; None if all are."""
    components = tuple(_number(getattr(tensor, name, None)) for name in _TENSOR)
    if components == (None,) * len(_TENSOR):
        return None
    return tuple(math.nan if component is None else component for component in components)


def _plane(planes: Any) -> tuple[float, float, float] | None:
    """Strike, dip and rake of the preferred nodal plane, or of the first complete one."""
    if planes is None:
        return None
    both = [planes.nodal_plane_1, planes.nodal_plane_2]
    for plane in reversed(both) if planes.preferred_plane == 2 else both:
        angles: list[Any] = [getattr(plane, name, None) for name in ("strike", "dip", "rake")]
        if None not in angles:
            return float(angles[0]), float(angles[1]), float(angles[2])
    return None


def _time_function(moment: Any) -> Iterator[Any]:
    """Yield the shape, the duration, the rise and the decay of the moment rate."""
    function = moment.source_time_function
    yield str(getattr(function, "type", None) or "unknown")
    for name in ("duration", "rise_time", "decay_time"):
        yield _number(getattr(function, name, None))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
