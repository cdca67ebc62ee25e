"""The division of the elements among ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, counted
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.octree import Forest, partition_curve
from groundswell.solvers.dgwave.mesh.elements import RankElements


@dataclass(frozen=True, eq=False)
class Partition:
    """Divides the elements among ranks along their order, so that all have about the same work.

    Args:
        connectivity: the mesh that defines the neighbours of elements.
        costs: of all elements in their order, see `element_costs`, (elements,).
    """

    connectivity: Forest | Mesh
    costs: Floats

    def starts(self, ranks: int) -> Integers:
        """The first element of each rank, and the number of elements, (ranks + 1,).

        Raises:
            InputError: fewer elements than ranks.
        """
        count = self.connectivity.count
        if ranks > count:
            raise InputError(
                f"{counted(count, 'element')} cannot be divided among {ranks} ranks; use at "
                "most one rank per element"
            )
        return partition_curve(self.costs, ranks)

    def elements(self, ranks: int, rank: int) -> RankElements:
        """The elements of a rank.

        Their faces take seconds to find in large meshes, so the latest elements are kept.
        """
        if (ranks, rank) not in self._latest:
            self._latest.clear()
            self._latest[ranks, rank] = RankElements(self.connectivity, self.starts(ranks), rank)
        return self._latest[ranks, rank]

    @cached_property
    def _latest(self) -> dict[tuple[int, int], RankElements]:
        return {}
