"""A benchmark, and a run of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundswell.backends import Backend
from groundswell.bench.documents import Document
from groundswell.bench.limits import Limits
from groundswell.bench.rig import Rig
from groundswell.bench.rivals import CURE
from groundswell.bench.tables import Measured, Table
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator

Progress = Callable[[str], None]


@dataclass
class Session:
    """A run of a benchmark.

    Args:
        backend: the backend that is measured.
        comm: the ranks that measure together.
        sizes: problem sizes, as the benchmark defines them.
        progress: called with the name of each table before it is measured.
        limits: time limits, within which failures do not end the benchmark; None for neither.

    Attributes:
        measured: metadata, and the rows of each table so far.
        rig: measures the time of exchanges between ranks; set by `prepare` where needed.
        kept: what several tables use, by a key of theirs.
    """

    backend: Backend
    comm: Communicator
    sizes: Any
    progress: Progress = lambda what: None
    limits: Limits | None = None
    measured: dict[str, Any] = field(default_factory=dict)
    rig: Rig = field(init=False, repr=False)
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    def bandwidth(self) -> float:
        """The memory bandwidth, which is measured beside each row on one rank, B/s.

        It is the largest so far, because other programs can only reduce it.
        """
        now = self.backend.measure_bandwidth() if self.comm.size == 1 else 0.0
        self.measured["bandwidth"] = max(self.measured["bandwidth"], now)
        return float(self.measured["bandwidth"])


@dataclass(frozen=True)
class Benchmark:
    """A list of tables that are measured together.

    Args:
        sizes: problem sizes by name of the backend.
        prepare: measures what all tables share and returns metadata; all ranks call it.
        tables: tables in the order of measurement.
        draw: plots the results to a file; None for no plot.
        full: larger problem sizes by name of the backend; None if there are none.
        missing: what only a clone of the repository measures, see `bench.rivals`. Rivals that
            are found clear it.
        restrict: returns sizes for these degrees, and this limit on degrees of freedom or None,
            from larger ones; raises InputError. None if there is nothing to select.
        quick: small problem sizes by name of the backend, for a few seconds a table on a laptop;
            None if there are none.
        document: the document whose tables and figures it reproduces, if there is one.
    """

    sizes: Mapping[str, object]
    prepare: Callable[[Session], Mapping[str, object]]
    tables: Sequence[Table]
    draw: Callable[[Measured, Path], object] | None = None
    full: Mapping[str, object] | None = None
    missing: str = ""
    restrict: Callable[[Any, Sequence[int], float | None], object] | None = None
    quick: Mapping[str, object] | None = None
    document: Document | None = None

    @property
    def gaps(self) -> list[str]:
        """Notes on what is not measured."""
        return [f"{self.missing}: {CURE}"] if self.missing else []

    def tables_of(self, subject: str, ranks: int) -> list[Table]:
        """The tables that are measured on this number of ranks.

        Raises:
            InputError: there are none.
        """
        found = [table for table in self.tables if table.fits(ranks)]
        if not found and ranks == 1:
            raise InputError(
                f"{subject!r} is measured between ranks and needs at least 2; start it with "
                f"`mpiexec -n 2 groundswell bench {subject}`"
            )
        if not found:
            raise InputError(
                f"{subject!r} is measured on one process, not on {ranks}; start it without mpiexec"
                + "".join(f"; {gap}" for gap in self.gaps)
            )
        return found
