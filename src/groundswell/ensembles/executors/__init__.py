"""Executors make the runs of an ensemble: local processes, or those of a batch system."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from groundswell.ensembles.rows import Row
from groundswell.ensembles.worker import Outcome


class Executor(Protocol):
    """Makes runs. As a context manager, it ends its workers after the block."""

    @property
    def free(self) -> int:
        """Number of runs that can be submitted now without waiting for others."""
        ...

    def submit(self, row: Row) -> None:
        """Start a run, or have it start as soon as a worker is free."""
        ...

    def poll(self, seconds: float) -> Sequence[Outcome]:
        """What came of runs that have ended since the last call; waits if there are none yet.

        Every submitted run has exactly one outcome.

        Args:
            seconds: the longest wait.
        """
        ...

    def cancel(self) -> None:
        """Ask all runs to stop: those that can, write a checkpoint. Their outcomes follow."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
