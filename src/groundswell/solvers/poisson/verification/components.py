"""Several components that are solved at once, each with its own exact solution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.verification.coefficients import (
    scalar,
    screening,
    source_of_scalar,
)
from groundswell.solvers.poisson.verification.degrees import decrease
from groundswell.solvers.poisson.verification.shapes import bent, solution, whole_space
from groundswell.spectral_elements.boundary import Function
from groundswell.verify import Check

QUICK, FULL = (3, 6, 11), tuple(range(1, 14))
TOLERANCE = 1e-15
FACTORS = (1.0, -0.3, 20.0)  # of the solution in each component
CONSTANTS = (0.0, 2.0, 5.0)  # that are added


def vector(backend: Backend, full: bool) -> list[Check]:
    """A vector with k and c that vary, on curved elements of order 3, u prescribed on all sides."""
    mesh = Box((2, 2, 2), deform=bent, order=3)
    degrees = FULL if full else QUICK
    found = {n: _error(backend, mesh, n) for n in degrees}
    return decrease("vector of three components, curved, order 3", found)


def _error(backend: Backend, mesh: Box, degree: int) -> float:
    """The largest error of a component, relative to its factor."""
    each = [*zip(FACTORS, CONSTANTS, strict=True)]
    equations = [_equation(factor, constant) for factor, constant in each]
    space, method = whole_space(mesh, degree), MethodSection()
    problem = BoundaryValueProblem(backend, space, equations[0], method)
    values, _ = problem.solve(problem.evaluate(equations), TOLERANCE)
    errors = [
        problem.measure_errors(u, _shifted(solution, factor, constant))[0] / abs(factor)
        for u, (factor, constant) in zip(values, each, strict=True)
    ]
    problem.close()
    return max(errors)


def _equation(factor: float, constant: float) -> Equation:
    """The equation of a component."""

    def source(x: Floats, y: Floats, z: Floats) -> Floats:
        return np.asarray(factor * source_of_scalar(x, y, z) + constant * screening(x, y, z))

    fixed = dict.fromkeys(range(1, 7), _shifted(solution, factor, constant))
    return Equation(source, screening, fixed, conductivity=scalar)


def _shifted(function: Callable[..., Floats], factor: float, constant: float) -> Function:
    return lambda x, y, z: factor * function(x, y, z) + constant
