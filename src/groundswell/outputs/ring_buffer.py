"""Ring buffers that carry samples from the device to a file.

A recorder's kernel is part of the step. When a sample is due, it writes the sample to the next slot
of a ring buffer on the device. The time loop empties the buffer asynchronously: while one batch of
steps runs, it copies and writes the samples of the previous batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Backend, Event
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.outputs.distributed_array import ArrayIndex

RING_BYTES = 256 * 2**20  # limit of device memory for the ring buffers of one kind of output
MOST_STEPS = 1024  # largest batch of steps that a ring buffer of small samples holds


def ring_slots(sample: int, every: int) -> int:
    """Number of slots for samples of `sample` bytes (all fields together) every `every` steps.

    At least two, even beyond RING_BYTES: one is filled while the other is read.
    """
    wanted = 2 * (MOST_STEPS // every + 1)
    return max(2, min(wanted, RING_BYTES // max(sample, 1)))


def ring_bytes(sample: int, every: int) -> int:
    """Size of the ring buffer of samples of `sample` bytes, see `ring_slots`."""
    return ring_slots(sample, every) * sample


def samples_before(step: int, begin: int, every: int) -> int:
    """Number of samples before step `step`, if the first is taken at step `begin`."""
    return max(0, -(-(step - begin) // every))


class Ring:
    """The last `slots` samples of a quantity recorded every `every` steps, on the device.

    Args:
        shape: shape of this rank's part of one sample.
        capacity: number of slots, for the samples of two consecutive batches.
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
        """Numbers of the samples of steps begin .. end - 1."""
        return range(
            samples_before(begin, self.begin, self.every),
            samples_before(end, self.begin, self.every),
        )

    def read(self, begin: int, end: int, after: Event | None) -> HostArray:
        """The samples of steps begin .. end - 1, (samples, *shape), after the event `after`."""
        slots = [n % self.slots for n in self.numbers(begin, end)]
        if not self.buffer.size:
            return np.empty((len(slots), *self.buffer.shape[1:]), self.buffer.dtype)
        runs = np.split(slots, np.flatnonzero(np.diff(slots) != 1) + 1) if slots else []
        blocks = [
            self._backend.to_host(self.buffer[int(run[0]) : int(run[-1]) + 1], after)
            for run in runs
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, *self.buffer.shape[1:]))


class Output:
    """A ring buffer, and the growing file for its samples.

    Every rank has the ring buffer of its part; rank 0 has the file.

    Args:
        ring: the ring buffer.
        writer: the file at rank 0, with `length`, `sync`, `truncate`, `close` and `finish`.
        write: writes a block of whole samples; receives their numbers, too.
        shape: shape of a whole sample.
        place: index of this rank's part in a whole sample.
    """

    def __init__(
        self,
        ring: Ring,
        writer: Any,
        write: Callable[[HostArray, range], None],
        shape: tuple[int, ...],
        place: ArrayIndex = (),
        comm: Communicator | None = None,
    ) -> None:
        self._ring = ring
        self.writer = writer
        self._write = write
        self._shape, self._place = shape, place
        self._comm = comm or SerialCommunicator()

    @property
    def most_steps(self) -> int:
        """Largest batch of steps: the ring buffer holds the samples of two batches."""
        return max(1, (self._ring.slots // 2) * self._ring.every)

    def collect(self, begin: int, end: int, after: Event | None) -> Callable[[], None]:
        """Gather the samples of steps begin .. end - 1 at rank 0.

        Returns:
            A function that writes them; it does nothing on other ranks.
        """
        numbers = self._ring.numbers(begin, end)
        if not numbers:
            return lambda: None
        parts = self._comm.gather((self._place, self._ring.read(begin, end, after)))
        if not self._comm.first:
            return lambda: None
        block = self._assembled(parts, len(numbers))
        return lambda: self._write(block, numbers)

    def _assembled(self, parts: list[tuple[ArrayIndex, HostArray]], samples: int) -> HostArray:
        """Whole samples from the parts of all ranks."""
        place, block = parts[0]
        in_order = all(isinstance(along, slice) for along in place)
        if len(parts) == 1 and in_order and block.shape[1:] == self._shape:
            return block
        whole = np.zeros((samples, *self._shape), parts[0][1].dtype)
        for place, block in parts:
            whole[(slice(None), *place)] = block
        return whole
