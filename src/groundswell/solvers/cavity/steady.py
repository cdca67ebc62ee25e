"""Steady flows computed in memory, without files: for verification and benchmarks."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.errors import RunFailed, counted
from groundswell.simulation.signals import StopRequest
from groundswell.simulation.time_loop import TimeLoop
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solver import Cavity


def bring_to_steady_state(case: CavityCase, backend: Backend) -> tuple[Flow, Cavity, TimeLoop]:
    """Compute the steady flow of a case; return also the solver and its time loop.

    Raises:
        RunFailed: a value is not finite, or the flow has not converged after all steps.
    """
    solver = Cavity(prepare(case), backend)
    loop = TimeLoop(solver, backend, {}, None, "")
    loop.run(solver.setup.steps, lambda step, updates: None, StopRequest())
    if not loop.converged:
        raise RunFailed(
            f"the flow is not steady after {counted(loop.step, 'step')}; raise time.steps"
        )
    return solver.outputs.whole_flow(), solver, loop
