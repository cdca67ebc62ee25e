"""How long a flow takes from rest to a steady state: the paper's way, and ours."""

from __future__ import annotations

import time
from typing import Any

from groundswell.backends import Backend
from groundswell.bench.exchange.rig import Row
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.setup import Setup
from groundswell.solvers.cavity.solver import Cavity

WAYS: dict[str, dict[str, Any]] = {
    "Euler steps of one length": {"scheme": "euler", "local": False},
    "Runge-Kutta steps of each point's own length": {"levels": 1},
    "the same, with coarser grids": {},
}


def measure_steady(backend: Backend, points: int, rayleigh: float) -> list[Row]:
    """The same cube in several ways, until all residuals are below the case's tolerance.

    Returns:
        Rows: `way`, `cells`, `tolerance`, `steps`, `sweeps` over as many points as the finest grid
        has, `seconds`, and the wall's `nusselt` number.
    """
    return [{"way": way, **_to_rest(backend, points, rayleigh, t)} for way, t in WAYS.items()]


def _to_rest(backend: Backend, points: int, rayleigh: float, how: dict[str, Any]) -> Row:
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": rayleigh},
        grid={"points": [points] * 3},
        time=how,
    )
    solver = Cavity(Setup.from_case(case), backend)
    begun, updates, steps = time.monotonic(), 0, 0
    for grid_steps, grid_updates in solver.to_rest():
        steps, updates = steps + grid_steps, updates + grid_updates
    seconds = time.monotonic() - begun
    flow = solver.outputs.flow()
    assert flow is not None
    sweeps = updates * len(solver.setup.scheme.stages) / solver.setup.grid.count
    row = {"cells": solver.setup.grid.cells, "tolerance": solver.setup.tolerance}
    row |= {"steps": steps, "sweeps": sweeps, "seconds": seconds}
    return row | {"nusselt": flow.summary()["nusselt"]}
