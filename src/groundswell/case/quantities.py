"""Labelled quantities of a set-up, for `check`, `summary.json` and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_MILLENNIUM = 3.2e10  # s; the range of timedelta is little longer
DEFAULT_GROUP = "Set-up"
Value = bool | int | float | str | None | Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class Quantity:
    """A property of a run that is known before it starts, or a result that is a number.

    Args:
        key: key in `summary.json` and `check --json`, such as "vs_min".
        value: value in SI units, serialisable as JSON.
        label: label in text, such as "slowest S wave"; empty to omit it from text.
        unit: unit of the value, such as "m/s"; "" for a plain number.
        text: value in text; by default the value with its unit.
        group: heading in text.
    """

    key: str
    value: Value
    label: str = ""
    unit: str = ""
    text: str = ""
    group: str = DEFAULT_GROUP

    def __str__(self) -> str:
        """The value with its unit, as text."""
        return self.text or " ".join(filter(None, [shown(self.value), self.unit]))

    def as_dict(self) -> dict[str, object]:
        """The quantity as a dictionary for JSON."""
        return {**asdict(self), "text": str(self)}


def as_values(quantities: Sequence[Quantity]) -> dict[str, Value]:
    """The values by key."""
    return {quantity.key: quantity.value for quantity in quantities}


def shown(value: Value) -> str:
    """A value as text, without a unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {shown(inner)}" for key, inner in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " x ".join(map(shown, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def byte_size(count: float) -> str:
    """A number of bytes as text, such as "25.4 MB"."""
    from humanize import naturalsize

    text = naturalsize(count, format="%.3g")
    return text.replace(" Bytes", " B").replace(" Byte", " B")


_UNITS_OF_TIME = (  # s, name, and the shortest run that has it
    (3600.0, "h", 7200.0),
    (60.0, "min", 600.0),
    (1.0, "s", 0.1),
    (1e-3, "ms", 1e-3),
    (1e-6, "µs", 1e-6),
    (1e-9, "ns", 0.0),
)


def time_of(time: float, end: float) -> str:
    """The time in a run that ends at `end`, both in s, as text, such as "15.9 of 28 µs"."""
    unit, name, _ = next(each for each in _UNITS_OF_TIME if abs(end) >= each[2])
    return f"{time / unit:.4g} of {end / unit:.4g} {name}"


def duration(seconds: float) -> str:
    """A time as text, such as "34.0 ms" or "5 minutes and 2 seconds"."""
    from humanize import metric, precisedelta

    if 60 <= seconds < _MILLENNIUM:
        return precisedelta(round(seconds), format="%d")
    return metric(seconds, "s")
