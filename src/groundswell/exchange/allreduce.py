"""All-reduce: sums of a few numbers over all ranks, in rank order, bit-identical on all ranks.

On one host, ranks sum in the kernel that needs the sums, see signals.h. Otherwise they use one
collective call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Blocks, HostCall, Launch
from groundswell.backends.launch import KernelArguments
from groundswell.exchange.boxes import compile_kernels
from groundswell.exchange.communicator import Communicator, opened
from groundswell.exchange.messages import Message, Operation, TransferRequest, aligned
from groundswell.exchange.mpi_communicator import MpiCommunicator, duplicate
from groundswell.exchange.transports.nccl import communicator
from groundswell.exchange.transports.peer_memory import PeerMemory
from groundswell.exchange.waiting import Deadline, complete

if TYPE_CHECKING:
    from mpi4py import MPI


class PeerAllReduce(Operation):
    """Mailboxes for the numbers of every rank on every other rank, for kernels that sum them.

    Args:
        count: number of values, float64.

    Attributes:
        arguments: the arguments ALLREDUCE_ARGUMENTS of kernels, see signals.h.
        waits: launches between the kernel that sends and the one that sums; if there are none, one
            kernel may do both.

    Raises:
        BackendError: the memory of some rank cannot be mapped.
    """

    in_graph = True

    def __init__(self, backend: Backend, comm: Communicator, count: int) -> None:
        size = aligned(count * np.dtype(np.float64).itemsize)
        messages = [Message(rank, 0, size, size) for rank in comm.others]
        memory = PeerMemory(TransferRequest(backend, comm, messages))
        self._parts, self.path = [memory], memory.path
        self.peers, self.bytes = comm.others, size * len(messages)
        rows = [[memory.outbox(m), memory.inbox(m), n] for n, m in enumerate(messages)]
        rows.insert(comm.rank, [0, 0, -1])
        table = backend.to_device(np.array(rows, np.int64))
        signals = memory.signals([1] * len(messages), 1)
        own: KernelArguments = {"contributions": table, "ranks": comm.size, "flip": memory.flip}
        self.arguments = {**own, **signals}
        self.waits: list[Launch] = memory.waits()


class GatheredAllReduce(Operation):
    """The same for ranks on any hosts: one call gathers the numbers of all ranks on all ranks.

    Args:
        values: (count,) float64, this rank's numbers; they become the sums.
        transport: "nccl" for a call of NCCL; any other for a call of MPI.
    """

    def __init__(
        self, backend: Backend, comm: Communicator, values: DeviceArray, transport: str
    ) -> None:
        assert isinstance(comm, MpiCommunicator)
        self._backend, self._comm, self._values = backend, comm, values
        self.in_graph = transport == "nccl"
        self.path = "NCCL" if self.in_graph else "MPI_Iallgather"
        self.peers, self.bytes = comm.others, values.nbytes * len(comm.others)
        self._extent = f"{self.bytes:,} bytes"
        self._mpi_comm: MPI.Comm | None = None
        add = comm.collective_try(self._sum)  # before MPI calls, which would wait forever
        self.start = [self._by_nccl() if self.in_graph else self._by_mpi()]
        self.finish: list[Launch] = [add]

    def _sum(self) -> Launch:
        """The launch that sums the gathered numbers."""
        ranks, count = self._comm.size, self._values.size
        self._all = self._backend.zeros((ranks, count), "f8")
        arrays = {"all": self._all, "sums": self._values}
        launch, blocks = compile_kernels(self._backend).launch, Blocks(1, count)
        return launch("sum_over_ranks", blocks, ranks=ranks, count=count, **arrays)

    def _by_nccl(self) -> Launch:
        group, address = communicator(self._comm, self._backend), self._backend.address
        arguments = address(self._values), address(self._all), self._values.nbytes

        def gather() -> None:
            group.allgather(*arguments)

        gather()  # the first use connects the ranks, which a graph cannot record
        self._backend.synchronize()
        return HostCall("NCCL allgather", gather, extent=self._extent)

    def _by_mpi(self) -> Launch:
        comm = self._mpi_comm = duplicate(self._comm.mpi_comm, self._comm)
        opened(self)
        found = np.empty(self._all.shape)

        def gather() -> None:
            request = comm.Iallgather(self._backend.to_host(self._values), found)
            complete([request], Deadline(self._comm), "sums", lambda: self._comm.others)
            self._backend.assign(self._all, found)

        return HostCall("MPI_Iallgather", gather, extent=self._extent)

    def close(self) -> None:
        if self._mpi_comm:
            self._mpi_comm.Free()
