"""Waits of ranks for each other, with deadlines; see also rank_progress.py."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING

from groundswell.errors import InputError, RunFailed

if TYPE_CHECKING:
    from mpi4py import MPI

    from groundswell.exchange.communicator import Communicator

TIMEOUT = "GROUNDSWELL_TIMEOUT"
DEFAULT_TIMEOUT = 300.0  # s
CHECK_SECONDS = 0.5  # interval between checks that the other ranks are alive
# MPI makes progress only during calls, so a waiting rank first polls continuously. After this time,
# a short sleep adds little to the wait, and frees the core for other ranks.
BUSY_SECONDS = 0.002
SLEEP_SECONDS = 1e-4
# After a yield, another thread may keep the core for milliseconds. If a yield has lasted longer
# than this, the following pauses sleep, since a thread that slept gets the core back at once.
LONG_YIELD_SECONDS = 3e-4
CROWDED_PAUSES = 1000
# MPI libraries copy small parts of a message at each call. A call that copies takes several times
# as long as the shortest call, and at least this time, s. Polling then continues for some time.
MOVED, MOVED_SECONDS, LONGER = 4, 5e-6, 20


class Deadline:
    """The deadline of a wait for other ranks, `timeout_seconds` from now.

    Args:
        busy: time during which pauses do not sleep, s.
    """

    def __init__(self, comm: Communicator, *, busy: float = BUSY_SECONDS) -> None:
        self._comm, self._seconds, self._busy = comm, timeout_seconds(), busy
        self._begun = self._checked = time.monotonic()
        self._check_every = min(CHECK_SECONDS, self._seconds / 4)
        self._busy_until = self._begun + busy

    def stay_busy(self, seconds: float) -> None:
        """Do not sleep for some time, because a message is arriving."""
        until = time.monotonic() + min(seconds, self._busy)
        self._busy_until = max(self._busy_until, until)

    def pause(self, what: str, awaited: Iterable[int]) -> None:
        """Let other threads run, or sleep.

        Args:
            what: what the rank waits for, for the error message.
            awaited: ranks for which it waits; called only after the deadline.

        Raises:
            RunFailed: a process has ended, or the deadline has passed.
        """
        now = time.monotonic()
        if now < self._busy_until:
            _yield_core(now)
        else:
            time.sleep(SLEEP_SECONDS)
        if now - self._checked > self._check_every:
            self._checked = now
            self._comm.require_alive()
        if now - self._begun > self._seconds:
            raise late(what, awaited, now - self._begun)


class _CoreUse(local):
    """How this thread yields its core to others."""

    pauses: int = 0  # pauses left that sleep, because a yield took long


_core_use = _CoreUse()


def _yield_core(now: float) -> None:
    """Let other threads run for a moment."""
    if _core_use.pauses:
        _core_use.pauses -= 1
        time.sleep(SLEEP_SECONDS / 5)
        return
    os.sched_yield()
    if time.monotonic() - now > LONG_YIELD_SECONDS:
        _core_use.pauses = CROWDED_PAUSES


def complete(
    requests: Sequence[MPI.Request],
    deadline: Deadline,
    what: str,
    awaited: Callable[[], Iterable[int]],
    kept: object = None,
) -> None:
    """Wait for requests of mpi4py.

    Args:
        what, awaited: see `Deadline.pause`.
        kept: memory that the requests write to, in addition to their own buffers.

    Raises:
        RunFailed: a rank has ended, or the deadline has passed.
    """
    pending, shortest = list(requests), float("inf")
    try:
        begun = time.thread_time()
        while pending and not type(requests[0]).Testall(pending):
            lasted = time.thread_time() - begun  # excludes time of other threads
            shortest = min(shortest, lasted)
            if lasted > max(MOVED * shortest, MOVED_SECONDS):
                deadline.stay_busy(LONGER * lasted)
            deadline.pause(what, awaited())
            begun = time.thread_time()
    except BaseException:
        # MPI may write to the buffers later, even in MPI_Finalize, so they are never freed.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object((pending, kept)))
        raise


def late(what: str, awaited: Iterable[int], seconds: float) -> RunFailed:
    """The error of a wait that has timed out."""
    names = ", ".join(map(str, awaited))
    return RunFailed(
        f"rank {names} has sent no {what} for {seconds:.0f} s: it hangs, is far behind, or waits "
        f"for another rank; see its output, or set {TIMEOUT} to more seconds"
    )


def timeout_seconds() -> float:
    """The time-out of waits for another rank, s, from the environment variable TIMEOUT.

    Raises:
        InputError: the variable is not a number above zero.
    """
    text = os.environ.get(TIMEOUT, "")
    try:
        seconds = float(text) if text else DEFAULT_TIMEOUT
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise InputError(f"{TIMEOUT} = {text!r} must be a number of seconds above zero")
    return seconds


@contextmanager
def timeout_of(seconds: float) -> Iterator[None]:
    """Set the time-out of waits for other ranks within a context."""
    before = os.environ.get(TIMEOUT)
    os.environ[TIMEOUT] = str(seconds)
    try:
        yield
    finally:
        del os.environ[TIMEOUT]
        if before is not None:
            os.environ[TIMEOUT] = before
