"""Rows of array indices, and their sliced ELLPACK format for kernels, see include/sliced_ellpack.h.

Kreutzer et al. 2014, SIAM J. Sci. Comput. 36:C401, describe the format.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends.base import Backend
from groundswell.backends.host_threads import filled, for_each, take

THREADS = 256
MAX_IN_FLIGHT = 8  # largest number of concurrent loads of a thread
WINDOW = 8192  # rows that are sorted by size together
WINDOWS = 64  # number of windows that a thread sorts at a time
SLICES_PER_BATCH = 512  # slices that are filled together; larger batches exceed the caches
PADDING = -1  # index in rows that are shorter than the width of their slice

Slices = tuple[Integers, Integers, Integers]  # first row, number of rows, start of the indices
Runs = tuple[Integers, Integers]  # first row, and padded size, of consecutive rows of equal size


class IndexRows(Protocol):
    """Rows of indices that can be stored in slices, in the order of their sizes within windows."""

    @property
    def count(self) -> int:
        """Number of rows."""

    @property
    def first(self) -> int:
        """See `SparseRows`."""

    @property
    def on_devices(self) -> dict[tuple[object, ...], SlicesOnDevice]:
        """Slices that `reduce_rows` has copied to devices and can use again."""

    @property
    def is_contiguous(self) -> bool:
        """Whether row r has the single index first + r."""

    @property
    def runs(self) -> Runs:
        """Where the padded size changes."""

    def fill(self, table: Integers, slices: Slices) -> None:
        """Store the indices in their slices."""


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of indices in compressed sparse row format.

    Args:
        count: number of rows.
        offsets: offset of each row in `indices`, and the end, (count + 1,); None if all rows have
            one index.
        indices: indices of all rows; None if row r has the single index first + r.
        on_devices: slices that `reduce_rows` has copied to devices and can use again.
    """

    count: int
    offsets: Integers | None = None
    indices: Integers | None = None
    first: int = 0
    on_devices: dict[tuple[object, ...], SlicesOnDevice] = field(default_factory=dict, repr=False)

    @classmethod
    def contiguous(cls, first: int, end: int) -> SparseRows:
        """Rows with one index each, from `first` to `end` - 1."""
        return cls(end - first, first=first)

    @classmethod
    def single(cls, indices: Integers) -> SparseRows:
        """One index a row."""
        if _is_contiguous(indices):
            return cls.contiguous(int(indices[0]), int(indices[-1]) + 1)
        return cls(len(indices), indices=indices)

    @classmethod
    def from_pairs(
        cls, count: int, rows: Integers, indices: Integers, order: Integers | None = None
    ) -> SparseRows:
        """Rows from (row, index) pairs; within a row, sorted by `order`, or in the given order."""
        from scipy.sparse import csc_array

        if order is not None:
            by_order = np.argsort(order, kind="stable")
            rows, indices = rows[by_order], indices[by_order]
        # A matrix with a column for each pair: SciPy converts it to CSR in linear time.
        kind = index_type(max(count, len(rows)))
        columns = np.arange(len(rows) + 1, dtype=kind)
        pairs = csc_array((indices, rows.astype(kind), columns), shape=(count, len(rows)))
        by_row = pairs.tocsr()
        return cls(count, by_row.indptr.astype(np.int64), by_row.data)

    @cached_property
    def sizes(self) -> Integers:
        """Number of indices of each row."""
        return np.ones(self.count, np.int64) if self.offsets is None else np.diff(self.offsets)

    @property
    def all_indices(self) -> Integers:
        """The indices of all rows, one row after another."""
        return self.first + np.arange(self.count) if self.indices is None else self.indices

    @property
    def is_contiguous(self) -> bool:
        """Whether row r has the single index first + r."""
        return self.indices is None

    @property
    def runs(self) -> Runs:
        """Where the padded size changes."""
        if self.offsets is None:
            return np.zeros(min(self.count, 1), np.int64), np.ones(min(self.count, 1), np.int64)
        padded = padded_size(self.sizes)
        begins = np.flatnonzero(np.diff(padded, prepend=-1))
        return begins, padded[begins]

    def fill(self, table: Integers, slices: Slices) -> None:
        """Store the indices in their slices."""
        fill(table, self, slices)

    def head(self, count: int) -> SparseRows:
        """The first rows, which share the indices without a copy."""
        if self.indices is None or self.offsets is None:
            return replace(self, count=count, on_devices={})
        indices = self.indices[: self.offsets[count]]
        return SparseRows(count, self.offsets[: count + 1], indices)

    def take(self, rows: Integers) -> SparseRows:
        """The chosen rows; contiguous rows share the indices without a copy."""
        if self.indices is None or self.offsets is None:
            return SparseRows.single(
                self.first + rows if self.indices is None else self.indices[rows]
            )
        if _is_contiguous(rows):
            offsets = self.offsets[rows[0] : rows[-1] + 2]
            return SparseRows(
                len(rows), offsets - offsets[0], self.indices[offsets[0] : offsets[-1]]
            )
        begins, sizes = self.offsets[rows], self.sizes[rows]
        offsets = np.append(0, np.cumsum(sizes))
        shift = np.repeat(begins - offsets[:-1], sizes)
        return SparseRows(len(rows), offsets, self.indices[np.arange(offsets[-1]) + shift])


