"""What a rank sends through MPI again and again: parts of messages, some shorter at times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.exchange.messages import Message
from groundswell.exchange.transports.base import Job

PART = 1 << 30  # bytes that one MPI call may move: counts are 32 bit


class Outgoing:
    """Parts of messages that are sent again and again, some of which may be shorter each time.

    Args:
        places: address and size of each message.
        part: bytes that each part has at most.

    Attributes:
        parts: in the order of messages; those past the end of a message are sent empty.
        measure: launches that fetch the lengths which only the device knows; none without such.
    """

    def __init__(
        self, job: Job, comm: Any, places: Sequence[tuple[int, int]], part: int = PART
    ) -> None:
        self._lengths = job.backend.pinned_bytes(8 * max(len(places), 1)).view(np.int64)
        first = int(self._lengths.ctypes.data)
        self.measure = [
            job.backend.copy_bytes(first + 8 * n, message.limit, 8)
            for n, message in enumerate(job.messages)
            if message.limit
        ]
        self.parts = [
            Part(comm, message, (address + begin, min(part, size - begin)), begin, length)
            for n, (message, (address, size)) in enumerate(zip(job.messages, places, strict=True))
            for length in [self._lengths[n : n + 1] if message.limit else None]
            for begin in range(0, size, part)
        ]

    def close(self) -> None:
        """Free what MPI keeps."""
        for part in self.parts:
            part.close()


class Part:
    """A part of a message to be sent.

    Args:
        place: address and largest size.
        begin: bytes of the message before it.
        length: of the message, (1,); None if it never changes.
    """

    def __init__(
        self,
        comm: Any,
        message: Message,
        place: tuple[int, int],
        begin: int,
        length: NDArray[np.int64] | None,
    ) -> None:
        self._comm, self._where = comm, (message.peer, message.key)
        self._place, self._begin, self._length = place, begin, length
        self._request = comm.Send_init(memory_of(*place), *self._where) if length is None else None

    @property
    def size(self) -> int:
        """Bytes that are sent next."""
        _, most = self._place
        if self._length is None:
            return most
        return int(np.clip(self._length[0] - self._begin, 0, most))

    def start(self) -> Any:
        """Send it."""
        if self._request is None:
            return self._comm.Isend(memory_of(self._place[0], self.size), *self._where)
        self._request.Start()
        return self._request

    def close(self) -> None:
        """Free what MPI keeps."""
        if self._request is not None:
            self._request.Free()


def memory_of(address: int, size: int) -> list[Any]:
    """Bytes as MPI wants them."""
    from mpi4py import MPI

    return [MPI.memory.fromaddress(address, size), MPI.BYTE]
