"""Time of solutions in Kershaw's cube by conjugate gradients with multigrid.

    python benchmarks/poisson_multigrid.py 48 36 36
    mpirun -n 2 python benchmarks/poisson_multigrid.py 48 36 36 --coarse auto direct

Prints the time until the residual is 1e-8 times the first one, by the way in which degree 1 is
solved.
"""

from __future__ import annotations

import argparse
import time

from groundswell.backends import Backend
from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.meshes.box import Box, kershaw
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation, zero
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.multigrid import Cycle
from groundswell.solvers.poisson.verification.shapes import noise_on
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.space import FunctionSpace

TOLERANCE, REPEATS = 1e-8, 3


def make_space(backend: Backend, counts: tuple[int, ...], degree: int, eps: float) -> FunctionSpace:
    """The functions on this rank's elements, with the fastest exchange."""
    job = get_communicator()
    box = Box(counts, deform=kershaw(eps, eps), order=1)
    mine = ElementPartition.of(box, job.size).elements(job.rank)
    return FunctionSpace.on(job, box, degree, mine).autotune(backend, "float64")


def measure(backend: Backend, space: FunctionSpace, coarse: str) -> str:
    """What one way to solve degree 1 takes, in words."""
    begun, times = time.monotonic(), list[float]()
    equation = Equation(fixed=dict.fromkeys(range(1, 7), zero))
    method = MethodSection(preconditioner="multigrid")
    system = LinearSystem(backend, space, equation, method, cycle=Cycle(coarse=coarse))
    set_up, noise = time.monotonic() - begun, noise_on(space)
    for _ in range(REPEATS):
        _, outcome = system.solve(noise, tolerance=TOLERANCE)
        times.append(max(space.comm.allgather(outcome.seconds)))
    system.close()
    return f"{min(times):.4f} s, {outcome.iterations} iterations, set-up {set_up:.1f} s"


def main() -> None:
    """Measure each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("elements", type=int, nargs=3)
    parser.add_argument("--degree", type=int, default=7)
    parser.add_argument("--eps", type=float, default=0.3)
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--coarse", nargs="+", default=["auto"], choices=["auto", "direct", "amg"])
    options = parser.parse_args()
    job = get_communicator()
    backend = open_device(options.backend, job)
    space = make_space(backend, tuple(options.elements), options.degree, options.eps)
    for coarse in options.coarse:
        found = measure(backend, space, coarse)
        if job.first:
            print(f"{options.elements} on {job.size}, {coarse}: {found}", flush=True)


if __name__ == "__main__":
    main()
