"""Direct solvers: one call finds the solution."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from groundswell.simulation.progress import Report
from groundswell.simulation.signals import StopRequest, stopping_at_once
from groundswell.simulation.solver import DirectSolver

NOTHING_KEPT = "a direct solve keeps no checkpoint, so run the case again"


@dataclass
class Solve:
    """The one step of a direct solver.

    Attributes:
        step: 1 once it is solved.
        seconds: wall time that it took.
        updates: that it made.
    """

    solver: DirectSolver
    first: int = field(default=0, init=False)
    step: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)
    updates: int = field(default=0, init=False)

    def run(self, total: int, report: Report, stop: StopRequest) -> None:
        """Solve, and report progress before and after.

        Raises:
            Interrupted: by a signal; on several ranks, on the one that has it, which ends all.
        """
        begun = time.monotonic()
        report(0, 0)
        with stopping_at_once(NOTHING_KEPT):
            self.solver.solve()
        self.step, self.updates = total, self.solver.updates_per_step
        report(self.step, self.updates)
        self.seconds = time.monotonic() - begun
