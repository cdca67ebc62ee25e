"""The `[event]`, `[[source]]` and `[[receiver]]` of a case: what acts, and who listens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, BeforeValidator, Field

from groundswell.case.common import DataFile, Kinds, Section, exactly_one
from groundswell.case.problems import Fault, refuse
from groundswell.case.units import (
    Angle,
    Count,
    Force,
    Frequency,
    Length,
    Moment,
    NonNegative,
    Number,
    Positive,
    Time,
)
from groundswell.seismology.case.grid import Position

# --- the event ------------------------------------------------------------------------------------

Magnitude = Annotated[Number, Field(ge=-6, le=10.5)]


def _in_utc(value: Any) -> str:
    """ISO 8601 text in UTC of a TOML date and time, or of such text; no zone means UTC."""
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        utc = time.astimezone(UTC) if time.tzinfo else time
    except (OverflowError, TypeError, ValueError):
        refuse([((), "must be a date and time, such as 2014-03-29T04:09:42.97Z")])
    return utc.replace(tzinfo=None).isoformat() + "Z"


class EventSection(Section):
    """`[event]`: what files and pictures say of the earthquake; it changes nothing of the waves.

    Without a magnitude that of the sources' moment is given.
    """

    name: str = ""
    origin_time: Annotated[str, BeforeValidator(_in_utc)] | None = None
    magnitude: Magnitude | None = None


# --- histories ------------------------------------------------------------------------------------


class History(Section):
    """A time function; it starts at `onset`."""

    onset: Annotated[Time, NonNegative] = 0.0


class Pulse(History):
    """A pulse of duration `rise`; Brune's decays with that time constant."""

    kind: Literal["brune", "cosine", "triangle"]
    rise: Annotated[Time, Positive]


class Gaussian(History):
    """A Gaussian of standard deviation `sigma`, whose peak comes `delay` after the onset."""

    kind: Literal["gaussian"]
    sigma: Annotated[Time, Positive]
    delay: Annotated[Time, Positive] | None = None

    def faults(self) -> Iterator[Fault]:
        """A pulse that would start with a jump."""
        if self.delay is not None and self.delay < 4 * self.sigma:
            yield ("delay",), f"must be at least 4 sigma = {4 * self.sigma:g} s, to start from zero"


class Ricker(History):
    """A Ricker wavelet of peak `frequency`, whose peak comes `delay` after the onset."""

    kind: Literal["ricker"]
    frequency: Annotated[Frequency, Positive]
    delay: Annotated[Time, Positive] | None = None

    def faults(self) -> Iterator[Fault]:
        """A wavelet that would start with a jump."""
        if self.delay is not None and self.delay * self.frequency < 1:
            least = 1 / self.frequency
            yield ("delay",), f"must be at least 1 / frequency = {least:g} s, to start from zero"


class TableFunction(History):
    """Values from a text file with two columns: time in s and value."""

    kind: Literal["table"]
    file: DataFile


TimeFunction = Annotated[Pulse | Gaussian | Ricker | TableFunction, Kinds()]


# --- sources --------------------------------------------------------------------------------------


class PointSourceSection(Position):
    """A source at one place."""

    time_function: TimeFunction


class SizedSource(PointSourceSection):
    """A source whose size is a magnitude (Mw) or a scalar moment."""

    magnitude: Magnitude | None = None
    moment: Annotated[Moment, Positive] | None = None

    def faults(self) -> Iterator[Fault]:
        """Not exactly one of the two sizes."""
        yield from super().faults()
        yield from exactly_one(self, "magnitude", "moment")


class DoubleCouple(SizedSource):
    """Slip on a small fault (Aki & Richards' angles)."""

    kind: Literal["double-couple"]
    strike: Annotated[Angle, Field(ge=-360, le=360)]
    dip: Annotated[Angle, Field(ge=0, le=90)]
    rake: Annotated[Angle, Field(ge=-360, le=360)]


