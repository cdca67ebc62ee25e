"""A boundary value problem: an equation's functions at the nodes, its solution and its errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Integers
from groundswell.backends import Backend
from groundswell.backends.host_threads import in_threads
from groundswell.linear.cg import ConvergenceHistory
from groundswell.meshes.hexahedra import AXES, Floats, positions, refine
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.side_flows import SideFlows, Sides
from groundswell.spectral_elements.boundary import Function, TaggedFaces, evaluate
from groundswell.spectral_elements.geometry import mass_of_few, require_positive, shares
from groundswell.spectral_elements.given_fields import sample
from groundswell.spectral_elements.space import FunctionSpace

EXACT = "equation.exact"
LOCAL = 2  # axes of the elements' values of one component
EXTRA_DEGREE = 6  # of the quadrature of errors, above that of the solution


@dataclass(frozen=True, eq=False)
class Terms:
    """The functions of an equation at this rank's nodes.

    Each is (elements, (N + 1)^3), or (components, elements, (N + 1)^3).

    Args:
        source: f.
        prescribed: u on fixed sides, 0 elsewhere.
        loads: integrals over sides of what flows in where u is 0.
        inflows: their sums over each side, by tag; of this rank, of each component.
    """

    source: Floats
    prescribed: Floats
    loads: Floats
    inflows: Sequence[Mapping[int, float]]

    @property
    def of_components(self) -> list[Terms]:
        """The terms of each component."""
        if self.source.ndim == LOCAL:
            return [self]
        each = zip(self.source, self.prescribed, self.loads, self.inflows, strict=True)
        return [Terms(f, known, loads, [inflows]) for f, known, loads, inflows in each]


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
        self._fixed_nodes = {
            tag: space.nodes_of(space.on_boundary([tag])) for tag in equation.fixed
        }
        on = space.mesh, space.degree, space.elements
        self._faces = TaggedFaces.of(*on, [*equation.inflows])

    @cached_property
    def sides(self) -> SideFlows:
        """The sides through which something flows; all ranks must ask for it together."""
        return SideFlows(self.system, self._equation, self._faces)

    def evaluate(self, equation: Equation | Sequence[Equation] | None = None) -> Terms:
        """Evaluate source and boundary conditions at the nodes; all ranks must call it.

        Args:
            equation: with other functions than the first one, on the same sides; or one of each
                component.

        Raises:
            InputError: a function is not finite or not real.
        """
        chosen = equation or self._equation
        terms: Terms = self._space.comm.collective_try(lambda: self._evaluate_all(chosen))
        return terms

    def _evaluate_all(self, chosen: Equation | Sequence[Equation]) -> Terms:
        if isinstance(chosen, Equation):
            return self._evaluate(chosen)
        each = [self._evaluate(equation) for equation in chosen]
        return Terms(
            np.stack([of_one.source for of_one in each]),
            np.stack([of_one.prescribed for of_one in each]),
            np.stack([of_one.loads for of_one in each]),
            [of_one.inflows[0] for of_one in each],
        )

    def _evaluate(self, equation: Equation) -> Terms:
        source, prescribed = self.evaluate_source(equation), self._evaluate_fixed(equation)
        loads, inflows = np.zeros(self.nodes.shape[:-1]), dict[int, float]()
        for tag, function in equation.inflows.items():
            on_side = self._integrate_side(tag, function, equation.inflow_name)
            loads[self._faces.outside] += on_side
            inflows[tag] = float(on_side.sum())
        return Terms(source, prescribed, loads, [inflows])

    def evaluate_source(self, equation: Equation) -> Floats:
        """The source at this rank's nodes, (elements, (N + 1)^3).

        Raises:
            InputError: it is not finite or not real.
        """
        if callable(equation.source):
            return evaluate(equation.source, self.nodes, "the source")
        everyone = np.arange(len(self.nodes))
        values = sample(equation.source, self._space, everyone, "the source")
        return np.broadcast_to(values, self.nodes.shape[:-1])

    def _integrate_side(self, tag: int, function: Function, name: Callable[[int], str]) -> Floats:
        """Integrals over a side times each node's basis function, of elements with such faces."""
        return self._faces.integrate({tag: function}, name)

    def _evaluate_fixed(self, equation: Equation) -> Floats:
        """u on fixed sides, 0 elsewhere; where sides meet, the last one counts."""
        known = np.zeros(self.nodes.shape[:-1])
        for tag, function in equation.fixed.items():
            here = np.unravel_index(self._fixed_nodes[tag], known.shape)
            known[here] = evaluate(function, self.nodes[here], f"the value of {equation.side(tag)}")
        return known

    def fixed_nodes(self, tag: int) -> Integers:
        """Ascending indices of nodes on a fixed side among those of this rank's elements."""
        return self._fixed_nodes[tag]

    def solve(
        self,
        terms: Terms,
        tolerance: float,
        start: Function | Sequence[Function] | None = None,
    ) -> tuple[Floats, ConvergenceHistory]:
        """Solve for u at this rank's nodes, of the shape of the terms.

        Args:
            terms: see `evaluate`.
            start: initial guess by position, or that of each component; 0 inside by default.
        """
        guess = None
        if start is not None:
            guess = self._space.comm.collective_try(lambda: self.evaluate_start(start))
        return self.system.solve(
            terms.source, terms.prescribed, loads=terms.loads, start=guess, tolerance=tolerance
        )

    def right_hand_sides(self, equations: Sequence[Equation]) -> Floats:
        """b of each component, (components, values); see `LinearSystem.right_hand_side`."""
        each = self.evaluate(equations).of_components
        given = [(terms.source, terms.prescribed, terms.loads) for terms in each]
        return np.stack([self.system.right_hand_side(*of_one) for of_one in given])

    def evaluate_start(self, start: Function | Sequence[Function]) -> Floats:
        """An initial guess at this rank's nodes, or that of each component."""
        if callable(start):
            return evaluate(start, self.nodes, "start")
        return np.stack([evaluate(guess, self.nodes, "start") for guess in start])

    def evaluate_exact(self, exact: Function) -> Floats:
        """The exact solution at this rank's nodes, (elements, (N + 1)^3); all ranks must call it.

        Raises:
            InputError: it is not finite or not real.
        """
        at_nodes = self._space.comm.collective_try(lambda: evaluate(exact, self.nodes, EXACT))
        return np.asarray(at_nodes)

    def measure_errors(self, values: Floats, exact: Function) -> tuple[float, float]:
        """The largest error, and the L2 norm of the error, m^(3/2) times the unit of u.

        The quadrature has a higher degree, because u is far more accurate at its
        own nodes than elsewhere.

        Raises:
            InputError: the exact solution is not finite, or elements are inverted, between nodes.
        """
        shapes, degree, elements = self._space.shapes, self._space.degree, self._space.elements
        fine = degree + EXTRA_DEGREE

        def measure(part: slice) -> tuple[float, float]:
            some = np.arange(len(elements))[part]
            mass = mass_of_few(shapes, fine, some)
            require_positive(mass, elements[part])
            right = evaluate(exact, positions(shapes, fine, some), EXACT)
            error = refine(values[part][..., None], degree, fine)[..., 0] - right
            return float(np.abs(error).max()), float((mass * error**2).sum())

        comm, some = self._space.comm, shares(len(elements), (fine + 1) ** AXES)
        mine = comm.collective_try(lambda: [*in_threads(measure, some)])
        parts = [part for of_rank in comm.allgather(mine) for part in of_rank]
        largest, squares = zip(*parts, strict=True)
        return max(largest), float(np.sqrt(sum(squares)))

    def measure_flows(self, terms: Terms, values: Floats) -> dict[Sides, float]:
        """What flows in through each side with a condition, see `SideFlows`; collective.

        Args:
            terms: of the solution, of one component.
            values: u at this rank's nodes, (elements, (N + 1)^3).
        """
        has_fixed = bool(self._equation.fixed)
        load = self.system.load(terms.source, terms.loads) if has_fixed else None
        return self.sides.measure(terms.inflows[0], load, values)

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        self.system.close()
