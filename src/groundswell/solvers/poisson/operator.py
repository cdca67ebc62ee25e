"""A u, the screened Poisson operator on assembled values, with its messages behind its elements.

A = Z' (D' G D + lambda W) Z: values are copied to elements (Z), each of which does its part, and
what they have for a common node is added up (Z'). Ranks need values of others before, and sums
after: first values are sent, while half of the elements inside are worked on; then those that touch
other ranks'; then their sums are sent, behind the other half (Chalmers et al. 2023, figure 2).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.backends import Array, Backend, Blocks, Items, Launch, Source
from groundswell.backends.base import in_order
from groundswell.exchange.assembly.operation import Operation
from groundswell.exchange.assembly.sharing import Sharing, find_sharing
from groundswell.exchange.world import World
from groundswell.grids.gll import gll
from groundswell.grids.hexahedra import AXES, Floats, Hexahedra, Numbers, face_nodes
from groundswell.solvers.poisson.geometry import Geometry

SOURCE = Path(__file__).with_name("operator.h")


@dataclass(frozen=True, eq=False)
class Space:
    """Functions on this rank's elements: polynomials of one degree, continuous from one to another.

    Args:
        elements: numbers of this rank's elements in the mesh.
        sharing: of the nodes' ids; assembled values are in the order of `sharing.ids`.
    """

    mesh: Hexahedra
    degree: int
    elements: Numbers
    sharing: Sharing

    @classmethod
    def on(cls, world: World, mesh: Hexahedra, degree: int, elements: ArrayLike) -> Space:
        """All ranks must call it, with elements of which none is another's."""
        chosen = np.asarray(elements, np.int64)
        ids = world.agree(lambda: mesh.ids(degree, chosen).ravel())
        return cls(mesh, degree, chosen, find_sharing(world, ids))

    @property
    def places(self) -> Numbers:
        """Of each element's nodes among the assembled values, (elements, (N + 1)^3)."""
        return self.sharing.rows.reshape(len(self.elements), (self.degree + 1) ** AXES)

    @property
    def at_others(self) -> Numbers:
        """The elements, counted from 0 on this rank, that share nodes with other ranks."""
        shared = np.zeros(len(self.sharing.ids) + 1, bool)
        for rows in self.sharing.sharers.values():
            shared[rows] = True
        return np.flatnonzero(shared[self.places].any(axis=1))


