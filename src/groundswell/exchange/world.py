"""The ranks of a job: what they tell each other outside the time loop, and how long they wait.

All words go through rank 0, which therefore knows who is late; tables too large for one rank go
straight to those who need them. No wait lasts for ever: a rank that has died or stays silent ends
the job with a message that names it.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from groundswell.errors import (
    BackendError,
    GroundswellError,
    InputError,
    RunFailed,
    known_to_all,
    now_known,
    reason_of,
)
from groundswell.exchange.launcher import exclude_libfabric, signs, started_ranks
from groundswell.exchange.patience import Patience, patience_seconds
from groundswell.exchange.processes import Process
from groundswell.exchange.progress import Progress
from groundswell.exchange.undo import all_or_nothing
from groundswell.exchange.words import PART, WORDS, Incoming, Word, parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OUT_OF_STEP = "out of step"
LAST = sys.maxsize  # number of a word after which there are no others
MAY_FAIL = ("agree", "close")  # kinds of words that are errors, or nothing
NUMBERS = 1  # tag of messages


class World(ABC):
    """The ranks of a job.

    Attributes:
        rank, size: this rank's number, and how many there are.
    """

    rank: int
    size: int

    def share(self, value: Any) -> list[Any]:
        """What every rank has to say, by rank."""
        return self._spread("share", value)

    @abstractmethod
    def _spread(self, kind: str, value: Any) -> list[Any]:
        """Share what is said in calls of that kind."""

    @abstractmethod
    def gather(self, value: Any) -> list[Any]:
        """The same at rank 0; an empty list elsewhere."""

    @abstractmethod
    def tell(self, value: Any) -> Any:
        """What rank 0 has to say."""

    @abstractmethod
    def swap(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        """Send whole numbers, (n,), to the ranks that they are for; all ranks must call it.

        Returns what the others have for this one, by rank; nobody is listed who has nothing.
        """

    @abstractmethod
    def require_alive(self) -> None:
        """See that the other processes still run, as far as this one can.

        Raises:
            RunFailed: one has ended; names it.
        """

    @abstractmethod
    def begin_exchange(self) -> None:
        """Say that an exchange of all ranks begins; those that do not make it are noticed."""

    @abstractmethod
    def abort(self, code: int) -> None:
        """End all processes of the job at once."""

    @property
    def same_host(self) -> list[int]:
        """The ranks that this one sees and whose memory it can reach, itself included."""
        return [self.rank]

    @property
    def same_machine(self) -> list[int]:
        """The ranks that share cores, memory and GPUs with this one: more, if in containers."""
        return self.same_host

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which writes and speaks to the user."""
        return self.rank == 0

    def agree(self, act: Callable[[], Any]) -> Any:
        """Do something that may fail on some ranks only; if it does, it fails on all.

        It may hold other calls in which all ranks talk. If it fails, what it has opened is closed.

        Returns what `act` returns here.

        Raises:
            GroundswellError: a rank's own error, or that of the first rank that has one.
            Exception: whatever else `act` raises here; other ranks get a RunFailed.
        """
        with all_or_nothing():
            return self._agreed(act)

    def _agreed(self, act: Callable[[], Any]) -> Any:
        result, error = None, None
        try:
            result = act()
        except GroundswellError as failure:
            if known_to_all(failure):
                raise
            error = failure
        except MemoryError as failure:
            where = f"rank {self.rank} is out" if self.size > 1 else "out"
            cure = "use a smaller case, or more ranks"
            error = InputError(f"{where} of memory ({reason_of(failure)}); {cure}")
        except Exception as failure:  # such as a user's function may raise
            if not known_to_all(failure):
                self._fail_here(failure)
            raise
        self.fail_together(error)
        return result

    def _fail_here(self, failure: Exception) -> None:
        """Tell the others, once, of what is none of our own errors."""
        with suppress(GroundswellError):
            kind = type(failure).__name__
            self.fail_together(RunFailed(f"rank {self.rank} failed: {kind}: {failure}"))
        now_known(failure)

    def fail_together(self, error: GroundswellError | None, kind: str = "agree") -> None:
        """Raise on all ranks if any has an error: its own, or that of the first that has one."""
        first = next((e for e in self._spread(kind, error) if e is not None), None)
        raised = error or first
        if raised is not None:
            raise now_known(raised)


