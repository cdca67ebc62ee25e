"""Section `[grid]` of a case on bricks, which may be graded along each axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import PlainValidator, TypeAdapter

from groundswell.case.common import NotEmpty
from groundswell.case.problems import Violation
from groundswell.grids.axis import Spacing
from groundswell.seismology.case.grid import (
    SIZE_TOLERANCE,
    ForEachAxis,
    GridSection,
    PositiveLength,
    uneven,
)

_ONE = TypeAdapter(PositiveLength)
_EACH = TypeAdapter(Annotated[tuple[PositiveLength, ...], NotEmpty])


def _spacing(value: Any) -> Spacing:
    """The edge of all elements along an axis, or a list of the edge of each."""
    one_each = isinstance(value, list | tuple)
    return _EACH.validate_python(value) if one_each else _ONE.validate_python(value)


Edges = Annotated[Spacing, PlainValidator(_spacing)]


class BricksSection(GridSection):
    """`[grid]`: size of the region along x (east), y (north) and depth, and edges of its elements.

    `spacing` has one edge for all elements along an axis, or a list of the edge of each.
    """

    spacing: Annotated[tuple[Edges, Edges, Edges], ForEachAxis]  # type: ignore[assignment]

    @property
    def cells(self) -> tuple[int, int, int]:
        """Elements (nx, ny, nz) of the region."""
        nx, ny, nz = (
            len(h) if isinstance(h, tuple) else round(size / h)
            for size, h in zip(self.size, self.spacing, strict=True)
        )
        return nx, ny, nz

    def uneven_sizes(self) -> Iterator[Violation]:
        """Yield the violations of sizes that elements do not fill."""
        for axis, (size, h) in enumerate(zip(self.size, self.spacing, strict=True)):
            if not isinstance(h, tuple):
                yield from ((("size", axis), text) for text in uneven(size, h))
            elif abs(sum(h) - size) > SIZE_TOLERANCE * size:
                total = f"must add up to grid.size[{axis}] = {size:.10g} m"
                yield ("spacing", axis), f"{total}; these edges add up to {sum(h):.10g} m"
