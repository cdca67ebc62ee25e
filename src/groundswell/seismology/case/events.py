"""Section `[event]` of a case, and events of files as sources."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator

from groundswell.case.common import DataFile, Section
from groundswell.case.problems import Violation, reject
from groundswell.case.units import Accepts, Angle, CountOrZero, Length, Number
from groundswell.errors import InputError
from groundswell.seismology.case.grid import GridSection, Latitude, Longitude, Position
from groundswell.seismology.formats.event_choice import choose_event, choose_mechanism
from groundswell.seismology.formats.event_conventions import (
    GLOBAL_CMT,
    Convention,
    convention_of,
    in_convention,
)
from groundswell.seismology.formats.events import (
    Catalogue,
    CatalogueEvent,
    Mechanism,
    read_catalogue,
)
from groundswell.seismology.sources.time_functions import AnyTimeFunction

MAX_MAGNITUDE = 10.5
Magnitude = Annotated[Number, Field(ge=-6, le=MAX_MAGNITUDE)]


def _in_utc(value: Any) -> str:
    """ISO 8601 text in UTC of a TOML date and time, or of such text; UTC without a time zone."""
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        utc = time.astimezone(UTC) if time.tzinfo else time
    except (OverflowError, TypeError, ValueError):
        reject([((), "must be a date and time, such as 2014-03-29T04:09:42.97Z")])
    return as_date(utc)


def as_date(utc: datetime) -> str:
    """ISO 8601 text of a date and time in UTC."""
    return utc.replace(tzinfo=None).isoformat() + "Z"


Date = Annotated[str, BeforeValidator(_in_utc), Accepts("a date and time")]


class EventSection(Section):
    """`[event]`: metadata of the earthquake for files and pictures.

    `origin_time` is the date of time 0. Without it, the date follows from `centroid_time`, the date
    of the centroid of the moment rate of all sources. Files have the date of time 0 as the
    attribute `reference_time`. In SAC files, `o` is 0, or undefined if only the centroid time is
    known, and `t0` is the centroid. The default magnitude is that of the net moment of the sources.
    """

    name: str = ""
    """Name of the earthquake for files and pictures."""
    origin_time: Date | None = None
    """Date and time of time 0, such as 2014-03-29T04:09:42.97Z. It is required for events with
    different dates, and for several without an origin time."""
    centroid_time: Date | None = None
    """Date and time of the centroid of the sources, instead of that of time 0."""
    magnitude: Magnitude | None = None
    """Magnitude for files and pictures; by default that of the sources."""


def _choice(value: Any) -> int | str:
    """An index from 0, or text that is not empty."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        reject([((), 'must be an index, an identifier or a name in quotes, "largest" or "all"')])
    if isinstance(value, int) and value < 0:
        reject([((), "must be at least 0")])
    return value


