"""Time from rest to a steady state, with the paper's method and with ours."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.backends import Backend
from groundswell.bench.tables import Row
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.steady import bring_to_steady_state

WAYS: dict[str, dict[str, object]] = {
    "Euler steps of one length": {"scheme": "euler", "local": False},
    "Runge-Kutta steps of each point's own length": {"levels": 1},
    "the same, with coarser grids": {},
}


def measure_steady(backend: Backend, points: int, rayleigh: float) -> Iterator[Row]:
    """Solve the same cube with several methods, until all residuals are below the tolerance.

    Yields:
        Rows: `way`, `cells`, `tolerance`, `steps`, `sweeps` over as many points as the finest grid
        has, `seconds`, the wall's `nusselt` number, and `gain`: speed-up over the first method.
    """
    slowest = None
    for way, how in WAYS.items():
        row = _time_to_steady_state(backend, points, rayleigh, how)
        slowest = slowest or row["seconds"]
        yield {"way": way, **row, "gain": slowest / row["seconds"]}


def _time_to_steady_state(
    backend: Backend, points: int, rayleigh: float, how: dict[str, object]
) -> Row:
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": rayleigh}, grid={"points": [points] * 3}, time=how
    )
    flow, solver, loop = bring_to_steady_state(case, backend)
    setup = solver.setup
    sweeps = loop.updates * len(setup.scheme.stages) / setup.finest.grid.count
    row = {"cells": setup.finest.grid.cells, "tolerance": setup.tolerance, "steps": loop.step}
    row |= {"sweeps": sweeps, "seconds": loop.seconds}
    return row | {"nusselt": flow.summary()["nusselt"]}
