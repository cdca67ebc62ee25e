"""Problems with known answers, for `groundswell verify acoustics`."""

from __future__ import annotations

from math import hypot, log2, pi

import numpy as np

from groundswell.backends import Backend
from groundswell.simulation.simulation import Simulation
from groundswell.verify import Check
from groundswell_acoustics.case import AcousticsCase
from groundswell_acoustics.setup import Setup

PROBLEMS = ["standing_wave"]
MODES, SPEED, EDGE = (1, 1, 0), 340.0, 1.0  # wavelengths in a cube, m/s, m


def standing_wave(backend: Backend, full: bool) -> list[Check]:
    """p = cos(kx x) cos(ky y) cos(kz z) cos(c |k| t): its error, and how that falls."""
    cells = 128 if full else 32
    coarse, fine = error(backend, cells // 2), error(backend, cells)
    return [
        Check.at_most("standing wave: largest error", fine, 0.01),
        Check.near("standing wave: order of convergence", log2(coarse / fine), 2.0, 0.1),
    ]


def error(backend: Backend, cells: int) -> float:
    """Largest error of the pressure after a period and a quarter, in its first amplitude."""
    frequency = SPEED * hypot(*MODES) / EDGE
    case = AcousticsCase(
        grid={"cells": [cells] * 3, "spacing": EDGE / cells},
        medium={"speed": SPEED},
        start={"kind": "wave", "modes": list(MODES)},
        time={"duration": 1.25 / frequency},
        run={"precision": "double"},
    )
    with Simulation(case, backend=backend.name) as simulation:
        simulation.advance()
        found = backend.to_host(simulation.fields["p"])
    shape = Setup(case).pressure(*[np.arange(cells)] * 3)
    exact = shape * np.cos(2 * pi * frequency * case.time.duration)
    return float(np.abs(found - exact).max())
