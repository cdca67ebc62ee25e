"""A few numbers of all ranks, added up in the order of ranks: all get the same bits.

Ranks of a host do so in the kernel that wants the sums, see total.h; others by one collective call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Array, Backend, Blocks, Launch, Source
from groundswell.exchange.boxes import compile_kernels
from groundswell.exchange.cleanup import opened
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.deadline import Deadline
from groundswell.exchange.messages import ALIGNMENT, Message
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.transports.base import Job
from groundswell.exchange.transports.mailboxes import Mailboxes
from groundswell.exchange.transports.nccl import communicator

SIZE = np.dtype(np.float64).itemsize


class Total(Mailboxes):
    """Room for every rank's numbers at every other one. All ranks must make and use it together.

    Args:
        count: of numbers, float64.

    Attributes:
        arguments: what kernels with TOTAL_ARGUMENTS are given.
        waits: launches between the kernel that tells others and the one that adds up; where there
            are none, one kernel may do both.

    Raises:
        BackendError: some rank's memory cannot be mapped.
    """

    awaited = "sums"

    def __init__(self, backend: Backend, comm: Communicator, count: int) -> None:
        size = -(-count * SIZE // ALIGNMENT) * ALIGNMENT
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        messages = [Message(rank, 0, (), (), size, size) for rank in others]
        super().__init__(Job(backend, comm, [], messages))
        desks = [self._desk(n, m) for n, m in enumerate(messages)]
        desks.insert(comm.rank, [0, 0, -1])  # all add up in the order of ranks
        post = self._post([1] * len(others), 1)
        table = backend.to_device(np.array(desks, np.int64))
        self.arguments: tuple[Any, ...] = (table, comm.size, self._flip, *post)
        self.waits: list[Launch] = self._waits(compile_kernels(backend))

    def _desk(self, number: int, message: Message) -> list[int]:
        """Where numbers go, and where the other rank's come; the letter, see total.h."""
        return [self._outbox(number, message).address, self._inbox(number, message).address, number]


class GatheredTotal:
    """The same for ranks anywhere: every rank's numbers are gathered everywhere, by one call.

    All ranks must make, use and close it together.

    Args:
        values: (count,) float64, this rank's numbers; they become the sums.
        transport: "nccl" for the device's own call; any other uses MPI's.

    Attributes:
        launches: what adds up.
    """

    def __init__(self, backend: Backend, comm: Communicator, values: Array, transport: str) -> None:
        assert isinstance(comm, MpiCommunicator)
        self._backend, self._comm, self._values = backend, comm, values
        self.in_graph = transport == "nccl"
        self._mpi_comm: Any = None
        add = comm.collective_try(self._added_up)  # and all come: MPI's own calls wait for ever
        gather = self._by_nccl() if self.in_graph else self._by_mpi()
        self.launches: list[Launch] = [gather, add]

    def _added_up(self) -> Launch:
        """Makes sums of what is gathered."""
        ranks, count = self._comm.size, self._values.size
        self._all = self._backend.zeros((ranks, count), "f8")
        module = self._backend.compile(gathered_source())
        ends = (self._all, ranks, count, self._values)
        return module.launch("add_up_ranks", Blocks(1, count), *ends)

    def _by_nccl(self) -> Launch:
        group, address = communicator(self._comm, self._backend), self._backend.address
        ends = address(self._values), address(self._all), self._values.nbytes

        def gather() -> None:
            group.allgather(*ends)

        gather()  # the first use connects the ranks, which a graph cannot record
        self._backend.synchronize()
        return gather

    def _by_mpi(self) -> Launch:
        self._mpi_comm = self._comm.mpi_comm.Dup()
        opened(self)
        others = [rank for rank in range(self._comm.size) if rank != self._comm.rank]
        found = np.empty(self._all.shape)

        def gather() -> None:
            self._mine = self._backend.to_host(self._values)  # kept, even if the wait is in vain
            request, deadline = self._mpi_comm.Iallgather(self._mine, found), Deadline(self._comm)
            while not request.Test():
                deadline.pause("sums", others)
            self._backend.assign(self._all, found)

        return gather

    def check(self) -> None:
        """Ranks that are lost are noticed at once."""

    def close(self) -> None:
        """Give back the communicator."""
        if self._mpi_comm:
            self._mpi_comm.Free()


def gathered_source() -> Source:
    """The kernel for numbers of all ranks."""
    return Source(Path(__file__).with_name("gathered.h"), {})
