"""Findings and warnings about ground motion, faults and rock that yields, at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Protocol

from groundswell.case.quantities import Quantity


class Report(Protocol):
    """Findings of a run, on rank 0 after it has written the files, and warnings about them."""

    @property
    def findings(self) -> Sequence[Quantity]:
        """Results that are a few numbers."""

    @property
    def warnings(self) -> Sequence[str]:
        """Reasons to doubt the results."""


class Reports:
    """A solver whose `outputs.reports` are a list of `Report`."""

    outputs: Any

    @property
    def findings(self) -> Sequence[Quantity]:
        """Peak ground motion, slip of faults and volume of rock that has yielded; see `Report`."""
        return [*chain(*(each.findings for each in self._reports))]

    @property
    def warnings(self) -> Sequence[str]:
        """Reasons to doubt them."""
        return [*chain(*(each.warnings for each in self._reports))]

    @property
    def _reports(self) -> list[Report]:
        found: list[Report] = self.outputs.reports
        return found
