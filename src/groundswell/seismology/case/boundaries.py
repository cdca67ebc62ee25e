"""Widths of absorbing layers in a case."""

from __future__ import annotations

from math import ceil
from typing import Annotated, Any

from pydantic import PlainValidator

from groundswell.case.problems import reject
from groundswell.case.units import Unit

_WIDTH = Unit("m", "a width", "800 m")


def _width(value: Any) -> int | float:
    """A width: a number of cells (int), or a length with a unit, in m (float)."""
    width = float(_WIDTH.read(value)) if isinstance(value, str) else value
    is_count = isinstance(value, int) and not isinstance(value, bool)
    if not (is_count or isinstance(value, str)) or width <= 0:
        reject([((), 'must be a whole number of cells, at least 1, or a length such as "800 m"')])
    return width  # type: ignore[no-any-return]


Width = Annotated[int | float, PlainValidator(_width)]


def cells_across(width: int | float, edge: float) -> int:
    """The number of cells of length `edge` (m) across a layer of this width."""
    return width if isinstance(width, int) else ceil(width / edge - 1e-6)
