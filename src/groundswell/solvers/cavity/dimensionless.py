"""Units where a flow has none: with `kind = "rayleigh"`, times and speeds are dimensionless."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundswell.case.problems import Location, Violation

_FREE_FALL = '{} has no unit with fluid.kind = "rayleigh", where the free-fall speed is 1: give {}'
_TIME = _FREE_FALL.format("a time", "a plain number, in units of length over this speed")
_SPEED = _FREE_FALL.format("a speed", "plain numbers, in units of this speed")


def units_of_numbers(content: object) -> Iterator[Violation]:
    """Violations of times and speeds with a unit in the tables of a dimensionless case."""
    if _table(_table(content).get("fluid")).get("kind") != "rayleigh":
        return
    tables = _table(content)
    for place, value in _times(tables):
        if isinstance(value, str):
            yield place, _TIME
    for name, wall in _table(tables.get("walls")).items():
        velocity = _table(wall).get("velocity")
        if isinstance(velocity, list | tuple) and any(isinstance(v, str) for v in velocity):
            yield ("walls", name, "velocity"), _SPEED


def _times(tables: Mapping[str, Any]) -> Iterator[tuple[Location, object]]:
    """The times in the tables of a case, with their places."""
    for key in ("duration", "step"):
        yield ("time", key), _table(tables.get("time")).get(key)
    records = _table(tables.get("output")).get("record")
    for n, record in enumerate(records if isinstance(records, list | tuple) else ()):
        yield ("output", "record", n, "interval"), _table(record).get("interval")


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
