"""Time limits of tables, and failures that do not end a benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any

from groundswell.bench.rows import Row
from groundswell.errors import GroundswellError
from groundswell.exchange.communicator import Communicator


@dataclass
class Limits:
    """Limits within which tables are measured; one that fails does not end the benchmark.

    The measurements get `failures`, messages by name of the table. Rows that there is no time for
    are skipped, with a note.

    Args:
        seconds: limit of a table.
        total: limit of all tables that are measured with these limits.
    """

    seconds: float = inf
    total: float = inf
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.total

    @property
    def left(self) -> float:
        """Time for the next table, s."""
        return max(0.0, min(self.seconds, self._end - time.monotonic()))

    def rows(
        self,
        table: str,
        measure: Callable[[], Iterable[Row]],
        comm: Communicator,
        measured: dict[str, Any],
    ) -> Iterator[Row]:
        """The rows of a table; all ranks call it, and get as many rows.

        Args:
            table: its name.
            measure: begins to measure its rows.
            measured: metadata, to which failures and notes are added.
        """
        end, rows = time.monotonic() + self.left, _begun(measure)
        while True:
            row, failure = _next_of(rows)
            is_late = row is not None and time.monotonic() > end
            found = comm.allgather((failure, is_late))
            if failures := [text for text, _ in found if text]:
                measured.setdefault("failures", {})[table] = failures[0]
                return
            if row is None:
                return
            yield row
            if any(late for _, late in found):
                measured["notes"].append(f"{table}: stopped at its time limit")
                return


def _begun(measure: Callable[[], Iterable[Row]]) -> Iterator[Row]:
    """The rows; what fails before the first row fails with it."""
    yield from measure()


def _next_of(rows: Iterator[Row]) -> tuple[Row | None, str]:
    """The next row, and why there is none; an empty text at the end."""
    try:
        return next(rows, None), ""
    except Exception as error:  # whatever fails must not end the other measurements
        return None, describe(error)


def describe(error: Exception) -> str:
    """The message of an error; with its type if it is not one of Groundswell's own."""
    text = " ".join(str(error).split())
    return text if isinstance(error, GroundswellError) else f"{type(error).__name__}: {text}"
