"""Weak scaling of the earthquake solver, in the form of AWP-ODC's table."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from math import prod

from groundswell.bench import Session
from groundswell.bench.exchange.links import most_even
from groundswell.bench.rig import Rig, counts, on_some
from groundswell.bench.tables import Row
from groundswell.exchange.decomposition import process_grids
from groundswell.exchange.tuning import Choice
from groundswell.grids.cartesian import Triple
from groundswell.solvers.earthquake.benchmarks.published import FLOPS
from groundswell.solvers.earthquake.benchmarks.throughput import Variant, make_case, make_solver
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.solver import Earthquake

SECONDS = 300.0  # limit of the time for the table
STAGED, GPU_AWARE, ALONE = "mpi", "mpi-gpu", "none"
TRANSPORTS = {"cuda": (STAGED, GPU_AWARE, "direct"), "cpu": (STAGED, "peer")}


def measure_scaling(session: Session) -> Iterator[Row]:
    """Steps with a fixed number of points on each rank, on 1, 2, 4 and so on up to all ranks.

    Yields:
        Rows: `ranks`, `processes`, `cells` of a rank, `transport`, `overlap` (the faster of both),
        `seconds` per step, `MLUPS` of a rank, `flops`: operations per second of all ranks by
        AWP-ODC's count, `efficiency` relative to one rank, and `gain` in speed over MPI, which is
        GPU-aware where there is such an MPI.
    """
    rig, cells = session.rig, session.sizes.scaled
    first = 0.0
    for count in counts(rig.comm.size):
        rows = on_some(rig, count, SECONDS, partial(_measure, cells=cells))
        first = first or min((row["seconds"] for row in rows), default=0.0)
        for row in rows:
            yield row | _rates(row, count, prod(cells)) | _compared(row, rows, first)


def _rates(row: Row, ranks: int, points: int) -> Row:
    speed = points / row["seconds"]
    return {"ranks": ranks, "MLUPS": speed / 1e6, "flops": ranks * FLOPS * speed}


def _compared(row: Row, rows: list[Row], first: float) -> Row:
    """Efficiency relative to one rank, and gain over MPI."""
    times = {each["transport"]: each["seconds"] for each in rows}
    plain = times.get(GPU_AWARE, times.get(STAGED))
    gain = plain / row["seconds"] if plain else None
    return {"efficiency": first / row["seconds"], "gain": gain}


def _measure(rig: Rig, cells: Triple) -> list[Row]:
    """Steps of some ranks by transport."""
    gc.collect()
    case = make_case_on(rig.comm.size, cells)
    solver = rig.attempt("an earthquake", lambda: make_solver(case, rig.backend, rig.comm))
    if solver is None:
        return []
    about = {"cells": cells, "processes": solver.setup.case.run.processes}
    with rig.holding(solver):
        names = rig.transports if rig.comm.size > 1 else [ALONE]
        found = [rig.attempt(name, partial(_steps, rig, solver, name)) for name in names]
        solver.close()
    return [about | row for row in found if row]


def _steps(rig: Rig, solver: Earthquake, transport: str) -> Row:
    """Seconds per step, with or without overlap: what is faster."""
    overlaps = (True, False) if transport != ALONE else (False,)
    times = {overlap: _seconds(rig, solver, transport, overlap) for overlap in overlaps}
    overlap = min(times, key=lambda each: times[each])
    return {"transport": transport, "overlap": overlap, "seconds": times[overlap]}


def _seconds(rig: Rig, solver: Earthquake, transport: str, overlap: bool) -> float:
    if transport != ALONE:
        solver.set_exchange(Choice(transport, overlap=overlap))
    seconds = rig.seconds(solver.step, in_graph=solver.in_graph)
    solver.check_health(0)
    return seconds


def make_case_on(ranks: int, cells: Triple) -> EarthquakeCase:
    """The benchmark's earthquake with these cells on each rank, in columns as deep as the grid."""
    y, x = most_even(process_grids(ranks, 2))
    nx, ny, nz = cells
    case = make_case(Variant("scaling", (x * nx, y * ny, nz)))
    run = {"processes": (x, y, 1), "codec": "none"}
    return case.model_copy(update={"run": case.run.model_copy(update=run)})