class SlicesOnDevice(NamedTuple):
    """Slices whose arrays are on a device; see `SlicedEllpack`."""

    table: DeviceArray
    indices: DeviceArray
    first: tuple[int, int]
    in_place: bool


@dataclass(frozen=True, eq=False)
class SlicedEllpack:
    """Source and target rows in sliced ELLPACK format.

    Args:
        table: the slices in the layout of sliced_ellpack.h, (slices, 6).
        indices: indices of all slices.
        first: index of row 0 in the source and in the target, if rows are contiguous.
        in_place: whether source and target have the same indices.
    """

    table: Integers
    indices: Integers
    first: tuple[int, int]
    in_place: bool

    def on(self, backend: Backend, dtype: str) -> SlicesOnDevice:
        """Copy the slices to a device, with indices of type `dtype`."""
        indices = backend.to_device(self.indices.astype(dtype, copy=False))
        return SlicesOnDevice(backend.to_device(self.table), indices, self.first, self.in_place)

    @classmethod
    def of(
        cls,
        source: IndexRows,
        target: SparseRows,
        threads: int = THREADS,
        in_flight: int = MAX_IN_FLIGHT,
        dtype: DTypeLike = np.int64,
    ) -> SlicedEllpack:
        """Sort rows by size, within windows only, so that they stay near their neighbours.

        Args:
            threads: number of threads that process a slice, each with `in_flight` loads.
            dtype: of indices.
        """
        in_place = target is source and not source.is_contiguous
        sides = [source] if in_place else [source, target]
        if isinstance(source, SparseRows):
            sides = _sort(source, *[target] * (not in_place))
        first, count, padded = _cut_slices(sides[0], threads, in_flight)
        columns, size = list[Integers](), 0
        for rows in sides:
            widths = np.zeros_like(first)
            if not rows.is_contiguous:
                widths = padded if rows is sides[0] else _widths(rows, first)
            columns += [widths, size + np.cumsum(widths * count) - widths * count]
            size += int(widths @ count)
        indices = filled(max(size, 1), PADDING, dtype)
        for rows, begins in zip(sides, columns[1::2], strict=True):
            rows.fill(indices, (first, count, begins))
        table = np.stack([first, count, *columns * (2 if in_place else 1)], axis=1)
        return cls(table, indices, (sides[0].first, sides[-1].first), in_place)


