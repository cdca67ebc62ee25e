"""Time to steady flow in a heated cube, by the coarse grids that ranks divide.

mpirun -n 2 python benchmarks/multigrid_ranks.py 255 511
mpirun -n 2 python benchmarks/multigrid_ranks.py 63 --backend cpu --exchange-points 0 1000 10000

Ranks divide a grid if this saves each of them more than so many points: with 0, as many grids as
possible. Sweeps and exchanges are counted in a cycle from the finest grid on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from groundswell.backends import Backend
from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.simulation.signals import StopRequest
from groundswell.simulation.time_loop import TimeLoop
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.decomposition import EXCHANGE_POINTS
from groundswell.solvers.cavity.setup import Setup, prepare
from groundswell.solvers.cavity.solver import Cavity


def cube(points: int, backend: str, tolerance: float) -> Setup:
    """A cube between a hot and a cold wall, at Ra = 1e5."""
    return prepare(
        CavityCase(
            fluid={"kind": "rayleigh", "rayleigh": 1e5},
            grid={"points": [points] * 3},
            time={"tolerance": tolerance},
            run={"backend": backend},
        )
    )


def measure(setup: Setup, backend: Backend) -> tuple[Cavity, TimeLoop]:
    """The solver and the time loop of a run, after its end."""
    job = get_communicator()
    solver = Cavity(setup, backend, job)
    solver.autotune()
    loop = TimeLoop(solver, backend, {}, None, "", comm=job)
    loop.run(setup.steps, lambda step, updates: None, StopRequest())
    return solver, loop


def describe(solver: Cavity) -> str:
    """For each grid the points, the ranks that share it, and the sweeps of a cycle."""
    stages = len(solver.setup.scheme.stages)
    cycle = zip(solver.levels, solver.setup.cycle(), strict=True)
    grids = ((f"{level.grid.grid.cells[0]}^3", level.comm.size, n * stages) for level, n in cycle)
    return ", ".join(f"{grid} on {ranks}: {sweeps}" for grid, ranks, sweeps in grids)


def main() -> None:
    """Measure each size with each number of points."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("points", type=int, nargs="+", help="along an edge of the cube")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--exchange-points", type=int, nargs="+", help="by default 0 and the usual")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    job = get_communicator()
    backend = open_device(options.backend, job)
    several = options.exchange_points or [0, EXCHANGE_POINTS[options.backend]]
    for points in options.points:
        setup = cube(points, options.backend, options.tolerance)
        for exchange_points in several if job.size > 1 else several[:1]:
            times, divided = list[float](), replace(setup, exchange_points=exchange_points)
            for _ in range(options.repeats):
                solver, loop = measure(divided, backend)
                times.append(loop.seconds)
                words = (
                    f"{loop.step} cycles, {solver.choice.transport}, overlap "
                    f"{solver.choice.overlap}; sweeps of {describe(solver)}"
                )
                solver.close()
                del solver, loop
            if job.first:
                seconds = ", ".join(f"{time:.3f}" for time in times)
                name = f"{points}^3 on {job.size}, exchange of {exchange_points:,} points"
                print(f"{name}: {seconds} s, {words}", flush=True)


if __name__ == "__main__":
    main()
