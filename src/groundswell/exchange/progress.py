"""Progress of the ranks: how many exchanges and collective calls each has begun.

All ranks make the same exchanges and collective calls in the same order. Of two ranks, one is
therefore ahead in both counts, or equal. If this does not hold, or a rank has ended before the
others, a wait cannot end. Ranks send their counts to each other while they wait, and when they end,
so that all of them detect this within a second.
"""

from __future__ import annotations

import atexit
import sys
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from groundswell.errors import RunFailed

TAG = 2
READ_EVERY = 64  # exchanges and calls, so that received messages do not accumulate
RUNNING, ENDED, FAILED = range(3)

_ALL: WeakSet[Progress] = WeakSet()


class Position(NamedTuple):
    """Numbers of exchanges and calls that a rank has begun, and the state of its program."""

    exchanges: int = 0
    calls: int = 0
    state: int = RUNNING


class Progress:
    """The position of this rank, and the last known ones of the others.

    Args:
        comm: an mpi4py communicator of the ranks; messages with TAG must be of this class only.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self._mpi, self._comm, self._lock = MPI, comm, Lock()
        self._here = self._sent_position = Position()
        self._others: dict[int, Position] = {}
        self._requests: list[Any] = []
        _ALL.add(self)

    def begin_exchange(self) -> None:
        """Count an exchange of all ranks."""
        self._move(self._here._replace(exchanges=self._here.exchanges + 1))

    def begin_call(self) -> None:
        """Count a collective call."""
        self._move(self._here._replace(calls=self._here.calls + 1))

    def _move(self, there: Position) -> None:
        self._here = there
        if (there.exchanges + there.calls) % READ_EVERY == 0:
            with self._lock:
                self._read()

    def check(self) -> None:
        """Send the position of this rank, and check that its wait can end.

        Raises:
            RunFailed: a rank has ended, or makes other calls.
        """
        with self._lock:  # a thread may wait as well
            self._send()
            self._read()
        for rank, other in self._others.items():
            if reason := _why_not(self._here, other):
                raise RunFailed(f"rank {rank} {reason}")

    def end(self, *, failed: bool) -> None:
        """Report the end of this rank's program; afterwards, only errors of other ranks matter."""
        if self._here.state == RUNNING and self._comm and not self._mpi.Is_finalized():
            self._here = self._here._replace(state=FAILED if failed else ENDED)
            with self._lock:
                self._send()

    def _send(self) -> None:
        if self._sent_position == self._here:
            return
        self._sent_position, numbers = self._here, np.array(self._here, np.int64)
        others = (rank for rank in range(self._comm.size) if rank != self._comm.rank)
        self._requests = [request for request in self._requests if not request.Test()]
        self._requests += [self._comm.Isend(numbers, rank, TAG) for rank in others]

    def _read(self) -> None:
        status, numbers = self._mpi.Status(), np.empty(len(Position._fields), np.int64)
        while message := self._comm.Improbe(self._mpi.ANY_SOURCE, TAG, status):
            message.Recv(numbers)
            self._others[status.Get_source()] = Position(*numbers.tolist())


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
def end() -> None:
    """Report to all ranks that the program of this one ends, and whether by an error."""
    failed = getattr(sys, "last_value", None) is not None
    for progress in list(_ALL):
        progress.end(failed=failed)
