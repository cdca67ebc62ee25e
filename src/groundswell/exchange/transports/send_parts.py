"""Sends of MPI that are repeated: messages in parts, some of which may be shorter each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.exchange.transports.base import Buffer, Message


class SendParts:
    """The parts of all messages, in order. Parts beyond the end of a message are sent empty.

    Args:
        places: what is sent of each message.
        part: largest size of a part, bytes.

    Attributes:
        fetch_lengths: launches that fetch the lengths that only the device knows.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Any,
        messages: Sequence[Message],
        places: Sequence[Buffer],
        part: int,
    ) -> None:
        self._lengths = backend.pinned_bytes(8 * max(len(messages), 1)).view(np.int64)
        first = int(self._lengths.ctypes.data)
        self.fetch_lengths = [
            backend.copy_bytes(first + 8 * n, message.length, 8)
            for n, message in enumerate(messages)
            if message.length
        ]
        self.parts = [
            SendPart(comm, message, piece, begin, length)
            for n, (message, place) in enumerate(zip(messages, places, strict=True))
            for length in [self._lengths[n : n + 1] if message.length else None]
            for begin, piece in pieces(place, part)
        ]

    def close(self) -> None:
        """Free what MPI keeps."""
        for part in self.parts:
            part.close()


class SendPart:
    """A part of a message.

    Args:
        place: its largest extent.
        begin: bytes of the message before it.
        length: of the message, (1,); None if it never changes.
    """

    def __init__(
        self,
        comm: Any,
        message: Message,
        place: Buffer,
        begin: int,
        length: NDArray[np.int64] | None,
    ) -> None:
        self._comm, self._to = comm, (message.peer, message.tag)
        self._place, self._begin, self._length = place, begin, length
        self._request = comm.Send_init(memory_of(place), *self._to) if length is None else None

    @property
    def size(self) -> int:
        """Bytes that are sent next."""
        if self._length is None:
            return self._place.size
        return int(np.clip(self._length[0] - self._begin, 0, self._place.size))

    def start(self) -> Any:
        """Start to send it; returns the request."""
        if self._request is None:
            return self._comm.Isend(memory_of(Buffer(self._place.address, self.size)), *self._to)
        self._request.Start()
        return self._request

    def close(self) -> None:
        """Free what MPI keeps."""
        if self._request is not None:
            self._request.Free()


def pieces(place: Buffer, part: int) -> list[tuple[int, Buffer]]:
    """Parts of a buffer of this size at most, each with the bytes before it."""
    return [
        (begin, Buffer(place.address + begin, min(part, place.size - begin)))
        for begin in range(0, place.size, part)
    ]


def memory_of(buffer: Buffer) -> list[Any]:
    """A buffer as MPI takes it."""
    from mpi4py import MPI

    return [MPI.memory.fromaddress(buffer.address, buffer.size), MPI.BYTE]
