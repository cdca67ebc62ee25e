"""The points of a fault that a rank has, and the points beside them that its kernels read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.grids.cartesian import Part
from groundswell.outputs.distributed_array import ArrayIndex, Span, span
from groundswell.solvers.earthquake.faults.plane import FaultPlane, Z

Box = tuple[slice, slice]  # rows and columns
MARGIN = 1  # points beside the own ones along an axis that ends of blocks cut


@dataclass(frozen=True)
class FaultWindow:
    """A rectangle of points of a fault; see kernels/fault.h.

    Args:
        first: row and column of its first own point among those of the fault.
        own: rows and columns of its own points.
    """

    plane: FaultPlane
    first: tuple[int, int]
    own: tuple[int, int]

    @classmethod
    def of(cls, plane: FaultPlane, part: Part) -> FaultWindow | None:
        """The points in a part of the grid; None without."""
        along, down = _own(plane, part, plane.along), _own(plane, part, Z)
        across = plane.first[plane.axis] - part.start[plane.axis]
        if not along or not down or not 0 <= across < part.cells[plane.axis]:
            return None
        return cls(plane, (down[0], along[0]), (down[1], along[1]))

    @property
    def margin(self) -> tuple[int, int]:
        """Rows and columns on either side that belong to other ranks, or do not slip."""
        rows, columns = (
            MARGIN * (n < whole) for n, whole in zip(self.own, self.plane.shape, strict=True)
        )
        return rows, columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = (n + 2 * m for n, m in zip(self.own, self.margin, strict=True))
        return rows, columns

    @property
    def points(self) -> int:
        """Number of points, those of margins included."""
        return self.shape[0] * self.shape[1]

    @property
    def top(self) -> int | None:
        """The row at the free surface; None if there is none."""
        return self.margin[0] if self.plane.at_surface and self.first[0] == 0 else None

    @property
    def cell(self) -> tuple[int, int, int]:
        """The cell (i, j, k) of the grid of its first point; it may lie outside of the grid."""
        cell = list(self.plane.first)
        for n, axis in enumerate((Z, self.plane.along)):
            cell[axis] += self.first[n] - self.margin[n]
        return cell[0], cell[1], cell[2]

    def cut(self, table: Floats) -> Floats:
        """The values of a table (..., rows, columns) of the fault; 0 beyond its ends."""
        found = np.zeros((*table.shape[:-2], *self.shape))
        for here, there in self.boxes():
            found[(..., *here)] = table[(..., *there)]
        return found

    # --- places in the fault ----------------------------------------------------------------------

    @property
    def own_box(self) -> tuple[Box, Box]:
        """Where the own points lie in the window, and in the fault."""
        (rows, columns), (row, column) = self.own, self.first
        spans = (span(self.margin[0], row, rows), span(self.margin[1], column, columns))
        return (spans[0][0], spans[1][0]), (spans[0][1], spans[1][1])

    def boxes(self) -> Iterator[tuple[Box, Box]]:
        """Yield where parts of the window lie in it, and in the fault."""
        for rows, columns in product(self._spans(0), self._spans(1)):
            yield (rows[0], columns[0]), (rows[1], columns[1])

    def of_rank(self, other: FaultWindow) -> Iterator[tuple[Box, Box]]:
        """Yield where own points of another window lie in this one, and in that one."""
        _, (own_rows, own_columns) = other.own_box
        for (rows, columns), (there_rows, there_columns) in self.boxes():
            down = _common(rows, there_rows, own_rows, other.margin[0])
            along = _common(columns, there_columns, own_columns, other.margin[1])
            if down and along:
                yield (down[0], along[0]), (down[1], along[1])

    def windows(self, leading: int) -> tuple[tuple[ArrayIndex, ArrayIndex], ...]:
        """The parts of an array (leading, rows, columns); see `DistributedArray`."""
        every = slice(0, leading)
        return tuple(((every, *here), (every, *there)) for here, there in self.boxes())

    def owned(self, leading: int) -> tuple[tuple[ArrayIndex, ArrayIndex], ...]:
        """What this rank owns of such an array."""
        here, there = self.own_box
        every = slice(0, leading)
        return (((every, *here), (every, *there)),)

    def numbers(self) -> Integers:
        """The number in the window of each point of the fault, (rows, columns); -1 if not own."""
        found = np.full(self.plane.shape, -1)
        here, there = self.own_box
        found[there] = np.arange(self.points).reshape(self.shape)[here]
        return found

    def _spans(self, axis: int) -> list[Span]:
        """Where the own points and the margins of an axis lie in the window, and in the fault."""
        first, own, margin = self.first[axis], self.own[axis], self.margin[axis]
        whole, wraps = self.plane.shape[axis], axis == 1 and self.plane.is_closed
        sides = [(0, first - margin), (margin + own, first + own)] if margin else []
        beside = [
            span(here, there % whole, margin)
            for here, there in sides
            if wraps or 0 <= there < whole
        ]
        return [span(margin, first, own), *beside]


def _own(plane: FaultPlane, part: Part, axis: int) -> tuple[int, int] | None:
    """The first point of a part on an axis, and their number; the last cell has two."""
    columns, rows = plane.cells
    cells, shape = (rows, plane.shape[0]) if axis == Z else (columns, plane.shape[1])
    start = part.start[axis] - plane.first[axis]
    low, high = max(start, 0), min(start + part.cells[axis], cells)
    return (low, (shape if high == cells else high) - low) if low < high else None


def _common(here: slice, there: slice, own: slice, margin: int) -> Span | None:
    """Where points that lie `there` are in this window, and in the window that has `own`."""
    low, high = max(there.start, own.start), min(there.stop, own.stop)
    if low >= high:
        return None
    return span(here.start + low - there.start, margin + low - own.start, high - low)
