"""The communicator of a job that mpiexec or srun has started.

Objects pass through rank 0, which therefore knows which rank is late; large arrays of integers go
directly from rank to rank. A rank that has ended, or does not respond in time, ends the job on all
ranks with an error that names it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from groundswell.errors import BackendError, GroundswellError, RunFailed, now_known
from groundswell.exchange.collective_message import (
    PART,
    TAG,
    CollectiveMessage,
    Incoming,
    parts,
)
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.deadline import Deadline, timeout_seconds
from groundswell.exchange.launcher import exclude_libfabric, signs, started_ranks
from groundswell.exchange.processes import Process
from groundswell.exchange.progress import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OUT_OF_STEP = "out of step"  # kind of the message that reports an error to all ranks
LAST = sys.maxsize  # number of a message after which there are no others
MAY_FAIL = ("try", "close")  # kinds of messages whose value is an error or None
INTEGERS = 1  # tag of messages


class MpiCommunicator(Communicator):
    """The processes that mpiexec (or srun) has started.

    Args:
        comm: an mpi4py communicator, which is duplicated.

    Attributes:
        mpi_comm: the duplicate.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self._byte = MPI.BYTE
        self.mpi_comm = comm.Dup()
        self.rank, self.size = self.mpi_comm.rank, self.mpi_comm.size
        self._incoming = [Incoming(self.mpi_comm, rank) for rank in range(self.size)]
        self._calls = 0
        self._progress = Progress(self.mpi_comm)
        self._error: GroundswellError | None = None
        self._processes: list[Process] = []
        self._hosts: list[int] = []
        self._processes = self.allgather(Process.this())
        self._hosts = self.allgather(self._first_visible())

    def _first_visible(self) -> int:
        """The first rank whose process this one sees; it identifies the host."""
        here = self._processes[self.rank]
        return next(rank for rank, other in enumerate(self._processes) if here.sees(other))

    @property
    def same_host(self) -> list[int]:
        return [rank for rank, host in enumerate(self._hosts) if host == self._hosts[self.rank]]

    @property
    def same_machine(self) -> list[int]:
        here = self._processes[self.rank].machine
        return [rank for rank, other in enumerate(self._processes) if other.machine == here]

    # --- collective operations --------------------------------------------------------------------

    def gather(self, value: Any) -> list[Any]:
        return self._gather(self._begin_call("gather", value))

    def bcast(self, value: Any) -> Any:
        return self._bcast(self._begin_call("bcast", value))

    def _allgather(self, kind: str, value: Any) -> list[Any]:
        message = self._begin_call(kind, value)
        return list(self._bcast(message._replace(value=self._gather(message))))

    def _begin_call(self, kind: str, value: Any) -> CollectiveMessage:
        """The message of this rank in a new call."""
        self._require_no_error()
        self._calls += 1
        if kind != "close":  # a rank that ends its program has closed, or will
            self._progress.begin_call()
        return CollectiveMessage(kind, value, self._calls)

    def _gather(self, message: CollectiveMessage) -> list[Any]:
        """The values of all messages, at rank 0."""
        if not self.first:
            self._send(message, [0])
            return []
        try:
            received = [message, *self._receive(range(1, self.size), timeout_seconds())]
        except RunFailed as error:
            self._fail_all(error)
        if len({(m.kind, m.call) for m in received}) > 1:
            errors = (m.value for m in received if m.kind in MAY_FAIL and m.value is not None)
            self._fail_all(next(errors, None) or _out_of_step([m.kind for m in received]))
        return [m.value for m in received]

    def _bcast(self, message: CollectiveMessage) -> Any:
        """The value of rank 0's message."""
        if self.first:
            self._send(message, range(1, self.size))
            return message.value
        # Rank 0 knows which rank is late, so wait longer for its report.
        [(kind, value, call)] = self._receive([0], timeout_seconds() + 10)
        if kind == OUT_OF_STEP:
            self._error = now_known(value)
        elif (kind, call) != (message.kind, message.call):
            text = f"rank 0 calls {kind}, rank {self.rank} calls {message.kind}"
            self._error = RunFailed(text)
        self._require_no_error()
        return value

    def alltoallv(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        import numpy as np

        self._begin_call("alltoallv", None)
        counts = np.zeros((2, self.size), np.int64)
        for rank, part in parts.items():
            counts[0, rank] = len(part)
        others = [rank for rank in range(self.size) if rank != self.rank]
        self._wait_for([self.mpi_comm.Ialltoall(counts[0], counts[1])], others)
        found = {rank: np.empty(n, np.int64) for rank, n in enumerate(counts[1]) if n}
        received = [(rank, piece) for rank in found for piece in _pieces(found[rank])]
        sent = [(rank, piece) for rank in parts for piece in _pieces(parts[rank])]
        requests = [self.mpi_comm.Irecv(piece, rank, INTEGERS) for rank, piece in received]
        requests += [self.mpi_comm.Isend(piece, rank, INTEGERS) for rank, piece in sent]
        self._wait_for(requests, list(found))
        return found

    # --- messages ---------------------------------------------------------------------------------

    def _receive(self, ranks: Sequence[int], seconds: float) -> list[CollectiveMessage]:
        """A message of the current call from each of these ranks."""
        deadline = Deadline(self, seconds)
        while missing := [rank for rank in ranks if self._incoming[rank].awaits(self._calls)]:
            moved = [rank for rank in missing if self._incoming[rank].poll()]
            if not moved:
                deadline.pause("message", missing)
            elif any(self._incoming[rank].message is None for rank in moved):
                deadline = Deadline(self, seconds)  # part of a long message has arrived
        return [self._incoming[rank].take() for rank in ranks]

    def _send(self, message: CollectiveMessage, ranks: Sequence[int]) -> None:
        for part in parts(message):
            sent = [self.mpi_comm.Isend([part, self._byte], rank, TAG) for rank in ranks]
            for rank, request in zip(ranks, sent, strict=True):
                self._wait_for([request], [rank])

    def _wait_for(self, requests: list[Any], peers: Sequence[int]) -> None:
        deadline = Deadline(self)
        while requests and not type(requests[0]).Testall(requests):
            deadline.pause("answer", peers)

    # --- errors -----------------------------------------------------------------------------------

    def _fail_all(self, error: GroundswellError) -> NoReturn:
        """Report an error to all ranks and raise it: no collective operation can follow."""
        self._error = now_known(error)
        message, others = CollectiveMessage(OUT_OF_STEP, error, LAST), range(1, self.size)
        self._reports = [  # kept, not awaited: some ranks may never receive them
            self.mpi_comm.Isend([part, self._byte], rank, TAG)
            for part in parts(message)
            for rank in others
        ]
        raise error

    def _require_no_error(self) -> None:
        if self._error is not None:
            raise self._error

    def require_alive(self) -> None:
        for rank in self.same_host:
            process = self._processes[rank]
            if rank != self.rank and not process.alive:
                raise RunFailed(
                    f"rank {rank} (process {process.number}) has ended before its work was done; "
                    "see its messages above"
                )
        try:
            self._progress.check()
        except RunFailed as error:
            self._error = error
            raise

    def begin_exchange(self) -> None:
        self._progress.begin_exchange()

    def abort(self, code: int) -> None:
        self.mpi_comm.Abort(code)


def _out_of_step(kinds: list[str]) -> RunFailed:
    """The error of ranks that make different calls."""
    if closing := [str(rank) for rank, kind in enumerate(kinds) if kind == "close"]:
        return RunFailed(
            f"rank {', '.join(closing)} closes or has ended its program before the others; all "
            "ranks must make the same calls"
        )
    return RunFailed(f"ranks are out of step; they call: {', '.join(kinds)}")


def _pieces(integers: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Parts of an array that fit into a message; none of an empty array."""
    most = PART // integers.itemsize
    return [integers[begin : begin + most] for begin in range(0, len(integers), most)]


@cache
def get_communicator() -> Communicator:
    """The communicator of all processes of the job; imports MPI only if there may be several.

    Raises:
        BackendError: several processes were started, but mpi4py is missing or uses another MPI.
    """
    started = started_ranks()
    if started == 1:
        return SerialCommunicator()
    exclude_libfabric()
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise BackendError(
            f"{started or 'several'} processes were started ({signs()}), but mpi4py is not "
            "installed; `pip install 'groundswell[mpi]'`, or start one process without a launcher"
        ) from error
    if MPI.COMM_WORLD.size > 1:
        return MpiCommunicator(MPI.COMM_WORLD)
    if started > 1:
        raise BackendError(
            f"{started} processes were started ({signs()}), but each is alone in the MPI of "
            f"mpi4py ({MPI.Get_library_version().split(',')[0].splitlines()[0]}); take the mpiexec "
            f"of that library, or unset {signs()} to let each process run by itself"
        )
    return SerialCommunicator()