class Explosion(SizedSource):
    """The same moment in all directions."""

    kind: Literal["explosion"]


_FRAMES = (("nn", "ee", "dd", "ne", "nd", "ed"), ("rr", "tt", "pp", "rt", "rp", "tp"))


class Components(Section):
    """A moment tensor: along north, east, down, or Global CMT's r (up), t (south), p (east)."""

    nn: Moment | None = None
    ee: Moment | None = None
    dd: Moment | None = None
    ne: Moment | None = None
    nd: Moment | None = None
    ed: Moment | None = None
    rr: Moment | None = None
    tt: Moment | None = None
    pp: Moment | None = None
    rt: Moment | None = None
    rp: Moment | None = None
    tp: Moment | None = None

    def faults(self) -> Iterator[Fault]:
        """Not exactly the six of one frame, or all of them zero."""
        given = {name: value for name, value in self if value is not None}
        if set(given) not in map(set, _FRAMES):
            sets = " or ".join(", ".join(frame) for frame in _FRAMES)
            yield (), f"give all six of one frame: {sets}"
        elif not any(given.values()):
            yield (), "are all zero; nothing would happen"


class MomentTensor(PointSourceSection):
    """A general moment tensor."""

    kind: Literal["moment-tensor"]
    components: Components


class PointForce(PointSourceSection):
    """A force at a point, along x, y and down."""

    kind: Literal["force"]
    force: tuple[Force, Force, Force]

    def faults(self) -> Iterator[Fault]:
        """No force at all."""
        yield from super().faults()
        if not any(self.force):
            yield ("force",), "is zero; nothing would happen"


class SrfRupture(Section):
    """A rupture in Standard Rupture Format, placed by longitude and latitude."""

    kind: Literal["srf"]
    file: DataFile


class AwpRupture(Section):
    """An AWP source file: moment rates at `points` cells, `steps` samples `step` apart."""

    kind: Literal["awp"]
    file: DataFile
    points: Count
    steps: Count
    step: Annotated[Time, Positive]
    format: Literal["binary", "text"] = "binary"


Source = Annotated[
    DoubleCouple | MomentTensor | Explosion | PointForce | SrfRupture | AwpRupture, Kinds()
]


# --- receivers ------------------------------------------------------------------------------------


def _code(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        refuse([((), "must be letters, digits, - or _")])
    return text


class Receiver(Position):
    """A station, by its codes and its place."""

    name: Annotated[str, Field(min_length=1), AfterValidator(_code)]
    network: Annotated[str, AfterValidator(_code)] = ""
    depth: Length = 0.0

    @property
    def code(self) -> str:
        """network.name, or the name alone."""
        return f"{self.network}.{self.name}" if self.network else self.name


class ReceiverFile(Section):
    """Stations in a file: CSV or StationXML."""

    file: DataFile


# --- checks against the rest of the case ----------------------------------------------------------

# Longest network and station codes of SEED (SEED manual 2.4, chapter 3), after which SAC files
# are named too.
_LONGEST_CODES = {"network": 2, "name": 5}


def name_twice(receivers: tuple[Receiver, ...]) -> Iterator[Fault]:
    """The receivers whose codes are taken."""
    first: dict[str, int] = {}
    for n, receiver in enumerate(receivers):
        if first.setdefault(receiver.code, n) != n:
            taken = f"is taken by receiver[{first[receiver.code]}]; codes must be unique"
            yield (n, "name"), taken


class Coded(Protocol):
    """What has the codes of a station."""

    @property
    def network(self) -> str: ...
    @property
    def name(self) -> str: ...


def too_long(receiver: Coded, formats: tuple[str, ...]) -> Iterator[Fault]:
    """Codes that do not fit into the formats of seismograms."""
    named = [name for name in formats if name in ("sac", "mseed")]
    for key, most in _LONGEST_CODES.items():
        if named and len(getattr(receiver, key)) > most:
            yield (key,), f"must have at most {most} characters, for the format {named[0]}"
