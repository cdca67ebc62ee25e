"""Drivers advance a solver: the time loop, or the single solve of a direct solver."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from groundswell.outputs.ring_buffer import Output
from groundswell.simulation.preparation import OpenSolver
from groundswell.simulation.solve import Solve
from groundswell.simulation.solver import DirectSolver, TimeStepper
from groundswell.simulation.time_loop import TimeLoop


def driver_of(
    opened: OpenSolver,
    outputs: Mapping[str, Output],
    folder: Path | None,
    digest: str,
    first: int = 0,
    *,
    times_launches: bool = False,
) -> TimeLoop | Solve:
    """Create the driver of a solver; see `TimeLoop` for the arguments."""
    solver = opened.solver
    if isinstance(solver, DirectSolver):
        return Solve(solver, times_launches)
    assert isinstance(solver, TimeStepper)
    where = opened.backend, outputs, folder, digest, first, opened.comm
    return TimeLoop(solver, *where, times_launches)
