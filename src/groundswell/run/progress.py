"""How a run shows that it lives: a bar in a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

LINE_EVERY = 10.0  # s between lines in a log


class Report(Protocol):
    """Takes the number of steps done."""

    def __call__(self, step: int) -> None: ...


@contextmanager
def progress(
    total: int, dt: float, updates_per_step: int, unit: str, *, quiet: bool, start: int = 0
) -> Iterator[Report]:
    """A report on steps done, with throughput and time left, on standard error."""
    if quiet:
        yield lambda step: None
    elif sys.stderr.isatty():
        with _bar(total, dt, updates_per_step, unit, start) as report:
            yield report
    else:
        yield _Lines(total, dt, updates_per_step, unit, start)


class _Lines:
    """A line of text every few seconds."""

    def __init__(self, total: int, dt: float, updates: int, unit: str, start: int) -> None:
        self._total, self._dt, self._updates, self._unit = total, dt, updates, unit
        self._start, self._begun = start, time.monotonic()
        self._last = self._begun

    def __call__(self, step: int) -> None:
        now = time.monotonic()
        if now - self._last < LINE_EVERY and step < self._total:
            return
        self._last = now
        rate = (step - self._start) / max(now - self._begun, 1e-9)
        left = (self._total - step) / rate if rate else float("inf")
        with suppress(OSError):  # nobody reads the log any more: no reason to stop the run
            print(
                f"step {step} of {self._total}, t = {step * self._dt:.3f} s, "
                f"{rate * self._updates / 1e6:.4g} {self._unit}, {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )


@contextmanager
def _bar(total: int, dt: float, updates: int, unit: str, start: int) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.fields[clock]}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("[cyan]{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task("", total=total, completed=start, clock="t = 0 s", rate="")
        begun = time.monotonic()

        def report(step: int) -> None:
            rate = (step - start) * updates / max(time.monotonic() - begun, 1e-9) / 1e6
            clock = f"t = {step * dt:.3f} of {total * dt:.3f} s"
            shown.update(task, completed=step, clock=clock, rate=f"{rate:.4g} {unit}")

        yield report
