"""Direct solvers: one call finds the solution."""

from __future__ import annotations

import time

from groundswell.simulation.progress import Report
from groundswell.simulation.signals import stopping_at_once
from groundswell.simulation.solver import DirectSolver

NOTHING_KEPT = "a direct solve keeps no checkpoint, so run the case again"


def solve(solver: DirectSolver, report: Report) -> tuple[float, int]:
    """Solve, and report progress before and after.

    Returns:
        Seconds, and updates made.

    Raises:
        Interrupted: by a signal; on several ranks, on the one that has it, which ends all.
    """
    begun = time.monotonic()
    report(0, 0)
    with stopping_at_once(NOTHING_KEPT):
        solver.solve()
    updates = solver.updates_per_step
    report(1, updates)
    return time.monotonic() - begun, updates
