"""Runs a case in memory and returns seismograms, without files."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.setup import prepare
from groundswell.solvers.dgwave.solver import DgWave

STEPS_AT_ONCE = 500  # fewer than the samples of a ring buffer


def make_case(**sections: Any) -> DgWaveCase:
    """A case of these sections, by default in double precision."""
    return DgWaveCase(**{"run": {"precision": "double"}} | sections)


def motion(case: DgWaveCase, backend: Backend) -> tuple[Floats, Floats]:
    """Run a case: times (n,), s, and velocity (receivers, 3, n) along x, y and down, m/s."""
    time, recorded = recordings(case, backend)
    return time, recorded["velocity"]


def recordings(case: DgWaveCase, backend: Backend) -> tuple[Floats, dict[str, Floats]]:
    """Run a case: times (n,), s, and the recordings of each quantity.

    Returns:
        The times, and by quantity (receivers, components, n) of the receivers that record it:
        "velocity" along x, y and down, m/s, and "pressure", Pa.
    """
    found = DgWave(prepare(case), backend)
    found.prepare()
    steps = found.setup.steps
    graph = backend.capture(found.step)
    blocks: dict[str, list[Floats]] = {name: [] for name in found.outputs.seismograms}
    for begin in range(0, steps, STEPS_AT_ONCE):
        end = min(begin + STEPS_AT_ONCE, steps)
        graph.replay(end - begin)
        for name, recorder in found.outputs.seismograms.items():
            blocks[name].append(recorder.latest(begin, end).astype(float))
    time = found.setup.time_axis.times(steps)
    return time, {name: np.concatenate(parts).transpose(2, 1, 0) for name, parts in blocks.items()}
