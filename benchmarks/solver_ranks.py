"""Throughput of a solver on the ranks of a job, by transport and overlap.

mpirun -n 2 python benchmarks/solver_ranks.py earthquake --cells 160 160 4096
mpirun -n 2 python benchmarks/solver_ranks.py cavity --cells 512 512 512 --transports peer direct
"""

from __future__ import annotations

import argparse
import statistics
from itertools import product
from typing import Any

from groundswell import registry
from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.earthquake.benchmarks.throughput import Variant, make_case

REPEATS = 5


def problem(solver: str, cells: tuple[int, int, int], elastic: bool) -> Any:
    """The case that is timed."""
    if solver == "earthquake":
        return make_case(Variant("weak", cells, not elastic))
    air = {"kind": "rayleigh", "rayleigh": 1e5}
    euler = {"scheme": "euler", "local": False}
    return CavityCase(fluid=air, grid={"points": list(cells)}, time=euler)


def measure(solver: Any, steps: int) -> float:
    """Seconds per step on the slowest rank: the median of REPEATS measurements after a warm-up."""
    backend, job, found = solver.backend, get_communicator(), []
    graph = backend.capture(solver.step, in_graph=solver.in_graph)
    graph.replay(8)
    backend.synchronize()
    for _ in range(REPEATS):
        job.allgather(None)
        begin = backend.record_event()
        graph.replay(steps)
        end = backend.record_event()
        end.wait()
        found.append(max(job.allgather(end.seconds_since(begin))))
    solver.check_health(1)
    return statistics.median(found) / steps / solver.steps_at_once


def tell(solver: Any, seconds: float, what: str) -> None:
    """Print a line."""
    ranks, size = solver.describe_ranks(), get_communicator().size
    rate = solver.updates_per_step / seconds / 1e6
    print(
        f"{what} on {size} {ranks['processes']} {solver.choice.transport:7}"
        f" overlap {solver.choice.overlap!s:5} {1e3 * seconds:8.4f} ms {rate:9.0f} MLUPS,"
        f" {rate / size:8.0f} a rank, {ranks['bytes_sent_per_step'] / 1e6:.2f} MB",
        flush=True,
    )


def main() -> None:
    """Measure each transport, on several ranks with and without overlap."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("solver", choices=["earthquake", "cavity"])
    parser.add_argument("--cells", type=int, nargs=3, default=(160, 160, 2048))
    parser.add_argument("--processes", type=int, nargs=3, default=None)
    parser.add_argument("--transports", nargs="+", default=["peer"])
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--elastic", action="store_true")
    options = parser.parse_args()
    job = get_communicator()
    backend = open_device(options.backend, job)
    case = problem(options.solver, tuple(options.cells), options.elastic)
    info = registry.find(options.solver)
    processes = tuple(options.processes) if options.processes else None
    for transport, overlap in product(
        options.transports, [True, False] if job.size > 1 else [False]
    ):
        run = {"transport": transport, "overlap": overlap, "processes": processes}
        chosen = case.model_copy(update={"run": case.run.model_copy(update=run)})
        solver = info.load("solver")(info.load("prepare")(chosen), backend, job)
        seconds = measure(solver, options.steps)
        if job.first:
            tell(solver, seconds, str(options.cells))
        solver.close()
        del solver


if __name__ == "__main__":
    main()
