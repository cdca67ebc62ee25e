"""A u, the screened Poisson operator on assembled values, with its messages behind its elements.

A = Z' (D' G D + lambda W) Z: values are copied to elements (Z), each of which does its part, and
what they have for a common node is added up (Z'). Ranks need values of others before, and sums
after: first values are sent, while half of the elements inside are worked on; then those that touch
other ranks'; then their sums are sent, behind the other half (Chalmers et al. 2023, figure 2).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import DTypeLike

from groundswell.backends import Array, Backend, Launch, Source
from groundswell.backends.base import in_order
from groundswell.exchange.world import World
from groundswell.meshes.hexahedra import Floats, Numbers
from groundswell.spectral_elements.elements import (
    KERNELS,
    METRICS,
    USUAL,
    Elements,
    element_constants,
    multiply,
)
from groundswell.spectral_elements.kernel_variants import Way, way_of
from groundswell.spectral_elements.overlap import Messages, hidden, turns
from groundswell.spectral_elements.space import Space


class Operator(Messages):
    """Applies A to one array, into another. All ranks must make it and run it together.

    Args:
        screening: lambda, 0 or more, 1/m^2.
        x: assembled values, (values,); those that other ranks own are filled in.
        y: assembled values, of which those that this rank owns become A x.
        fixed: sides of the domain, by their tags, where values are prescribed: y is 0 there, and
            x has to be.
        metric: see `Elements`.

    Attributes:
        local: room for what elements have, (elements * (N + 1)^3,).
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
        metric: str | None = None,
    ) -> None:
        self._backend, self._space, self._screening = backend, space, screening
        self.elements = world.agree(
            lambda: Elements(backend, space, screening, x.dtype, metric=metric)
        )
        self._x, self._y = x, y
        self.local = backend.zeros((space.places.size,), x.dtype)
        self._halo, self._gather = (
            space.operation(backend, world, *of_values)
            for of_values in (("halo", x, x), ("gather", self.local, y))
        )
        self.free = self._compose()
        self.mask = self._unprescribed(fixed)
        self.launches = [*self.free, *self._masking()]

    def assemble(self, local: Floats) -> Floats:
        """Sums of what elements have for each node, (elements, (N + 1)^3), at all of its ranks."""
        self._backend.assign(self.local, local.ravel().astype(self.local.dtype))
        in_order(self._gather.launches)()
        return self.spread(np.asarray(self._backend.to_host(self._y), float))

    def spread(self, values: Floats) -> Floats:
        """Assembled values, those that other ranks own filled in from there."""
        self._backend.assign(self._x, values)
        in_order(self._halo.launches)()
        return np.asarray(self._backend.to_host(self._x), float)

    def load(self, source: Floats) -> Floats:
        """The right-hand side of a source at the elements' nodes, (elements, (N + 1)^3)."""
        return self.assemble(source * self.elements.geometry.mass)

    def diagonal(self) -> Floats:
        """A's, assembled; 1 where values are prescribed."""
        of_elements = self.elements.geometry.diagonal(self._space.degree, self._screening)
        return np.where(self.mask > 0, self.assemble(of_elements), 1.0)

    # --- launches ---------------------------------------------------------------------------------

    def _compose(self) -> list[Launch]:
        first, outer, second = map(self._work, turns(self._backend, self._space))
        return hidden(self._backend, self._halo, self._gather, first, outer, second)

    def _work(self, some: Numbers) -> list[Launch]:
        energies = self._backend.zeros((self.elements.blocks(some),), "f8")
        return self.elements.launches(some, self._x, self.local, energies)

    def _unprescribed(self, fixed: Collection[int]) -> Floats:
        """The mask: a node is prescribed if it is on such a side of any element of any rank."""
        flags = self._space.on_sides(fixed).astype(float)
        return np.asarray(self.assemble(flags) == 0, float)

    def _masking(self) -> list[Launch]:
        own = self._space.sharing.own
        if not own or self.mask.all():
            return []
        mask = self._backend.to_device(self.mask.astype(self._x.dtype))
        return multiply(self._backend, self._y, mask, self._y, own)


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
        self.launches = multiply(backend, x, factors, y, own)

    def check(self) -> None:
        """Nothing can go wrong."""

    def close(self) -> None:
        """Nothing is held of others."""


def operator_source(
    dtype: DTypeLike,
    degree: int,
    screening: float,
    metric: str = "stored",
    way: Way | None = None,
    components: int = 1,
) -> Source:
    """A GPU's kernels for values of a type and degree, in a way or the usual one."""
    name = str(np.dtype(dtype))
    constants = element_constants(name, degree, screening, on_host=False)
    usual = way_of(name, degree, metric, screening, components=components)
    sharing = (way or usual).constants(degree)
    choice = {"GEOMETRY": METRICS[metric], "COMPONENTS": components, **sharing}
    return Source(KERNELS / "operator.h", {**constants, **USUAL, **choice})
