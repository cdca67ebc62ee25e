"""Elements that share no nodes, as discontinuous fields have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.meshes.entities import Entities
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra


@dataclass(frozen=True, eq=False)
class SeparateElements:
    """See `Hexahedra`; the elements of another mesh, with nodes of their own."""

    mesh: Hexahedra

    @property
    def count(self) -> int:
        """Number of elements."""
        return self.mesh.count

    @property
    def order(self) -> int:
        """Degree of the polynomials that map [-1, 1]^3 to elements; 1 for straight edges."""
        return self.mesh.order

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """Positions of the nodes of degree `order`, (elements, (order + 1)^3, 3)."""
        return self.mesh.geometry_nodes(elements)

    def ids(self, degree: int, elements: ArrayLike) -> Integers:
        """Global ids of nodes, (elements, (degree + 1)^3); elements share nodes with equal ids."""
        nodes = (degree + 1) ** AXES
        return np.asarray(elements, np.int64)[:, None] * nodes + np.arange(nodes)

    def entities(self, elements: ArrayLike) -> Entities:
        """See `Hexahedra`: elements share none."""
        return Entities.of_separate(np.asarray(elements, np.int64))

    def count_nodes(self, degree: int) -> int:
        """Number of distinct nodes of a degree in the whole mesh."""
        return self.count * (degree + 1) ** AXES

    def tags(self, elements: ArrayLike) -> Integers:
        """Boundary tag of each face, or INSIDE for interior ones, (elements, 6)."""
        return self.mesh.tags(elements)