class EventFile(Section):
    """An earthquake of a file: its moment tensor or nodal planes, position and time function.

    The mechanism is the moment tensor or, without one, the preferred nodal plane. The position is
    the centroid that belongs to the tensor or, without one, the hypocentre.
    `x` and `y`, `longitude` and `latitude`, `depth`, `magnitude` and `time_function` supply what
    the file lacks, or replace it. With `select = "all"`, all events act, such as the subfaults of a
    finite fault; `x` and `y` are then the position of the one that begins first. Time functions
    without `onset` and `centroid` have their centroid at the centroid time of the file or, without
    one, begin at its origin time. The name and the dates of a single event complete `[event]`.
    """

    kind: Literal["event"]
    file: DataFile
    """Event in QuakeML, CMTSOLUTION, NDK, FOCMEC or another format that ObsPy reads."""
    select: Annotated[int | str, PlainValidator(_choice), Accepts("an index or text")] | None = None
    """Which event of the file: an index from 0, a part of an identifier, a name, "largest" or
    "all"; required if there are several. ObsPy reads 100 to 200 events per second."""
    mechanism: CountOrZero | None = None
    """Which focal mechanism of the event, counted from 0; by default the preferred one."""
    x: Length | None = None
    """Position of the source, instead of that in the file."""
    y: Length | None = None
    """Position of the source, instead of that in the file."""
    longitude: Longitude | None = None
    """Longitude of the source, instead of that in the file."""
    latitude: Latitude | None = None
    """Latitude of the source, instead of that in the file."""
    depth: Length | None = None
    """Depth of the source, instead of that in the file."""
    magnitude: Magnitude | None = None
    """Moment magnitude, instead of that in the file; it scales the tensor."""
    azimuth: Annotated[Angle, Field(ge=-360, le=360)] | None = None
    """Direction of the y axis, clockwise from north; by default that of `[grid.geography]`."""
    time_function: AnyTimeFunction | None = None
    """Rate of the moment, instead of one of the duration in the file: a triangle, or a trapezoid,
    which for a boxcar has ramps of a ninth of the duration. Without a duration, it is the average
    for the moment (Ekström et al. 2012)."""
    convention: Convention | None = None
    """Meaning of tensors and times. "global-cmt": components along r (up), t (south) and p (east),
    and the time shift of the centroid. "usgs-finite-fault": nn, ee, dd, ne, nd and ed under the
    same names, and the time shift at which slip begins. For all events of a file, the default is
    that for which their plane is a nodal plane of their sum."""

    def violations(self) -> Iterator[Violation]:
        """Yield violations of keys that exclude each other."""
        given = [name for name in _COORDINATES if getattr(self, name) is not None]
        if given not in ([], [*_COORDINATES[:2]], [*_COORDINATES[2:]]):
            yield (), "give x and y, or longitude and latitude, or neither"
        if self.select == ALL:
            for name in ("longitude", "latitude", "depth", "magnitude", "mechanism"):
                if getattr(self, name) is not None:
                    yield (name,), f'is for one event, not for select = "{ALL}"; leave it out'

    @cached_property
    def catalogue(self) -> Catalogue:
        """All events of the file; raises `InputError` if it cannot be read."""
        return read_catalogue(self.file)

    @cached_property
    def meaning(self) -> Convention:
        """The convention of the tensors and times; raises `InputError` if it is not clear."""
        is_list = self.select == ALL and len(self.catalogue.events) > 1
        if self.convention is not None or not is_list:
            return self.convention or GLOBAL_CMT
        return convention_of(self.catalogue.events, self.file)

    @cached_property
    def chosen(self) -> tuple[tuple[CatalogueEvent, Mechanism], ...]:
        """The selected events, at least one, and their mechanisms.

        Events without moment are left out of several. Raises `InputError` if the choice is not
        unique.
        """
        events = [in_convention(event, self.meaning) for event in self.catalogue.events]
        if self.select != ALL:
            event = choose_event(events, self.select, self.file)
            return ((event, choose_mechanism(event, self.mechanism, self.file)),)
        each = [(event, choose_mechanism(event, None, self.file)) for event in events]
        found = [(event, mechanism) for event, mechanism in each if any(mechanism.tensor or (1,))]
        if not found:
            raise InputError(f"{self.file}: all moment tensors are zero; at least one must not be")
        return tuple(found)


ALL = "all"
_COORDINATES = ("x", "y", "longitude", "latitude")


def misplaced_event(source: EventFile, grid: GridSection) -> Iterator[Violation]:
    """Yield the violations of an event without a position in the grid, or outside the region."""
    if source.x is None and source.longitude is None:
        if grid.geography is None:
            needed = "give x and y of the source, or add [grid.geography]"
            yield ("kind",), f"has a longitude and latitude; {needed}"
    else:
        place = {name: getattr(source, name) for name in _COORDINATES}
        yield from grid.misplaced(Position(**place, depth=source.depth or 0.0))
    if source.azimuth is not None and grid.geography is not None:
        yield ("azimuth",), "is given by [grid.geography]; leave it out"
