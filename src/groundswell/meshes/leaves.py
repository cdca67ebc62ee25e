"""The leaves of a forest as hexahedra that share no nodes, as discontinuous fields have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.meshes.hexahedra import AXES, INSIDE, Floats, Numbers
from groundswell.meshes.octree import Forest
from groundswell.meshes.octree_faces import FaceKind, find_faces


@dataclass(frozen=True, eq=False)
class Leaves:
    """See `Hexahedra`; elements are leaves, in their order."""

    forest: Forest

    @property
    def count(self) -> int:
        """See `Hexahedra`."""
        return self.forest.count

    @property
    def order(self) -> int:
        """See `Hexahedra`."""
        return 1

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """See `Hexahedra`."""
        ends = np.stack(self.forest.boxes(np.asarray(elements, np.int64)), axis=1)
        corners = np.arange(2**AXES)
        columns = [ends[:, corners >> axis & 1, axis] for axis in range(AXES)]
        return np.stack(columns, axis=-1)

    def ids(self, degree: int, elements: ArrayLike) -> Numbers:
        """See `Hexahedra`: every element has nodes of its own."""
        nodes = (degree + 1) ** AXES
        return np.asarray(elements, np.int64)[:, None] * nodes + np.arange(nodes)

    def count_nodes(self, degree: int) -> int:
        """See `Hexahedra`."""
        return self.count * (degree + 1) ** AXES

    def tags(self, elements: ArrayLike) -> Numbers:
        """See `Hexahedra`: the tag of a face on the boundary is its number plus one."""
        kinds = find_faces(self.forest, np.asarray(elements, np.int64)).kinds
        return np.where(kinds == FaceKind.BOUNDARY, np.arange(1, 2 * AXES + 1), INSIDE)
