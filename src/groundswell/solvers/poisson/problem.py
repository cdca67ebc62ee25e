"""-div grad u + lambda u = f on hexahedra: u prescribed on some sides, no flux through others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from groundswell.backends import Array, Backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.exchange.assembly.fastest import tune_sharing
from groundswell.exchange.world import World
from groundswell.linear.cg import Applied, ConjugateGradients, Iteration, Outcome, require_tolerance
from groundswell.meshes.hexahedra import Floats, Hexahedra, positions
from groundswell.solvers.poisson.fused_cg import Merged
from groundswell.solvers.poisson.multigrid import Cycle, Multigrid
from groundswell.solvers.poisson.nullspace import Mean, require_unique
from groundswell.solvers.poisson.operator import Operator, Space

Field = Callable[[Floats, Floats, Floats], ArrayLike]  # of x, y, z
MOST = 10_000  # iterations
HIGHEST = 15  # degree
PRECONDITIONERS = ("none", "jacobi", "multigrid")


class Poisson:
    """The equation on one mesh, for any sources. All ranks must make and use it together.

    Args:
        mesh: of the domain.
        degree: of the polynomials on each element, 1 to 15.
        elements: numbers of those that this rank works on; together the ranks have all.
        screening: lambda, 0 or more, 1/m^2.
        fixed: tags of the sides where u is prescribed.
        mean: u's over the domain, where any constant may be added to u.
        dtype: "float64" or "float32".
        precondition: by nothing, the operator's diagonal, or a cycle of multigrid.
        cycle: of multigrid.
        most: iterations.
        transport, route: of values between ranks, see `tune_sharing`.

    Attributes:
        space: functions on this rank's elements.
        tuning: how their values travel fastest; None for one rank.
        unbalanced: where only the mean is given, the share of the last source and loads that a
            constant source has taken up, so that they cancel.

    Raises:
        InputError: a problem without a unique solution, elements that are inside out, or a
            degree or preconditioner that does not exist.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        mesh: Hexahedra,
        degree: int,
        elements: ArrayLike,
        *,
        screening: float = 0.0,
        fixed: Collection[int] = (),
        mean: float | None = None,
        dtype: str = "float64",
        precondition: Literal["none", "jacobi", "multigrid"] = "jacobi",
        cycle: Cycle | None = None,
        most: int = MOST,
        transport: str = "auto",
        route: str = "auto",
    ) -> None:
        if not 0 <= screening < inf:
            raise InputError(f"screening = {screening}; allowed: 0 and more")
        if not 1 <= degree <= HIGHEST:
            raise InputError(f"degree = {degree}; allowed: 1 to {HIGHEST}")
        if precondition not in PRECONDITIONERS:
            allowed = ", ".join(PRECONDITIONERS)
            raise InputError(f"preconditioner = {precondition!r}; allowed: {allowed}")
        require_unique(mesh, fixed, screening, mean)
        self._backend, self._world = backend, world
        space = Space.on(world, mesh, degree, elements)
        way = {"transport": transport, "route": route}
        self.tuning = tune_sharing(backend, world, space.sharing, dtype, **way)
        self.space = space if self.tuning is None else space.by(self.tuning.best)
        self._equation = (self.space, screening, tuple(fixed))
        if precondition == "multigrid":
            self._iteration = self._with_multigrid(dtype, cycle, most)
        else:
            self._iteration = self._merged(dtype, most, jacobi=precondition == "jacobi")
        self._mass = self._operator.elements.keep_mass()
        self.unbalanced = 0.0
        self._mean = None if mean is None else Mean(world, self._mass, mean)

    def _with_multigrid(self, dtype: str, cycle: Cycle | None, most: int) -> Iteration:
        backend, world, (space, screening, fixed) = self._backend, self._world, self._equation

        def multigrid(x: Array, y: Array) -> Applied:
            given = (backend, world, space, screening, x, y)
            return Multigrid(*given, fixed=fixed, cycle=cycle)

        sizes = (len(space.sharing.ids), space.sharing.own, dtype)
        return ConjugateGradients(
            *(backend, world, *sizes, self._applied_to),
            precondition=multigrid,
            most=most,
            transport=space.way.transport,
        )

    def _merged(self, dtype: str, most: int, *, jacobi: bool) -> Iteration:
        count = len(self.space.sharing.ids)
        operator = self._applied_to(*(self._backend.zeros((count,), dtype) for _ in range(2)))
        scale = operator.mask / operator.diagonal() if jacobi else operator.mask
        nothing = all(self._world.share(bool((scale == 1).all())))
        given = (self._backend, self._world, operator.elements, None if nothing else scale)
        return Merged(*given, most=most, local=operator.local)

    def _applied_to(self, x: Array, y: Array) -> Operator:
        """A, from x to y."""
        space, screening, fixed = self._equation
        given = (self._backend, self._world, space, screening, x, y)
        self._given, self._made = x, y
        self._operator = Operator(*given, fixed=fixed)
        return self._operator

    @property
    def operator(self) -> Operator:
        """A, from one array of the iteration to another."""
        return self._operator

    @cached_property
    def nodes(self) -> Floats:
        """Where values are, (elements, (N + 1)^3, 3)."""
        return positions(self.space.mesh, self.space.degree, self.space.elements)

    def solve(
        self,
        source: Field,
        prescribed: Field | None = None,
        *,
        loads: Floats | None = None,
        start: Floats | None = None,
        tolerance: float = 1e-10,
    ) -> tuple[Floats, Outcome]:
        """u at this rank's nodes, (elements, (N + 1)^3), and how the iteration went.

        Args:
            source: f, by position, 1/m^2 times u's unit.
            prescribed: u on the fixed sides, by position; 0 by default.
            loads: integrals that nodes have beside the source's, (elements, (N + 1)^3), see
                `sides.flux_loads`.
            start: u from which the iteration begins, (elements, (N + 1)^3); 0 inside by default.
            tolerance: of the residual, against that of u = 0 inside, wherever it begins.

        Raises:
            InputError: another tolerance; loads that do not cancel where only the mean is given.
            RunFailed: numbers are not finite; a rank is lost.
        """
        require_tolerance(tolerance)
        at, operator = np.moveaxis(self.nodes, -1, 0), self._operator
        local = source(*at) * self._mass
        if self._mean is not None:
            local, self.unbalanced = self._mean.balanced(local, loads)
        elif loads is not None:
            local += loads
        load = self._about_one(operator.assemble, local)
        known = np.zeros(len(self.space.sharing.ids))
        if prescribed is not None:
            known[self.space.places] = prescribed(*at)
            known *= operator.mask == 0
        rest = self._residual(load, known)
        if start is not None:
            near = np.zeros_like(known)
            near[self.space.places] = start
            known = np.where(operator.mask == 0, known, near)
            least, rest = tolerance * self._size(rest), self._residual(load, known)
            tolerance = least / (self._size(rest) or 1.0)
        found, outcome = self._solved(rest, tolerance)
        values = (self._about_one(operator.spread, found) + known)[self.space.places]
        return values if self._mean is None else self._mean.shifted(values), outcome

    def _residual(self, load: Floats, u: Floats) -> Floats:
        """What is left of an assembled load, this rank's own, where u is not prescribed."""
        own = self.space.sharing.own
        rest = (load - self._about_one(self._applied, u)) * self._operator.mask
        rest[own:] = 0
        return rest if self._mean is None else self._mean.without_rest(rest, own)

    def _size(self, rest: Floats) -> float:
        """Its Euclidean norm, over all ranks."""
        power = self._power(rest)
        square = sum(self._world.share(float(np.sum(np.ldexp(rest, -power) ** 2))))
        return float(np.ldexp(np.sqrt(square), power))

    def _solved(self, b: Floats, tolerance: float) -> tuple[Floats, Outcome]:
        """A's solution for assembled b, which is 0 if b is small enough."""
        if tolerance >= 1:
            return np.zeros_like(b), Outcome(np.array([self._size(b)]), True)
        power = self._power(b)
        self._backend.assign(self._iteration.b, np.ldexp(b, -power))
        outcome = self._iteration.solve(tolerance)
        found = np.asarray(self._backend.to_host(self._iteration.x), float)
        residuals = np.ldexp(outcome.residuals, power)
        return np.ldexp(found, power), replace(outcome, residuals=residuals)

    def _power(self, values: Floats) -> int:
        """Of two, about as large as the largest value of all ranks.

        What devices work on is brought to about 1 by it, since single precision, which multigrid
        uses, has neither 1e-40 nor 1e40.
        """
        largest = max(self._world.share(float(np.abs(values).max(initial=0.0))))
        return int(np.frexp(largest)[1])

    def _about_one(self, linear: Callable[[Floats], Floats], values: Floats) -> Floats:
        """What something linear makes of values, of whatever size they are."""
        power = self._power(values)
        return np.asarray(np.ldexp(linear(np.ldexp(values, -power)), power))

    def _applied(self, values: Floats) -> Floats:
        """A times assembled values, none of which counts as prescribed."""
        self._backend.assign(self._given, values)
        in_order(self._operator.free)()
        return np.asarray(self._backend.to_host(self._made), float)

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        self._iteration.close()
        self._operator.close()
