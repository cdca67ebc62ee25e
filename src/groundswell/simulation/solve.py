"""The driver of direct solvers, which compute the solution in one call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from groundswell.backends import LaunchTime
from groundswell.simulation.progress import StepReport
from groundswell.simulation.signals import StopRequest, stopping_at_once
from groundswell.simulation.solver import DirectSolver
from groundswell.simulation.timed_steps import TimedSolve

NOTHING_KEPT = "a direct solve keeps no checkpoint, so run the case again"


@dataclass
class Solve:
    """The single step of a direct solver.

    Args:
        times_launches: whether to time the launches of an iteration one by one.

    Attributes:
        first: the step at which it started, 0.
        step: 1 after the solve.
        seconds: wall time of the solve.
        updates: unknowns updated.
    """

    solver: DirectSolver
    times_launches: bool = False
    first: int = field(default=0, init=False)
    step: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)
    updates: int = field(default=0, init=False)

    def run(self, total: int, report: StepReport, stop: StopRequest) -> None:
        """Solve, and report progress before and after.

        Raises:
            Interrupted: a signal stopped it. Only the rank that received it raises; the job ends.
        """
        begun = time.monotonic()
        report(0, 0)
        if self.times_launches and isinstance(self.solver, TimedSolve):
            self.solver.time_launches()
        with stopping_at_once(NOTHING_KEPT):
            self.solver.solve()
        self.step, self.updates = total, self.solver.updates_per_step
        report(self.step, self.updates)
        self.seconds = time.monotonic() - begun

    def launch_times(self) -> tuple[str, Sequence[LaunchTime]]:
        """What was timed, such as "iteration 2", and the times; none if nothing was."""
        return self.solver.launch_times() if isinstance(self.solver, TimedSolve) else ("", ())
