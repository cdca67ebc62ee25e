"""Rows of places in arrays, and the kernel that reduces rows of one into places of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.backends.base import Array
from groundswell.errors import InputError

SOURCE = Path(__file__).with_name("assemble.h")
OPERATIONS = {"sum": 0, "multiply": 1, "min": 2, "max": 3}  # see assemble.h
TYPES = {"float32": "float", "float64": "double", "int32": "int", "int64": "long long"}
THREADS = 256
MOST_AT_ONCE = 4  # values that a thread has under way together
MANY = 1 << 16  # rows that are worth a launch for each number of places,
WIDEST = 8  # of which there are to be no more than so many

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Places in an array, row by row.

    Args:
        count: of rows.
        starts: where in `places` each row begins, and where the last one ends, (count + 1,); None
            if all have as many: then `places` holds all first ones, all second ones, and so on.
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
        width = 1 if self.places is None else len(self.places) // max(self.count, 1)
        return np.full(self.count, width) if self.starts is None else np.diff(self.starts)

    @property
    def width(self) -> int:
        """Places of every row; 0 if rows differ."""
        return int(self.sizes[0]) if self.starts is None and self.count else 0

    def take(self, rows: Numbers) -> Rows:
        """Some of the rows."""
        if self.starts is None:
            every = np.arange(self.count) + self.first if self.places is None else self.places
            taken = every.reshape(-1, self.count)[:, rows]
            return (
                Rows.single(taken[0]) if len(taken) == 1 else Rows(len(rows), places=taken.ravel())
            )
        assert self.places is not None
        begins, sizes = self.starts[rows], self.sizes[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        shift = np.repeat(begins - starts[:-1], sizes)
        return Rows(len(rows), starts, self.places[np.arange(starts[-1]) + shift]).evened()

    def evened(self) -> Rows:
        """The same without `starts`, if all rows have as many places."""
        sizes = self.sizes
        if self.starts is None or self.places is None or not self.count or np.ptp(sizes):
            return self
        by_place = self.places.reshape(self.count, -1).T.ravel()
        return Rows.single(by_place) if sizes[0] == 1 else Rows(self.count, places=by_place)

    def arguments(self, backend: Backend, index: str) -> tuple[Any, Any, int]:
        """As assemble.h wants them."""

        def place(numbers: Numbers | None) -> Any:
            return 0 if numbers is None else backend.to_device(numbers.astype(index))

        return place(self.starts), place(self.places), self.first


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
    """Launches that store each row's sum, product, ... in that row's places; none without rows."""
    (old, taken), (new, put) = source, target
    return [_launch(backend, operation, (old, part), (new, to)) for part, to in _alike(taken, put)]


def _alike(taken: Rows, put: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Many rows in parts with the same number of places, which are quick; few of them together."""
    sizes = taken.sizes
    if taken.starts is None or taken.count < MANY or sizes.max() > WIDEST:
        yield from [(taken, put)] * bool(taken.count)
        return
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        part = taken.take(rows)
        yield part, part if put is taken else put.take(rows)


def _launch(
    backend: Backend, operation: str, source: tuple[Values, Rows], target: tuple[Values, Rows]
) -> Launch:
    (old, taken), (new, put) = source, target
    small = max(old.count, new.count, int(taken.sizes.sum()), int(put.sizes.sum())) < 2**31
    at_once = MOST_AT_ONCE // max(taken.width, 1) or 1
    constants: dict[str, Constant] = {
        "VALUE": TYPES[str(old.array.dtype)],
        "OPERATION": OPERATIONS[operation],
        "SMALL_INDICES": small,
        "FROM": taken.width,
        "TO": put.width,
        "IN_PLACE": put is taken and taken.width > 0,
        "AT_ONCE": at_once,
        "THREADS": THREADS,
    }
    blocks, index = -(-taken.count // (THREADS * at_once)), "int32" if small else "int64"
    return backend.compile(Source(SOURCE, constants)).launch(
        "assemble",
        Blocks(blocks * old.components, THREADS),
        *(old.array, old.pitch, new.array, new.pitch),
        *taken.arguments(backend, index),
        *put.arguments(backend, index),
        *(taken.count, blocks, old.components),
    )
