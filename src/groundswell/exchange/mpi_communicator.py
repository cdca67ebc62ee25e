"""The communicator of a job that mpiexec or srun started.

Every collective operation begins with a header from each rank, which all ranks receive. Ranks thus
detect immediately that they make different calls. If a rank has ended or does not respond in time,
the job ends on all ranks with an error that names this rank.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import HostArray, Integers
from groundswell.errors import (
    BackendError,
    GroundswellError,
    InputError,
    RunFailed,
    install,
    now_known,
)
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.rank_progress import RankProgress, abort_without
from groundswell.exchange.waiting import Deadline, complete
from groundswell.processes import Process, exclude_libfabric, launcher_variables, started_ranks

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")

Content = NDArray[np.uint8]  # content of a call of one rank, such as a pickled object

KINDS = ("allgather", "gather", "bcast", "alltoallv", "try", "close")
MAY_FAIL = ("try", "close")  # kinds of calls whose value is an error or None
CLOSES = (
    "rank {} closes or has ended its program before the others; all ranks must make the same calls"
)
KIND, EXCHANGES, SIZE, INLINE = range(4)  # positions in a header; short contents begin at INLINE
HEADER = 16  # int64
SHORT = 8 * (HEADER - INLINE)  # longest content that a header contains, bytes
# Largest size that an MPI call moves to or from a rank, bytes: many libraries count in 32 bits.
CHUNK = 2**30
EMPTY: Content = np.empty(0, np.uint8)


class MpiCommunicator(Communicator):
    """The ranks of an mpi4py communicator.

    If a rank gives up a call, for example after a time-out, the communicator becomes unusable: late
    messages of this call must not be confused with those of the next call. All later calls raise
    the same error on all ranks.

    Args:
        comm: an mpi4py intracommunicator; it is duplicated.

    Attributes:
        mpi_comm: the duplicate.
    """

    def __init__(self, comm: MPI.Comm) -> None:
        self.mpi_comm = duplicate(comm)
        self.rank, self.size = self.mpi_comm.rank, self.mpi_comm.size
        self._progress = RankProgress(self.mpi_comm, self._is_alive)
        self._error: GroundswellError | None = None
        self._processes: list[Process] = []
        self._hosts: list[int] = []
        here = Process.this()
        self._processes = self.allgather(here)
        visible = [rank for rank, other in enumerate(self._processes) if here.sees(other)]
        self._hosts = self.allgather(visible[0])  # the first one identifies the host

    @property
    def same_host(self) -> list[int]:
        return [rank for rank, host in enumerate(self._hosts) if host == self._hosts[self.rank]]

    @property
    def same_machine(self) -> list[int]:
        here = self._processes[self.rank].machine
        return [rank for rank, other in enumerate(self._processes) if other.machine == here]

    @property
    def speaks(self) -> bool:
        return all(self._progress.has_died(rank) for rank in range(self.rank))

    # --- collective operations --------------------------------------------------------------------

    def _allgather(self, kind: str, value: T) -> list[T]:
        content = np.frombuffer(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), np.uint8)
        on_first = kind == "gather"
        with self._breaking():
            closing = RunFailed(CLOSES.format(self.rank)) if kind == "close" else None
            given = value if kind in MAY_FAIL and isinstance(value, GroundswellError) else None
            headers = self._headers(kind, len(content), content, given or closing)
            found = self._contents(headers, headers[:, SIZE], content, only_first=on_first)
        is_here = self.first or not on_first
        return [pickle.loads(values.data) for values in found] if is_here else []

    def alltoallv(self, parts: Mapping[int, Integers]) -> dict[int, Integers]:
        longest = max(map(len, parts.values()), default=0)
        with self._breaking():
            longest = int(self._headers("alltoallv", longest)[:, SIZE].max())
            return self._exchange_parts(parts, longest) if longest else {}

    def _headers(
        self, kind: str, size: int, content: Content = EMPTY, cause: GroundswellError | None = None
    ) -> Integers:
        """Begin a call; returns the headers (size, HEADER) of all ranks."""
        exchanges = self._progress.begin(calls=1, cause=cause)
        mine, found = np.zeros(HEADER, np.int64), np.empty((self.size, HEADER), np.int64)
        mine[:INLINE] = KINDS.index(kind), exchanges, size
        if len(content) <= SHORT:
            mine[INLINE:].view(np.uint8)[: len(content)] = content
        self._wait(self.mpi_comm.Iallgather(mine, found))
        # A rank may have given up this call after its header.
        self._progress.require_no_error(later_calls=False)
        if (found[:, :SIZE] != mine[:SIZE]).any():
            raise self._out_of_step(found, content)
        return found

    def _contents(
        self, headers: Integers, sizes: Integers, content: Content, *, only_first: bool = False
    ) -> list[Content]:
        """The contents of all ranks: from headers, or sent if any content is longer."""
        if sizes.max() > SHORT:
            return self._gather_long(content, sizes, only_first=only_first)
        rows = headers[:, INLINE:].copy().view(np.uint8)
        return [row[:size] for row, size in zip(rows, sizes, strict=True)]

    def _gather_long(self, content: Content, sizes: Integers, *, only_first: bool) -> list[Content]:
        """The contents of all ranks, on rank 0 or on all ranks; empty on others."""
        gather = self.mpi_comm.Igatherv if only_first else self.mpi_comm.Iallgatherv
        receives, share = self.first or not only_first, max(CHUNK // self.size, 1)

        def start(begin: int, found: Content, counts: Integers) -> MPI.Request:
            return gather(content[begin : begin + share], [found, counts] if receives else None)

        return self._in_rounds(start, range(0, int(sizes.max()), share), sizes * receives, "u1")

    def _exchange_parts(self, parts: Mapping[int, Integers], longest: int) -> dict[int, Integers]:
        """The parts that all ranks send to this one; `longest` is the longest part of any rank."""
        sent, received = np.zeros((2, self.size), np.int64)
        for rank, part in parts.items():
            sent[rank] = len(part)
        self._wait(self.mpi_comm.Ialltoall(sent, received))
        share = max(CHUNK // sent.nbytes, 1)

        def start(begin: int, found: Integers, counts: Integers) -> MPI.Request:
            chunks = [parts[rank][begin : begin + share] for rank in sorted(parts)]
            out = np.concatenate([np.empty(0, np.int64), *chunks], casting="no")
            out_counts = (sent - begin).clip(0, share)
            return self.mpi_comm.Ialltoallv([out, out_counts], [found, counts])

        found = self._in_rounds(start, range(0, longest, share), received, "i8")
        return {rank: part for rank, part in enumerate(found) if len(part)}

    def _in_rounds(
        self, start: Callable[..., MPI.Request], begins: range, sizes: Integers, dtype: str
    ) -> list[HostArray]:
        """The data of each rank, moved by MPI calls of limited size."""
        rounds = []
        for begin in begins:
            counts = (sizes - begin).clip(0, begins.step)
            found = np.empty(counts.sum(), dtype)
            self._wait(start(begin, found, counts))
            rounds.append(np.split(found, np.cumsum(counts)[:-1]))
        return [np.concatenate(r) if len(r) > 1 else r[0] for r in zip(*rounds, strict=True)]

    def _wait(self, request: MPI.Request) -> None:
        complete([request], Deadline(self), "message", self._progress.behind)

    # --- errors -----------------------------------------------------------------------------------

    @contextmanager
    def _breaking(self) -> Iterator[None]:
        """Context of a call; an error in it makes the communicator unusable."""
        if self._error is not None:
            raise now_known(self._error)
        try:
            yield
        except BaseException as error:
            self.give_up(error)
            raise

    def give_up(self, error: BaseException) -> None:
        if not isinstance(error, GroundswellError):
            error = RunFailed(f"rank {self.rank} gave up a call: {error!r}")
        if self._error is None:
            self._error = now_known(error)
            self._progress.fail(error)

    def _out_of_step(self, headers: Integers, content: Content) -> GroundswellError:
        """The error if ranks make different calls: that of one of them, if any has an error."""
        kinds = [KINDS[kind] for kind in headers[:, KIND]]
        sizes = headers[:, SIZE] * [kind in MAY_FAIL for kind in kinds]
        found = self._contents(headers, sizes, content[: sizes[self.rank]])
        errors = (pickle.loads(value.data) for value in found if len(value))
        if error := next((error for error in errors if error is not None), None):
            return error  # type: ignore[no-any-return]
        closing = [str(rank) for rank, kind in enumerate(kinds) if kind == "close"]
        if 0 < len(closing) < self.size:
            return RunFailed(CLOSES.format(", ".join(closing)))
        done = zip(kinds, headers[:, EXCHANGES], strict=True)
        calls = ", ".join(f"rank {n} {kind} after exchange {e}" for n, (kind, e) in enumerate(done))
        return RunFailed(f"ranks are out of step; all must make the same calls, but call: {calls}")

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
            self.give_up(error)
            raise

    def _is_alive(self, rank: int) -> bool:
        """Whether the process of a rank runs, if this one can see it."""
        return rank not in self.same_host or self._processes[rank].alive

    def begin_exchange(self, plan: int) -> None:
        if self._error is not None:
            raise now_known(self._error)
        self._progress.begin(exchanges=1, plan=plan)

    def abort(self, code: int) -> None:
        self.mpi_comm.Abort(code)


def duplicate(comm: MPI.Comm, ranks: Communicator | None = None) -> MPI.Comm:
    """A duplicate of an mpi4py communicator.

    Args:
        ranks: communicator of the ranks, to check that they are alive; None if not possible.

    Raises:
        RunFailed: not all ranks duplicate it in time, or a rank has ended.
    """
    found, request = comm.Idup()  # Dup would wait without a deadline
    others = [rank for rank in range(comm.size) if rank != comm.rank]
    deadline = Deadline(ranks or SerialCommunicator())  # a SerialCommunicator has no ranks to check
    try:
        complete([request], deadline, "message", lambda: others, kept=found)
    except RunFailed:
        if ranks is None:
            abort_without(request)
        raise
    return found


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
    count, variables = f"at least {started}" if started else "several", launcher_variables()
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise BackendError(
            f"{count} processes were started ({variables}), but mpi4py is not "
            f"installed; {install('mpi')}, or start one process without a launcher"
        ) from error
    if MPI.COMM_WORLD.size > 1:
        return MpiCommunicator(MPI.COMM_WORLD)
    if started > 1:
        raise BackendError(
            f"{count} processes were started ({variables}), but each is alone in the MPI of mpi4py "
            f"({MPI.Get_library_version().split(',')[0].splitlines()[0]}); use the mpiexec of that "
            "library, or build mpi4py with the launcher's MPI (`pip install --no-binary mpi4py "
            f"mpi4py`), or unset {variables} to run each process separately"
        )
    return SerialCommunicator()


def ranks_of(comm: MPI.Comm | None) -> Communicator:
    """The ranks of an mpi4py communicator; None for all processes.

    Raises:
        InputError: it is not a communicator, or this rank does not belong to it.
    """
    if comm is None:
        return get_communicator()
    if not comm or not hasattr(comm, "Is_inter") or comm.Is_inter():
        raise InputError(f"comm = {comm!r}: give an mpi4py intracommunicator that this rank is in")
    if comm.size > 1:
        return MpiCommunicator(comm)
    from mpi4py import MPI

    return get_communicator() if comm == MPI.COMM_WORLD else SerialCommunicator()


def cartesian(comm: MPI.Comm | None) -> tuple[Sequence[int] | None, Sequence[bool] | bool]:
    """Processes along each axis of a Cartesian communicator, and whether each axis is periodic.

    None and False for any other communicator. Ranks are numbered as in a `Decomposition`.
    """
    if comm is None:
        return None, False
    from mpi4py import MPI

    if comm.Get_topology() != MPI.CART:
        return None, False
    dims, periods, _ = MPI.Cartcomm(comm).Get_topo()
    return dims, [bool(period) for period in periods]
