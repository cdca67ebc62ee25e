"""Users' functions that a run calls while it advances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groundswell.arguments import is_sequence
from groundswell.backends.array_interop import ArrayInterop
from groundswell.errors import InputError
from groundswell.simulation.live_run import LiveRun
from groundswell.simulation.time_loop import Call


@dataclass(frozen=True)
class Callback:
    """A function that a run calls after every so many steps; made by `every`."""

    steps: int
    function: Callable[[LiveRun], object]


def every(steps: int, function: Callable[[LiveRun], object]) -> Callback:
    """Have `run` or `Simulation.advance` call a function after every `steps` steps.

    >>> import groundswell as gs
    >>> def watch(live):
    ...     print(live.step, abs(live.fields["w"]).max() > 0)
    >>> moving = {"time.duration": 0.4, "time.step": 0.1}
    >>> calls = [gs.every(2, watch)]
    >>> result = gs.run("case.toml", folder="moving", settings=moving, callbacks=calls)
    2 True
    4 True

    The device waits meanwhile. The function may change fields in place, and may end the run by
    `live.stop()`: the run then writes a checkpoint and raises `Interrupted`, as after a signal. On
    several ranks, every rank calls it. A solver that makes several steps at once calls it at the
    end of these.

    Args:
        steps: number of steps, 1 or more, counted from the beginning of the case.
        function: takes a `LiveRun` with `step`, `time`, `fields`, `gather` and `stop`.

    Raises:
        InputError: `steps` is not a whole number above 0, or `function` cannot be called.
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise InputError(f"every({steps!r}, ...): give a whole number of steps, 1 or more")
    if not callable(function):
        raise InputError(f"every({steps}, {function!r}): give a function of one argument")
    return Callback(steps, function)


def require_callbacks(callbacks: Sequence[Callback]) -> None:
    """Raise `InputError` if this is no list, or an entry was not made by `every`."""
    if not is_sequence(callbacks):
        raise InputError(f"callbacks = {callbacks!r}: give a list, [every(steps, function)]")
    for callback in callbacks:
        if not isinstance(callback, Callback):
            name = getattr(callback, "__name__", repr(callback))
            raise InputError(f"callbacks has {name}; give every(steps, {name})")


def calls_of(callbacks: Sequence[Callback], live: LiveRun, interop: ArrayInterop) -> list[Call]:
    """The callbacks as calls of a time loop.

    Raises:
        InputError: one was not made by `every`.
    """
    require_callbacks(callbacks)
    return [_call(callback, live, interop) for callback in callbacks]


def _call(callback: Callback, live: LiveRun, interop: ArrayInterop) -> Call:
    def call() -> None:
        callback.function(live)
        interop.synchronize_device()  # wait for the user's own work on the fields

    return Call(callback.steps, call)
