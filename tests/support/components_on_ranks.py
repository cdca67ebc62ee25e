"""Poisson problems of several components on several ranks; a part of `poisson_program`."""

from __future__ import annotations

import numpy as np

import groundswell as gs
from groundswell.arrays import Floats
from groundswell.backends import Backend, open_backend
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.multigrid import Cycle
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.space import FunctionSpace

BOX, DEGREE = Box((3, 4, 5), deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2), 3


def check_components(backend: Backend, job: Communicator) -> None:
    """Solutions, and the parts of a problem."""
    for preconditioner, coarse in (("jacobi", ""), ("multigrid", "direct"), ("multigrid", "amg")):
        check_solutions(backend, job, preconditioner, coarse)
    check_parts(backend, job)


def check_solutions(backend: Backend, job: Communicator, preconditioner: str, coarse: str) -> None:
    """All at once on ranks as one by one on one rank."""
    how = preconditioner, Cycle(coarse=coarse)
    mine = ElementPartition.of(BOX, job.size).elements(job.rank)
    everyone = np.arange(BOX.count)
    found, iterations = solved(backend, job, mine, *how, together=True)
    serial = (open_backend("cpu"), SerialCommunicator(), everyone)
    alone, _ = solved(*serial, *how, together=False)
    _, same = solved(*serial, *how, together=True)
    assert abs(iterations - same) <= 3
    for some, every in zip(found, alone, strict=True):
        assert np.allclose(some, every[mine], rtol=0, atol=1e-8 * np.abs(every).max())


def solved(
    backend: Backend,
    job: Communicator,
    mine: Floats,
    preconditioner: str,
    cycle: Cycle,
    *,
    together: bool,
) -> tuple[Floats, int]:
    """u of three sources of very different size, and the iterations."""
    space = FunctionSpace.on(job, BOX, DEGREE, mine)
    tuned = space.autotune(backend, "float64")
    equation = Equation(fixed={tag: lambda x, y, z: 0 * x for tag in (1, 4)})
    method = MethodSection(preconditioner=preconditioner)
    system = LinearSystem(backend, tuned, equation, method, cycle=cycle)
    x, y, z = np.moveaxis(space.nodes, -1, 0)
    sources, sides = np.stack([x * y, 1e6 * np.sin(9 * z), 1e-3 * x]), np.stack([x, y - z, 1 + z])
    if together:
        u, history = system.solve(sources, sides)
        assert history.converged
        iterations = history.iterations
    else:
        each = [system.solve(*data) for data in zip(sources, sides, strict=True)]
        u, iterations = np.stack([one for one, _ in each]), 0
    system.close()
    return u, iterations


def check_parts(backend: Backend, job: Communicator) -> None:
    """Conjugate gradients by the parts of a problem, with sums over ranks, solve it."""
    if not backend.on_host:
        return  # NumPy arrays are none of a GPU's

    def dot(a: Floats, b: Floats) -> float:
        return float(sum(job.allgather(float(a @ b))))

    with gs.poisson.Problem(
        BOX, DEGREE, {"west": {"kind": "fixed", "value": "y"}}, sides={"west": 1}
    ) as problem:
        wanted = problem.solve("x * z").values
        r = problem.right_hand_side("x * z")
        u = np.zeros_like(r)
        p = z = problem.preconditioner(r)
        product, first = dot(r, z), dot(r, r)
        while dot(r, r) > 1e-24 * first:
            image = problem.operator @ p
            step = product / dot(p, image)
            u, r = u + step * p, r - step * image
            z = problem.preconditioner(r)
            product, old = dot(r, z), product
            p = z + product / old * p
        assert np.allclose(problem.gather_scatter.scatter(u), wanted, rtol=0, atol=1e-8)
