"""What a solver reports of faults and of rock that yields at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Protocol

from groundswell.case.quantities import Quantity


class Report(Protocol):
    """What a run has found, on rank 0 after the files have been written, and what is doubtful."""

    @property
    def findings(self) -> Sequence[Quantity]:
        """Results that are a few numbers."""

    @property
    def warnings(self) -> Sequence[str]:
        """What is doubtful about the results."""


class Reports:
    """A solver whose `outputs.reports` are a list of `Report`."""

    outputs: Any

    @property
    def findings(self) -> Sequence[Quantity]:
        """What faults have done and how much rock has yielded; see `Report`."""
        return [*chain(*(each.findings for each in self._reports))]

    @property
    def warnings(self) -> Sequence[str]:
        """What is doubtful about it."""
        return [*chain(*(each.warnings for each in self._reports))]

    @property
    def _reports(self) -> list[Report]:
        found: list[Report] = self.outputs.reports
        return found
