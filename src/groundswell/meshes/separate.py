"""Elements that share no nodes, as discontinuous fields have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra


@dataclass(frozen=True, eq=False)
class SeparateElements:
    """See `Hexahedra`; the elements of another mesh, with nodes of their own."""

    mesh: Hexahedra

    @property
    def count(self) -> int:
        """See `Hexahedra`."""
        return self.mesh.count

    @property
    def order(self) -> int:
        """See `Hexahedra`."""
        return self.mesh.order

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """See `Hexahedra`."""
        return self.mesh.geometry_nodes(elements)

    def ids(self, degree: int, elements: ArrayLike) -> Integers:
        """See `Hexahedra`."""
        nodes = (degree + 1) ** AXES
        return np.asarray(elements, np.int64)[:, None] * nodes + np.arange(nodes)

    def count_nodes(self, degree: int) -> int:
        """See `Hexahedra`."""
        return self.count * (degree + 1) ** AXES

    def tags(self, elements: ArrayLike) -> Integers:
        """See `Hexahedra`."""
        return self.mesh.tags(elements)
