"""Detection of waits for other ranks that cannot end.

All ranks make the same exchanges and collective calls in the same order. Of two ranks, one is
therefore ahead in both counts, or both are equal. If this does not hold, or a rank has ended before
the others, a wait cannot end. Ranks send their counts to each other while they wait, and when they
end or give up a call, so that all of them detect this within a second.
"""

from __future__ import annotations

import atexit
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from groundswell.errors import GroundswellError, RunFailed
from groundswell.exchange.waiting import timeout_seconds

if TYPE_CHECKING:
    from mpi4py import MPI

TAG = 2  # of messages between Progress objects
READ_EVERY = 64  # exchanges, so that received messages do not accumulate
LAST_SECONDS = 5.0  # at the end of a program, for a call that other ranks have not made in time
RUNNING, ENDED, FAILED = range(3)

_ALL: list[RankProgress] = []


class CallCounts(NamedTuple):
    """Numbers of exchanges and calls that a rank has begun, and the state of its program."""

    exchanges: int = 0
    calls: int = 0
    plan: int = 0  # number of the plan of the last exchange
    state: int = RUNNING
    error: GroundswellError | None = None  # why the rank has given up a call
    cause: GroundswellError | None = None  # what its present call reports if others do not make it

    def why_not(self, other: CallCounts, here: int) -> str | None:
        """The reason why a wait of rank `here` for the other one cannot end, following "rank n".

        Other ranks may raise it as well, so it names both ranks.
        """
        if other.state == FAILED:
            return "has failed; see its messages"
        if self.state != RUNNING:
            return None
        ahead = self.exchanges - other.exchanges, self.calls - other.calls
        if other.state == ENDED and max(ahead) > 0:
            return "has ended its program before the others; all ranks must make the same calls"
        if min(ahead) < 0 < max(ahead):
            return (
                f"is out of step with rank {here}: it has begun {other.exchanges} exchanges and "
                f"{other.calls} other calls, and rank {here} has begun {self.exchanges} and "
                f"{self.calls}; all ranks must make the same calls, with arrays of the same types; "
                "with transport direct, either all with earlier arrays or all with new ones"
            )
        if self.exchanges == other.exchanges and self.plan != other.plan:
            return (
                f"runs a different plan: exchange {self.exchanges} is plan {other.plan} there but "
                f"plan {self.plan} on rank {here} (plans are numbered as created); all ranks must "
                "run, and finish, the same plans in the same order, with arrays of the same types"
            )
        return None


