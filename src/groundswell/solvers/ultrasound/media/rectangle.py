"""Rectangles of points in a plane of a grid."""

from __future__ import annotations

from typing import NamedTuple


class Rectangle(NamedTuple):
    """Points of a plane, of at least one row and column.

    Args:
        rows, columns: slices without steps.
    """

    rows: slice
    columns: slice

    @classmethod
    def of(cls, rows: slice, columns: slice, shape: tuple[int, int]) -> Rectangle:
        """The points of slices, which may be open, in a plane of this shape."""
        along = zip((rows, columns), shape, strict=True)
        return cls(*(slice(*part.indices(count)[:2]) for part, count in along))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    def around(self, other: Rectangle) -> Rectangle:
        """The smallest rectangle that contains both."""
        return Rectangle(*(_span(*pair) for pair in zip(self, other, strict=True)))

    def common(self, other: Rectangle) -> Rectangle:
        """The points of both; there may be none."""
        return Rectangle(*(_overlap(*pair) for pair in zip(self, other, strict=True)))

    def within(self, outer: Rectangle) -> Rectangle:
        """The same points in an array of an outer rectangle."""
        return Rectangle(*(_moved(*pair) for pair in zip(self, outer, strict=True)))


def _span(first: slice, second: slice) -> slice:
    return slice(min(first.start, second.start), max(first.stop, second.stop))


def _overlap(first: slice, second: slice) -> slice:
    start = max(first.start, second.start)
    return slice(start, max(start, min(first.stop, second.stop)))


def _moved(points: slice, outer: slice) -> slice:
    return slice(points.start - outer.start, points.stop - outer.start)
