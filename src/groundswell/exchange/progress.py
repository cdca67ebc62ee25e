"""Progress of the ranks: how many exchanges and collective calls each has begun.

All ranks make the same exchanges and collective calls in the same order. Of two ranks, one is
therefore ahead in both counts, or equal. If this does not hold, or a rank has ended before the
others, a wait cannot end. Ranks send their counts to each other while they wait, and when they end
or give up a call, so that all of them detect this within a second.
"""

from __future__ import annotations

import atexit
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, NamedTuple

from groundswell.errors import GroundswellError, RunFailed
from groundswell.exchange.deadline import timeout_seconds

TAG = 2
READ_EVERY = 64  # exchanges, so that received messages do not accumulate
RUNNING, ENDED, FAILED = range(3)

_ALL: list[Progress] = []


class Position(NamedTuple):
    """Numbers of exchanges and calls that a rank has begun, and the state of its program.

    Args:
        error: why the rank has given up a call, which no other can follow.
    """

    exchanges: int = 0
    calls: int = 0
    state: int = RUNNING
    error: GroundswellError | None = None


class Progress:
    """The position of this rank, and the last known ones of the others.

    Args:
        comm: an mpi4py communicator of the ranks; messages with TAG must be of this class only.
        is_alive: whether the process of a rank runs, as far as this one can see.
    """

    def __init__(self, comm: Any, is_alive: Callable[[int], bool]) -> None:
        from mpi4py import MPI

        self.is_alive = is_alive

        self._mpi, self._comm, self._lock = MPI, comm, Lock()
        self._here = self._sent_position = Position()
        ranks = range(comm.size)
        self._others = {rank: Position() for rank in ranks if rank != comm.rank}
        self._requests: list[Any] = []
        _ALL[:] = [*(progress for progress in _ALL if progress._comm), self]  # without freed ones

    def begin_exchange(self) -> None:
        """Count an exchange of all ranks."""
        self._move(exchanges=self._here.exchanges + 1)
        if self._here.exchanges % READ_EVERY == 0:
            self._read()

    def begin_call(self) -> None:
        """Count a collective call."""
        self._move(calls=self._here.calls + 1)

    def check(self) -> None:
        """Send the position of this rank, and check that its wait can end.

        Raises:
            RunFailed: a rank has ended, or makes other calls.
            GroundswellError: another rank has given up a call.
        """
        self._send()
        self.require_no_error()
        for rank, other in self._others.items():
            if reason := _why_not(self._here, other):
                raise RunFailed(f"rank {rank} {reason}")

    def behind(self) -> Iterator[int]:
        """The ranks that have begun fewer calls than this one; all others if there are none."""
        self._send()
        self._read()
        late = [rank for rank, other in self._others.items() if other.calls < self._here.calls]
        yield from late or self._others

    def has_ended(self, rank: int) -> bool:
        """Whether a rank has reported that its program ends without an error."""
        return self._others[rank].state == ENDED

    def fail(self, error: GroundswellError) -> None:
        """Report to all ranks that this one has given up a call."""
        self._report(error=error)

    def end(self, *, failed: bool) -> None:
        """Report the end of this rank's program; afterwards, only errors of other ranks matter."""
        if self._here.state == RUNNING:
            self._report(state=FAILED if failed else ENDED)

    def running(self) -> list[int]:
        """The ranks that have not reported their end, if this rank has given up a call."""
        if self._here.error is None or not self._usable:
            return []
        self._read()
        return [rank for rank, other in self._others.items() if other.state == RUNNING]

    def _report(self, **changes: Any) -> None:
        if self._usable:
            self._move(**changes)
            self._send()

    def _move(self, **changes: Any) -> None:
        with self._lock:  # a thread may wait as well
            self._here = self._here._replace(**changes)

    @property
    def _usable(self) -> bool:
        return bool(self._comm) and not self._mpi.Is_finalized()

    def require_no_error(self, *, later_calls: bool = True) -> None:
        """Check that no rank has given up a call.

        Args:
            later_calls: whether calls count that this rank has not begun yet.

        Raises:
            GroundswellError: why a rank has given up a call.
        """
        self._read()
        for other in self._others.values():
            begun = other.calls <= self._here.calls
            if other.error is not None and (later_calls or begun):
                raise other.error

    def _send(self) -> None:
        with self._lock:
            if self._sent_position == self._here:
                return
            self._sent_position, content = self._here, pickle.dumps(self._here)
            self._requests = [request for request in self._requests if not request.Test()]
            self._requests += [
                self._comm.Isend([content, self._mpi.BYTE], rank, TAG) for rank in self._others
            ]

    def _read(self) -> None:
        status = self._mpi.Status()
        with self._lock:
            while message := self._comm.Improbe(self._mpi.ANY_SOURCE, TAG, status):
                content = bytearray(status.Get_count(self._mpi.BYTE))
                message.Recv([content, self._mpi.BYTE])
                self._others[status.Get_source()] = pickle.loads(content)


def _why_not(here: Position, other: Position) -> str | None:
    """Why a wait of this rank for the other one cannot end; the text follows "rank n"."""
    if other.state == FAILED:
        return "has failed; see its messages"
    if here.state != RUNNING:
        return None
    ahead = here.exchanges - other.exchanges, here.calls - other.calls
    if other.state == ENDED and max(ahead) > 0:
        return "has ended its program before the others; all ranks must make the same calls"
    if min(ahead) < 0 < max(ahead):
        return (
            f"is out of step: it has begun {other.exchanges} exchanges and {other.calls} other "
            f"calls, this rank {here.exchanges} and {here.calls}; all ranks must make the same "
            "calls in the same order, and exchange the arrays of earlier calls, or new ones, alike"
        )
    return None


@atexit.register
def _wait_for_ends() -> None:
    """End the job if a rank hangs after a call was given up: MPI_Finalize would wait for it."""
    begun = time.monotonic()
    while running := {(rank, p.is_alive(rank)) for p in _ALL for rank in p.running()}:
        only_dead = not any(alive for _, alive in running)
        if only_dead or time.monotonic() - begun > timeout_seconds():
            names = ", ".join(str(rank) for rank, _ in sorted(running))
            why = "has died" if only_dead else "does not end"
            print(f"groundswell: rank {names} {why}; the job is aborted", file=sys.stderr)
            sys.stdout.flush()
            sys.modules["mpi4py.MPI"].COMM_WORLD.Abort(1)
        time.sleep(0.01)


@atexit.register  # runs before _wait_for_ends
def end() -> None:
    """Report to all ranks that the program of this one ends, and whether by an error."""
    failed = getattr(sys, "last_value", None) is not None
    for progress in _ALL:
        progress.end(failed=failed)
