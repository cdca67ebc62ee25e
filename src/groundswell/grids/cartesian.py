"""Cartesian grids: the region a case asks for, absorbing layers around it, and fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.backends import Array, Backend
from groundswell.backends.base import ROW_ALIGNMENT

Triple = tuple[int, int, int]
GHOSTS = 2  # usual layers on each side: the reach of a fourth-order staggered difference


@dataclass(frozen=True)
class Grid:
    """The whole domain: `region` cells of interest inside absorbing layers.

    Args:
        region: cells (x, y, z) of the region that the case asks for; its corner is the origin.
        spacing: cell edges (x, y, z), m.
        before, after: layer cells on the low and the high side of each axis.
    """

    region: Triple
    spacing: tuple[float, float, float]
    before: Triple = (0, 0, 0)
    after: Triple = (0, 0, 0)

    @cached_property
    def cells(self) -> Triple:
        """All cells (nx, ny, nz), layers included."""
        nx, ny, nz = (
            b + n + a for b, n, a in zip(self.before, self.region, self.after, strict=True)
        )
        return nx, ny, nz

    @property
    def shape(self) -> Triple:
        """Array shape (nz, ny, nx) of one value a cell."""
        return self.cells[::-1]

    @property
    def count(self) -> int:
        """Number of cells, layers included."""
        return int(np.prod(self.cells, dtype=np.int64))

    @property
    def region_slices(self) -> tuple[slice, slice, slice]:
        """Where the region lies in an array (z, y, x) of all cells."""
        x, y, z = (slice(b, b + n) for b, n in zip(self.before, self.region, strict=True))
        return z, y, x

    def indices(
        self, position: tuple[float, float, float], offset: tuple[float, float, float]
    ) -> NDArray[np.float64]:
        """Fractional index (x, y, z) of a position for values `offset` cells off (i, j, k).

        Args:
            position: metres from the region's corner.
            offset: 0.5 along an axis for values between two faces, 0 for values on a face.
        """
        here = np.asarray(position, float) / np.asarray(self.spacing)
        return here + np.asarray(self.before) - np.asarray(offset)

    def edge_indices(self, axis: int) -> NDArray[np.intp]:
        """For every cell along an axis, the region's cell whose material it has (layers repeat)."""
        n = np.arange(self.cells[axis]) - self.before[axis]
        return np.clip(n, 0, self.region[axis] - 1)


@dataclass(frozen=True)
class Part:
    """The cells of a grid that one rank holds.

    Args:
        start: the first of them (i, j, k), counted in the whole grid.
        cells: how many (nx, ny, nz).
    """

    grid: Grid
    start: Triple
    cells: Triple

    @classmethod
    def whole(cls, grid: Grid) -> Part:
        """All cells of a grid."""
        return cls(grid, (0, 0, 0), grid.cells)

    @classmethod
    def held(cls, grid: Grid, start: tuple[int, ...], shape: tuple[int, ...]) -> Part:
        """The cells of a block of an array (z, y, x)."""
        (z, y, x), (nz, ny, nx) = start, shape
        return cls(grid, (x, y, z), (nx, ny, nz))

    @property
    def shape(self) -> Triple:
        """Array shape (nz, ny, nx) of one value a cell."""
        return self.cells[::-1]

    @property
    def before(self) -> Triple:
        """Cells of the absorbing layers on the low side of each axis."""
        return self._each(lambda n, layers, start, cells: min(max(layers - start, 0), cells), 0)

    @property
    def after(self) -> Triple:
        """Cells of the absorbing layers on the high side of each axis."""
        return self._each(
            lambda n, layers, start, cells: min(max(start + cells - (n - layers), 0), cells), 1
        )

    @property
    def region(self) -> Triple:
        """Cells of the region of interest."""
        nx, ny, nz = (
            n - b - a for b, n, a in zip(self.before, self.cells, self.after, strict=True)
        )
        return nx, ny, nz

    @property
    def region_start(self) -> Triple:
        """The first of them (i, j, k), counted in the whole region."""
        x, y, z = (
            s + b - edge
            for s, b, edge in zip(self.start, self.before, self.grid.before, strict=True)
        )
        return x, y, z

    @property
    def region_slices(self) -> tuple[slice, slice, slice]:
        """Where they lie in an array (z, y, x) of the part's cells."""
        x, y, z = (slice(b, b + n) for b, n in zip(self.before, self.region, strict=True))
        return z, y, x

    def local(self, cell: Triple) -> Triple | None:
        """A cell of the grid, counted in this part; None if another part has it."""
        i, j, k = (c - s for c, s in zip(cell, self.start, strict=True))
        nx, ny, nz = self.cells
        return (i, j, k) if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz else None

    def indices(self, axis: int) -> NDArray[np.intp]:
        """The cells along an axis, counted in the whole grid."""
        return np.arange(self.start[axis], self.start[axis] + self.cells[axis])

    def _each(self, count: Callable[[int, int, int, int], int], side: int) -> Triple:
        layers = (self.grid.before, self.grid.after)[side]
        x, y, z = map(count, self.grid.cells, layers, self.start, self.cells)
        return x, y, z


