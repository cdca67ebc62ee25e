"""The choice of an event of a file, and of one of its focal mechanisms."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from groundswell.errors import InputError, counted, quoted
from groundswell.seismology.formats.events import CatalogueEvent, Mechanism
from groundswell.seismology.sources.moment import (
    from_rtp,
    magnitude_from_moment,
    moment_from_magnitude,
    scalar_moment,
)

LARGEST = "largest"
_SHOWN = 8  # number of events or mechanisms that a message lists
_WIDTH = 110  # of the description of an event in a message


def choose_event(
    events: Sequence[CatalogueEvent], select: int | str | None, path: Path
) -> CatalogueEvent:
    """The only event, or the one with an index, an identifier or a name, or the largest.

    An identifier may be one of its parts, such as `us7000abcd` of `quakeml:.../us7000abcd`.

    Raises:
        InputError: there is no such event, or several; lists them.
    """
    found = [*_selected(events, select)]
    if len(found) == 1:
        return events[found[0]]
    if select is None:
        problem = f"has {len(events):,} events; give select: an index, an identifier, a name"
        lines = _lines(events, range(len(events)))
        raise InputError(f'{path}: the file {problem}, "{LARGEST}" or "all":\n{lines}')
    named = quoted(select) if isinstance(select, str) else str(select)
    problem = "several events" if found else "no event"
    lines = _lines(events, found or range(len(events)))
    raise InputError(f"{path}: select = {named} is the choice of {problem}:\n{lines}")


def choose_mechanism(event: CatalogueEvent, number: int | None, path: Path) -> Mechanism:
    """The mechanism with an index, or else the preferred one.

    Raises:
        InputError: there is none, or there are several and none is chosen; lists them.
    """
    index = event.preferred if number is None else number
    if index is not None and index < len(event.mechanisms):
        return event.mechanisms[index]
    if not event.mechanisms:
        raise InputError(
            f"{path}: the event ({describe(event)}) has no focal mechanism; choose another one, or "
            "give the source in the case"
        )
    known = [f"  {n}: {_mechanism(each)}" for n, each in enumerate(event.mechanisms)]
    problem = f"has {counted(len(known), 'focal mechanism')}; give mechanism, one of these indices"
    raise InputError(f"{path}: the event {problem}:\n{_listed(known)}")


def size_of(event: CatalogueEvent) -> float:
    """The moment magnitude of an event; minus infinity if it is not known.

    It is that of the moment of its mechanism or, without one, the stated Mw.
    """
    mechanism = event.mechanisms[event.preferred or 0] if event.mechanisms else None
    moment = moment_of(mechanism, event) if mechanism else None
    return magnitude_from_moment(moment) if moment else -math.inf


def moment_of(mechanism: Mechanism, event: CatalogueEvent) -> float | None:
    """The scalar moment of a mechanism, or else that of the event's Mw, N m; None if unknown."""
    if mechanism.tensor:
        moment = float(scalar_moment(from_rtp(mechanism.tensor)))
    elif mechanism.moment:
        moment = mechanism.moment
    elif event.moment_magnitude is not None and abs(event.moment_magnitude) < 100:
        moment = moment_from_magnitude(event.moment_magnitude)
    else:
        return None
    return moment if moment > 0 and math.isfinite(moment) else None


def describe(event: CatalogueEvent) -> str:
    """The origin or centroid time, the magnitude, the names and the identifier of an event."""
    place = event.hypocentre or event.centroid
    time = f"{place.time:%Y-%m-%dT%H:%M:%S}" if place and place.time else ""
    size = size_of(event)
    magnitude = f"Mw {size:.1f}" if math.isfinite(size) else ""
    words = filter(None, [time, magnitude, *event.names, event.identifier])
    text = ", ".join(re.sub(r"\s+", " ", word) for word in words) or "without a name"
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _selected(events: Sequence[CatalogueEvent], select: int | str | None) -> Iterator[int]:
    """Yield the indices of the selected events."""
    if select is None:
        yield from range(len(events))
    elif isinstance(select, int):
        yield from [select] if select < len(events) else []
    elif select == LARGEST:
        yield max(range(len(events)), key=lambda n: size_of(events[n]))
    else:
        yield from (n for n, event in enumerate(events) if select.lower() in _keys(event))


def _keys(event: CatalogueEvent) -> set[str]:
    """What an event may be called, in lower case."""
    parts = re.split(r"[/?=&#]", event.identifier)
    return {text.strip().lower() for text in (*event.names, event.identifier, *parts)}


def _lines(events: Sequence[CatalogueEvent], which: Iterable[int]) -> str:
    return _listed([f"  {n}: {describe(events[n])}" for n in which])


def _listed(lines: Sequence[str]) -> str:
    more = [f"  and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
    return "\n".join([*lines[:_SHOWN], *more])


def _mechanism(mechanism: Mechanism) -> str:
    if mechanism.tensor:
        return "a moment tensor"
    if mechanism.plane is None:
        return "without moment tensor and nodal planes"
    return "strike {:g}, dip {:g}, rake {:g}".format(*mechanism.plane)
