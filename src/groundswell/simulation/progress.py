"""Progress of a run on standard error: a bar in a terminal, lines of text in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Timer

from groundswell.backends.compilation import CompilationReport, compilations
from groundswell.case.quantities import duration
from groundswell.console import is_terminal

LINE_EVERY = 10.0  # s between lines in a log
SOON = 1.0  # s after which a log says what a run does
FIRST_RUN = "(first run with these settings; later runs find them in the cache)"

StatusText = Callable[[int], str]
StepReport = Callable[[int, int], None]  # takes steps done, and points updated by this run


@contextmanager
def progress(
    total: int, status: StatusText, unit: str, *, quiet: bool, start: int = 0, ends: bool = True
) -> Iterator[StepReport]:
    """Show steps done, throughput and time left on standard error.

    Args:
        status: the solver's status at a step.
        ends: whether the number of steps is known in advance.
    """
    if quiet:
        yield lambda step, updates: None
    elif is_terminal(sys.stderr):
        with _bar(total, status, unit, start, ends) as report:
            yield report
    else:
        lines = _Lines(total, status, unit, start, ends)
        yield lines
        lines.end()


@contextmanager
def phase_progress(text: str, *, quiet: bool) -> Iterator[None]:
    """Show on standard error what a run does within the block, and the kernels that it compiles.

    A terminal shows `text` at once, a log if the block takes long.
    """
    if quiet:
        yield
    elif is_terminal(sys.stderr):
        with _spinner(text) as report, compilations.reporting_to(report):
            yield
    else:
        with _said_after(SOON, text), compilations.reporting_to(_announce_once()):
            yield


@contextmanager
def _spinner(text: str) -> Iterator[CompilationReport]:
    from rich.console import Console
    from rich.status import Status

    with Status(text, console=Console(stderr=True)) as status:
        yield lambda done, begun: status.update(
            f"Compiling kernels: {done} of {begun} done {FIRST_RUN}"
        )


@contextmanager
def _said_after(seconds: float, text: str) -> Iterator[None]:
    timer = Timer(seconds, _say, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _announce_once() -> CompilationReport:
    def report(done: int, begun: int) -> None:
        if done == 0 and begun == 1:
            _say(f"Compiling kernels {FIRST_RUN}")

    return report


def _say(line: str) -> None:
    with suppress(OSError):  # a closed log must not stop the run
        print(line, file=sys.stderr, flush=True)


class _Lines:
    """Prints a line of text every few seconds."""

    def __init__(self, total: int, status: StatusText, unit: str, start: int, ends: bool) -> None:
        self._total, self._status, self._unit, self._start = total, status, unit, start
        self._ends, self._begun = ends, time.monotonic()
        self._last = self._begun
        self._now = self._said = (start, 0)

    def __call__(self, step: int, updates: int) -> None:
        self._now, now = (step, updates), time.monotonic()
        if now - self._last >= LINE_EVERY:
            self._say(now)

    def end(self) -> None:
        """Print the last line."""
        if self._now != self._said:
            self._say(time.monotonic())

    def _say(self, now: float) -> None:
        self._last, self._said = now, self._now
        step, updates = self._now
        passed = max(now - self._begun, 1e-9)
        line = f"{self._count(step)}{self._status(step)}, {updates / passed / 1e6:.4g} {self._unit}"
        _say(f"{line}, {_clock(passed)} elapsed{self._left(step, passed)}")

    def _count(self, step: int) -> str:
        if self._ends:
            return f"step {step} of {self._total}, "
        return f"step {step}, " if self._total > 1 else ""  # a direct solve has no steps

    def _left(self, step: int, passed: float) -> str:
        if not self._ends or step in (self._start, self._total):
            return ""
        return f", {_clock((self._total - step) * passed / (step - self._start))} left"


def _clock(seconds: float) -> str:
    """A time as text, such as "16.3 ms", "9.41 s" or "0:01:18"."""
    return duration(seconds) if seconds < 60 else str(timedelta(seconds=round(seconds)))


@contextmanager
def _bar(total: int, status: StatusText, unit: str, start: int, ends: bool) -> Iterator[StepReport]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    known = (TextColumn("{task.percentage:>3.0f} %"),) if ends else ()
    left = (TimeRemainingColumn(), TextColumn("left")) if ends else ()
    columns = (
        TextColumn("{task.fields[status]}"),
        BarColumn(),
        *known,
        TextColumn("[cyan]{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("elapsed"),
        *left,
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        most = total if ends else None
        task = shown.add_task("", total=most, completed=start, status=status(start), rate="")
        begun = time.monotonic()

        def report(step: int, updates: int) -> None:
            rate = updates / max(time.monotonic() - begun, 1e-9) / 1e6
            shown.update(task, completed=step, status=status(step), rate=f"{rate:.4g} {unit}")

        yield report
