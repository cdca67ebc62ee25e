"""A boundary value problem: an equation's functions at the nodes, its solution and its errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Integers
from groundswell.backends import Backend
from groundswell.linear.cg import ConvergenceHistory
from groundswell.meshes.hexahedra import Floats, positions, refine
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.spectral_elements.boundary import Function, evaluate, integrate_over_faces
from groundswell.spectral_elements.geometry import compute_mass
from groundswell.spectral_elements.space import FunctionSpace

EXACT = "equation.exact"
EXTRA_DEGREE = 6  # of the quadrature of errors, above that of the solution
CHUNK = 256  # elements whose errors are computed at a time


@dataclass(frozen=True, eq=False)
class Terms:
    """The functions of an equation at this rank's nodes, each (elements, (N + 1)^3).

    Args:
        source: f.
        prescribed: u on fixed sides, 0 elsewhere.
        loads: integrals of fluxes over sides.
    """

    source: Floats
    prescribed: Floats
    loads: Floats


class BoundaryValueProblem:
    """An equation on this rank's elements. All ranks must make and use it together.

    Args:
        space: of the solution.
        method, dtype: see `LinearSystem`.

    Attributes:
        system: the discrete equation.
        nodes: positions, (elements, (N + 1)^3, 3), m.

    Raises:
        InputError: the equation has no unique solution.
    """

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        equation: Equation,
        method: MethodSection,
        dtype: str = "float64",
    ) -> None:
        self.system = LinearSystem(backend, space, equation, method, dtype)
        self._space, self._equation = space, equation
        self.nodes = space.nodes
        self._is_fixed = {
            tag: self.system.operator.on_boundary([tag])[space.dofs] for tag in equation.fixed
        }
        self._terms: Terms | None = None

    def evaluate(self, equation: Equation | None = None) -> Terms:
        """Evaluate source and boundary conditions at the nodes, for the following solutions.

        Args:
            equation: with other functions than the first one, on the same sides.

        Raises:
            InputError: a function is not finite or not real.
        """
        chosen = equation or self._equation
        terms: Terms = self._space.comm.collective_try(lambda: self._evaluate(chosen))
        self._terms = terms
        return terms

    def _evaluate(self, equation: Equation) -> Terms:
        space = self._space
        return Terms(
            evaluate(equation.source, self.nodes, "the source"),
            self._evaluate_fixed(equation),
            integrate_over_faces(space.mesh, space.degree, space.elements, equation.fluxes),
        )

    def _evaluate_fixed(self, equation: Equation) -> Floats:
        """u on fixed sides, 0 elsewhere; where sides meet, the last one counts."""
        known = np.zeros(self.nodes.shape[:-1])
        for tag, function in equation.fixed.items():
            here = self._is_fixed[tag]
            known[here] = evaluate(function, self.nodes[here], "the value of a fixed side")
        return known

    def solve(
        self, tolerance: float, start: Function | None = None
    ) -> tuple[Floats, ConvergenceHistory]:
        """Solve for u at this rank's nodes, (elements, (N + 1)^3).

        Args:
            start: initial guess by position; 0 inside by default.
        """
        terms = self._terms or self.evaluate()
        guess = None
        if start is not None:
            guess = self._space.comm.collective_try(lambda: evaluate(start, self.nodes, "start"))
        return self.system.solve(
            terms.source, terms.prescribed, loads=terms.loads, start=guess, tolerance=tolerance
        )

    def measure_errors(self, values: Floats, exact: Function) -> tuple[float, float]:
        """The largest error, and its L2 norm, m^(3/2) times the unit of u.

        The quadrature has a higher degree, because u is far more accurate at its
        own nodes than elsewhere.
        """
        degree = self._space.degree

        def measure() -> tuple[float, float]:
            largest = square = 0.0
            for part, mass, right in self._fine_values(exact):
                fine = refine(values[part][..., None], degree, degree + EXTRA_DEGREE)[..., 0]
                error = fine - right
                largest = max(largest, float(np.abs(error).max()))
                square += float((mass * error**2).sum())
            return largest, square

        comm = self._space.comm
        largest, squares = zip(*comm.allgather(comm.collective_try(measure)), strict=True)
        return max(largest), float(np.sqrt(sum(squares)))

    def require_finite(self, exact: Function) -> None:
        """Refuse an exact solution that is not finite, and inverted elements."""
        for _ in self._fine_values(exact):
            pass

    def _fine_values(self, exact: Function) -> Iterator[tuple[slice, Floats, Floats]]:
        """For some elements at a time, mass and exact solution at the nodes of a higher degree."""
        mesh, degree = self._space.mesh, self._space.degree + EXTRA_DEGREE
        for part, elements in self._chunks():
            right = evaluate(exact, positions(mesh, degree, elements), EXACT)
            yield part, compute_mass(mesh, degree, elements), right

    def _chunks(self) -> Iterator[tuple[slice, Integers]]:
        """This rank's elements, some at a time."""
        elements = self._space.elements
        for first in range(0, len(elements), CHUNK):
            part = slice(first, first + CHUNK)
            yield part, elements[part]

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        self.system.close()
