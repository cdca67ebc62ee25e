"""Distributed arrays: an array of the whole problem, of which each rank holds a part.

Parts are boxes or index lists, so that fields on Cartesian blocks, points on few ranks and values
on elements are described alike. Checkpoints, outputs and gathering to rank 0 work on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray, HostArray, Integers
from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.formats.streams import Rows
from groundswell.grids.cartesian import Field, Part

ArrayIndex = tuple[Any, ...]  # slices, one an axis; or an index list of the first axis, then slices
Span = tuple[slice, slice]  # along one axis: where in this rank's array, and where in the whole
ReadRows = tuple[Rows, Callable[[slice], HostArray]]  # rows of an array, and what reads some
AXES = (2, 1, 0)  # of cells (x, y, z), in an array's order


@dataclass(frozen=True)
class DistributedArray:
    """One rank's part of an array of the whole problem.

    Args:
        array: this rank's, on the device; it may hold ghost values and padding.
        shape: of the whole array.
        window: the parts of `array` that lie in the whole: pairs of where here, and where there.
        own: the same of what this rank owns; each value of the whole has one owner.
    """

    array: DeviceArray
    shape: tuple[int, ...]
    window: tuple[tuple[ArrayIndex, ArrayIndex], ...]
    own: tuple[tuple[ArrayIndex, ArrayIndex], ...]

    @classmethod
    def replicated(cls, array: DeviceArray, comm: Communicator) -> DistributedArray:
        """A whole array that every rank has; rank 0 owns it."""
        everything = tuple(slice(0, n) for n in array.shape)
        window = ((everything, everything),)
        return cls(array, array.shape, window, window).owned_by_first(comm)

    def owned_by_first(self, comm: Communicator) -> DistributedArray:
        """The same where every rank has the whole: rank 0 owns it."""
        return self if comm.first else replace(self, own=())

    @classmethod
    def of_boxes(
        cls, array: DeviceArray, shape: tuple[int, ...], spans: Sequence[Sequence[Span]]
    ) -> DistributedArray:
        """An array without ghost values.

        Args:
            shape: of the whole.
            spans: for each axis, where pieces of it lie here and in the whole.
        """
        boxes = _boxes(spans)
        return cls(array, shape, boxes, boxes)

    @classmethod
    def of_field(cls, field: Field, part: Part) -> DistributedArray:
        """A Cartesian field; the outermost ghosts of the whole belong to the blocks beside them."""
        low, high = field.layout.low, field.layout.high
        whole, window, own = [], [], []
        for axis in AXES:
            start, n, end = part.start[axis], part.cells[axis], part.grid.cells[axis]
            padded = low[axis] + n + high[axis]
            first = 0 if start == 0 else low[axis]
            last = padded if start + n == end else low[axis] + n
            whole.append(low[axis] + end + high[axis])
            window.append([span(0, start, padded)])
            own.append([span(first, start + first, last - first)])
        return cls(field.array, tuple(whole), _boxes(window), _boxes(own))

    @classmethod
    def of_region(cls, array: DeviceArray, part: Part) -> DistributedArray:
        """The cells of the region of interest, of an array (nz, ny, nx) of a part's cells."""
        region = array[part.region_slices]
        first, cells = part.region_start, part.region
        spans = [[span(0, first[axis], cells[axis])] for axis in AXES]
        return cls.of_boxes(region, part.grid.region[::-1], spans)

    def gather(self, backend: Backend, comm: Communicator) -> HostArray | None:
        """The whole array at rank 0, None elsewhere; all ranks must call it."""
        host = backend.to_host(self.array)
        parts = comm.gather([(there, host[here]) for here, there in self.own])
        if not comm.first:
            return None
        pieces = [piece for part in parts for piece in part]
        if len(pieces) == 1 and _is_whole(*pieces[0], self.shape):
            return pieces[0][1]
        whole = np.zeros(self.shape, self.array.dtype)
        for there, values in pieces:
            whole[there] = values
        return whole

    def written_rows(
        self,
        backend: Backend,
        comm: Communicator,
        complete: Callable[[HostArray], HostArray] = lambda whole: whole,
    ) -> ReadRows | None:
        """What this rank writes of the whole to a file: rows, and a function that reads some.

        Boxes of ranks on one host are read from the device piece by piece, and need no memory. Else
        rank 0 gathers the whole, and the others write nothing. All ranks must call this method.

        Args:
            complete: sets the values that no rank has.
        """
        if len(comm.same_host) == comm.size and self._is_box:
            (here, there), *_ = self.own
            return self._rows_of_device(backend, here, there)
        whole = self.gather(backend, comm)
        if whole is None:
            return None
        return Rows.whole(whole.size), complete(whole).reshape(-1).__getitem__

    def _rows_of_device(self, backend: Backend, here: ArrayIndex, there: ArrayIndex) -> ReadRows:
        rows, flat = Rows.of_box(self.shape, there), self.array[here].reshape(-1)

        def read(part: slice) -> HostArray:
            return backend.to_host(flat[part.start * rows.size : part.stop * rows.size])

        return rows, read

    @property
    def _is_box(self) -> bool:
        return len(self.own) == 1 and all(isinstance(entry, slice) for entry in self.own[0][1])


def _is_whole(there: ArrayIndex, values: DeviceArray, shape: tuple[int, ...]) -> bool:
    """Whether the values at index `there` are the whole array of this shape."""
    return values.shape == shape and all(isinstance(entry, slice) for entry in there)


def span(here: int, there: int, count: int) -> Span:
    """So many points from `here` on, which are those from `there` on in the whole."""
    return slice(here, here + count), slice(there, there + count)


def complete(index: ArrayIndex, shape: tuple[int, ...]) -> ArrayIndex:
    """An index of an array with an entry for each axis; slices with both ends."""
    given = (*index, *(slice(None),) * (len(shape) - len(index)))
    return tuple(
        slice(*entry.indices(n)[:2]) if isinstance(entry, slice) else entry
        for entry, n in zip(given, shape, strict=True)
    )


def numbers_of(index: Any) -> Integers:
    """The entries that a slice with both ends, or an index list, takes along its axis."""
    if isinstance(index, slice):
        return np.arange(index.start, index.stop)
    return np.asarray(index, np.int64)


def _boxes(spans: Sequence[Sequence[Span]]) -> tuple[tuple[ArrayIndex, ArrayIndex], ...]:
    return tuple(
        (tuple(here for here, _ in box), tuple(there for _, there in box))
        for box in product(*spans)
    )
