"""Complete solutions: time of conjugate gradients to a tolerance, by preconditioner."""

from __future__ import annotations

import time
from collections.abc import Iterator

from groundswell.bench import Session
from groundswell.bench.tables import Row
from groundswell.meshes.box import Box, kershaw
from groundswell.solvers.poisson.case import MethodSection, Preconditioner
from groundswell.solvers.poisson.equation import Equation, zero
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.verification.shapes import noise_on
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.space import FunctionSpace

EPS, TOLERANCE = 0.3, 1e-8
METHODS: tuple[Preconditioner, ...] = ("jacobi", "multigrid")


def measure_solves(session: Session) -> Iterator[Row]:
    """Bake-off problem BPS5: -div grad u = f in Kershaw's cube, u = 0 on its sides, to 1e-8.

    The problem is that of nekRS (Nek5000/nekRS, examples/kershaw); f is noise.
    """
    for degree, edges in session.sizes.solves.items():
        for edge in edges:
            for method in METHODS:
                yield _solved(session, degree, edge, method)


def _solved(session: Session, degree: int, edge: int, method: Preconditioner) -> Row:
    backend, comm = session.backend, session.comm
    box = Box((edge,) * 3, deform=kershaw(EPS, EPS), order=1)
    mine, begun = ElementPartition.of(box, comm.size).elements(comm.rank), time.monotonic()
    space = FunctionSpace.on(comm, box, degree, mine).autotune(backend, "float64")
    equation = Equation(fixed=dict.fromkeys(range(1, 7), zero))
    system = LinearSystem(backend, space, equation, MethodSection(preconditioner=method))
    ready = time.monotonic()
    noise = noise_on(space)
    system.solve(noise, tolerance=TOLERANCE)  # warms up
    _, outcome = system.solve(noise, tolerance=TOLERANCE)
    system.close()
    return {
        "degree": degree,
        "edge": edge,
        "elements": box.count,
        "dofs": box.count * degree**3,
        "ranks": comm.size,
        "preconditioner": method,
        "iterations": outcome.iterations,
        "converged": outcome.converged,
        "seconds": max(comm.allgather(outcome.seconds)),
        "set_up": max(comm.allgather(ready - begun)),
    }