class Alone(World):
    """One process, without MPI."""

    rank, size = 0, 1

    def _spread(self, kind: str, value: Any) -> list[Any]:
        return [value]

    def gather(self, value: Any) -> list[Any]:
        return [value]

    def tell(self, value: Any) -> Any:
        return value

    def swap(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        return {rank: part for rank, part in parts.items() if len(part)}

    def require_alive(self) -> None:
        """There is nobody else."""

    def begin_exchange(self) -> None:
        """There is nobody else."""

    def abort(self, code: int) -> None:
        raise SystemExit(code)


class MpiWorld(World):
    """The processes that mpiexec (or srun) has started.

    Args:
        comm: an mpi4py communicator; a copy of it is used.

    Attributes:
        comm: that copy.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self._byte = MPI.BYTE
        self.comm = comm.Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        self._incoming = [Incoming(self.comm, rank) for rank in range(self.size)]
        self._calls = 0
        self._progress = Progress(self.comm)
        self._broken: GroundswellError | None = None
        self._processes: list[Process] = []
        self._hosts: list[int] = []
        self._processes = self.share(Process.this())
        self._hosts = self.share(self._first_seen())

    def _first_seen(self) -> int:
        """The first rank that this one sees; it stands for the host."""
        here = self._processes[self.rank]
        return next(rank for rank, other in enumerate(self._processes) if here.sees(other))

    @property
    def same_host(self) -> list[int]:
        return [rank for rank, host in enumerate(self._hosts) if host == self._hosts[self.rank]]

    @property
    def same_machine(self) -> list[int]:
        here = self._processes[self.rank].machine
        return [rank for rank, other in enumerate(self._processes) if other.machine == here]

    def gather(self, value: Any) -> list[Any]:
        return self._collect(self._next("gather", value))

    def tell(self, value: Any) -> Any:
        return self._told(self._next("tell", value))

    def _spread(self, kind: str, value: Any) -> list[Any]:
        word = self._next(kind, value)
        return list(self._told(word._replace(value=self._collect(word))))

    def _next(self, kind: str, value: Any) -> Word:
        """What is told in a call that begins."""
        self._require_step()
        self._calls += 1
        if kind != "close":  # a rank that ends has closed, or will
            self._progress.begin_call()
        return Word(kind, value, self._calls)

    def _collect(self, word: Word) -> list[Any]:
        """What all say, at rank 0."""
        if not self.first:
            self._say(word, [0])
            return []
        try:
            said = [word, *self._hear(range(1, self.size), patience_seconds())]
        except RunFailed as error:
            self._break(error)
        if len({(w.kind, w.number) for w in said}) > 1:
            errors = (w.value for w in said if w.kind in MAY_FAIL and w.value is not None)
            self._break(next(errors, None) or _out_of_step([w.kind for w in said]))
        return [w.value for w in said]

    def _told(self, word: Word) -> Any:
        """What rank 0 says."""
        if self.first:
            self._say(word, range(1, self.size))
            return word.value
        # Rank 0 knows who is late, so it is given the time to say so.
        [(kind, value, number)] = self._hear([0], patience_seconds() + 10)
        if kind == OUT_OF_STEP:
            self._broken = now_known(value)
        elif (kind, number) != (word.kind, word.number):
            self._broken = RunFailed(f"rank 0 speaks of {kind}, rank {self.rank} of {word.kind}")
        self._require_step()
        return value

    def _hear(self, ranks: Sequence[int], seconds: float) -> list[Word]:
        """A word of each of these ranks, told in the call that is under way."""
        patience = Patience(self, seconds)
        while missing := [rank for rank in ranks if self._incoming[rank].awaits(self._calls)]:
            moved = [rank for rank in missing if self._incoming[rank].look()]
            if not moved:
                patience.pause("word", missing)
            elif any(self._incoming[rank].word is None for rank in moved):
                patience = Patience(self, seconds)  # nobody is late whose long word comes in
        return [self._incoming[rank].take() for rank in ranks]

    def _say(self, word: Word, ranks: Sequence[int]) -> None:
        for part in parts(word):
            sent = [self.comm.Isend([part, self._byte], rank, WORDS) for rank in ranks]
            for rank, request in zip(ranks, sent, strict=True):
                self._finish([request], [rank])

    def _break(self, error: GroundswellError) -> NoReturn:
        """A rank is late, or has failed on its way here: tell all, for nothing can go on."""
        self._broken = now_known(error)
        word, others = Word(OUT_OF_STEP, error, LAST), range(1, self.size)
        self._farewell = [  # kept, not awaited: some may never listen
            self.comm.Isend([part, self._byte], rank, WORDS)
            for part in parts(word)
            for rank in others
        ]
        raise error

    def _require_step(self) -> None:
        if self._broken is not None:
            raise self._broken

    def require_alive(self) -> None:
        for rank in self.same_host:
            process = self._processes[rank]
            if rank != self.rank and not process.alive:
                raise RunFailed(
                    f"rank {rank} (process {process.number}) has ended before its work was done; "
                    "see its messages above"
                )
        try:
            self._progress.look()
        except RunFailed as error:
            self._broken = error
            raise

    def begin_exchange(self) -> None:
        self._progress.begin_exchange()

    def abort(self, code: int) -> None:
        self.comm.Abort(code)

    def swap(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        import numpy as np

        self._next("swap", None)
        counts = np.zeros((2, self.size), np.int64)
        for rank, part in parts.items():
            counts[0, rank] = len(part)
        others = [rank for rank in range(self.size) if rank != self.rank]
        self._finish([self.comm.Ialltoall(counts[0], counts[1])], others)
        found = {rank: np.empty(n, np.int64) for rank, n in enumerate(counts[1]) if n}
        coming = [(rank, piece) for rank in found for piece in _pieces(found[rank])]
        leaving = [(rank, piece) for rank in parts for piece in _pieces(parts[rank])]
        requests = [self.comm.Irecv(piece, rank, NUMBERS) for rank, piece in coming]
        requests += [self.comm.Isend(piece, rank, NUMBERS) for rank, piece in leaving]
        self._finish(requests, list(found))
        return found

    def _finish(self, requests: list[Any], peers: Sequence[int]) -> None:
        patience = Patience(self)
        while requests and not type(requests[0]).Testall(requests):
            patience.pause("answer", peers)


def _out_of_step(kinds: list[str]) -> RunFailed:
    """The error of ranks that make different calls."""
    if closing := [str(rank) for rank, kind in enumerate(kinds) if kind == "close"]:
        return RunFailed(
            f"rank {', '.join(closing)} closes or has ended its program before the others; all "
            "ranks must make the same calls"
        )
    return RunFailed(f"the ranks are out of step; they speak of: {', '.join(kinds)}")


def _pieces(numbers: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Parts that a message can hold; none of an empty array."""
    most = PART // numbers.itemsize
    return [numbers[begin : begin + most] for begin in range(0, len(numbers), most)]


@cache
def world() -> World:
    """The job that this process belongs to; MPI is imported only if there may be others.

    Raises:
        BackendError: several processes were started, but mpi4py is missing, or is of another MPI.
    """
    started = started_ranks()
    if started == 1:
        return Alone()
    exclude_libfabric()
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise BackendError(
            f"{started or 'several'} processes were started ({signs()}), but mpi4py is not "
            "installed; `pip install 'groundswell[mpi]'`, or start one process without a launcher"
        ) from error
    if MPI.COMM_WORLD.size > 1:
        return MpiWorld(MPI.COMM_WORLD)
    if started > 1:
        raise BackendError(
            f"{started} processes were started ({signs()}), but each is alone in the MPI of "
            f"mpi4py ({MPI.Get_library_version().split(',')[0].splitlines()[0]}); take the mpiexec "
            f"of that library, or unset {signs()} to let each process run by itself"
        )
    return Alone()
