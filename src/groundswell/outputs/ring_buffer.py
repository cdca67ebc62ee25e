"""Samples on their way from the device to a file.

A recorder's kernel runs inside the time loop and writes a sample, when one is due, into the next
slot of a ring on the device. The driver empties the ring behind the loop's back: while steps
n .. m run, the samples of the steps before n are copied and written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Event
from groundswell.exchange.world import Alone, World

RING_BYTES = 256 * 2**20  # of device memory that the rings of one kind of output may take
MOST_STEPS = 1024  # a run of the time loop that the smallest rings must hold


def ring_slots(sample: int, every: int) -> int:
    """Slots of a kind of output, all fields of which take `sample` bytes every `every` steps.

    At least two, whatever they take: one is filled while the other is read.
    """
    wanted = 2 * (MOST_STEPS // every + 1)
    return max(2, min(wanted, RING_BYTES // max(sample, 1)))


def samples_before(step: int, begin: int, every: int) -> int:
    """Samples that the steps before `step` produce, from step `begin` on."""
    return max(0, -(-(step - begin) // every))


class Ring:
    """The last `slots` samples of something recorded every `every` steps, on the device.

    Args:
        shape: of one sample, as far as this rank records it.
        capacity: samples that two consecutive runs of the time loop may produce.
        begin: step of the first sample.
    """

    def __init__(
        self,
        backend: Backend,
        shape: tuple[int, ...],
        every: int,
        capacity: int,
        dtype: str,
        begin: int = 0,
    ) -> None:
        self._backend = backend
        self.every, self.begin = every, begin
        self.slots = capacity
        self.buffer = backend.zeros((capacity, *shape), dtype)

    def numbers(self, begin: int, end: int) -> range:
        """Numbers of the samples that steps begin .. end - 1 produce."""
        return range(
            samples_before(begin, self.begin, self.every),
            samples_before(end, self.begin, self.every),
        )

    def read(self, begin: int, end: int, after: Event | None) -> NDArray[Any]:
        """The samples of steps begin .. end - 1, (samples, *shape), once `after` is reached."""
        slots = [n % self.slots for n in self.numbers(begin, end)]
        if not self.buffer.size:
            return np.empty((len(slots), *self.buffer.shape[1:]), self.buffer.dtype)
        runs = np.split(slots, np.flatnonzero(np.diff(slots) != 1) + 1) if slots else []
        blocks = [
            self._backend.to_host(self.buffer[int(run[0]) : int(run[-1]) + 1], after)
            for run in runs
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, *self.buffer.shape[1:]))


Place = tuple[Any, ...]  # what indexes a whole sample where a rank's part of it belongs


class Output:
    """Rings that are sampled together and the growing file that their samples end up in.

    Every rank has the rings of its part; rank 0 has the file.

    Args:
        writer: the file at rank 0: `length`, `sync`, `truncate`, `close`, `finish`.
        write: takes each ring's block of whole samples and the samples' numbers.
        shape: of a whole sample of one ring.
        place: of this rank's part in it.
    """

    def __init__(
        self,
        rings: list[Ring],
        writer: Any,
        write: Callable[[list[NDArray[Any]], range], None],
        shape: tuple[int, ...],
        place: Place = (),
        world: World | None = None,
    ) -> None:
        self._rings = rings
        self.writer = writer
        self._write = write
        self._shape, self._place = shape, place
        self._world = world or Alone()

    @property
    def most_steps(self) -> int:
        """Steps that the time loop may run before the rings are emptied, twice over."""
        return max(1, min((ring.slots // 2) * ring.every for ring in self._rings))

    def collect(self, begin: int, end: int, after: Event | None) -> Callable[[], None]:
        """Gather what steps begin .. end - 1 recorded on all ranks; returns what writes it."""
        numbers = self._rings[0].numbers(begin, end)
        if not numbers:
            return lambda: None
        parts = self._world.gather(
            (self._place, [ring.read(begin, end, after) for ring in self._rings])
        )
        if not self._world.first:
            return lambda: None
        blocks = [
            self._assembled([(place, blocks[n]) for place, blocks in parts], len(numbers))
            for n in range(len(self._rings))
        ]
        return lambda: self._write(blocks, numbers)

    def _assembled(self, parts: list[tuple[Place, NDArray[Any]]], samples: int) -> NDArray[Any]:
        """Whole samples from the parts of all ranks."""
        if len(parts) == 1 and parts[0][1].shape[1:] == self._shape:
            return parts[0][1]
        whole = np.zeros((samples, *self._shape), parts[0][1].dtype)
        for place, block in parts:
            whole[(slice(None), *place)] = block
        return whole
