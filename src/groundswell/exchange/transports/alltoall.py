"""MPI's own exchange of everything with everybody: one call, whose library knows the network."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.errors import BackendError
from groundswell.exchange.deadline import Deadline
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.transports.base import Job, Transfer
from groundswell.exchange.transports.buffers import Buffers
from groundswell.exchange.transports.mpi import communicator, peers


class AllToAllTransfer(Transfer):
    """One MPI_Ialltoallv an exchange, of buffers of the host: a GPU's are pinned.

    MPI libraries that take a GPU's buffers in messages may still crash on them in collectives.

    Args:
        job: with at most one message a peer.

    Raises:
        BackendError: the transport has no such call.
    """

    def __init__(self, job: Job, transport: str) -> None:
        if transport not in ("auto", "mpi"):
            raise BackendError(
                f"route 'alltoall' is a call of MPI's, which transport {transport!r} has not; "
                "allowed: mpi"
            )
        self._job = job
        staged = not job.backend.on_host
        self._buffers = job.comm.collective_try(lambda: Buffers(job, on_host=staged))
        self._comm = communicator(job)
        self.path = "MPI_Alltoallv" + " through pinned host memory" * staged
        self._sent = _spread(job, self._buffers.sent)
        self._received = _spread(job, self._buffers.received)
        self._request: Any = None
        self.start = [*self._buffers.pack, self._start]
        self.finish = [self._finish, *self._buffers.unpack]
        self.launches = [*self.start, *self.finish]

    def _start(self) -> None:
        self._job.backend.record_event().wait()  # MPI knows nothing of streams
        self._request = self._comm.Ialltoallv(self._sent, self._received)

    def _finish(self) -> None:
        deadline = Deadline(self._job.comm)
        while not self._request.Test():
            deadline.pause("ghost layers", peers(self._job))

    def close(self) -> None:
        self._comm.Free()


def _spread(job: Job, places: list[tuple[int, int]]) -> list[Any]:
    """Memory of messages as MPI wants it: all of it, and sizes and offsets by rank."""
    from mpi4py import MPI

    assert isinstance(job.comm, MpiCommunicator)
    sizes, offsets = (np.zeros(job.comm.size, np.int64) for _ in range(2))
    first = places[0][0] if places else 0
    for message, (address, size) in zip(job.messages, places, strict=True):
        sizes[message.peer], offsets[message.peer] = size, address - first
    memory = MPI.memory.fromaddress(first, int(sizes.sum()))
    return [memory, sizes, offsets, MPI.BYTE]
