"""Source and sides of an equation in time, on the device.

What depends on time is a sum of functions of time times vectors, which are evaluated once. The host
evaluates the rest at each time, but only the sides or the source that it consists of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends.base import in_order
from groundswell.case.expressions import TIME, Expression
from groundswell.case.separation import ALWAYS
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem, Terms
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.step_kernels import Combination, SparseUpload, StepKernels
from groundswell.spectral_elements.boundary import TaggedFaces, evaluate
from groundswell.spectral_elements.given_fields import is_number

EquationAt = Callable[[float], Equation]  # by time, s


class Forcing:
    """What the right-hand side contains besides inertia. All ranks must make and use it together.

    Args:
        parts: equations by functions of time, of which the equation is the sum.
        rest: adds what is no such sum.
        whole: the whole equation.

    Attributes:
        load: integrals of the source and over sides, assembled; of this rank's own values.
        prescribed: u on fixed sides, assembled, 0 elsewhere.
        largest: a bound of the magnitudes of prescribed values.
        amounts: this rank's part of what flows in where u is 0 through each side with a flux or
            heat transfer, and of the integral of the source.

    Raises:
        InputError: a function is not finite.
    """

    def __init__(
        self,
        problem: BoundaryValueProblem,
        kernels: StepKernels,
        parts: Mapping[str, Equation],
        rest: EquationAt | None,
        whole: EquationAt,
    ) -> None:
        self._problem, self._whole = problem, whole
        self._functions = [Expression(g, (TIME,)) for g in parts]
        terms = [problem.evaluate(equation) for equation in parts.values()]
        self._loads, self._known = self._upload(terms, more=rest is not None)
        self._sizes, self._rest = self._measure(terms), None
        tags = [*whole(0.0).inflows]
        self._amounts = np.array([amounts_of(of_part, tags, problem) for of_part in terms])
        if rest is not None:
            last = self._loads[-1], self._known[-1]
            self._rest = ChangingTerms(problem, kernels, rest, *last, tags)
        self.largest, self._factors = 0.0, list[float]()
        self.amounts = np.zeros(len(tags) + 1)
        self._combined = list[Combination]()
        if [*parts] == [ALWAYS] and rest is None:
            self.load, self.prescribed = self._loads[0], self._known[0]
            return
        backend, size = problem.system.backend, problem.system.space.size
        self.load, self.prescribed = (backend.zeros((size,), "f8") for _ in range(2))
        pairs = (self._loads, self.load), (self._known, self.prescribed)
        self._combined = [Combination(kernels, backend, *pair) for pair in pairs]

    def _upload(self, terms: list[Terms], *, more: bool) -> tuple[DeviceArray, DeviceArray]:
        """Loads and prescribed values of all parts, (parts, values), and of the rest, if any."""
        system = self._problem.system
        shape = (len(terms) + more, system.space.size)
        loads, known = (system.backend.zeros(shape, "f8") for _ in range(2))
        for n, of_part in enumerate(terms):
            system.backend.assign(loads[n], system.load(of_part.source, of_part.loads))
            system.backend.assign(known[n], system.prescribe(of_part.prescribed))
        return loads, known

    def _measure(self, terms: list[Terms]) -> Floats:
        """The largest prescribed value of each part, of all ranks."""
        mine = [float(np.abs(of_part.prescribed).max(initial=0.0)) for of_part in terms]
        return np.max(self._problem.system.space.comm.allgather(mine), axis=0)

    def update(self, time: float) -> bool:
        """Find the values at a time, s; whether prescribed values may have changed.

        Raises:
            InputError: a function is not finite.
        """
        try:
            return self._update(time)
        except InputError as error:
            raise InputError(f"at t = {time:g} s, {error}") from None

    def _update(self, time: float) -> bool:
        factors = [float(g(np.array([time]))[0]) for g in self._functions]
        if not np.isfinite(factors).all():
            self._refuse(time)
        if factors == self._factors and self._rest is None:
            return False
        self._factors, self.largest = factors, float(np.abs(factors) @ self._sizes)
        self.amounts = factors @ self._amounts
        if self._rest is not None:
            self.largest += self._rest.update(time)
            self.amounts += self._rest.amounts
            factors = [*factors, 1.0]
        for combination in self._combined:
            combination.run(factors)
        return self.largest > 0

    def _refuse(self, time: float) -> None:
        """Say which function is not finite, and where."""
        self._problem.evaluate(self._whole(time))
        raise InputError("a function of time is not finite; give another one")

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        if self._rest is not None:
            self._rest.close()


def amounts_of(terms: Terms, tags: Sequence[int], problem: BoundaryValueProblem) -> list[float]:
    """What flows in through each side where u is 0, and the integral of the source."""
    (inflows,) = terms.inflows
    return [*(inflows[tag] for tag in tags), float((problem.system.mass * terms.source).sum())]


class ChangingTerms:
    """Terms that the host evaluates at each time, and copies to the device.

    Args:
        equation: with the source and the sides that change; others are 0 or left out.
        load, prescribed: assembled values that they replace.
        tags: of all sides with a flux or heat transfer.

    Attributes:
        amounts: see `Forcing`.
    """

    def __init__(
        self,
        problem: BoundaryValueProblem,
        kernels: StepKernels,
        equation: EquationAt,
        load: DeviceArray,
        prescribed: DeviceArray,
        tags: Sequence[int],
    ) -> None:
        self._problem, self._equation, first = problem, equation, equation(0.0)
        system, space = problem.system, problem.system.space
        self._local = system.backend.zeros((space.dofs.size,), "f8")
        self._gather = space.operation(system.backend, "gather", self._local, load)
        self._has_source = not is_zero(first)
        sides, self._tags, self.amounts = [*first.inflows], tags, np.zeros(len(tags) + 1)
        self._faces = TaggedFaces.of(space.mesh, space.degree, space.elements, sides)
        self._on_faces = self._faces.on_faces(sides)
        rows, nodes = np.nonzero(self._on_faces)
        places = self._faces.outside[rows] * space.dofs.shape[1] + nodes
        self._sides = SparseUpload(kernels, system.backend, places, self._local)
        self._fixed = FixedNodes(problem, kernels, first, prescribed)

    def update(self, time: float) -> float:
        """Find the values at a time, s; returns the largest prescribed one."""
        comm: Communicator = self._problem.system.space.comm
        equation = self._equation(time)
        loads, values = comm.collective_try(lambda: self._evaluate(equation))
        if self._has_source:
            self._problem.system.backend.assign(self._local, loads.ravel())
        else:
            self._sides.run(loads)
        in_order(self._gather.launches)()
        return max(comm.allgather(self._fixed.write(values))) if equation.fixed else 0.0

    def _evaluate(self, equation: Equation) -> tuple[Floats, Floats]:
        """Loads at all nodes or those on sides, and prescribed values at fixed nodes."""
        integrals = {
            tag: self._faces.integrate({tag: function}, equation.inflow_name)
            for tag, function in equation.inflows.items()
        }
        inflows = sum(integrals.values(), np.zeros(self._faces.nodes.shape[:-1]))
        amounts = [float(integrals[t].sum()) if t in integrals else 0.0 for t in self._tags]
        self.amounts = np.array([*amounts, 0.0])
        if not self._has_source:
            return inflows[self._on_faces], self._fixed.evaluate(equation)
        loads = self._problem.system.mass * self._problem.evaluate_source(equation)
        self.amounts[-1] = loads.sum()
        loads[self._faces.outside] += inflows
        return loads, self._fixed.evaluate(equation)

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        self._gather.close()


class FixedNodes:
    """Nodes of fixed sides, on each of which one function counts.

    Args:
        prescribed: assembled values that are replaced.
    """

    def __init__(
        self,
        problem: BoundaryValueProblem,
        kernels: StepKernels,
        equation: Equation,
        prescribed: DeviceArray,
    ) -> None:
        system: LinearSystem = problem.system
        dofs = system.space.dofs.ravel()
        self._nodes, places = dict[int, Floats](), list[np.ndarray]()
        for tag in equation.fixed:
            found, first = np.unique(dofs[problem.fixed_nodes(tag)], return_index=True)
            places.append(found)
            self._nodes[tag] = problem.nodes.reshape(-1, 3)[problem.fixed_nodes(tag)[first]]
        every = np.concatenate([np.empty(0, np.int64), *places])
        indices, self._order = np.unique(every, return_inverse=True)
        self._count = len(indices)
        self._upload = SparseUpload(kernels, system.backend, indices, prescribed)

    def evaluate(self, equation: Equation) -> Floats:
        """Values at these nodes; where sides meet, those of the last one."""
        values = np.zeros(self._count)
        found = [
            evaluate(equation.fixed[tag], nodes, f"the value of {equation.side(tag)}")
            for tag, nodes in self._nodes.items()
        ]
        values[self._order] = np.concatenate([np.empty(0), *found])
        return values

    def write(self, values: Floats) -> float:
        """Copy the values to the device; returns the largest."""
        self._upload.run(values)
        return float(np.abs(values).max(initial=0.0))


def is_zero(equation: Equation) -> bool:
    """Whether the source is 0 everywhere."""
    source = equation.source
    fields = getattr(source, "fields", (source,))
    return all(_is_zero(field) for field in fields)


def _is_zero(field: object) -> bool:
    number = field.text if isinstance(field, Expression) else field
    return is_number(number) and number == 0
