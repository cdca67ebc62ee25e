"""Workers that Parsl (Babuji et al. 2019) starts through batch systems.

This module needs the extra `parsl`. Parsl pins workers to GPUs (`available_accelerators`) and
requests allocations; the store is the only record of complete runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from groundswell.ensembles.plan import Plan
from groundswell.ensembles.rows import Row
from groundswell.ensembles.store import Store
from groundswell.ensembles.worker import Assignment, Outcome, Worker
from groundswell.errors import InputError, install, reason_of

SUBMITTED = 1000  # maximum number of runs submitted to Parsl at a time

_kept = threading.local()  # the worker of each thread of this process, with its assignment


def on_parsl(config: Any) -> Callable[[Plan, int], ParslWorkers]:
    """The argument `executor` of `ensembles.run`: workers of a Parsl configuration.

    Args:
        config: a `parsl.Config`. Each of its workers executes one run at a time, on one rank.
    """
    return lambda plan, runs: ParslWorkers(Assignment.of(plan), config, min(runs, SUBMITTED))


class ParslWorkers:
    """An `Executor` whose runs are tasks of Parsl.

    Args:
        config: a `parsl.Config`.
        most: maximum number of runs submitted at a time.

    Raises:
        InputError: Parsl is not installed.
    """

    def __init__(self, assignment: Assignment, config: Any, most: int) -> None:
        try:
            import parsl
        except ImportError as error:
            raise InputError(f"Parsl is not installed; {install('parsl')}") from error
        self._assignment, self._config, self._most = assignment, config, most
        self._parsl, self._names = parsl, dict[Future[Outcome], str]()
        self._stop = Store(assignment.store).work / "stop"

    @property
    def free(self) -> int:
        """Number of runs that can be submitted now."""
        return self._most - len(self._names)

    def submit(self, row: Row) -> None:
        """Submit a task."""
        future = self._app(self._assignment, row, str(self._stop))
        self._names[future] = row.name

    def poll(self, seconds: float) -> Sequence[Outcome]:
        """Outcomes of the tasks that have ended; see `Executor`."""
        done, _ = wait(self._names, seconds, FIRST_COMPLETED)
        return [_outcome(self._names.pop(future), future) for future in done]

    def cancel(self) -> None:
        """Make tasks that have not started end at once; tasks that have started continue."""
        self._stop.parent.mkdir(parents=True, exist_ok=True)
        self._stop.touch()

    def __enter__(self) -> Self:
        self._stop.unlink(missing_ok=True)
        self._kernel = self._parsl.load(self._config)
        self._app = self._parsl.python_app(make_run, data_flow_kernel=self._kernel)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.cancel()
        self._kernel.cleanup()
        self._parsl.clear()
        self._stop.unlink(missing_ok=True)


def make_run(assignment: Assignment, row: Row, stop: str) -> Outcome:
    """Execute a run with the worker of this thread, as a task of Parsl."""
    if Path(stop).exists():
        return Outcome(row.name, "stopped", "stopped before it began")
    if getattr(_kept, "assignment", None) != assignment:
        _kept.worker, _kept.assignment = Worker(assignment), assignment
    outcome: Outcome = _kept.worker.run(row)
    if not outcome.is_healthy:
        del _kept.worker, _kept.assignment
    return outcome


def _outcome(name: str, future: Future[Outcome]) -> Outcome:
    """The outcome of a task that has ended; an exception means that its worker was lost."""
    with suppress(Exception):
        return future.result()
    error = future.exception()
    return Outcome(name, "crashed", reason_of(error) if error else "", is_healthy=False)
