"""Coefficients of every kind on several ranks, against one; a part of `poisson_program`."""

from __future__ import annotations

import numpy as np

from groundswell.backends import Backend, open_backend
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.decomposition import decompose
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation, Robin, zero
from groundswell.spectral_elements.given_fields import FieldsByMaterial, GivenValues
from groundswell.spectral_elements.space import FunctionSpace


def check_coefficients(backend: Backend, job: Communicator, preconditioner: str) -> None:
    """k by functions and by values of elements, and heat transfer, as on one rank."""
    box, degree = Box((3, 4, 5)), 3
    k = FieldsByMaterial(
        np.arange(box.count) % 3,
        [1e3, lambda x, y, z: 1 + x + y * z, GivenValues(np.linspace(1, 9, box.count))],
    )
    robin = {tag: Robin(lambda x, y, z: 2 + x, lambda x, y, z: y) for tag in (1, 4, 6)}
    equation = Equation(zero, lambda x, y, z: x * y, conductivity=k, robin=robin)
    found = []
    block = decompose(box.counts[::-1], job.size, (False,) * 3).block(job.rank)
    mine = box.block(block.start, block.shape)
    alone = (open_backend("cpu"), SerialCommunicator(), np.arange(box.count))
    for device, ranks, elements in ((backend, job, mine), alone):
        space = FunctionSpace.on(ranks, box, degree, elements)
        tuned = space.autotune(device, "float64", transport="auto", route="auto")
        method = MethodSection(preconditioner=preconditioner)
        problem = BoundaryValueProblem(device, tuned, equation, method)
        found.append(problem.solve(problem.evaluate(), 1e-12)[0])
        problem.close()
    some, every = found
    assert np.allclose(some, every[mine], rtol=0, atol=1e-9), np.abs(some - every[mine]).max()
