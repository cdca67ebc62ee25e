"""Memory variables in 16 bits: what they change in seismograms.

The time step is 1/1,500 of the longest relaxation time. Rounding to the nearest number would stop
such slow relaxation (see `to_store` in kernels/memory.h), which shows in the displacement.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

CELLS, H, STEP = (32, 32, 24), 20.0, 2.2e-3  # m, s
STEPS = {False: 1500, True: 8000}
ROCK = {"vp": 4000.0, "vs": 2300.0, "rho": 2500.0, "qp": 100.0, "qs": 50.0}
MECHANISM = {"strike": 20.0, "dip": 60.0, "rake": 30.0, "moment": 1e15}
SOURCE = (320.0, 320.0, 200.0)
PLACES = [(350.0, 330.0, 0.0), (450.0, 400.0, 0.0), (600.0, 500.0, 0.0)]


def seismograms(backend: Backend, full: bool) -> Iterator[Check]:
    """The difference from memory variables in full precision, relative to the largest motion."""
    steps = STEPS[full]
    wanted, found = (_velocity(backend, memory, steps) for memory in ("full", "half"))
    note = f"Qs = 50, {steps:,} steps"
    name = "memory variables in 16 bits: difference in"
    for quantity, limit in (("velocity", 2e-4), ("displacement", 1e-3)):
        error = _largest_difference(found, wanted)
        yield Check.at_most(f"{name} {quantity}", error, limit, "", note)
        wanted, found = (np.cumsum(motion, axis=-1) for motion in (wanted, found))


def _largest_difference(found: Floats, wanted: Floats) -> float:
    """Largest difference at any receiver over the largest motion there."""
    difference, motion = (np.abs(m).max(axis=(1, 2)) for m in (found - wanted, wanted))
    return float((difference / motion).max())


def _velocity(backend: Backend, memory: str, steps: int) -> Floats:
    """Velocity (receivers, 3, steps) along x, y and down, m/s."""
    pulse = {"kind": "gaussian", "sigma": 0.05}
    case = sim.make_case(
        grid={"size": [n * H for n in CELLS], "spacing": H},
        time={"duration": steps * STEP, "step": STEP},
        medium={"kind": "homogeneous", **ROCK},
        attenuation={"model": "constant"},
        source=[case_sections.point(SOURCE, pulse, kind="double-couple", **MECHANISM)],
        receiver=case_sections.receivers(PLACES),
        run={"memory": memory},
    )
    return sim.seismograms(sim.build(case, backend), steps)
