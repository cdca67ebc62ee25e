"""Construction of the point sources of a case."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from groundswell.errors import InputError
from groundswell.seismology.case.events import EventFile, EventSection
from groundswell.seismology.case.sources import (
    Airgun,
    AwpRupture,
    FspRupture,
    PointForce,
    Source,
    SrfRupture,
)
from groundswell.seismology.sources.airguns import airgun_source
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.event_files import event_entry
from groundswell.seismology.sources.point_sources import SourceContext, force_source, moment_source
from groundswell.seismology.sources.ruptures import awp_entry, fsp_entry, srf_entry


def build_sources(
    sections: Iterable[Source], context: SourceContext, event: EventSection | None = None
) -> list[SourceEntry]:
    """Build all point sources of the `[[source]]` sections of a case.

    Args:
        event: what `complete_event` returns, for the dates of events in files.

    Raises:
        InputError: a source cannot be built; the message names its index.
    """
    zero = datetime.fromisoformat(event.origin_time) if event and event.origin_time else None
    zero = zero.replace(tzinfo=None) if zero else None
    return [_build(n, section, context, zero) for n, section in enumerate(sections)]


def source_entry(
    section: Source, context: SourceContext, zero: datetime | None = None
) -> SourceEntry:
    """The point sources of one section.

    Args:
        zero: the date of time 0, for events in files.

    Raises:
        InputError: it cannot be built.
    """
    match section:
        case EventFile():
            return event_entry(section, context, zero)
        case SrfRupture():
            return srf_entry(section, context)
        case FspRupture():
            return fsp_entry(section, context)
        case AwpRupture():
            return awp_entry(section, context)
        case PointForce():
            return SourceEntry(section, [force_source(section, context)])
        case Airgun():
            return SourceEntry(section, [airgun_source(section, context)])
        case _:
            return SourceEntry(section, [moment_source(section, context)])


def _build(n: int, section: Source, context: SourceContext, zero: datetime | None) -> SourceEntry:
    """Build the point sources of section `n`."""
    try:
        return source_entry(section, context, zero)
    except InputError as error:
        raise InputError(f"source[{n}]: {error}") from None
