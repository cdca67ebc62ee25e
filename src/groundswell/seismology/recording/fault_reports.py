"""What a solver reports of its faults at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groundswell.case.quantities import Quantity
from groundswell.seismology.recording.fault_results import FaultResults


class FaultReports:
    """A solver whose `outputs.fault_results` tell what faults have done, or are None."""

    outputs: Any

    @property
    def findings(self) -> Sequence[Quantity]:
        """What faults have done, on rank 0 after the files have been written."""
        results = self._results
        return results.findings if results else ()

    @property
    def warnings(self) -> Sequence[str]:
        """What is doubtful about it."""
        results = self._results
        return results.warnings if results else ()

    @property
    def _results(self) -> FaultResults | None:
        found: FaultResults | None = self.outputs.fault_results
        return found
