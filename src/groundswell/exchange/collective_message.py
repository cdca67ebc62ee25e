"""Messages of collective operations: pickled objects, in parts if they are long."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

PART = 2**30  # largest message, bytes: many MPI libraries count bytes with 32 bits
TAG = 0


class CollectiveMessage(NamedTuple):
    """What a rank sends in a collective operation.

    Args:
        kind: the operation; ranks that call different operations are out of step.
        value: an object that can be pickled.
        call: number of the call on the sending rank.
    """

    kind: str
    value: Any
    call: int = 0


def parts(message: CollectiveMessage) -> list[memoryview]:
    """The parts of a message; the first one that is shorter than PART is the last."""
    content = memoryview(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    return [content[begin : begin + PART] for begin in range(0, len(content) + 1, PART)]


class Incoming:
    """Messages from another rank.

    Attributes:
        message: the next message, after all of its parts have arrived.
    """

    def __init__(self, comm: Any, source: int) -> None:
        from mpi4py import MPI

        self._comm, self._source, self._byte = comm, source, MPI.BYTE
        self._status = MPI.Status()
        self._parts: list[bytearray] = []
        self.message: CollectiveMessage | None = None

    def awaits(self, call: int) -> bool:
        """Whether no message of this call is here; drops those of earlier calls, which failed."""
        if self.message is not None and self.message.call < call:
            self.message = None
        return self.message is None

    def take(self) -> CollectiveMessage:
        """Remove and return the message."""
        assert self.message is not None
        message, self.message = self.message, None
        return message

    def poll(self) -> bool:
        """Receive a part if one has arrived; returns whether one has."""
        arrived = self._comm.Improbe(self._source, TAG, self._status)
        if arrived is None:
            return False
        part = bytearray(self._status.Get_count(self._byte))
        arrived.Recv([part, self._byte])
        self._parts.append(part)
        if len(part) < PART:
            content = b"".join(self._parts)
            self._parts.clear()  # they may take as much memory as all else
            self.message = pickle.loads(content)
        return True
