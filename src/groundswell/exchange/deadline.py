"""Deadlines: how long a rank waits for other ranks, and how it waits."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from groundswell.errors import InputError, RunFailed

if TYPE_CHECKING:
    from groundswell.exchange.communicator import Communicator

TIMEOUT = "GROUNDSWELL_TIMEOUT"
DEFAULT_TIMEOUT = 300.0  # s
CHECK_SECONDS = 0.5  # between checks whether the other ranks are alive
# MPI makes progress only during calls, so a waiting rank first polls continuously. After this time
# a short sleep adds little to the wait, and frees the core for other ranks.
BUSY_SECONDS = 0.002
SLEEP_SECONDS = 1e-4


class Deadline:
    """The deadline of a wait for other ranks.

    Args:
        seconds: time until the deadline, s; by default `timeout_seconds()`.
        busy: time during which pauses do not sleep, s.
    """

    def __init__(
        self, comm: Communicator, seconds: float | None = None, *, busy: float = BUSY_SECONDS
    ) -> None:
        self._comm = comm
        self._seconds = timeout_seconds() if seconds is None else seconds
        self._begun = self._checked = time.monotonic()
        self._check_every = min(CHECK_SECONDS, self._seconds / 4)
        self._busy_until = self._begun + busy

    def stay_busy(self, seconds: float) -> None:
        """Do not sleep for some time, because a message has arrived."""
        self._busy_until = max(self._busy_until, time.monotonic() + seconds)

    def pause(self, what: str, awaited: Iterable[int]) -> None:
        """Let other threads run, or sleep.

        Args:
            what: what is awaited, for the message.
            awaited: ranks from which it is awaited; read only after the deadline.

        Raises:
            RunFailed: a process has ended, or the deadline has passed.
        """
        now = time.monotonic()
        if now < self._busy_until:
            os.sched_yield()
        else:
            time.sleep(SLEEP_SECONDS)
        if now - self._checked > self._check_every:
            self._checked = now
            self._comm.require_alive()
        if now - self._begun > self._seconds:
            raise late(what, awaited, now - self._begun)


def late(what: str, awaited: Iterable[int], seconds: float) -> RunFailed:
    """The error of a wait that has timed out."""
    names = ", ".join(map(str, awaited))
    return RunFailed(
        f"rank {names} has sent no {what} for {seconds:.0f} s: it hangs, is far behind, or waits "
        f"for another rank; see its output, or set {TIMEOUT} to more seconds"
    )


def timeout_seconds() -> float:
    """How long a rank waits for another one, s, from the environment variable TIMEOUT.

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
