"""An executor that makes runs in this process, one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from groundswell.ensembles.plan import Plan
from groundswell.ensembles.rows import Row
from groundswell.ensembles.worker import Assignment, Outcome, Worker


class HereExecutor:
    """Makes a run when it is polled.

    Attributes:
        submitted: names of all runs that it was given.
    """

    def __init__(self, plan: Plan, runs: int = 0) -> None:
        self._worker, self._rows = Worker(Assignment.of(plan)), deque[Row]()
        self.submitted: list[str] = []
        self._stopped = False

    @property
    def free(self) -> int:
        return 2 - len(self._rows)

    def submit(self, row: Row) -> None:
        self.submitted.append(row.name)
        self._rows.append(row)

    def poll(self, seconds: float) -> Sequence[Outcome]:
        if not self._rows:
            return []
        row = self._rows.popleft()
        return [Outcome(row.name, "stopped") if self._stopped else self._worker.run(row)]

    def cancel(self) -> None:
        self._stopped = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return
