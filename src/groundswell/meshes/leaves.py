"""The leaves of a forest as hexahedra that share no nodes, as discontinuous fields have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.meshes.box import Deformation
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, INSIDE, Floats, Numbers
from groundswell.meshes.octree import Forest
from groundswell.meshes.octree_faces import FaceKind, find_faces


@dataclass(frozen=True, eq=False)
class Leaves:
    """See `Hexahedra`; elements are leaves, in their order.

    Args:
        deform: maps positions (..., 3) in the forest to those of the mesh; must be continuous.
        order: degree of the element maps; 1 keeps edges straight.
    """

    forest: Forest
    deform: Deformation | None = None
    order: int = 1

    @property
    def count(self) -> int:
        """See `Hexahedra`."""
        return self.forest.count

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """See `Hexahedra`. The bits do not depend on the other elements."""
        low, high = self.forest.boxes(np.asarray(elements, np.int64))
        inside, n = (gll(self.order).points + 1) / 2, self.order + 1
        places = np.unravel_index(np.arange(n**AXES), (n,) * AXES)[::-1]
        columns = [
            low[:, a, None] * (1 - inside[place]) + high[:, a, None] * inside[place]
            for a, place in enumerate(places)
        ]
        nodes = np.stack(columns, axis=-1)
        return nodes if self.deform is None else self.deform(nodes)

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
