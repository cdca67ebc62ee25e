"""Rows of places in arrays, and the kernel that reduces rows of one into places of another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.backends.base import Array
from groundswell.errors import InputError

SOURCE = Path(__file__).with_name("assemble.h")
OPERATIONS = {"sum": 0, "multiply": 1, "min": 2, "max": 3}  # see assemble.h
TYPES = {"float32": "float", "float64": "double", "int32": "int", "int64": "long long"}
THREADS = 256
MOST_AT_ONCE = 8  # values that a thread has under way together
MIN_BLOCKS_PER_SM = 4  # on a processor: memory is slow to answer, so better spill than have fewer
WINDOW = 8192  # rows that are sorted by size together
SLICES_AT_ONCE = 512  # that are filled together: more would not stay in caches
NOWHERE = -1

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Places in an array, row by row.

    Args:
        count: of rows.
        starts: where in `places` each row begins, and where the last one ends, (count + 1,); None
            if each row has one place.
        places: None if a row's only place is as far behind `first` as the row is behind row 0.
    """

    count: int
    starts: Numbers | None = None
    places: Numbers | None = None
    first: int = 0

    @classmethod
    def straight(cls, first: int, end: int) -> Rows:
        """One place a row, each behind the one before."""
        return cls(end - first, first=first)

    @classmethod
    def single(cls, places: Numbers) -> Rows:
        """One place a row."""
        if _is_run(places):
            return cls.straight(int(places[0]), int(places[-1]) + 1)
        return cls(len(places), places=places)

    @classmethod
    def grouped(
        cls, count: int, rows: Numbers, places: Numbers, order: Numbers | None = None
    ) -> Rows:
        """Pairs of a row, below `count`, and a place; within a row by `order`, else as given."""
        from scipy.sparse import csc_array

        if order is not None:
            by_order = np.argsort(order, kind="stable")
            rows, places = rows[by_order], places[by_order]
        # A matrix with a column for each pair, which is stored row by row in linear time.
        kind = narrow(max(count, len(rows)))
        columns = np.arange(len(rows) + 1, dtype=kind)
        pairs = csc_array((places, rows.astype(kind), columns), shape=(count, len(rows)))
        by_row = pairs.tocsr()
        return cls(count, by_row.indptr.astype(np.int64), by_row.data)

    @property
    def sizes(self) -> Numbers:
        """Places of each row."""
        return np.ones(self.count, np.int64) if self.starts is None else np.diff(self.starts)

    @property
    def every(self) -> Numbers:
        """The places of all rows."""
        return self.first + np.arange(self.count) if self.places is None else self.places

    def take(self, rows: Numbers) -> Rows:
        """Some of the rows."""
        if _is_run(rows):
            return self._between(int(rows[0]), int(rows[-1]) + 1)
        if self.places is None:
            return Rows.single(self.first + rows)
        if self.starts is None:
            return Rows.single(self.places[rows])
        begins, sizes = self.starts[rows], self.sizes[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        shift = np.repeat(begins - starts[:-1], sizes)
        return Rows(len(rows), starts, self.places[np.arange(starts[-1]) + shift])

    def _between(self, first: int, end: int) -> Rows:
        """Rows next to each other, which need no copies of places."""
        if self.places is None:
            return Rows.straight(self.first + first, self.first + end)
        if self.starts is None:
            return Rows.single(self.places[first:end])
        starts = self.starts[first : end + 1]
        return Rows(end - first, starts - starts[0], self.places[starts[0] : starts[-1]])


@dataclass(frozen=True)
class Values:
    """Components of values in memory.

    Args:
        array: of a backend, (values,) or (components, values), values next to each other.

    Raises:
        InputError: another shape, or a type that nothing can be done to.
    """

    array: Array

    def __post_init__(self) -> None:
        shape, strides, dtype = self.array.shape, self.array.strides, self.array.dtype
        if str(dtype) not in TYPES:
            raise InputError(f"values of type {dtype}; allowed: {', '.join(TYPES)}")
        if len(shape) not in (1, 2) or (shape[-1] > 1 and strides[-1] != dtype.itemsize):
            raise InputError(
                f"an array of shape {tuple(shape)} and strides {tuple(strides)}: give one of shape "
                "(values,) or (components, values), with values next to each other"
            )

    @property
    def components(self) -> int:
        """How many there are."""
        return int(self.array.shape[0]) if self.array.ndim == 2 else 1

    @property
    def pitch(self) -> int:
        """Values from one component to the next."""
        return int(self.array.strides[0] // self.array.dtype.itemsize) if self.components > 1 else 0

    @property
    def count(self) -> int:
        """Values of a component."""
        return int(self.array.shape[-1])


def reduce_rows(
    backend: Backend, operation: str, source: tuple[Values, Rows], target: tuple[Values, Rows]
) -> list[Launch]:
    """A launch that stores each row's sum, product, ... in that row's places; none without rows."""
    (old, taken), (new, put) = source, target
    if not taken.count:
        return []
    slices = Slices.of(taken, put)
    small = max(old.count, new.count) < 2**31
    constants: dict[str, Constant] = {
        "VALUE": TYPES[str(old.array.dtype)],
        "OPERATION": OPERATIONS[operation],
        "INDICES_32_BIT": small,
        "IN_PLACE": slices.in_place,
        "MOST_AT_ONCE": MOST_AT_ONCE,
        "MIN_BLOCKS_PER_SM": MIN_BLOCKS_PER_SM,
    }
    count = len(slices.table)
    return [
        backend.compile(Source(SOURCE, constants)).launch(
            "assemble",
            Blocks(count * old.components, THREADS),
            *(old.array, old.pitch, slices.first[0], new.array, new.pitch, slices.first[1]),
            backend.to_device(slices.table),
            backend.to_device(slices.places.astype("int32" if small else "int64")),
            *(count, old.components),
        )
    ]


@dataclass(frozen=True, eq=False)
class Slices:
    """Rows of similar size together, as assemble.h wants them.

    Args:
        table: of the slices.
        places: of all of them.
        first: places of row 0 where rows are straight, in the old and in the new array.
        in_place: whether both arrays' places are the same.
    """

    table: Numbers
    places: Numbers
    first: tuple[int, int]
    in_place: bool

    @classmethod
    def of(
        cls, taken: Rows, put: Rows, threads: int = THREADS, at_once: int = MOST_AT_ONCE
    ) -> Slices:
        """Rows keep their neighbours nearby: they change places within windows only.

        Args:
            threads: that work on a slice.
            at_once: values that each of them has under way together.
        """
        in_place = put is taken and taken.places is not None
        widths = padded_size(taken.sizes)
        order = by_window(widths)
        first, count = _runs(widths[order], threads, at_once)
        taken = taken.take(order)
        put = taken if in_place else put.take(order)
        sides = (taken, put)[: 1 if in_place else 2]
        found = [_layout(rows, first, count) for rows in sides]
        ends = np.cumsum([0, *(size for _, _, size in found)])
        places = np.full(ends[-1] + 1, NOWHERE)
        places[-1] = 0  # so that there is one
        for rows, (_, begins, _), end in zip(sides, found, ends, strict=False):
            _fill(places[end:], rows, first, count, begins)
        columns = [c for (w, o, _), end in zip(found, ends, strict=False) for c in (w, o + end)]
        table = np.stack([first, count, *columns, *columns[: 2 * in_place]], axis=1)
        return cls(table, places, (taken.first, put.first), in_place)


def sliced(rows: Rows, first: Numbers, count: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Width and first place of each slice, and the places of all, NOWHERE where a row has fewer."""
    widths, begins, size = _layout(rows, first, count)
    table = np.full(size, NOWHERE)
    _fill(table, rows, first, count, begins)
    return widths, begins, table


def _layout(rows: Rows, first: Numbers, count: Numbers) -> tuple[Numbers, Numbers, int]:
    """Width and first place of each slice, and how many places all have."""
    if rows.places is None:
        return np.zeros_like(first), np.zeros_like(first), 0
    widths = padded_size(np.maximum.reduceat(rows.sizes, first))
    ends = np.cumsum(widths * count)
    return widths, ends - widths * count, int(widths @ count)


def _fill(table: Numbers, rows: Rows, first: Numbers, count: Numbers, begins: Numbers) -> None:
    """Put places of rows into slices, some after others: what it takes for all is much memory."""
    if rows.places is None:
        return
    starts = np.arange(rows.count + 1) if rows.starts is None else rows.starts
    for done in range(0, len(first), SLICES_AT_ONCE):
        part = slice(done, done + SLICES_AT_ONCE)
        low, high = first[part][0], first[part][-1] + count[part][-1]
        begin, sizes = starts[low:high], np.diff(starts[low : high + 1])
        # A row's places are as far apart as its slice has rows.
        step = np.repeat(count[part], count[part])
        place = np.repeat(begins[part] - first[part], count[part]) + np.arange(low, high)
        taken = np.arange(starts[low], starts[high])
        put = np.repeat(place - step * begin, sizes) + np.repeat(step, sizes) * taken
        table[put] = rows.places[starts[low] : starts[high]]


def padded_size(sizes: Numbers) -> Numbers:
    """The next power of two up to 8, and above that the next multiple of it."""
    every = np.arange(sizes.max(initial=0) + 1)
    powers = 1 << np.ceil(np.log2(np.maximum(every, 1))).astype(np.int64)
    return np.where(every <= 8, powers, -(-every // 8) * 8)[sizes]


def by_window(sizes: Numbers) -> Numbers:
    """An order in which rows of equal size are together within each WINDOW, and keep theirs."""
    count = -(-len(sizes) // WINDOW)
    table = np.full(count * WINDOW, np.iinfo(np.uint16).max, np.uint16)
    table[: len(sizes)] = np.minimum(sizes, 60_000)
    order = np.argsort(table.reshape(count, WINDOW), axis=1, kind="stable")
    order += WINDOW * np.arange(count)[:, None]
    return order.ravel()[: len(sizes)]


def narrow(most: int) -> type[np.signedinteger]:
    """A type of whole numbers up to this one, for arrays that are soon given back."""
    return np.int32 if most < 2**31 else np.int64


def _runs(widths: Numbers, threads: int, at_once: int) -> tuple[Numbers, Numbers]:
    """First rows of slices, and how many each has: of one width, and what threads do at once."""
    begins = np.flatnonzero(np.diff(widths, prepend=-1))
    lengths = np.diff(begins, append=len(widths))
    most = threads * np.maximum(1, at_once // np.maximum(widths[begins], 1))
    pieces = -(-lengths // most)
    run = np.repeat(np.arange(len(begins)), pieces)
    done = (np.arange(len(run)) - (np.cumsum(pieces) - pieces)[run]) * most[run]
    return begins[run] + done, np.minimum(most[run], lengths[run] - done)


def _is_run(numbers: Numbers) -> bool:
    """Whether each is one more than that before; False without any."""
    if not len(numbers):
        return False
    return np.array_equal(numbers, np.arange(numbers[0], numbers[0] + len(numbers)))
