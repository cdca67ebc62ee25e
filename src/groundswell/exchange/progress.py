"""How far each rank of a job is, told when one has waited for long, and when a program ends.

All ranks make the same exchanges and the same collective calls, in the same order. So of any two
ranks one is ahead, and has begun no fewer of either. Where that does not hold, or a rank has ended
before the others, waits would be in vain: ranks see it within a second.
"""

from __future__ import annotations

import atexit
import sys
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from groundswell.errors import RunFailed

TAG = 2  # of messages
READ_EVERY = 64  # exchanges and calls, so that what slower ranks were told does not pile up
RUNNING, ENDED, FAILED = range(3)

_ALL: WeakSet[Progress] = WeakSet()


class Position(NamedTuple):
    """What a rank has begun, and whether its program has ended."""

    exchanges: int = 0
    calls: int = 0
    state: int = RUNNING


class Progress:
    """This rank's position, and what it knows of the others'.

    Args:
        comm: a communicator of the ranks, whose messages with this tag are nobody else's.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self._mpi, self._comm, self._lock = MPI, comm, Lock()
        self._here = self._told = Position()
        self._others: dict[int, Position] = {}
        self._sent: list[Any] = []
        _ALL.add(self)

    def begin_exchange(self) -> None:
        """An exchange that all ranks make begins here."""
        self._move(self._here._replace(exchanges=self._here.exchanges + 1))

    def begin_call(self) -> None:
        """A collective call begins here."""
        self._move(self._here._replace(calls=self._here.calls + 1))

    def _move(self, there: Position) -> None:
        self._here = there
        if (there.exchanges + there.calls) % READ_EVERY == 0:
            with self._lock:
                self._read()

    def look(self) -> None:
        """Tell the others how far this rank is, once, and see that it does not wait in vain.

        Raises:
            RunFailed: a rank has ended, or does something else.
        """
        with self._lock:  # a thread may wait as well
            self._tell()
            self._read()
        for rank, other in self._others.items():
            if reason := _in_vain(self._here, other):
                raise RunFailed(f"rank {rank} {reason}")

    def end(self, *, failed: bool) -> None:
        """This rank's program ends; only errors of others matter from here on."""
        if self._here.state == RUNNING and self._comm and not self._mpi.Is_finalized():
            self._here = self._here._replace(state=FAILED if failed else ENDED)
            with self._lock:
                self._tell()

    def _tell(self) -> None:
        if self._told == self._here:
            return
        self._told, numbers = self._here, np.array(self._here, np.int64)
        others = (rank for rank in range(self._comm.size) if rank != self._comm.rank)
        self._sent = [request for request in self._sent if not request.Test()]
        self._sent += [self._comm.Isend(numbers, rank, TAG) for rank in others]

    def _read(self) -> None:
        status, numbers = self._mpi.Status(), np.empty(len(Position._fields), np.int64)
        while message := self._comm.Improbe(self._mpi.ANY_SOURCE, TAG, status):
            message.Recv(numbers)
            self._others[status.Get_source()] = Position(*numbers.tolist())


def _in_vain(here: Position, other: Position) -> str | None:
    """Why a wait of the rank that is here cannot end, in the words that follow "rank n"."""
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
    """Tell all ranks that this one's program ends, and whether by an error."""
    failed = getattr(sys, "last_value", None) is not None
    for progress in list(_ALL):
        progress.end(failed=failed)
