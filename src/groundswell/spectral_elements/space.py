"""Functions on a rank's elements, and which of their values other elements and ranks share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.backends import Array, Backend
from groundswell.errors import InputError
from groundswell.exchange.assembly.operation import Operation
from groundswell.exchange.assembly.sharing import Sharing, find_sharing
from groundswell.exchange.tuning import Choice
from groundswell.exchange.world import World
from groundswell.meshes.hexahedra import AXES, Hexahedra, Numbers, face_nodes

USUAL = Choice("auto")
MOST_VALUES = 2**31  # of a rank: kernels are told their places in 32 bits


@dataclass(frozen=True, eq=False)
class Space:
    """Functions on this rank's elements: polynomials of one degree, continuous from one to another.

    Args:
        elements: numbers of this rank's elements in the mesh.
        sharing: of the nodes' ids; assembled values are in the order of `sharing.ids`.
        way: how values travel between ranks: transport and route.
    """

    mesh: Hexahedra
    degree: int
    elements: Numbers
    sharing: Sharing
    way: Choice = USUAL

    @classmethod
    def on(cls, world: World, mesh: Hexahedra, degree: int, elements: ArrayLike) -> Space:
        """All ranks must call it, with elements of which none is another's.

        Raises:
            InputError: a rank has more values than kernels can number.
        """
        chosen = np.asarray(elements, np.int64)
        ids = world.agree(lambda: mesh.ids(degree, chosen).ravel())
        sharing = find_sharing(world, ids)
        world.agree(lambda: require_numbers(len(sharing.ids)))
        return cls(mesh, degree, chosen, sharing)

    def by(self, way: Choice) -> Space:
        """The same, whose values travel so."""
        return replace(self, way=way)

    def coarser(self, world: World, degree: int) -> Space:
        """Functions of a lower degree on the same elements; all ranks must call it."""
        return Space.on(world, self.mesh, degree, self.elements).by(self.way)

    def operation(
        self,
        backend: Backend,
        world: World,
        kind: str,
        source: Array,
        target: Array,
        sharing: Sharing | None = None,
    ) -> Operation:
        """Whose messages take the way of this space; see `Operation`.

        Args:
            sharing: of some of the values; by default of all.
        """
        return Operation(
            *(backend, world, sharing or self.sharing, kind, source, target),
            transport=self.way.transport,
            route=self.way.route,
        )

    @property
    def places(self) -> Numbers:
        """Of each element's nodes among the assembled values, (elements, (N + 1)^3)."""
        return self.sharing.rows.reshape(len(self.elements), (self.degree + 1) ** AXES)

    def on_sides(self, tags: Collection[int]) -> NDArray[np.bool_]:
        """Which of its nodes each element has on these sides of the domain, (elements, (N + 1)^3).

        A node may be on a side by another element alone, which another rank may have.
        """
        found = np.zeros(self.places.shape, bool)
        outside = np.isin(self.mesh.tags(self.elements), list(tags))
        for face in range(2 * AXES):
            found[np.ix_(outside[:, face], face_nodes(self.degree, face))] = True
        return found


def require_numbers(values: int) -> None:
    """See that a rank's values have numbers; raises InputError."""
    if values > MOST_VALUES:
        raise InputError(
            f"a rank has {values:,} unknowns; allowed: up to {MOST_VALUES:,}; use more ranks"
        )
