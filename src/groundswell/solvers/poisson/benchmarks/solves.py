"""Complete solutions: time of conjugate gradients to a tolerance, by preconditioner."""

from __future__ import annotations

import time
from collections.abc import Iterator

from groundswell.backends import Backend
from groundswell.bench import Session
from groundswell.bench.tables import Row
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.box import Box, kershaw
from groundswell.solvers.poisson.case import MethodSection, Preconditioner
from groundswell.solvers.poisson.equation import Equation, zero
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.verification.shapes import noise_on
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.space import FunctionSpace

DEGREE, EPS, TOLERANCE = 7, 0.3, 1e-8
METHODS: tuple[Preconditioner, ...] = ("jacobi", "multigrid")


def measure_solves(session: Session) -> Iterator[Row]:
    """Bake-off problem BPS5: -div grad u = f in Kershaw's cube, u = 0 on its sides, to 1e-8.

    The problem is that of nekRS (Nek5000/nekRS, examples/kershaw); f is noise.
    """
    for edge in session.sizes.solves:
        box = Box((edge,) * 3, deform=kershaw(EPS, EPS), order=1)
        for method in METHODS:
            yield _solved(session.backend, session.comm, box, method)


def _solved(backend: Backend, comm: Communicator, box: Box, method: Preconditioner) -> Row:
    mine, begun = ElementPartition.of(box, comm.size).elements(comm.rank), time.monotonic()
    space = FunctionSpace.on(comm, box, DEGREE, mine).autotune(backend, "float64")
    equation = Equation(fixed=dict.fromkeys(range(1, 7), zero))
    system = LinearSystem(backend, space, equation, MethodSection(preconditioner=method))
    ready = time.monotonic()
    noise = noise_on(space)
    system.solve(noise, tolerance=TOLERANCE)  # warms up
    _, outcome = system.solve(noise, tolerance=TOLERANCE)
    system.close()
    return {
        "edge": box.counts[0],
        "elements": box.count,
        "dofs": box.count * DEGREE**3,
        "ranks": comm.size,
        "preconditioner": method,
        "iterations": outcome.iterations,
        "converged": outcome.converged,
        "seconds": max(comm.allgather(outcome.seconds)),
        "set_up": max(comm.allgather(ready - begun)),
    }
