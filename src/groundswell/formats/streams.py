"""Large variables of NetCDF files: written by threads and ranks at once, without the HDF5 library.

HDF5 allocates the bytes of a contiguous variable when it creates it. Whoever knows where they begin
can write them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import HostArray, Integers
from groundswell.backends.host_threads import chunks, for_each

_SYNCED = 256  # parts of a stream after which a thread waits until the disk has them


@dataclass(frozen=True)
class Rows:
    """Values of a box in an array of the whole problem, row by row.

    Args:
        count: number of rows.
        size: number of values in a row; they are consecutive in the whole, too.
        total: number of values of the whole.
        starts: returns where these rows begin in the whole, in values; None if each row follows
            the one before it.
    """

    count: int
    size: int
    total: int
    starts: Callable[[Integers], Integers] | None = None

    @classmethod
    def whole(cls, count: int, size: int = 1) -> Rows:
        """All values of an array."""
        return cls(count, size, count * size)

    @classmethod
    def of_box(cls, shape: Sequence[int], box: Sequence[slice]) -> Rows:
        """The lines of a box along the last axis.

        Args:
            shape: of the whole.
            box: a slice with both ends for each axis.
        """
        cells = [part.stop - part.start for part in box]
        *axes, (_, last, _) = zip(cells, box, _strides(shape), strict=True)

        def starts(rows: Integers) -> Integers:
            found = np.full(len(rows), last.start)
            for n, part, stride in reversed(axes):
                rows, index = np.divmod(rows, n)
                found += (index + part.start) * stride
            return found

        return cls(prod(cells[:-1]), cells[-1], prod(shape), starts)

    def parts(self) -> list[slice]:
        """The rows in parts that a thread processes at a time."""
        return chunks(self.count if self.size else 0, self.size)

    def runs(self, part: slice) -> Iterator[tuple[int, slice]]:
        """Where consecutive values of some rows begin in the whole, and their place in the rows."""
        if self.starts is None:
            yield part.start * self.size, slice(0, (part.stop - part.start) * self.size)
            return
        begin = self.starts(np.arange(part.start, part.stop))
        gaps = np.flatnonzero(np.diff(begin) != self.size) + 1
        for first, last in zip([0, *gaps], [*gaps, len(begin)], strict=True):
            yield int(begin[first]), slice(first * self.size, last * self.size)


def _strides(shape: Sequence[int]) -> list[int]:
    """Distance of neighbours along each axis, in values."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


@dataclass(frozen=True)
class Stream:
    """Values of variables that are found some rows at a time, while others are written.

    Args:
        names: the variables, which have no chunks; the last dimensions of each are those of `rows`.
        rows: the rows to write.
        read: returns what `find` needs for some rows, from a device for example; it is called in
            the calling thread, one part after another.
        find: returns the values of each variable in these rows, in the type of the variable, (...,
            values); threads call it.
    """

    names: Sequence[str]
    rows: Rows
    read: Callable[[slice], Any]
    find: Callable[[Any], Sequence[HostArray]]

    @classmethod
    def of_array(cls, name: str, values: HostArray) -> Stream:
        """The values of an array."""
        rows = Rows.whole(len(values), values[0].size)
        return cls((name,), rows, values.__getitem__, lambda part: [np.ascontiguousarray(part)])

    @classmethod
    def of_box(
        cls, name: str, values: HostArray, shape: Sequence[int], box: Sequence[slice]
    ) -> Stream:
        """The values of a box of an array of this shape."""

        def lines(part: slice) -> list[HostArray]:
            numbers = np.arange(part.start, part.stop)
            return [values[np.unravel_index(numbers, values.shape[:-1])]]

        return cls((name,), Rows.of_box(shape, box), lambda part: part, lines)


def allocated_at_once() -> Any:
    """Properties of a dataset that HDF5 allocates on creation and does not fill."""
    import h5py

    found = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    found.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    found.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    return found


def write_streams(path: Path, streams: Sequence[Stream]) -> None:
    """Write the values of streams to the bytes that HDF5 has allocated for them."""
    import h5py

    with h5py.File(path, locking=False) as file:
        starts = [[file[name].id.get_offset() for name in stream.names] for stream in streams]
    with path.open("r+b") as file:
        for stream, places in zip(streams, starts, strict=True):
            _write_stream(file.fileno(), stream, places)


def _write_stream(file: int, stream: Stream, starts: Sequence[int]) -> None:
    """Write the values of a stream to a file, whose variables begin at these bytes."""
    rows, parts = stream.rows, stream.rows.parts()

    def write(number: int, given: Any) -> None:
        part = parts[number]
        for start, values in zip(starts, stream.find(given), strict=True):
            layers = values.reshape(-1, (part.stop - part.start) * rows.size)
            for n, layer in enumerate(layers):
                _write_layer(file, layer, start + n * rows.total * layer.itemsize, rows.runs(part))
        if number % _SYNCED == _SYNCED - 1:
            os.fdatasync(file)  # the disk works while other threads find values

    given = ((number, stream.read(part)) for number, part in enumerate(parts))
    for_each(lambda pair: write(*pair), given)


def _write_layer(
    file: int, values: HostArray, start: int, runs: Iterator[tuple[int, slice]]
) -> None:
    """Write runs of values to a layer of a variable, which begins at the byte `start`."""
    for first, run in runs:
        _write_at(file, values[run], start + first * values.itemsize)


def _write_at(file: int, values: HostArray, start: int) -> None:
    data, done = np.ascontiguousarray(values).data.cast("B"), 0
    while done < len(data):
        done += os.pwrite(file, data[done:], start + done)