class Operator:
    """Applies A to one array, into another. All ranks must make it and run it together.

    Args:
        screening: lambda, 0 or more, 1/m^2.
        x: assembled values, (values,); those that other ranks own are filled in.
        y: assembled values, of which those that this rank owns become A x.
        fixed: sides of the domain, by their tags, where values are prescribed: y is 0 there, and
            x has to be.
        transport: a name in connect.TRANSPORTS, or "auto".
        route: one of routes.ROUTES.

    Attributes:
        launches: the whole operator.
        free: the same, as if nothing were prescribed.
        mask: 1 for values that are free, 0 where they are prescribed, assembled, on the host.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        space: Space,
        screening: float,
        x: Array,
        y: Array,
        *,
        fixed: Collection[int] = (),
        transport: str = "auto",
        route: str = "pairwise",
    ) -> None:
        self._backend, self._space, self._screening = backend, space, screening
        self._geometry = world.agree(lambda: Geometry.of(space.mesh, space.degree, space.elements))
        self._x, self._y = x, y
        self._local = backend.zeros((space.places.size,), x.dtype)
        self._module = backend.compile(operator_source(x.dtype, space.degree, screening))
        self._halo, self._gather = (
            Operation(
                *(backend, world, space.sharing, kind, source, target),
                transport=transport,
                route=route,
            )
            for kind, source, target in (("halo", x, x), ("gather", self._local, y))
        )
        self.free = self._compose()
        self.mask = self._unprescribed(fixed)
        self.launches = [*self.free, *self._masking()]
        self.in_graph = self._halo.in_graph and self._gather.in_graph

    def assemble(self, local: Floats) -> Floats:
        """Sums of what elements have for each node, (elements, (N + 1)^3), at all of its ranks."""
        self._backend.assign(self._local, local.ravel().astype(self._local.dtype))
        in_order(self._gather.launches)()
        return self.spread(np.asarray(self._backend.to_host(self._y), float))

    def spread(self, values: Floats) -> Floats:
        """Assembled values, those that other ranks own filled in from there."""
        self._backend.assign(self._x, values)
        in_order(self._halo.launches)()
        return np.asarray(self._backend.to_host(self._x), float)

    def load(self, source: Floats) -> Floats:
        """The right-hand side of a source at the elements' nodes, (elements, (N + 1)^3)."""
        return self.assemble(source * self._geometry.mass)

    def diagonal(self) -> Floats:
        """A's, assembled; 1 where values are prescribed."""
        of_elements = self._geometry.diagonal(self._space.degree, self._screening)
        return np.where(self.mask > 0, self.assemble(of_elements), 1.0)

    def check(self) -> None:
        """See that no wait was in vain; raises RunFailed."""
        self._halo.check()
        self._gather.check()

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        self._halo.close()
        self._gather.close()

    # --- launches ---------------------------------------------------------------------------------

    def _compose(self) -> list[Launch]:
        space, device, dtype = self._space, self._backend.to_device, self._x.dtype
        derivative = gll(space.degree).derivative
        tables = (self._geometry.factors, self._geometry.mass, derivative)
        given = (device(space.places.astype("i4")), *(device(t.astype(dtype)) for t in tables))

        def work(some: Numbers) -> list[Launch]:
            if not len(some):
                return []
            extent = Blocks(len(some), derivative.size)
            arguments = (self._x, *given, self._local, device(some.astype("i4")), len(some))
            return [self._module.launch("apply_elements", extent, *arguments)]

        outer = space.at_others
        inside = np.setdiff1d(np.arange(len(space.elements)), outer)
        first, second = np.array_split(inside, 2)
        return [
            *self._halo.hidden_by(work(first)),
            *work(outer),
            *self._gather.hidden_by(work(second)),
        ]

    def _unprescribed(self, fixed: Collection[int]) -> Floats:
        """The mask: a node is prescribed if it is on such a side of any element of any rank."""
        flags = np.zeros((len(self._space.elements), (self._space.degree + 1) ** AXES))
        tags = self._space.mesh.tags(self._space.elements)
        for face in range(2 * AXES):
            on_side = np.isin(tags[:, face], list(fixed))
            flags[np.ix_(on_side, face_nodes(self._space.degree, face))] = 1.0
        return np.asarray(self.assemble(flags) == 0, float)

    def _masking(self) -> list[Launch]:
        own = self._space.sharing.own
        if not own or self.mask.all():
            return []
        mask = self._backend.to_device(self.mask.astype(self._x.dtype))
        return [self._module.launch("multiply_values", Items(own), self._y, mask, self._y, own)]


class Jacobi:
    """Multiplies by the inverse of A's diagonal; makes itself between two arrays.

    Args:
        diagonal: assembled.
    """

    in_graph = True

    def __init__(
        self, backend: Backend, space: Space, diagonal: Floats, x: Array, y: Array
    ) -> None:
        own = space.sharing.own
        factors = backend.to_device((1 / diagonal[:own]).astype(x.dtype))
        module = backend.compile(operator_source(x.dtype, space.degree, 0.0))
        launch = module.launch("multiply_values", Items(own), x, factors, y, own)
        self.launches = [launch] if own else []

    def check(self) -> None:
        """Nothing can go wrong."""

    def close(self) -> None:
        """Nothing is held of others."""


def operator_source(dtype: DTypeLike, degree: int, screening: float) -> Source:
    """The kernel for values of a type and degree."""
    double = {"DOUBLE_PRECISION": 1} if np.dtype(dtype) == np.float64 else {}
    return Source(SOURCE, {**double, "NODES": degree + 1, "LAMBDA": float(screening)})