def fill(table: Integers, rows: SparseRows, slices: Slices) -> None:
    """Store indices of rows in their slices, in batches: temporary arrays are large."""
    first, count, begins = slices
    if (indices := rows.indices) is None:
        return
    offsets = np.arange(rows.count + 1) if rows.offsets is None else rows.offsets

    def fill_batch(done: int) -> None:
        part = slice(done, done + SLICES_PER_BATCH)
        low, high = first[part][0], first[part][-1] + count[part][-1]
        begin, sizes = offsets[low:high], np.diff(offsets[low : high + 1])
        # The distance between indices of a row is the number of rows of its slice.
        step = np.repeat(count[part], count[part])
        start = np.repeat(begins[part] - first[part], count[part]) + np.arange(low, high)
        source = np.arange(offsets[low], offsets[high])
        target = np.repeat(start - step * begin, sizes) + np.repeat(step, sizes) * source
        table[target] = indices[offsets[low] : offsets[high]]

    for_each(fill_batch, range(0, len(first), SLICES_PER_BATCH))


def padded_size(sizes: NDArray[np.integer]) -> Integers:
    """The next power of two up to 8; above 8, the next multiple of 8."""
    possible = np.arange(sizes.max(initial=0) + 1)
    powers = 1 << np.ceil(np.log2(np.maximum(possible, 1))).astype(np.int64)
    return take(np.where(possible <= 8, powers, -(-possible // 8) * 8), sizes)


def sort_in_windows(sizes: Integers, window: int = WINDOW) -> Integers:
    """The order that sorts rows by size within each window of so many rows, stably."""
    count, together = -(-len(sizes) // window), max(1, WINDOWS * WINDOW // window)
    table = np.full(count * window, np.iinfo(np.uint16).max, np.uint16)
    table[: len(sizes)] = np.minimum(sizes, 60_000)
    windows, order = table.reshape(count, window), np.empty((count, window), np.int64)

    def sort(part: slice) -> None:
        order[part] = np.argsort(windows[part], axis=1, kind="stable")
        order[part] += window * np.arange(count)[part, None]

    for_each(sort, [slice(n, n + together) for n in range(0, count, together)])
    return order.ravel()[: len(sizes)]


def _is_nearly_sorted(sizes: Integers) -> bool:
    """Whether sizes decrease as seldom as if rows were sorted in windows of half the usual size."""
    falls = np.count_nonzero(sizes[1:] < sizes[:-1])
    return bool(falls <= 2 * len(sizes) // WINDOW)


def index_type(largest: int) -> type[np.signedinteger]:
    """The smallest integer type for this number, to save memory in temporary arrays."""
    return np.int32 if largest < 2**31 else np.int64


def _cut_slices(
    rows: IndexRows, threads: int, in_flight: int
) -> tuple[Integers, Integers, Integers]:
    """First row, number of rows and width of each slice: rows fit in flight."""
    begins, widths = rows.runs
    lengths = np.diff(begins, append=rows.count)
    limit = threads * np.maximum(1, in_flight // np.maximum(widths, 1))
    pieces = -(-lengths // limit)
    run = np.repeat(np.arange(len(begins)), pieces)
    done = (np.arange(len(run)) - (np.cumsum(pieces) - pieces)[run]) * limit[run]
    return begins[run] + done, np.minimum(limit[run], lengths[run] - done), widths[run]


def _widths(rows: IndexRows, first: Integers) -> Integers:
    """The width of each slice of rows in any order."""
    padded = np.repeat(rows.runs[1], np.diff(rows.runs[0], append=rows.count))
    return np.asarray(np.maximum.reduceat(padded, first))


def _sort(source: SparseRows, *others: SparseRows) -> list[IndexRows]:
    """Rows in the order of the source's sizes within windows."""
    padded = padded_size(source.sizes)
    if _is_nearly_sorted(padded):
        return [source, *others]
    order = sort_in_windows(padded)
    return [rows.take(order) for rows in (source, *others)]


def _is_contiguous(numbers: Integers) -> bool:
    """Whether the numbers are consecutive; False if there are none."""
    if not len(numbers) or numbers[-1] - numbers[0] != len(numbers) - 1:
        return False
    return bool((np.diff(numbers) == 1).all())
