"""Units where a flow has none, because dimensionless numbers define the fluid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from groundswell.case.problems import Location, Violation

_FREE_FALL = '{} has no unit with fluid.kind = "rayleigh", where the free-fall speed is 1: give {}'
_TIME = _FREE_FALL.format("a time", "a plain number, in units of length over this speed")
_SPEED = _FREE_FALL.format("a speed", "plain numbers, in units of this speed")
_SOLID = {
    "conductivity": "relative to that of the fluid",
    "heat_capacity": "relative to that of the fluid",
    "power": "the heat divided by the conductivity of the fluid",
}
_WALLS = {"flux": "the flux", "h": "the heat transfer coefficient"}
_HAS_UNIT = re.compile(r"\s*[-+]?[\d.]+(e[-+]?\d+)?\s+[A-Za-z]", re.IGNORECASE)  # "20 W/m^2"


def units_of_numbers(content: object) -> Iterator[Violation]:
    """Violations of values with a unit in the tables of a dimensionless case."""
    tables = _table(content)
    kind = _table(tables.get("fluid")).get("kind")
    if kind in ("rayleigh", "reynolds"):
        yield from _units_of_solids(tables, kind)
        yield from _units_of_walls(tables, kind)
    if kind != "rayleigh":
        return
    for place, value in _times(tables):
        if isinstance(value, str):
            yield place, _TIME
    for name, wall in _table(tables.get("walls")).items():
        velocity = _table(wall).get("velocity")
        if isinstance(velocity, list | tuple) and any(isinstance(v, str) for v in velocity):
            yield ("walls", name, "velocity"), _SPEED


def _units_of_walls(tables: Mapping[str, Any], kind: str) -> Iterator[Violation]:
    """Units of heat flux and heat transfer; a text without one is a function of position."""
    for name, wall in _table(tables.get("walls")).items():
        for key, what in _WALLS.items():
            given = _table(wall).get(key)
            if isinstance(given, str) and _HAS_UNIT.match(given):
                reason = f'has no unit with fluid.kind = "{kind}"'
                rest = f"{what} divided by the conductivity of the fluid"
                yield ("walls", name, key), f"{reason}: give {rest}"


def _units_of_solids(tables: Mapping[str, Any], kind: str) -> Iterator[Violation]:
    for n, solid in enumerate(_tables(tables.get("solid"))):
        for key, unit in _SOLID.items():
            if isinstance(solid.get(key), str):
                reason = f'has no unit with fluid.kind = "{kind}"'
                yield ("solid", n, key), f"{reason}: give a plain number, {unit}"


def _times(tables: Mapping[str, Any]) -> Iterator[tuple[Location, object]]:
    """The times in the tables of a case, with their places."""
    for key in ("duration", "step"):
        yield ("time", key), _table(tables.get("time")).get(key)
    for n, record in enumerate(_tables(_table(tables.get("output")).get("record"))):
        yield ("output", "record", n, "interval"), record.get("interval")


def _tables(value: object) -> list[Mapping[str, Any]]:
    return [_table(each) for each in value] if isinstance(value, list | tuple) else []


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