@dataclass(frozen=True)
class Layout:
    """How one value a cell is laid out in memory, ghost layers and row padding included.

    Args:
        cells: (nx, ny, nz), without ghosts.
        low, high: ghost layers on the low and the high side of each axis (x, y, z).
    """

    cells: Triple
    itemsize: int
    low: Triple = (GHOSTS,) * 3
    high: Triple = (GHOSTS,) * 3

    @cached_property
    def padded(self) -> Triple:
        """Cells along each axis, ghosts included."""
        nx, ny, nz = (a + n + b for a, n, b in zip(self.low, self.cells, self.high, strict=True))
        return nx, ny, nz

    @property
    def _line(self) -> int:
        """Elements of a cache line."""
        return ROW_ALIGNMENT // self.itemsize

    @cached_property
    def row(self) -> int:
        """Elements from one row to the next: whole cache lines."""
        return self._lines(self.padded[0])

    @property
    def plane(self) -> int:
        """Elements from one plane to the next."""
        return self.row * self.padded[1]

    @property
    def first(self) -> int:
        """Elements in front of the first ghost, so that cell 0 starts a line."""
        return self._lines(self.low[0]) - self.low[0]

    @property
    def size(self) -> int:
        """Elements to allocate: all planes, and whole lines in front."""
        return self.plane * self.padded[2] + self._lines(self.low[0])

    def _lines(self, count: int) -> int:
        """So many elements, rounded up to whole lines."""
        return -(-count // self._line) * self._line

    def constants(self) -> dict[str, int]:
        """What kernels call these numbers."""
        nx, ny, nz = self.cells
        return {"NX": nx, "NY": ny, "NZ": nz, "ROW": self.row, "PLANE": self.plane}


class Field:
    """One value a cell on a device, with its ghost layers.

    Attributes:
        layout: its cells and the widths of its ghost layers.
        array: (nz, ny, nx) view with the ghosts of both sides.
        origin: index in it of the first cell.
        interior: (nz, ny, nx) view without them; kernels receive a pointer to its first element.
    """

    def __init__(self, backend: Backend, layout: Layout, dtype: DTypeLike) -> None:
        self.layout = layout
        nx, ny, nz = layout.padded
        raw = backend.zeros((layout.size,), dtype)[layout.first :][: layout.plane * nz]
        self.array: Array = raw.reshape(nz, ny, layout.row)[:, :, :nx]
        self.origin: Triple = layout.low[::-1]
        inside = zip(self.origin, layout.cells[::-1], strict=True)
        self.interior: Array = self.array[tuple(slice(first, first + n) for first, n in inside)]


def times(counts: Iterable[float]) -> str:
    """Counts along axes, such as "80 x 80 x 40"."""
    return " x ".join(f"{count:g}" for count in counts)


def describe_grid(cells: Sequence[int], spacing: Sequence[float], of: str = "cells of {} m") -> str:
    """Such as "80 x 80 x 40 = 256,000 cells of 100 m"; `of` holds a place for the spacing."""
    edges = f"{spacing[0]:g}" if len(set(spacing)) == 1 else times(spacing)
    return f"{times(cells)} = {prod(cells):,} {of.format(edges)}"
