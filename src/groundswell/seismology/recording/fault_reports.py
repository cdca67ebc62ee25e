"""What a solver reports of its faults at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groundswell.case.quantities import Quantity


class FaultReports:
    """A solver whose outputs have findings and warnings, after the files have been written."""

    outputs: Any

    @property
    def findings(self) -> Sequence[Quantity]:
        """What faults have done, on rank 0."""
        found: Sequence[Quantity] = self.outputs.findings
        return found

    @property
    def warnings(self) -> Sequence[str]:
        """What is doubtful about it, on rank 0."""
        found: Sequence[str] = self.outputs.warnings
        return found
