"""Rows of places in arrays, and the kernel that reduces rows of one into places of another."""

from __future__ import annotations

from collections.abc import Iterator
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
BLOCKS_AT_ONCE = 4  # on a processor: memory is slow to answer, so better spill than have fewer
WINDOW = 8192  # rows that are sorted by size together
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
        if len(places) and np.array_equal(places, np.arange(len(places)) + places[0]):
            return cls.straight(int(places[0]), int(places[-1]) + 1)
        return cls(len(places), places=places)

    @classmethod
    def grouped(
        cls, count: int, rows: Numbers, places: Numbers, order: Numbers | None = None
    ) -> Rows:
        """Pairs of a row, below `count`, and a place; within a row by `order`, else as given."""
        by_row = np.argsort(rows, kind="stable") if order is None else np.lexsort((order, rows))
        counts = np.bincount(rows, minlength=count)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls(count, starts, places[by_row])

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
        if self.places is None:
            return Rows.single(self.first + rows)
        if self.starts is None:
            return Rows.single(self.places[rows])
        begins, sizes = self.starts[rows], self.sizes[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        shift = np.repeat(begins - starts[:-1], sizes)
        return Rows(len(rows), starts, self.places[np.arange(starts[-1]) + shift])


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
        "SMALL_INDICES": small,
        "IN_PLACE": slices.in_place,
        "BLOCKS_AT_ONCE": BLOCKS_AT_ONCE,
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
    def of(cls, taken: Rows, put: Rows) -> Slices:
        """Rows keep their neighbours nearby: they change places within windows only."""
        in_place = put is taken and taken.places is not None
        widths = padded_size(taken.sizes)
        order = by_window(widths)
        taken = taken.take(order)
        put = taken if in_place else put.take(order)
        runs = np.array(list(_runs(widths[order])), np.int64)
        first, count = runs[:, 0], np.diff(runs)[:, 0]
        sides = [sliced(rows, first, count) for rows in (taken, put)[: 1 if in_place else 2]]
        ends = np.cumsum([0, *(len(places) for _, _, places in sides)])
        columns = [c for (w, o, _), end in zip(sides, ends, strict=False) for c in (w, o + end)]
        table = np.stack([first, count, *columns, *columns[: 2 * in_place]], axis=1)
        places = np.concatenate([*(places for _, _, places in sides), np.zeros(1, np.int64)])
        return cls(table, places, (taken.first, put.first), in_place)


def sliced(rows: Rows, first: Numbers, count: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Width and first place of each slice, and the places of all, NOWHERE where a row has fewer."""
    if rows.places is None:
        return np.zeros_like(first), np.zeros_like(first), np.empty(0, np.int64)
    sizes = rows.sizes
    widths = padded_size(np.maximum.reduceat(sizes, first))
    ends = np.cumsum(widths * count)
    table = np.full(ends[-1], NOWHERE)
    begins = ends - widths * count
    row = np.repeat(np.arange(rows.count), sizes)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    slice_ = np.repeat(np.arange(len(first)), count)[row]
    table[begins[slice_] + nth * count[slice_] + row - first[slice_]] = rows.places
    return widths, begins, table


def padded_size(sizes: Numbers) -> Numbers:
    """The next power of two up to 8, and above that the next multiple of it."""
    powers = 1 << np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    return np.where(sizes <= 8, powers, -(-sizes // 8) * 8)


def by_window(sizes: Numbers) -> Numbers:
    """An order in which rows of equal size are together within each WINDOW, and keep theirs."""
    count = -(-len(sizes) // WINDOW)
    table = np.full(count * WINDOW, np.iinfo(np.uint16).max, np.uint16)
    table[: len(sizes)] = np.minimum(sizes, 60_000)
    order = np.argsort(table.reshape(count, WINDOW), axis=1, kind="stable")
    return (order + WINDOW * np.arange(count)[:, None]).ravel()[: len(sizes)]


def _runs(widths: Numbers) -> Iterator[tuple[int, int]]:
    """First rows of slices, and where these end: equal widths, and as much as a block can do."""
    ends = np.append(np.flatnonzero(np.diff(widths)) + 1, len(widths))
    first = 0
    for end in ends.tolist():
        most = THREADS * max(1, MOST_AT_ONCE // int(widths[first]))
        for begin in range(first, end, most):
            yield begin, min(begin + most, end)
        first = end