class RankProgress:
    """The position of this rank, and the last known ones of the others.

    Args:
        comm: an mpi4py communicator of the ranks; messages with TAG must be of this class only.
        is_alive: returns whether the process of a rank runs, if this one can see it.
    """

    def __init__(self, comm: MPI.Comm, is_alive: Callable[[int], bool]) -> None:
        from mpi4py import MPI

        self.is_alive = is_alive
        self._mpi, self._comm, self._lock = MPI, comm, Lock()  # threads may wait as well
        self._here = self._sent_position = CallCounts()
        self._others = {rank: CallCounts() for rank in range(comm.size) if rank != comm.rank}
        self._requests: list[MPI.Request] = []
        _ALL[:] = [*(progress for progress in _ALL if progress._comm), self]  # drops freed ones

    def begin(
        self,
        *,
        exchanges: int = 0,
        calls: int = 0,
        plan: int | None = None,
        cause: GroundswellError | None = None,
    ) -> int:
        """Count exchanges or collective calls of all ranks; returns the number of exchanges."""
        here = self._here
        count, plan = here.exchanges + exchanges, here.plan if plan is None else plan
        self._move(exchanges=count, calls=here.calls + calls, plan=plan, cause=cause)
        if exchanges and count % READ_EVERY == 0:
            self._read()
        return count

    def check(self) -> None:
        """Send the position of this rank, and check that its wait can end.

        Raises:
            RunFailed: a rank has ended, or makes other calls.
            GroundswellError: another rank has given up a call.
        """
        self._send()
        self.require_no_error()
        for rank, other in self._others.items():
            if reason := self._here.why_not(other, self._comm.rank):
                cause = self._here.cause or other.cause if other.state == RUNNING else None
                raise cause or RunFailed(f"rank {rank} {reason}")

    def require_no_error(self, *, later_calls: bool = True) -> None:
        """Raise the error with which another rank gave up a call, if there is any.

        Args:
            later_calls: whether to include calls that this rank has not begun yet.
        """
        self._read()
        for other in self._others.values():
            if other.error is not None and (later_calls or other.calls <= self._here.calls):
                raise other.error

    def behind(self) -> Iterator[int]:
        """The ranks that have begun fewer calls than this one; if none, all other ranks."""
        self._send()
        self._read()
        late = [rank for rank, other in self._others.items() if other.calls < self._here.calls]
        yield from late or self._others

    def has_ended(self, rank: int) -> bool:
        """Whether a rank has reported that its program ends without an error."""
        return self._others[rank].state == ENDED

    def has_died(self, rank: int) -> bool:
        """Whether the process of a rank has ended without a message."""
        if self.is_alive(rank):
            return False
        if self._is_usable:
            self._read()
        return self._others[rank].state == RUNNING and self._others[rank].error is None

    def fail(self, error: GroundswellError) -> None:
        """Report to all ranks that this rank has given up a call."""
        if self._is_usable:
            self._move(error=error)
            self._send()

    def end(self, *, failed: bool) -> None:
        """Report the end of this rank's program; afterwards, only errors of other ranks matter."""
        if self._is_usable and self._here.state == RUNNING:
            self._move(state=FAILED if failed else ENDED)
            self._send()

    def running(self) -> list[int]:
        """The ranks that have not reported their end, if this rank has given up a call."""
        if self._here.error is None or not self._is_usable:
            return []
        self._read()
        return [rank for rank, other in self._others.items() if other.state == RUNNING]

    @property
    def _is_usable(self) -> bool:
        return bool(self._comm) and not self._mpi.Is_finalized()

    def _move(self, **changes: Any) -> None:
        with self._lock:
            self._here = self._here._replace(**changes)

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


# --- the end of the program -----------------------------------------------------------------------


@atexit.register
def _wait_for_ends() -> None:
    """End the job if a rank hangs after a call was given up: MPI_Finalize would wait for it."""
    begun = time.monotonic()
    while running := {(rank, p.is_alive(rank)) for p in _ALL for rank in p.running()}:
        only_dead = not any(alive for _, alive in running)
        if only_dead or time.monotonic() - begun > timeout_seconds():
            names = ", ".join(str(rank) for rank, _ in sorted(running))
            _abort(f"rank {names} {'has died' if only_dead else 'does not end'}")
        time.sleep(0.01)


def abort_without(request: MPI.Request) -> None:
    """End the job at the end of the program if other ranks never make this call of mpi4py.

    They may hang, and MPI_Finalize would wait for them. No `RankProgress` knows them yet.
    """
    atexit.register(_wait_for_call, request)


def _wait_for_call(request: MPI.Request) -> None:
    begun, mpi = time.monotonic(), sys.modules["mpi4py.MPI"]
    while not mpi.Is_finalized() and not request.Test():
        if time.monotonic() - begun > LAST_SECONDS:
            rank = mpi.COMM_WORLD.rank
            _abort(f"other ranks do not make a call that rank {rank} has given up")
        time.sleep(0.01)


def _abort(reason: str) -> None:
    print(f"groundswell: {reason}; the job is aborted", file=sys.stderr)
    sys.stdout.flush()
    sys.modules["mpi4py.MPI"].COMM_WORLD.Abort(1)


@atexit.register  # runs before _wait_for_ends
def report_end() -> None:
    """Report to all ranks that the program of this rank ends, and whether by an error."""
    failed = getattr(sys, "last_value", None) is not None
    for progress in _ALL:
        progress.end(failed=failed)
