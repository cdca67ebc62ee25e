"""MPI_Alltoallv: all messages of all ranks in one call, whose library knows the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groundswell.backends import Backend, HostCall
from groundswell.exchange.communicator import Communicator, opened
from groundswell.exchange.operation import Operation
from groundswell.exchange.transports.base import Buffer, Message, peers_of
from groundswell.exchange.transports.mpi import own_communicator
from groundswell.exchange.waiting import Deadline


class AllToAllTransport(Operation):
    """One MPI_Ialltoallv of buffers of the host: of a GPU they are pinned.

    MPI libraries that take a GPU's buffers in messages may still crash on them in collectives.

    Args:
        messages: at most one a peer, which follow each other in memory.
    """

    def __init__(self, backend: Backend, comm: Communicator, messages: Sequence[Message]) -> None:
        self._backend, self._rank_comm, self._peers = backend, comm, peers_of(messages)
        self._comm = own_communicator(comm)
        opened(self)
        self.path = "MPI_Alltoallv" + " through pinned host memory" * (not backend.on_host)
        self._sent = _vector(comm.size, self._peers_and(messages, "sent"))
        self._received = _vector(comm.size, self._peers_and(messages, "received"))
        self._request: Any = None
        self.start = [HostCall("post MPI_Ialltoallv", self._post)]
        self.finish = [HostCall("wait for MPI_Ialltoallv", self._wait)]

    def _peers_and(self, messages: Sequence[Message], side: str) -> list[tuple[int, Buffer]]:
        return [(message.peer, getattr(message, side)) for message in messages]

    def _post(self) -> None:
        self._backend.record_event().wait()  # MPI knows no streams
        self._request = self._comm.Ialltoallv(self._sent, self._received)

    def _wait(self) -> None:
        deadline = Deadline(self._rank_comm)
        while not self._request.Test():
            deadline.pause("data", self._peers)

    def close(self) -> None:
        if self._comm:
            self._comm.Free()


def _vector(ranks: int, places: Sequence[tuple[int, Buffer]]) -> list[Any]:
    """Buffers as MPI takes them: the memory of all, and sizes and offsets by rank."""
    from mpi4py import MPI

    sizes, offsets = np.zeros((2, ranks), np.int64)
    first = places[0][1].address if places else 0
    for peer, buffer in places:
        sizes[peer], offsets[peer] = buffer.size, buffer.address - first
    return [MPI.memory.fromaddress(first, int(sizes.sum())), sizes, offsets, MPI.BYTE]
