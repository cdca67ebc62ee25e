"""The communicator of a job that mpiexec or srun has started.

Every collective operation begins with a header of each rank, which all ranks receive: ranks that
make different calls notice at once. A rank that has ended, or does not respond in time, ends the
job on all ranks with an error that names it.
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import BackendError, GroundswellError, RunFailed, now_known
from groundswell.exchange.collectives import Collectives, Content
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.deadline import Deadline
from groundswell.exchange.processes import (
    Process,
    exclude_libfabric,
    launcher_variables,
    started_ranks,
)
from groundswell.exchange.progress import Progress

KINDS = ("allgather", "gather", "bcast", "alltoallv", "try", "close")
MAY_FAIL = ("try", "close")  # kinds of calls whose value is an error or None
KIND, CALL, SIZE, INLINE = range(4)  # places in a header; short contents begin at INLINE
HEADER = 16  # int64
SHORT = 8 * (HEADER - INLINE)  # longest content that a header contains, bytes
Move = Callable[[bytes, NDArray[np.int64]], list[Content]]


class MpiCommunicator(Communicator):
    """The ranks of an mpi4py communicator.

    A call that is given up, for example after a time-out, breaks the communicator: its messages
    may still arrive, and must not be taken for those of the next call. All later calls raise the
    same error, on all ranks.

    Args:
        comm: an intracommunicator of mpi4py, which is duplicated.

    Attributes:
        mpi_comm: the duplicate.
    """

    def __init__(self, comm: Any) -> None:
        self.mpi_comm = duplicate(comm)
        self.rank, self.size = self.mpi_comm.rank, self.mpi_comm.size
        self._collectives = Collectives(self.mpi_comm, self._wait)
        self._calls = 0
        self._progress = Progress(self.mpi_comm, self._is_alive)
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

    def _allgather(self, kind: str, value: Any) -> list[Any]:
        found = self._call(kind, _pickled(value), self._collectives.allgather)
        return [pickle.loads(content) for content in found]

    def gather(self, value: Any) -> list[Any]:
        found = self._call("gather", _pickled(value), self._collectives.gather)
        return [pickle.loads(content) for content in found] if self.first else []

    def bcast(self, value: Any) -> Any:
        content = _pickled(value) if self.first else b""
        found = self._call("bcast", content, self._collectives.bcast)
        return value if self.first else pickle.loads(found[0])

    def alltoallv(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        longest = max(map(len, parts.values()), default=0)
        with self._breaking():
            longest = int(self._headers("alltoallv", b"", longest)[:, SIZE].max())
            return self._collectives.alltoallv(parts, longest) if longest else {}

    def _call(self, kind: str, content: bytes, move: Move) -> list[Content]:
        """The contents of all ranks."""
        with self._breaking():
            headers = self._headers(kind, content, len(content))
            return _contents(headers, headers[:, SIZE], content, move)

    def _headers(self, kind: str, content: bytes, size: int) -> NDArray[np.int64]:
        """Begin a call; returns the headers (size, HEADER) of all ranks."""
        if kind != "close":  # a rank that ends its program has closed, or will
            self._progress.begin_call()
        self._calls += 1
        mine, found = np.zeros(HEADER, np.int64), np.empty((self.size, HEADER), np.int64)
        mine[:INLINE] = KINDS.index(kind), self._calls, size
        if len(content) <= SHORT:
            mine[INLINE:].view(np.uint8)[: len(content)] = memoryview(content)
        self._wait(self.mpi_comm.Iallgather(mine, found))
        # A rank may have given up this call after its header.
        self._progress.require_no_error(later_calls=False)
        if (found[:, :SIZE] != mine[:SIZE]).any():
            raise self._out_of_step(found, content)
        return found

    def _wait(self, request: Any) -> None:
        complete(request, Deadline(self), self._progress.behind)

    # --- errors -----------------------------------------------------------------------------------

    @contextmanager
    def _breaking(self) -> Iterator[None]:
        """Context of a call; an error in it breaks the communicator."""
        self._require_no_error()
        try:
            yield
        except BaseException as error:
            self._break(error)
            raise

    def _break(self, error: BaseException) -> None:
        """Let all later calls fail, on all ranks."""
        if not isinstance(error, GroundswellError):
            error = RunFailed(f"rank {self.rank} gave up a call: {error!r}")
        if self._error is None:
            self._error = now_known(error)
            self._progress.fail(error)

    def _require_no_error(self) -> None:
        if self._error is not None:
            raise now_known(self._error)

    def _out_of_step(self, headers: NDArray[np.int64], content: bytes) -> GroundswellError:
        """The error of ranks that make different calls; that of one of them, if any has one."""
        kinds = [KINDS[kind] for kind in headers[:, KIND]]
        sizes = headers[:, SIZE] * [kind in MAY_FAIL for kind in kinds]
        mine = content if kinds[self.rank] in MAY_FAIL else b""
        found = _contents(headers, sizes, mine, self._collectives.allgather)
        values = (pickle.loads(value) for value in found if len(value))
        return next((error for error in values if error is not None), _out_of_step(kinds))

    def require_alive(self) -> None:
        try:
            self._progress.check()
            for rank in self.same_host:
                if not (self._is_alive(rank) or self._progress.has_ended(rank)):
                    raise RunFailed(
                        f"rank {rank} (process {self._processes[rank].pid}) has ended before "
                        "its work was done; see its messages above"
                    )
        except GroundswellError as error:
            self._break(error)
            raise

    def _is_alive(self, rank: int) -> bool:
        """Whether the process of a rank runs, as far as this one can see."""
        return rank not in self.same_host or self._processes[rank].alive

    def begin_exchange(self) -> None:
        self._progress.begin_exchange()

    def abort(self, code: int) -> None:
        self.mpi_comm.Abort(code)


def duplicate(comm: Any, ranks: Communicator | None = None) -> Any:
    """A duplicate of an mpi4py communicator.

    Args:
        ranks: of the communicator, to check that they are alive; None if there is no way to.

    Raises:
        RunFailed: the ranks do not all duplicate it in time, or one has ended.
    """
    found, request = comm.Idup()
    others = [rank for rank in range(comm.size) if rank != comm.rank]
    # Not Dup, which waits without a deadline. The serial communicator has no ranks to check.
    complete(request, Deadline(ranks or SerialCommunicator()), lambda: others, kept=found)
    return found


def complete(
    request: Any, deadline: Deadline, awaited: Callable[[], Iterable[int]], kept: Any = None
) -> None:
    """Wait for a request of mpi4py.

    Args:
        awaited: returns the ranks that are late.
        kept: what the request writes to, apart from its own buffers.

    Raises:
        RunFailed: a rank has ended, or the deadline has passed.
    """
    try:
        while not request.Test():
            deadline.pause("message", awaited())
    except BaseException:
        # MPI may write to the buffers later, even in MPI_Finalize, so they are never freed.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object((request, kept)))
        raise


def _pickled(value: Any) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _contents(
    headers: NDArray[np.int64], sizes: NDArray[np.int64], content: bytes, move: Move
) -> list[Content]:
    """The contents of all ranks, of these sizes: those in headers, or moved if one is longer."""
    if sizes.max() > SHORT:
        return move(content, sizes)
    rows = headers[:, INLINE:].copy().view(np.uint8)
    return [row[:size].data for row, size in zip(rows, sizes.tolist(), strict=True)]


def _out_of_step(kinds: Sequence[str]) -> RunFailed:
    """The error of ranks that make different calls."""
    if closing := [str(rank) for rank, kind in enumerate(kinds) if kind == "close"]:
        return RunFailed(
            f"rank {', '.join(closing)} closes or has ended its program before the others; all "
            "ranks must make the same calls"
        )
    calls = ", ".join(f"rank {rank} {kind}" for rank, kind in enumerate(kinds))
    return RunFailed(f"ranks are out of step; all must make the same calls, but call: {calls}")


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
    variables = launcher_variables()
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise BackendError(
            f"{started or 'several'} processes were started ({variables}), but mpi4py is not "
            "installed; `pip install 'groundswell[mpi]'`, or start one process without a launcher"
        ) from error
    if MPI.COMM_WORLD.size > 1:
        return MpiCommunicator(MPI.COMM_WORLD)
    if started > 1:
        raise BackendError(
            f"{started} processes were started ({variables}), but each is alone in the MPI of "
            f"mpi4py ({MPI.Get_library_version().split(',')[0].splitlines()[0]}); take the mpiexec "
            f"of that library, or unset {variables} to let each process run by itself"
        )
    return SerialCommunicator()
