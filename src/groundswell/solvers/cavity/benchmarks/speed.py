"""Speed of the cavity solver's steps on one device and on several ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from groundswell.backends import Backend
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.cost import estimate
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solver import Cavity

UNIT = 1e7  # points a second: one ssspnt
REPEATS, LEAST_SECONDS, MOST_TIMES = 5, 0.1, 1000


def make_case(cells: tuple[int, int, int], **run: object) -> CavityCase:
    """Air at Ra = 1e5, with the paper's steps: forward Euler with a global time step."""
    return CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 1e5},
        grid={"points": list(cells)},
        time={"scheme": "euler", "local": False},
        run=run,
    )


def make_solver(case: CavityCase, backend: Backend, comm: Communicator | None = None) -> Cavity:
    """The solver of a case, on one rank or on several."""
    return Cavity(prepare(case), backend, comm)


def measure_sizes(
    backend: Backend, edges: Sequence[int], bandwidth: Callable[[], float]
) -> Iterator[Row]:
    """Cubes of several sizes on one device.

    Args:
        bandwidth: measures the bandwidth of the memory, B/s.

    Yields:
        Rows: `cells`, `precision`, `seconds` per step, `ssspnt`, and `share` of the
        `bandwidth`.
    """
    for edge, precision in [(edge, "double") for edge in edges] + [(edges[-2], "single")]:
        cells = (edge,) * 3
        solver = make_solver(make_case(cells, precision=precision), backend)
        seconds = alone(backend, solver)
        traffic = solver.updates_per_step * estimate(solver.setup).bytes_per_update / seconds
        rate = bandwidth()
        row = {"cells": cells, "precision": precision, "bandwidth": rate, "share": traffic / rate}
        yield row | speed(cells, seconds)


def alone(backend: Backend, solver: Cavity) -> float:
    """Seconds per step without other ranks: the median of REPEATS after a warm-up."""
    solver.initialize()
    graph = backend.capture(solver.step, in_graph=solver.in_graph)
    one = backend.measure_seconds(lambda: graph.replay(2)) / 2
    times = max(2, min(MOST_TIMES, int(LEAST_SECONDS / max(one, 1e-7))))
    found = [backend.measure_seconds(lambda: graph.replay(times)) for _ in range(REPEATS)]
    return median(found) / times / solver.steps_at_once


def on_ranks(rig: Rig, case: CavityCase, change: Callable[[Cavity], None] | None = None) -> Row:
    """Seconds per step on all ranks, and the path of their messages.

    Args:
        change: makes the solver exchange as another program does; by default, it keeps its own.
    """
    solver = make_solver(case, rig.backend, rig.comm)
    with rig.holding(solver):
        if change is not None:
            change(solver)
        solver.initialize()
        seconds = rig.seconds(solver.step, in_graph=solver.in_graph) / solver.steps_at_once
        solver.check_health(0)
        ranks = solver.describe_ranks()
        solver.close()
    cells = solver.setup.finest.grid.cells
    return {"cells": cells, "path": ranks["transport"], **speed(cells, seconds)}


def speed(cells: tuple[int, int, int], seconds: float) -> Row:
    """Time of a step, and the total throughput of all devices."""
    nx, ny, nz = cells
    return {"seconds": seconds, "ssspnt": nx * ny * nz / seconds / UNIT}
