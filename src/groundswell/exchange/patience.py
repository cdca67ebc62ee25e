"""How long a rank waits for another one, and what it does meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from groundswell.errors import InputError, RunFailed

if TYPE_CHECKING:
    from groundswell.exchange.world import World

PATIENCE = "GROUNDSWELL_PATIENCE"
DEFAULT_PATIENCE = 300.0  # s that a rank waits for a silent one
CHECK_SECONDS = 0.5  # between looks at whether the others are alive
# MPI makes progress only during calls, so a waiting rank first polls continuously. After this time
# a short sleep adds little to the wait, and frees the core for other ranks.
BUSY_SECONDS = 0.002
NAP = 1e-4


class Patience:
    """Pauses of a rank that waits for others, and the end of its patience.

    Args:
        busy: seconds in which pauses only let other threads run.
    """

    def __init__(
        self, world: World, seconds: float | None = None, *, busy: float = BUSY_SECONDS
    ) -> None:
        self._world = world
        self._seconds = patience_seconds() if seconds is None else seconds
        self._begun = self._looked = time.monotonic()
        self._napless = self._begun + busy

    def stir(self, seconds: float) -> None:
        """Something has moved: look often for so long."""
        self._napless = max(self._napless, time.monotonic() + seconds)

    def pause(self, what: str, awaited: Iterable[int]) -> None:
        """Rest a little.

        Raises:
            RunFailed: an awaited rank has died, or all patience is spent.
        """
        now = time.monotonic()
        if now < self._napless:
            os.sched_yield()
        else:
            time.sleep(NAP)
        if now - self._looked > CHECK_SECONDS:
            self._looked = now
            self._world.require_alive()
        if now - self._begun > self._seconds:
            raise late(what, awaited, now - self._begun)


def late(what: str, awaited: Iterable[int], seconds: float) -> RunFailed:
    """The error of a rank that waited in vain."""
    names = ", ".join(map(str, awaited))
    return RunFailed(
        f"rank {names} has sent no {what} for {seconds:.0f} s: it hangs, is far behind, or waits "
        f"itself for another; see what it says, or set {PATIENCE} to more seconds"
    )


def patience_seconds() -> float:
    """How long a rank waits for a silent one, s.

    Raises:
        InputError: the environment asks for something else than a number above zero.
    """
    text = os.environ.get(PATIENCE, "")
    try:
        seconds = float(text) if text else DEFAULT_PATIENCE
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise InputError(f"{PATIENCE} = {text!r} must be a number of seconds above zero")
    return seconds


@contextmanager
def patience_of(seconds: float) -> Iterator[None]:
    """Let waits for other ranks last so long; those who wait read the environment."""
    before = os.environ.get(PATIENCE)
    os.environ[PATIENCE] = str(seconds)
    try:
        yield
    finally:
        del os.environ[PATIENCE]
        if before is not None:
            os.environ[PATIENCE] = before
