"""Submits the runs that a store lacks, and collects their outcomes."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from groundswell.ensembles.executors import Executor
from groundswell.ensembles.rows import Row
from groundswell.ensembles.worker import Outcome
from groundswell.errors import DiskFull, InputError, Interrupted
from groundswell.simulation.signals import StopRequest

POLL_SECONDS = 0.5  # between checks for signals
ELSEWHERE_SECONDS = 1.0  # before another attempt to claim a run of another process
ATTEMPTS = 2  # of a run whose worker dies; the cause may lie outside the run

Report = Callable[[Outcome], None]


@dataclass
class Schedule:
    """Schedules the runs of one call until each has an outcome.

    Args:
        executor: executes the runs.
        report: called with each final outcome.
        give_up: records the failure of a run whose workers have died; called with its name and the
            message.
    """

    executor: Executor
    report: Report
    give_up: Callable[[str, str], None]
    _waiting: deque[Row] = field(default_factory=deque, init=False)
    _elsewhere: deque[Row] = field(default_factory=deque, init=False)
    _running: dict[str, Row] = field(default_factory=dict, init=False)
    _crashes: Counter[str] = field(default_factory=Counter, init=False)

    def run(self, rows: Sequence[Row], stop: StopRequest) -> None:
        """Execute the runs.

        Raises:
            Interrupted: a signal requested a stop; unfinished runs have been stopped, too.
            DiskFull: the disk is full.
            InputError: the device or the store cannot be used.
        """
        self._waiting.extend(rows)
        while self._waiting or self._running or self._elsewhere:
            if stop:
                self._drain()
                raise Interrupted(f"stopped by {stop}; continue with --resume")
            self._submit()
            for outcome in self._poll():
                self._take(outcome)

    def _submit(self) -> None:
        while self._waiting and self.executor.free:
            row = self._waiting.popleft()
            self._running[row.name] = row
            self.executor.submit(row)

    def _poll(self) -> Sequence[Outcome]:
        if self._running:
            return self.executor.poll(POLL_SECONDS)
        time.sleep(ELSEWHERE_SECONDS)
        self._waiting, self._elsewhere = self._elsewhere, deque()
        return []

    def _take(self, outcome: Outcome) -> None:
        row = self._running.pop(outcome.name)
        if outcome.state == "elsewhere":
            self._elsewhere.append(row)  # try it again at the end, as the other process may die
        elif outcome.state == "crashed":
            self._crashed(row, outcome)
        elif outcome.state in ("disk full", "unusable"):
            self._drain()
            raise _error_of(outcome)
        elif outcome.state == "stopped":  # by a signal to its worker alone
            self._waiting.append(row)
        else:
            self.report(outcome)

    def _crashed(self, row: Row, outcome: Outcome) -> None:
        self._crashes[row.name] += 1
        if self._crashes[row.name] < ATTEMPTS:
            self._waiting.append(row)
            return
        self.give_up(row.name, outcome.message)
        self.report(outcome)

    def _drain(self) -> None:
        """Ask unfinished runs to stop, and wait; report those that complete or fail meanwhile."""
        self.executor.cancel()
        while self._running:
            for outcome in self.executor.poll(POLL_SECONDS):
                self._running.pop(outcome.name)
                if outcome.state in ("complete", "failed"):
                    self.report(outcome)


def _error_of(outcome: Outcome) -> DiskFull | InputError:
    if outcome.state == "unusable":
        return InputError(outcome.message)
    return DiskFull(f"{outcome.name}: {outcome.message}", "then continue with --resume")
