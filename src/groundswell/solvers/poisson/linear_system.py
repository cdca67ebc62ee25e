"""The discrete equation, set up once and solved for any right-hand side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, LaunchTime, Listing
from groundswell.backends.host_threads import chunks, converted, in_threads, mapped, take
from groundswell.linear.cg import ConjugateGradients, ConvergenceHistory, RecordedIteration
from groundswell.linear.operators import Composite, LinearOperator, OperatorFactory
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.fused_cg import FusedConjugateGradients
from groundswell.solvers.poisson.multigrid import Cycle, Multigrid
from groundswell.solvers.poisson.nullspace import MeanConstraint
from groundswell.solvers.poisson.operator import Operator
from groundswell.solvers.poisson.solvability import require_solvable
from groundswell.spectral_elements.geometry import compute_mass
from groundswell.spectral_elements.space import FunctionSpace

NEAR_ONE = 40  # values of 2^-40 to 2^40 need no scaling: single precision holds their products


class LinearSystem(Composite):
    """The equation on one function space. All ranks must make and use it together.

    Args:
        space: of the solution.
        equation: its coefficients, the tags of fixed sides, and the mean; other functions are not
            used.
        method: preconditioner and number of iterations.
        dtype: of vectors, "float64" or "float32".
        cycle: options of multigrid.

    Attributes:
        space: of the solution.
        coefficients: k, c and h on this rank's elements.
        backend, dtype: of the vectors.
        operator: A, from one array of the iteration to another.
        multigrid: the preconditioner if it is multigrid, else None.
        scale: a diagonal preconditioner, assembled, 0 where values are prescribed; None for the
            identity.
        mass: at the nodes of this rank's elements, (elements, (N + 1)^3).
        imbalance: if only the mean is given, the imbalance of the last source and fluxes, relative
            to their absolute values; a constant source compensated for it.

    Raises:
        InputError: the equation has no unique solution, or elements are inverted.
    """

    operator: Operator

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        equation: Equation,
        method: MethodSection,
        dtype: str = "float64",
        *,
        cycle: Cycle | None = None,
    ) -> None:
        self._equation = equation.on(space)
        self.coefficients = self._equation.coefficients
        require_solvable(space, self._equation)
        self.backend, self.space, self.dtype = backend, space, dtype
        self._max_iterations = method.iterations
        self.multigrid: Multigrid | None = None
        self.scale: Floats | None = None
        if method.preconditioner == "multigrid":
            first = self._make_multigrid_cg(cycle)
        else:
            first = self._make_fused_cg(is_jacobi=method.preconditioner == "jacobi")
        self._iterations: dict[int, RecordedIteration] = {1: first}  # by number of components
        self.parts = [first, self.operator]
        self.mass = compute_mass(space.mesh, space.degree, space.elements)
        self.imbalance, mean = 0.0, equation.mean
        self._mean = None if mean is None else MeanConstraint(space.comm, self.mass, mean)

    def _make_multigrid_cg(self, cycle: Cycle | None) -> RecordedIteration:
        def apply(x: DeviceArray, y: DeviceArray) -> LinearOperator:
            self.operator = Operator(self.backend, self.space, self._equation, x, y)
            return self.operator

        def precondition(x: DeviceArray, y: DeviceArray) -> LinearOperator:
            on = self.backend, self.space, self._equation
            self.multigrid = Multigrid(*on, x, y, cycle=cycle)
            return self.multigrid

        return self._make_cg(1, apply, precondition)

    def _make_cg(
        self, components: int, apply: OperatorFactory, precondition: OperatorFactory
    ) -> RecordedIteration:
        return ConjugateGradients(
            self.space.vectors(self.backend, self.dtype, components),
            apply,
            precondition=precondition,
            max_iterations=self._max_iterations,
            transport=self.space.exchange.transport,
        )

    def _make_fused_cg(self, *, is_jacobi: bool) -> RecordedIteration:
        vectors = self.space.vectors(self.backend, self.dtype)
        x, y = vectors.zeros(), vectors.zeros()
        operator = self.operator = Operator(self.backend, self.space, self._equation, x, y)
        scale = operator.mask / operator.diagonal() if is_jacobi else operator.mask
        is_identity = all(self.space.comm.allgather(bool((scale == 1).all())))
        self.scale = None if is_identity else scale
        return FusedConjugateGradients(
            *(self.backend, operator.elements, self.scale),
            max_iterations=self._max_iterations,
            local=operator.local,
        )

    def iteration_of(self, components: int) -> RecordedIteration:
        """The iteration for so many components, which is set up when first asked for."""
        if components not in self._iterations:
            made = self.space.comm.collective_try(lambda: self._make_several(components))
            self._iterations[components] = made
            self.parts = [*self.parts, made]
        return self._iterations[components]

    def _make_several(self, components: int) -> RecordedIteration:
        """An iteration whose components share the geometry, the multigrid and each step."""
        if self.multigrid is None:
            elements = self.operator.elements.for_components(components)
            return FusedConjugateGradients(
                *(self.backend, elements, self.scale),
                components=components,
                max_iterations=self._max_iterations,
            )
        return self._make_cg(components, self.operator_between, self.multigrid.for_components)

    def operator_between(self, x: DeviceArray, y: DeviceArray) -> Operator:
        """A from x to y, (components, values), on the same geometry."""
        elements = self.operator.elements.for_components(len(x))
        return Operator(self.backend, self.space, self._equation, x, y, elements=elements)

    def solve(
        self,
        source: Floats,
        prescribed: Floats | None = None,
        *,
        loads: Floats | None = None,
        start: Floats | None = None,
        tolerance: float = 1e-10,
    ) -> tuple[Floats, ConvergenceHistory]:
        """Solve for u at this rank's nodes.

        All arrays are (elements, (N + 1)^3), or (components, elements, (N + 1)^3): then one
        iteration solves for all components, and ends when each meets the tolerance.

        Args:
            source: f, 1/m^2 times the unit of u.
            prescribed: u on fixed sides; 0 by default. Other values are ignored.
            loads: integrals over faces that are added to those of the source.
            start: initial guess; 0 inside by default.
            tolerance: of the residual, relative to that of u = 0 inside, for any initial guess.

        Raises:
            InputError: loads do not cancel where only the mean is given.
            RunFailed: values are not finite, or a rank is lost.
        """
        if source.ndim > self.space.dofs.ndim:
            return self._solve_several(source, (prescribed, loads, start), tolerance)
        known, residual, norm = self._begin(source, prescribed, loads, start)
        if start is not None and norm:
            tolerance = tolerance * norm / (self._norm(residual) or 1.0)
        correction, history = self._solve_residual(residual, tolerance)
        return self._finish(correction, known), history

    def _solve_several(
        self, source: Floats, others: Sequence[Floats | None], tolerance: float
    ) -> tuple[Floats, ConvergenceHistory]:
        """Solve for all components, each relative to its own residual of u = 0."""
        begun, imbalances = [], [0.0]
        for c, f in enumerate(source):
            begun.append(self._begin(f, *(None if a is None else a[c] for a in others)))
            imbalances.append(self.imbalance)
        self.imbalance = max(imbalances)
        known, residuals, norms = zip(*begun, strict=True)
        units = [norm or 1.0 for norm in norms]
        b = np.stack([r / unit for r, unit in zip(residuals, units, strict=True)])
        limit = tolerance / (self._norm(b) or 1.0)  # of the sum, so that each is below
        x, history = self._solve_residual(b, limit)
        each = zip(x, units, known, strict=True)
        return np.stack([self._finish(u * unit, k) for u, unit, k in each]), history

    def _begin(
        self,
        source: Floats,
        prescribed: Floats | None,
        loads: Floats | None,
        start: Floats | None,
    ) -> tuple[Floats, Floats, float]:
        """The initial guess, its residual, assembled, and the norm of the residual of u = 0."""
        load, known = self.load(source, loads), self.prescribe(prescribed)
        residual = self._residual(load, known)
        norm = self._norm(residual)
        if start is None or norm == 0:  # no guess is nearer than 0 if that is the solution
            return known, residual, norm
        guess = np.zeros_like(known)
        guess[self.space.dofs] = start
        known = np.where(self.operator.mask == 0, known, guess)
        return known, self._residual(load, known), norm

    def load(self, source: Floats, loads: Floats | None) -> Floats:
        """Integrals of the source, plus loads, assembled; see `solve`, of one component."""
        return self.assemble(self._integrate(source, loads))

    def assemble(self, local: Floats) -> Floats:
        """Sums of the elements' values, (elements, (N + 1)^3), at shared nodes, (values,)."""
        return self._normalised(self.operator.assemble, local)

    def prescribe(self, prescribed: Floats | None) -> Floats:
        """Prescribed values, assembled, 0 where u is free; see `solve`, of one component."""
        known = np.zeros(self.space.size)
        if prescribed is not None:
            fixed = self.space.nodes_of(self.operator.mask == 0)
            known[self.space.dofs.ravel()[fixed]] = prescribed.ravel()[fixed]
        return known

    def _finish(self, correction: Floats, known: Floats) -> Floats:
        """u at this rank's nodes, from what the initial guess lacks, assembled."""
        spread = self._normalised(self.operator.spread, correction)
        assembled = mapped(np.add, spread, known, dtype=float)
        values = take(assembled, self.space.sharing.indices).reshape(self.space.dofs.shape)
        return values if self._mean is None else self._mean.shift(values)

    def right_hand_side(
        self, source: Floats, prescribed: Floats | None = None, loads: Floats | None = None
    ) -> Floats:
        """b of A u = b: this rank's own values, (values,); prescribed values stand for themselves.

        Args:
            source, prescribed, loads: see `solve`, of one component.
        """
        known, residual, _ = self._begin(source, prescribed, loads, None)
        return (known * (self.operator.mask == 0) + residual)[: self.space.own]

    def reactions(self, load: Floats, values: Floats) -> Floats:
        """A u - b where u is prescribed: what flows in there, by basis function, (values,).

        Other entries are 0, also those that other ranks own.

        Args:
            load: see `load`.
            values: u at this rank's nodes, (elements, (N + 1)^3).
        """
        operator, u = self.operator, np.zeros(self.space.size)
        u[self.space.dofs] = values
        product = self._normalised(operator.apply_unmasked, u)
        found = np.where(operator.mask == 0, product - load, 0.0)
        found[self.space.own :] = 0
        return found

    def list_iterations(self) -> Listing:
        """The launches of an iteration, or of several that are enqueued at once."""
        return self._iterations[1].list_iterations()

    def time_launches(self) -> None:
        """Time the launches of an early iteration of the next solution."""
        self._iterations[1].time_launches()

    def launch_times(self, iterations: int) -> tuple[str, list[LaunchTime]]:
        """What was timed, and the times; see `RecordedIteration`."""
        return self._iterations[1].launch_times(iterations)

    def _integrate(self, source: Floats, loads: Floats | None) -> Floats:
        """Integrals of the source times each node's basis function, plus loads."""
        local = mapped(np.multiply, source, self.mass, dtype=float)
        if self._mean is not None:
            local, self.imbalance = self._mean.balance(local, loads)
        elif loads is not None:
            local = mapped(np.add, local, loads, dtype=float)
        return local

    def _residual(self, load: Floats, u: Floats) -> Floats:
        """This rank's own values of an assembled load less A u, where u is free."""
        own, mask = self.space.own, self.operator.mask
        product = self._normalised(self.operator.apply_unmasked, u)
        residual = mapped(lambda b, a, m: (b - a) * m, load, product, mask, dtype=float)
        residual[own:] = 0
        return residual if self._mean is None else self._mean.remove_rounding(residual, own)

    def _norm(self, residual: Floats) -> float:
        """The Euclidean norm over all ranks."""
        power = self._exponent(residual)
        square = float(np.sum(_scaled(residual, -power) ** 2))
        return float(np.ldexp(np.sqrt(sum(self.space.comm.allgather(square))), power))

    def _solve_residual(self, b: Floats, tolerance: float) -> tuple[Floats, ConvergenceHistory]:
        """Solve A x = b for assembled b; x is 0 if b is small enough already."""
        if tolerance >= 1:
            return np.zeros_like(b), ConvergenceHistory(np.array([self._norm(b)]), True)
        iteration, power = self.iteration_of(1 if b.ndim == 1 else len(b)), self._exponent(b)
        self.backend.assign(iteration.b, _scaled(b, -power).reshape(iteration.b.shape))
        history = iteration.solve(tolerance)
        x = converted(self.backend.to_host(iteration.x), float).reshape(b.shape)
        return _scaled(x, power), replace(history, residuals=_scaled(history.residuals, power))

    def _exponent(self, values: Floats) -> int:
        """The power of two by which to divide values before devices process them.

        It is that of the largest value of all ranks, or 0 if this value is near 1. Without scaling,
        values such as 1e-40 or 1e40 would exceed the range of single precision in multigrid.
        """
        flat = values.reshape(-1)
        parts = chunks(len(flat), 1)
        bounds = in_threads(lambda part: (flat[part].max(), -flat[part].min()), parts)
        mine = max((float(max(pair)) for pair in bounds), default=0.0)
        return exponent(max(self.space.comm.allgather(mine)))

    def _normalised(self, linear: Callable[[Floats], Floats], values: Floats) -> Floats:
        """Apply a linear function to values that are scaled to about 1, and scale back."""
        power = self._exponent(values)
        return _scaled(linear(_scaled(values, -power)), power)


def exponent(largest: float) -> int:
    """The power of two by which to divide values before devices process them; often 0."""
    power = int(np.frexp(largest)[1])
    return power if abs(power) > NEAR_ONE else 0


def _scaled(values: Floats, power: int) -> Floats:
    """Values times a power of two."""
    return np.asarray(np.ldexp(values, power)) if power else values
