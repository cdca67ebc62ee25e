"""Executors carry out the runs of an ensemble, by local processes or those of a batch system."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from groundswell.ensembles.rows import Row
    from groundswell.ensembles.worker import Outcome


class Executor(Protocol):
    """Executes runs. As a context manager, it ends its workers after the block."""

    @property
    def free(self) -> int:
        """Number of runs that can be submitted now without waiting for others."""
        ...

    def submit(self, row: Row) -> None:
        """Start a run, or have it start as soon as a worker is free."""
        ...

    def poll(self, seconds: float) -> Sequence[Outcome]:
        """Outcomes of runs that have ended since the last call; waits if there are none yet.

        Every submitted run has exactly one outcome.

        Args:
            seconds: maximum time to wait.
        """
        ...

    def cancel(self) -> None:
        """Ask all runs to stop, with a checkpoint if possible; `poll` returns their outcomes."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
