"""-div grad u + lambda u = f on hexahedra: u prescribed on some sides, no flux through others."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import ArrayLike

from groundswell.backends import Array, Backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.exchange.world import World
from groundswell.grids.hexahedra import Floats, Hexahedra, positions
from groundswell.linear.cg import ConjugateGradients, Outcome
from groundswell.solvers.poisson.operator import Jacobi, Operator, Space

Field = Callable[[Floats, Floats, Floats], ArrayLike]  # of x, y, z
MOST = 10_000  # iterations


class Poisson:
    """The equation on one mesh, for any sources. All ranks must make and use it together.

    Args:
        mesh: of the domain.
        degree: of the polynomials on each element, 1 to 15.
        elements: numbers of those that this rank works on; together the ranks have all.
        screening: lambda, 0 or more, 1/m^2.
        fixed: tags of the sides where u is prescribed.
        dtype: "float64" or "float32".

    Attributes:
        space: functions on this rank's elements.

    Raises:
        InputError: a problem without a unique solution, or elements that are inside out.
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
        dtype: str = "float64",
    ) -> None:
        if screening < 0:
            raise InputError(f"screening = {screening}; allowed: 0 and more")
        self._backend = backend
        self.space = Space.on(world, mesh, degree, elements)
        own, count = self.space.sharing.own, len(self.space.sharing.ids)

        def operator(x: Array, y: Array) -> Operator:
            self._given, self._made = x, y
            self._operator = Operator(*(backend, world, self.space, screening, x, y), fixed=fixed)
            if not screening and all(world.share(bool(self._operator.mask.all()))):
                self._operator.close()
                raise InputError(
                    "without screening, and with no side where u is prescribed, any constant may "
                    "be added to u: give a screening above 0, or a side"
                )
            return self._operator

        def jacobi(x: Array, y: Array) -> Jacobi:
            return Jacobi(backend, self.space, self._operator.diagonal(), x, y)

        self._iteration = ConjugateGradients(
            *(backend, world, count, own, dtype, operator), precondition=jacobi, most=MOST
        )

    @property
    def nodes(self) -> Floats:
        """Where values are, (elements, (N + 1)^3, 3)."""
        return positions(self.space.mesh, self.space.degree, self.space.elements)

    def solve(
        self, source: Field, prescribed: Field | None = None, *, tolerance: float = 1e-10
    ) -> tuple[Floats, Outcome]:
        """u at this rank's nodes, (elements, (N + 1)^3), and how the iteration went.

        Args:
            source: f, by position, 1/m^2 times u's unit.
            prescribed: u on the fixed sides, by position; 0 by default.
            tolerance: of the residual, against that of u = 0 inside.

        Raises:
            InputError: another tolerance.
            RunFailed: numbers are not finite; a rank is lost.
        """
        at = np.moveaxis(self.nodes, -1, 0)
        own, operator = self.space.sharing.own, self._operator
        load = operator.load(np.broadcast_to(source(*at), at[0].shape))
        known = np.zeros(len(self.space.sharing.ids))
        if prescribed is not None:
            known[self.space.places] = prescribed(*at)
            known *= operator.mask == 0
        rest = load - self._applied(known)
        rest[own:] = 0
        self._backend.assign(self._iteration.b, rest * operator.mask)
        outcome = self._iteration.solve(tolerance)
        found = operator.spread(np.asarray(self._backend.to_host(self._iteration.x), float))
        return (found + known)[self.space.places], outcome

    def _applied(self, values: Floats) -> Floats:
        """A times assembled values, none of which counts as prescribed."""
        self._backend.assign(self._given, values)
        in_order(self._operator.free)()
        return np.asarray(self._backend.to_host(self._made), float)

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        self._iteration.close()
