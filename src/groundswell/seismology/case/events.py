"""Section `[event]` of a case."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from groundswell.case.common import Section
from groundswell.case.problems import reject
from groundswell.case.units import Number

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


Date = Annotated[str, BeforeValidator(_in_utc)]


class EventSection(Section):
    """`[event]`: metadata of the earthquake for files and pictures.

    `origin_time` is the date of time 0. Without it, the date follows from `centroid_time`, the date
    of the centroid of the moment rate of all sources. The default magnitude is that of the net
    moment of the sources.
    """

    name: str = ""
    origin_time: Date | None = None
    centroid_time: Date | None = None
    magnitude: Magnitude | None = None
