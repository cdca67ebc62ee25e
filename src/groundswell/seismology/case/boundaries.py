"""Widths of absorbing layers in a case."""

from __future__ import annotations

from math import ceil
from typing import Annotated

from pydantic import PlainValidator

from groundswell.case.problems import reject
from groundswell.case.units import Accepts, Unit

_WIDTH = Unit("m", "a width", "800 m")


def _width(value: object) -> int | float:
    """A width: a number of cells (int), or a length with a unit, in m (float)."""
    width: int | float = 0
    if isinstance(value, str):
        width = float(_WIDTH.read(value))
    elif isinstance(value, int) and not isinstance(value, bool):
        width = value
    if width <= 0:
        reject([((), 'must be a whole number of cells, at least 1, or a length such as "800 m"')])
    return width


Width = Annotated[
    int | float, PlainValidator(_width), Accepts("a number of cells or a length", "m", "> 0")
]


def cells_across(width: int | float, edge: float) -> int:
    """The number of cells of length `edge` (m) across a layer of this width."""
    return width if isinstance(width, int) else ceil(width / edge - 1e-6)
