"""Ctrl-C and the batch system's SIGTERM: asked once, a run stops at a good place."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from groundswell.errors import Interrupted

# Launchers of MPI jobs forward SIGUSR1; at SIGTERM and SIGINT they end their processes at once.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


class StopRequest:
    """Becomes true when the user or the batch system wants the run to end."""

    def __init__(self) -> None:
        self._name = ""

    def __bool__(self) -> bool:
        return bool(self._name)

    def __str__(self) -> str:
        return self._name

    def set(self, number: int, _frame: Any = None) -> None:
        """Take note; a second Ctrl-C ends the process in the ordinary way."""
        if self._name and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._name = signal.Signals(number).name


@contextmanager
def stop_request() -> Iterator[StopRequest]:
    """Handles the signals in STOPS within the block; in threads, which cannot, it does nothing.

    A signal that was being ignored (nohup, background jobs of a shell) stays so.
    """
    request = StopRequest()
    with _heard_by(request.set):
        yield request


@contextmanager
def stopping_at_once(words: str) -> Iterator[None]:
    """Signals in STOPS raise `Interrupted` within the block: for work of which nothing can be kept.

    Args:
        words: what the message ends with.
    """

    def stop(number: int, _frame: Any = None) -> None:
        raise Interrupted(f"stopped by {signal.Signals(number).name}; {words}")

    with _heard_by(stop):
        yield


@contextmanager
def _heard_by(handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Have a handler called, unless this is a thread that cannot, or the signal is ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handler) for number in heeded}
    try:
        yield
    finally:
        for number, before in previous.items():
            # None stands for a handler that was not installed from Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if before is None else before)
