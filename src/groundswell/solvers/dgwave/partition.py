"""The division of the elements among ranks, by their computational cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, counted
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.octree import Forest, partition_curve
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.mesh.elements import RankElements

# Additional costs of an element relative to a brick, from measurements on a CPU and a GPU, see
# docs/performance/dgwave.md. Attenuation and curved elements need no weight, because all elements
# have them or none has.
MATCHED_LAYER = 0.3  # for each axis to which a matched layer is normal
MORTAR = 1.0  # for each face with finer neighbours
CURVED_MORTAR = 0.5  # the same, relative to an element that is not a brick


@dataclass(frozen=True, eq=False)
class Partition:
    """Divides the elements among ranks along their order, so that all have about the same work.

    Args:
        connectivity: the mesh that defines the neighbours of elements.
        costs: of all elements in their order, see `element_costs`, (elements,).
        absorbing: the elements that absorb waves, ascending.
    """

    connectivity: Forest | Mesh
    costs: Floats
    absorbing: Integers

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
            starts = self.starts(ranks)
            self._latest[ranks, rank] = RankElements(
                self.connectivity, starts, rank, self.absorbing
            )
        return self._latest[ranks, rank]

    @cached_property
    def _latest(self) -> dict[tuple[int, int], RankElements]:
        return {}


def element_costs(geometry: Geometry, layer_axes: Integers) -> Floats:
    """Costs of all elements in their order, (elements,); without layers and mortars, 1.

    Args:
        layer_axes: number of axes to which matched layers with an element are normal, (elements,).
    """
    costs = 1 + MATCHED_LAYER * layer_axes
    everyone = RankElements(geometry.connectivity, np.array([0, geometry.count]), 0)
    if everyone.has_levels:
        mortar = CURVED_MORTAR if geometry.is_curved else MORTAR
        costs += mortar * np.bincount(everyone.mortars[:, 0], minlength=geometry.count)
    return np.asarray(costs, float)
