"""Coefficients in a case file: numbers, expressions, or the six entries of a tensor."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import PlainValidator

from groundswell.case.expressions import Expression
from groundswell.case.problems import reject
from groundswell.case.units import Accepts, Unit

_SCREENING = Unit("1/m^2", "a screening", "4 1/m^2")
_CONDUCTIVITY = Unit("", "a conductivity", "0.6")
_TENSOR = "must be above 0, or the six entries xx, xy, xz, yy, yz and zz of a symmetric tensor"
ENTRIES = 6


def _number_or_expression(value: object, unit: Unit) -> str | float:
    """A number in this unit, or the text of an expression."""
    if not isinstance(value, str):
        return unit.read(value)
    try:
        Expression(value)
    except ValueError as error:
        if unit.unit and value.lstrip(" +-.")[:1].isdigit():
            return unit.read(value)
        reject([((), f"{error}; or give {unit.expected}")])
    return value


def _screening(value: object) -> str | float:
    found = _number_or_expression(value, _SCREENING)
    if not isinstance(found, str) and found < 0:
        reject([((), "must be at least 0")])
    return found


def _conductivity(value: Any) -> str | float | tuple[str | float, ...]:
    if isinstance(value, list | tuple):
        if len(value) != ENTRIES:
            reject([((), _TENSOR)])
        return tuple(_number_or_expression(entry, _CONDUCTIVITY) for entry in value)
    found = _number_or_expression(value, _CONDUCTIVITY)
    if not isinstance(found, str) and found <= 0:
        reject([((), _TENSOR)])
    return found


def _capacity(value: object) -> str | float:
    found = _number_or_expression(value, Unit("", "a capacity", "3.6e6"))
    if not isinstance(found, str) and found <= 0:
        reject([((), "must be above 0")])
    return found


def _transfer(value: object) -> str | float:
    found = _number_or_expression(value, Unit("", "a coefficient", "25.0"))
    if not isinstance(found, str) and found < 0:
        reject([((), "must be at least 0")])
    return found


_FORMULA = "a number or an expression of x, y and z"
ScreeningValue = Annotated[
    str | float, PlainValidator(_screening), Accepts(_FORMULA, "1/m^2", "≥ 0")
]
CapacityValue = Annotated[str | float, PlainValidator(_capacity), Accepts(_FORMULA, "", "> 0")]
ConductivityValue = Annotated[
    str | float | tuple[str | float, ...],
    PlainValidator(_conductivity),
    Accepts(f"{_FORMULA}, or a list of 6", "", "> 0"),
]
TransferValue = Annotated[str | float, PlainValidator(_transfer), Accepts(_FORMULA, "", "≥ 0")]
