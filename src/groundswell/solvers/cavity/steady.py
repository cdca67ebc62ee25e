"""Steady flows computed in memory, without files: for verification and benchmarks."""

from __future__ import annotations

import time
from dataclasses import dataclass

from groundswell.backends import Backend
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.setup import Setup
from groundswell.solvers.cavity.solver import Cavity


@dataclass(frozen=True)
class SteadyFlow:
    """A steady flow and the cost of computing it.

    Args:
        setup: the prepared case.
        flow: the fields.
        residual: the largest residual at the end.
        steps: number of steps or multigrid cycles.
        updates: number of point updates.
        seconds: wall-clock time, s.
    """

    setup: Setup
    flow: Flow
    residual: float
    steps: int
    updates: int
    seconds: float


def bring_to_steady_state(case: CavityCase, backend: Backend) -> SteadyFlow:
    """Compute the steady flow of a case.

    Raises:
        RunFailed: a value is not finite, or the flow has not converged after all steps.
    """
    setup = Setup.from_case(case)
    solver = Cavity(setup, backend)
    start, steps, updates = time.monotonic(), 0, 0
    for new_steps, new_updates in solver.iterate_to_steady_state():
        steps, updates = steps + new_steps, updates + new_updates
    seconds = time.monotonic() - start
    flow = solver.outputs.flow()
    assert flow is not None
    residual = float(solver.history.latest.max())
    return SteadyFlow(setup, flow, residual, steps, updates, seconds)
