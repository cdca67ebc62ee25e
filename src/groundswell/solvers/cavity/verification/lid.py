"""The lid-driven square at Re = 100 against Ghia, Ghia & Shin (1982, J. Comput. Phys. 48:387).

Their table, from 129 x 129 points, is up to 0.004 away from later spectral solutions: these have
-0.2140 as the smallest u on the centre line, the table -0.2109.
"""

from __future__ import annotations

import numpy as np

from groundswell.backends import Backend
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.verification.cases import FLAT, cavity
from groundswell.verify import Check

STILL = {"kind": "adiabatic"}
WALLS = FLAT | dict.fromkeys(("west", "east", "bottom"), STILL)
LID = {"top": STILL | {"velocity": [1.0, 0.0, 0.0]}}

# u on the vertical line through the centre, at heights z (table I).
GHIA = {
    0.0547: -0.03717,
    0.1016: -0.06434,
    0.1719: -0.10150,
    0.2813: -0.15662,
    0.4531: -0.21090,
    0.5000: -0.20581,
    0.6172: -0.13641,
    0.7344: 0.00332,
    0.8516: 0.23151,
    0.9531: 0.68717,
    0.9766: 0.84123,
}
SMALLEST = -0.2140


def reynolds_100(backend: Backend, full: bool) -> list[Check]:
    """Velocity on the centre line."""
    points = 127 if full else 47
    case = cavity(points, {"kind": "reynolds", "reynolds": 100}, WALLS | LID)
    flow, *_ = bring_to_steady_state(case, backend)
    line = flow.centre_line("u", 2)
    found = np.interp(list(GHIA), flow.axes[2], line)
    worst = float(abs(found - list(GHIA.values())).max())
    within = 0.006 if full else 0.012
    return [
        Check.at_most("lid, Re = 100: u from Ghia's table", worst, within),
        Check.near("lid, Re = 100: smallest u", line.min(), SMALLEST, within / 2),
    ]
