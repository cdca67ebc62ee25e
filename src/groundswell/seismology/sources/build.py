"""Construction of the point sources of a case."""

from __future__ import annotations

from collections.abc import Iterable

from groundswell.errors import InputError
from groundswell.seismology.case.sources import Airgun, AwpRupture, PointForce, Source, SrfRupture
from groundswell.seismology.sources.airguns import airgun_source
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.point_sources import SourceContext, force_source, moment_source
from groundswell.seismology.sources.ruptures import awp_entry, srf_entry


def build_sources(sections: Iterable[Source], context: SourceContext) -> list[SourceEntry]:
    """Build all point sources of the `[[source]]` sections of a case.

    Raises:
        InputError: a source cannot be built; the message names its index.
    """
    return [_build(n, section, context) for n, section in enumerate(sections)]


def _build(n: int, section: Source, context: SourceContext) -> SourceEntry:
    """Build the point sources of section `n`."""
    try:
        return _entry(section, context)
    except InputError as error:
        raise InputError(f"source[{n}]: {error}") from None


def _entry(section: Source, context: SourceContext) -> SourceEntry:
    match section:
        case SrfRupture():
            return srf_entry(section, context)
        case AwpRupture():
            return awp_entry(section, context)
        case PointForce():
            return SourceEntry(section, [force_source(section, context)])
        case Airgun():
            return SourceEntry(section, [airgun_source(section, context)])
        case _:
            return SourceEntry(section, [moment_source(section, context)])
