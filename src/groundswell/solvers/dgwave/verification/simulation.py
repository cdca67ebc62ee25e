"""Running a case in memory: seismograms, no files."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.setup import Setup
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.solvers.dgwave.verification.boxes import Floats

STEPS_AT_ONCE = 500  # fewer than a ring of samples holds


def make_case(**sections: Any) -> DgWaveCase:
    """A case of these sections, by default in double precision."""
    return DgWaveCase(**{"run": {"precision": "double"}} | sections)


def motion(case: DgWaveCase, backend: Backend) -> tuple[Floats, Floats]:
    """Run a case: times (n,), s, and velocity (receivers, 3, n) along x, y and down, m/s."""
    found = DgWave(Setup.from_case(case), backend)
    found.prepare()
    steps = found.setup.steps
    graph = backend.capture(found.step)
    blocks = []
    for begin in range(0, steps, STEPS_AT_ONCE):
        end = min(begin + STEPS_AT_ONCE, steps)
        graph.replay(end - begin)
        blocks.append(found.outputs.velocities(begin, end))
    velocity = np.concatenate(blocks).astype(float).transpose(2, 1, 0)
    return found.setup.dt * np.arange(steps, dtype=float), velocity
