"""Events of files as point sources, and as the event of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from groundswell.errors import CaseError, InputError, counted
from groundswell.grids.geography import Geography
from groundswell.seismology.case.events import ALL, EventFile, EventSection, as_date
from groundswell.seismology.case.sources import DoubleCouple, MomentTensor, Source
from groundswell.seismology.formats.event_choice import describe
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.known_event import KnownEvent
from groundswell.seismology.sources.point_sources import SourceContext, moment_source


def complete_event(given: EventSection, sources: Sequence[Source]) -> EventSection:
    """The section with the name and the dates of the events in `sources`, where it lacks them.

    Raises:
        InputError: events have dates, and neither they nor the section say which is time 0.
    """
    files = [_read(n, each) for n, each in enumerate(sources) if isinstance(each, EventFile)]
    if not files:
        return given
    found = {"origin_time": None if given.origin_time else _common_origin(files)}
    is_one = len(sources) == 1 and len(files[0].chosen) == 1
    if len(sources) == 1:
        event, mechanism = files[0].chosen[0]
        centroid = mechanism.centroid if is_one else None
        found["name"] = next(iter(event.names), None)
        found["centroid_time"] = _date(centroid.time if centroid else None)
    if not (is_one or given.origin_time or found["origin_time"]):
        _require_no_dates(files)
    missing = {key: value for key, value in found.items() if value and not getattr(given, key)}
    return given.model_copy(update=missing)


def event_entry(section: EventFile, context: SourceContext, zero: datetime | None) -> SourceEntry:
    """The point source of an event of a file, or those of all its events.

    Args:
        zero: the date of time 0; None if it is the centroid time of the event, or is not known.

    Raises:
        InputError: the file cannot be read, the choice is not unique, something is missing, or the
            source does not fit the run.
    """
    known = [KnownEvent(section, *each) for each in section.chosen]
    found = [_point(each, zero) for each in known]
    if section.select != ALL:
        (point,), frame = found, _frame(section, context)
        source = moment_source(point, replace(context, geography=frame))
        warnings = (*section.catalogue.warnings, *known[0].warnings())
        return SourceEntry(section, [source], None, warnings, point.time_function)
    there = replace(context, geography=_frame_of_list(section, found, context))
    points = [replace(moment_source(p, there), number=n) for n, p in enumerate(found, 1)]
    return SourceEntry(section, points, None, tuple(_list_warnings(section, known)))


def time_zero(section: EventFile) -> datetime | None:
    """The date of time 0 if there are no other sources; None if it is that of a centroid.

    Raises:
        InputError: the file cannot be read, or its events have different dates.
    """
    date = complete_event(EventSection(), [section]).origin_time
    return datetime.fromisoformat(date).replace(tzinfo=None) if date else None


def first_date(section: EventFile) -> datetime | None:
    """The earliest date of the events of a file; None without dates.

    Positions do not depend on time 0, for which any date of the events may therefore stand.
    """
    hypocentres = [event.hypocentre for event, _ in section.chosen]
    dates = [place.time for place in hypocentres if place and place.time]
    return min([*dates, *_centroid_times([section])], default=None)


def frame_of_events(section: EventFile, context: SourceContext) -> Geography | None:
    """The frame in which the events of a file have positions; None if they have x and y.

    Raises:
        InputError: see `event_entry`.
    """
    if section.select != ALL:
        return context.geography
    zero = first_date(section)
    points = [_point(KnownEvent(section, *each), zero) for each in section.chosen]
    return _frame_of_list(section, points, context)


def _point(known: KnownEvent, zero: datetime | None) -> MomentTensor | DoubleCouple:
    known.require_complete()
    try:
        return known.point(zero)
    except CaseError as error:
        name = f"{known.section.file}, {describe(known.event)}"
        raise CaseError(error.problems, name) from None


def _list_warnings(section: EventFile, known: Sequence[KnownEvent]) -> list[str]:
    """Warnings about a file and its events; of those of several events, the first one."""
    each = [[*event.warnings()] for event in known]
    found = [warning for own in each for warning in own[:1]]
    more = f" (and {counted(len(found) - 1, 'other source')})" if len(found) > 1 else ""
    return [*section.catalogue.warnings, *(f"{text}{more}" for text in found[:1])]


def _frame_of_list(
    section: EventFile, points: Sequence[MomentTensor | DoubleCouple], context: SourceContext
) -> Geography | None:
    """The frame of the grid, or the one in which the first source to act is at x and y."""
    if section.x is None or section.y is None:
        return context.geography
    first = min(points, key=lambda point: point.time_function.start)
    azimuth = context.azimuth if section.azimuth is None else section.azimuth
    return Geography.from_point(first.horizontal, (section.x, section.y), azimuth)


def _frame(section: EventFile, context: SourceContext) -> Geography | None:
    """The frame of the grid; without `[grid.geography]`, one with the azimuth of the source."""
    if context.geography or not section.azimuth or section.x is None or section.y is None:
        return context.geography
    return Geography.from_point((0.0, 0.0), (section.x, section.y), section.azimuth)


def _common_origin(files: Sequence[EventFile]) -> str | None:
    """The origin time of all events that have one.

    Raises:
        InputError: they differ.
    """
    places = [event.hypocentre for source in files for event, _ in source.chosen]
    dates = sorted({place.time for place in places if place and place.time})
    if len(dates) > 1:
        names = ", ".join(dict.fromkeys(source.file.name for source in files))
        raise InputError(
            f"the sources are events at {dates[0]} and {dates[-1]} ({names}); give the date of "
            "time 0 as event.origin_time"
        )
    return _date(dates[0]) if dates else None


def _read(n: int, source: EventFile) -> EventFile:
    """The source `n` of a case, whose events have been read.

    Raises:
        InputError: the file cannot be read, or a choice is not unique.
    """
    try:
        assert source.chosen
    except InputError as error:
        raise InputError(f"source[{n}]: {error}") from None
    return source


def _require_no_dates(files: Sequence[EventFile]) -> None:
    """Check that no event has a date, which would need a place on the time axis.

    Raises:
        InputError: one has.
    """
    if not (dates := _centroid_times(files)):
        return
    several = len(dates) > 1
    lack = "the events have no" if several else "the event has no"
    others = "" if several else ", and there are other sources"
    raise InputError(
        f"{files[0].file}: {lack} origin time{others}; give the date of time 0 as "
        f"event.origin_time of the case, such as {as_date(min(dates))}, the "
        f"{'first ' if several else ''}centroid time"
    )


def _centroid_times(files: Sequence[EventFile]) -> list[datetime]:
    """The known centroid times of the events of files."""
    centroids = [mechanism.centroid for source in files for _, mechanism in source.chosen]
    return [centroid.time for centroid in centroids if centroid and centroid.time]


def _date(time: datetime | None) -> str | None:
    return as_date(time) if time else None
