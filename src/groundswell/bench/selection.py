"""Which part of a benchmark is measured: some of its tables, degrees and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from groundswell.bench.session import Benchmark
from groundswell.errors import InputError, listed, quoted


@dataclass(frozen=True)
class Selection:
    """A part of a benchmark; by default its main sizes.

    Args:
        full: measure more sizes, which takes several times as long.
        only: measure only tables with one of these texts in their names; without any, all.
        degrees: polynomial degrees; without any, those of the benchmark.
        most_dofs: limit on degrees of freedom of a rank; None for that of the benchmark.
        quick: measure small sizes, where the benchmark has some.
    """

    full: bool = False
    only: Sequence[str] = ()
    degrees: Sequence[int] = ()
    most_dofs: float | None = None
    quick: bool = False

    def part_of(self, subject: str, benchmark: Benchmark) -> Benchmark:
        """The benchmark with the selected tables.

        Raises:
            InputError: no table has such a name.
        """
        names = [table.name for table in benchmark.tables]
        for text in self.only:
            if not any(text in name for name in names):
                raise InputError(
                    f"no table of {quoted(subject)} has {quoted(text)} in its name; choose "
                    f"{listed(names)}"
                )
        return replace(benchmark, tables=[t for t in benchmark.tables if self.has(t.name)])

    def has(self, table: str) -> bool:
        """Whether a table is selected."""
        return not self.only or any(text in table for text in self.only)

    def sizes_of(self, subject: str, benchmark: Benchmark, backend: str) -> Any:
        """The problem sizes for a backend.

        Raises:
            InputError: degrees or sizes are out of range, or the benchmark has none to select.
        """
        every = self._sizes(benchmark)
        if not self.degrees and self.most_dofs is None:
            return every[backend]
        if benchmark.restrict is None:
            raise InputError(
                f"the benchmark of {quoted(subject)} has no degrees or sizes to select; leave out "
                "--degrees and --most-dofs"
            )
        return benchmark.restrict(every[backend], self.degrees, self.most_dofs)

    def name_of_sizes(self, benchmark: Benchmark) -> str:
        """Which sizes of the benchmark are measured: "quick", "main" or "full"."""
        if self.quick and benchmark.quick:
            return "quick"
        return "full" if self.full and benchmark.full else "main"

    def _sizes(self, benchmark: Benchmark) -> Mapping[str, object]:
        every = {"quick": benchmark.quick, "full": benchmark.full, "main": benchmark.sizes}
        return every[self.name_of_sizes(benchmark)] or benchmark.sizes
