"""A flow brought to rest in memory, without files: for verification and benchmarks."""

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
    """A flow that stands still, and how it got there.

    Args:
        setup: of its case.
        flow: the fields.
        residual: the largest that is left.
        steps: that were made.
        updates: points that they updated.
        seconds: that they took.
    """

    setup: Setup
    flow: Flow
    residual: float
    steps: int
    updates: int
    seconds: float


def bring_to_steady_state(case: CavityCase, backend: Backend) -> SteadyFlow:
    """The flow of a case when it stands still.

    Raises:
        RunFailed: a value is not finite, or the flow still moves after all steps.
    """
    setup = Setup.from_case(case)
    solver = Cavity(setup, backend)
    begun, steps, updates = time.monotonic(), 0, 0
    for grid_steps, grid_updates in solver.iterate_to_steady_state():
        steps, updates = steps + grid_steps, updates + grid_updates
    seconds = time.monotonic() - begun
    flow = solver.outputs.flow()
    assert flow is not None
    residual = float(solver.history.latest.max())
    return SteadyFlow(setup, flow, residual, steps, updates, seconds)
