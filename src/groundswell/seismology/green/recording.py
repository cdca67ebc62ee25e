"""Recording of strain on one rank: weighted sums of strains at grid values, through a ring buffer.

The strain at a point is a weighted sum of the strains at the grid values around it. The weights are
those with which a source at the point would be injected. The values may belong to several ranks. A
rank records the sums of which it has all values. Of other sums, it records the individual values,
which rank 0 adds in the same order, so that results are bit-identical on any number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray, Integers, Mask
from groundswell.backends import Backend, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.exchange.communicator import Communicator
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots

SOURCE = Path(__file__).parents[1] / "kernels" / "green.h"
WORD = 8  # bytes of a value, in double precision


def sums_source() -> Source:
    """The source of the kernel that records weighted sums, in double precision."""
    return Source(SOURCE, precision("float64"))


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """A sparse matrix, row by row.

    Args:
        starts: first term of each row, (rows + 1,).
        index: value of each term, (terms,), ascending in a row.
        weights: of the terms, (terms,).
    """

    starts: Integers
    index: Integers
    weights: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, rows: Integers) -> WeightedRows:
        """Some of the rows."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        offsets = np.repeat(self.starts[rows] - starts[:-1], lengths)
        terms = np.arange(starts[-1]) + offsets
        return WeightedRows(starts, self.index[terms], self.weights[terms])

    def all_in(self, own: Mask) -> Mask:
        """Whether all terms of each row are among the chosen values, (rows,).

        Args:
            own: which values are chosen.
        """
        others = np.concatenate([[0], np.cumsum(~own[self.index])])
        return np.asarray(others[self.starts[1:]] == others[self.starts[:-1]])


@dataclass(frozen=True, eq=False)
class RankStrain:
    """Strains at the grid values of a rank.

    Args:
        values: on the device, (own,), float64.
        numbers: of these values among all, ascending, (own,).
        total: number of all values.
        clock: number of steps made, on the device.
    """

    values: DeviceArray
    numbers: Integers
    total: int
    clock: DeviceArray


class StrainSeries:
    """Samples of strain at all points, on one rank; all ranks must create it.

    Args:
        rows: how the strains at points follow from all values.
        every: steps between samples.

    Attributes:
        launches: the kernel that records them at the beginning of a step.
    """

    def __init__(
        self, backend: Backend, comm: Communicator, rows: WeightedRows, rank: RankStrain, every: int
    ) -> None:
        self._comm, self._rows, self._rank, self._backend = comm, rows, rank, backend
        own = np.zeros(rank.total, bool)
        own[rank.numbers] = True
        whole = rows.all_in(own)
        split = rows.take(np.flatnonzero(~whole)).index
        self._whole, taps = np.flatnonzero(whole), np.unique(split[own[split]])
        self._taps = np.concatenate(found := comm.allgather(taps))
        first = sum(map(len, found[: comm.rank])) + len(rows)
        self._place = np.concatenate([self._whole, first + np.arange(len(taps))]).astype(np.int64)
        slots = ring_slots(WORD * (len(rows) + len(self._taps)), every)
        self._ring = Ring(backend, (len(self._place),), every, slots, "float64")
        self.launches = self._record(taps)

    def _record(self, taps: Integers) -> list[Launch]:
        """The launch that records whole rows and single values; none if there are none."""
        here = self._rows.take(self._whole)
        single = np.arange(1, len(taps) + 1) + here.starts[-1]
        index = np.searchsorted(self._rank.numbers, np.concatenate([here.index, taps]))
        if not len(self._place):
            return []
        module = self._backend.compile(sums_source())
        tables = {
            "starts": np.concatenate([here.starts, single]).astype(np.int64),
            "index": index.astype(np.int64),
            "weights": np.concatenate([here.weights, np.ones(len(taps))]),
        }
        on_device = {name: self._backend.to_device(table) for name, table in tables.items()}
        ring, count = self._ring, len(self._place)
        arrays = {"ring": ring.buffer, "values": self._rank.values, "clock": self._rank.clock}
        when = {"every": ring.every, "slots": ring.slots, "rows": count}
        return [module.launch("record_sums", Items(count), **arrays, **on_device, **when)]

    def output(self, writer: object, append: Callable[[HostArray, range], None]) -> Output:
        """The samples and their file; `append` writes (samples, rows) on rank 0."""

        def write(block: HostArray, numbers: range) -> None:
            append(self._completed(block), numbers)

        shape = (len(self._rows) + len(self._taps),)
        return Output(self._ring, writer, write, shape, (self._place,), self._comm)

    def state(self) -> DistributedArray:
        """The strains at all values, for checkpoints."""
        own = (((slice(None),), (self._rank.numbers,)),)
        return DistributedArray(self._rank.values, (self._rank.total,), own, own)

    def latest(self, begin: int, end: int) -> Floats:
        """Samples of steps begin .. end - 1 on a single rank, (samples, rows)."""
        block = np.empty((len(self._ring.numbers(begin, end)), len(self._rows)))
        block[:, self._place] = self._ring.read(begin, end, None)
        return block

    def _completed(self, block: HostArray) -> HostArray:
        """All rows of samples, (samples, rows); adds up the rows that no rank has completely."""
        found = np.ascontiguousarray(block[:, : len(self._rows)])
        for row, terms in self._split:
            total = np.zeros(len(block))
            for column, weight in terms:
                total = total + weight * block[:, column]
            found[:, row] = total
        return found

    @cached_property
    def _split(self) -> list[tuple[int, list[tuple[int, float]]]]:
        """Rows that no rank has whole, with the columns of their values and the weights."""
        column = {int(value): len(self._rows) + n for n, value in enumerate(self._taps)}
        lengths, found = self._rows.starts, []
        for row in range(len(self._rows)):
            terms = slice(lengths[row], lengths[row + 1])
            pairs = zip(self._rows.index[terms].tolist(), self._rows.weights[terms], strict=True)
            chosen = [(column.get(value), float(weight)) for value, weight in pairs]
            if chosen and all(place is not None for place, _ in chosen):
                found.append((row, [(place, weight) for place, weight in chosen if place]))
        return found
