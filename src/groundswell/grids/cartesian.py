"""Cartesian grids with absorbing layers, their parts, and fields on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, Floats, Indices
from groundswell.backends import Backend
from groundswell.backends.base import ROW_ALIGNMENT
from groundswell.grids.axis import Spacing

Triple = tuple[int, int, int]
SHORT_RUN = 3e7  # cell updates, which take about as long as a compilation
GHOSTS = 2  # default ghost layers on each side, for a fourth-order staggered difference


@dataclass(frozen=True)
class Grid:
    """A grid of a region of interest and absorbing layers around it.

    Args:
        region: number of cells (x, y, z) of the region; its corner is the origin.
        spacing: cell edges (x, y, z), m.
        before, after: width of the layers on the low and the high side of each axis, cells.
    """

    region: Triple
    spacing: tuple[float, float, float]
    before: Triple = (0, 0, 0)
    after: Triple = (0, 0, 0)

    @cached_property
    def cells(self) -> Triple:
        """Number of cells (nx, ny, nz), layers included."""
        nx, ny, nz = (
            b + n + a for b, n, a in zip(self.before, self.region, self.after, strict=True)
        )
        return nx, ny, nz

    @property
    def shape(self) -> Triple:
        """Shape (nz, ny, nx) of an array with one value per cell."""
        return self.cells[::-1]

    @property
    def count(self) -> int:
        """Number of cells, layers included."""
        return int(np.prod(self.cells, dtype=np.int64))

    @property
    def region_slices(self) -> tuple[slice, slice, slice]:
        """Slices of the region in an array (z, y, x) of all cells."""
        x, y, z = (slice(b, b + n) for b, n in zip(self.before, self.region, strict=True))
        return z, y, x

    def indices(
        self, position: tuple[float, float, float], offset: tuple[float, float, float]
    ) -> Floats:
        """Fractional indices (x, y, z) of a position, (3,).

        Args:
            position: position from the corner of the region, m.
            offset: offset of the values from (i, j, k), cells: 0 on faces, 0.5 between them.
        """
        cells = np.asarray(position, float) / np.asarray(self.spacing)
        return cells + np.asarray(self.before) - np.asarray(offset)


@dataclass(frozen=True)
class Part:
    """The part of a grid that one rank has.

    Args:
        start: index (i, j, k) of its first cell in the whole grid.
        cells: number of its cells (nx, ny, nz).
    """

    grid: Grid
    start: Triple
    cells: Triple

    @classmethod
    def whole(cls, grid: Grid) -> Part:
        """The part that is the whole grid."""
        return cls(grid, (0, 0, 0), grid.cells)

    @classmethod
    def from_block(cls, grid: Grid, start: tuple[int, ...], shape: tuple[int, ...]) -> Part:
        """The part of a block of an array (z, y, x)."""
        (z, y, x), (nz, ny, nx) = start, shape
        return cls(grid, (x, y, z), (nx, ny, nz))

    @property
    def shape(self) -> Triple:
        """Shape (nz, ny, nx) of an array with one value per cell."""
        return self.cells[::-1]

    @property
    def before(self) -> Triple:
        """Width of the absorbing layers on the low side of each axis, cells."""
        return self._each(lambda n, layers, start, cells: min(max(layers - start, 0), cells), 0)

    @property
    def after(self) -> Triple:
        """Width of the absorbing layers on the high side of each axis, cells."""
        return self._each(
            lambda n, layers, start, cells: min(max(start + cells - (n - layers), 0), cells), 1
        )

    @property
    def region(self) -> Triple:
        """Number of cells of the region of interest in this part."""
        nx, ny, nz = (
            n - b - a for b, n, a in zip(self.before, self.cells, self.after, strict=True)
        )
        return nx, ny, nz

    @property
    def region_start(self) -> Triple:
        """Index (i, j, k), in the whole region, of the first such cell."""
        x, y, z = (
            s + b - edge
            for s, b, edge in zip(self.start, self.before, self.grid.before, strict=True)
        )
        return x, y, z

    @property
    def region_slices(self) -> tuple[slice, slice, slice]:
        """Slices of the region of interest in an array (z, y, x) of this part."""
        x, y, z = (slice(b, b + n) for b, n in zip(self.before, self.region, strict=True))
        return z, y, x

    def local(self, cell: Triple) -> Triple | None:
        """The index in this part of a cell of the grid; None if it is not in this part."""
        i, j, k = (c - s for c, s in zip(cell, self.start, strict=True))
        nx, ny, nz = self.cells
        return (i, j, k) if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz else None

    def indices(self, axis: int) -> Indices:
        """Indices of the cells along an axis in the whole grid."""
        return np.arange(self.start[axis], self.start[axis] + self.cells[axis])

    def _each(self, count: Callable[[int, int, int, int], int], side: int) -> Triple:
        layers = (self.grid.before, self.grid.after)[side]
        x, y, z = map(count, self.grid.cells, layers, self.start, self.cells)
        return x, y, z


@dataclass(frozen=True)
class Layout:
    """Memory layout of one value per cell, with ghost layers and padded rows.

    Args:
        cells: number of cells (nx, ny, nz), without ghosts.
        itemsize: bytes per value.
        low, high: ghost layers on the low and the high side of each axis (x, y, z).
    """

    cells: Triple
    itemsize: int
    low: Triple = (GHOSTS,) * 3
    high: Triple = (GHOSTS,) * 3

    @cached_property
    def padded(self) -> Triple:
        """Number of cells along each axis, ghosts included."""
        nx, ny, nz = (a + n + b for a, n, b in zip(self.low, self.cells, self.high, strict=True))
        return nx, ny, nz

    @property
    def _line(self) -> int:
        """Elements per cache line."""
        return ROW_ALIGNMENT // self.itemsize

    @cached_property
    def row(self) -> int:
        """Stride of rows, elements: whole cache lines."""
        return self._lines(self.padded[0])

    @property
    def plane(self) -> int:
        """Stride of planes, elements."""
        return self.row * self.padded[1]

    @property
    def first(self) -> int:
        """Elements before the first ghost, so that cell 0 starts a cache line."""
        return self._lines(self.low[0]) - self.low[0]

    @property
    def size(self) -> int:
        """Elements to allocate: all planes, and whole cache lines before them."""
        return self.plane * self.padded[2] + self._lines(self.low[0])

    def _lines(self, count: int) -> int:
        """`count` rounded up to whole cache lines, elements."""
        return -(-count // self._line) * self._line

    def is_short_run(self, steps: int) -> bool:
        """Whether so many steps with generic kernels take less time than compiling special ones.

        See backends/source.py.
        """
        return prod(self.cells) * steps < SHORT_RUN

    def parameters(self) -> dict[str, int]:
        """Extents and strides as parameters of kernels."""
        nx, ny, nz = self.cells
        return {"NX": nx, "NY": ny, "NZ": nz, "ROW": self.row, "PLANE": self.plane}


class Field:
    """One value per cell on a device, with ghost layers.

    Attributes:
        layout: cells and ghost layers.
        array: view with ghosts, (nz, ny, nx).
        origin: index of the first cell in `array`.
        interior: view without ghosts, (nz, ny, nx); kernels take a pointer to its first value.
    """

    def __init__(self, backend: Backend, layout: Layout, dtype: DTypeLike) -> None:
        self.layout = layout
        nx, ny, nz = layout.padded
        raw = backend.zeros((layout.size,), dtype)[layout.first :][: layout.plane * nz]
        self.array: DeviceArray = raw.reshape(nz, ny, layout.row)[:, :, :nx]
        self.origin: Triple = layout.low[::-1]
        inside = zip(self.origin, layout.cells[::-1], strict=True)
        self.interior: DeviceArray = self.array[
            tuple(slice(first, first + n) for first, n in inside)
        ]


def format_extent(counts: Iterable[float]) -> str:
    """Numbers along axes as text, such as "80 x 80 x 40"."""
    return " x ".join(f"{count:g}" for count in counts)


def describe_grid(
    cells: Sequence[int], spacing: Sequence[Spacing], of: str = "cells of {} m"
) -> str:
    """A grid as text, such as "80 x 80 x 40 = 256,000 cells of 100 m"; `of` formats the spacing."""
    along = [_format_spacing(h) for h in spacing]
    edges = along[0] if len(set(spacing)) == 1 else " x ".join(along)
    return f"{format_extent(cells)} = {prod(cells):,} {of.format(edges)}"


def _format_spacing(spacing: Spacing) -> str:
    if not isinstance(spacing, tuple):
        return f"{spacing:g}"
    return " to ".join(f"{edge:g}" for edge in sorted({min(spacing), max(spacing)}))
