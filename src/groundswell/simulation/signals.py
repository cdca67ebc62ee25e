"""Ctrl-C and the batch system's SIGTERM: a run stops after the current batch of steps."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from groundswell.errors import Interrupted

# MPI launchers forward SIGUSR1, but on SIGTERM and SIGINT they end their processes at once.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


class StopRequest:
    """Becomes true when the user or the batch system asks the run to stop.

    Args:
        outer: the request of what the run is a part of, which becomes true as well.
    """

    def __init__(self, outer: StopRequest | None = None) -> None:
        self._name, self._outer = "", outer

    def __bool__(self) -> bool:
        return bool(self._name)

    def __str__(self) -> str:
        return self._name

    def set(self, number: int, _frame: object = None) -> None:
        """Record a signal; a second Ctrl-C raises KeyboardInterrupt."""
        if self._name and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.note(signal.Signals(number).name)

    def note(self, name: str) -> None:
        """Record who or what asks for the stop."""
        self._name = name
        if self._outer is not None:
            self._outer.note(name)


_requests: list[StopRequest] = []  # of the blocks that the main thread is in, the innermost last


@contextmanager
def stop_request() -> Iterator[StopRequest]:
    """Handle the signals in STOPS within the block; without effect outside the main thread.

    A signal that was ignored before (nohup, background jobs of a shell) stays ignored.
    """
    request = StopRequest(_requests[-1] if _requests and _in_main_thread() else None)
    with _handled_by(request.set), _innermost(request):
        yield request


@contextmanager
def _innermost(request: StopRequest) -> Iterator[None]:
    """Within the block, other requests pass the signals that they get on to this one."""
    if not _in_main_thread():
        yield
        return
    _requests.append(request)
    try:
        yield
    finally:
        _requests.remove(request)


@contextmanager
def stopping_at_once(words: str) -> Iterator[None]:
    """Signals in STOPS raise `Interrupted` within the block, for work without checkpoints.

    Args:
        words: the end of the message.
    """

    raised = list[Interrupted]()

    def stop(number: int, _frame: object = None) -> None:
        for outer in _requests[-1:]:
            outer.note(signal.Signals(number).name)
        raised.append(Interrupted(f"stopped by {signal.Signals(number).name}; {words}"))
        raise raised[-1]

    with _handled_by(stop):
        yield
    if raised:  # in a finalizer, whose exceptions Python only prints
        raise raised[-1]


@contextmanager
def _handled_by(handler: Callable[[int, object], None]) -> Iterator[None]:
    """Install a handler of the signals that are not ignored, if this is the main thread."""
    if not _in_main_thread():
        yield
        return
    handled = [number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handler) for number in handled}
    try:
        yield
    finally:
        for number, before in previous.items():
            # None stands for a handler that was not installed from Python and cannot be restored.
            signal.signal(number, signal.SIG_DFL if before is None else before)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
