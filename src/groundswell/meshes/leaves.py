"""The leaves of a forest as hexahedra that share no nodes, for discontinuous fields.

One polynomial maps each deformed root, and each leaf is a part of its root. Leaves of different
sizes thus meet without gaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.meshes.box import Deformation
from groundswell.meshes.entities import Entities
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, INSIDE, Floats
from groundswell.meshes.octree import Forest
from groundswell.meshes.octree_faces import FaceKind, find_faces


@dataclass(frozen=True, eq=False)
class Leaves:
    """See `Hexahedra`; elements are leaves, in their order.

    Args:
        deform: maps nodes of roots, (..., 3), from the forest to the mesh; must be continuous.
        order: degree of the element maps; 1 keeps the edges of roots straight.
    """

    forest: Forest
    deform: Deformation | None = None
    order: int = 1

    @property
    def count(self) -> int:
        """Number of elements."""
        return self.forest.count

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """See `Hexahedra`. The bits do not depend on the other elements."""
        if self.deform is None:
            return box_nodes(*self.forest.boxes(np.asarray(elements, np.int64)), self.order)
        return self.nodes_from_roots(*self.root_nodes(elements), elements)

    def nodes_from_roots(self, nodes: Floats, root: Integers, elements: ArrayLike) -> Floats:
        """The nodes of elements, as parts of roots; see `root_nodes`."""
        return np.moveaxis(self.restrict(np.moveaxis(nodes, -1, 1)[root], elements), 1, -1)

    def root_nodes(self, elements: ArrayLike) -> tuple[Floats, Integers]:
        """Nodes of the roots that contain elements, and the root of each element.

        Returns:
            Positions in the mesh, (roots, (order + 1)^3, 3), m; and indices of roots, (elements,).
        """
        bits = AXES * self.forest.max_level
        keys = self.forest.keys[np.asarray(elements, np.int64)] >> bits << bits
        roots, root = np.unique(keys, return_inverse=True)
        boxes = self.forest.boxes_of(roots, np.zeros(len(roots), np.int8))
        nodes = box_nodes(*boxes, self.order)
        return (nodes if self.deform is None else self.deform(nodes)), root

    def restrict(self, values: Floats, elements: ArrayLike) -> Floats:
        """Evaluate polynomials on the elements' roots at the nodes of the elements.

        Args:
            values: at the nodes of each element's root, (elements, components, (order + 1)^3).

        Returns:
            An array of the same shape. The bits do not depend on the other elements.
        """
        leaves, n = np.asarray(elements, np.int64), self.order + 1
        if not self.forest.levels[leaves].any():
            return values
        cubes = values.reshape(*values.shape[:2], n, n, n)
        for axis, matrices in enumerate(self._from_roots(leaves)):
            lines = np.moveaxis(cubes, -1 - axis, -1)
            sums = np.zeros_like(lines)
            for m in range(n):
                sums += lines[..., m, None] * matrices[:, None, None, None, :, m]
            cubes = np.moveaxis(sums, -1, -1 - axis)
        return cubes.reshape(values.shape)

    def _from_roots(self, leaves: Integers) -> Iterator[Floats]:
        """Yield the interpolation along x, y and z from nodes of roots, (leaves, n, n)."""
        forest, basis = self.forest, gll(self.order)
        levels = forest.levels[leaves].astype(np.int64)
        parts = (1 << levels)[:, None]  # of the root along each axis
        for anchors in forest.anchors(leaves).T:
            part = (anchors >> (forest.max_level - levels))[:, None] % parts
            # Exact in roots that are not divided.
            targets = (basis.points + (1 + 2 * part - parts)) / parts
            yield basis.interpolation(targets.ravel()).reshape(*targets.shape, -1)

    def ids(self, degree: int, elements: ArrayLike) -> Integers:
        """See `Hexahedra`: every element has nodes of its own."""
        nodes = (degree + 1) ** AXES
        return np.asarray(elements, np.int64)[:, None] * nodes + np.arange(nodes)

    def entities(self, elements: ArrayLike) -> Entities:
        """See `Hexahedra`: elements share none."""
        return Entities.of_separate(np.asarray(elements, np.int64))

    def count_nodes(self, degree: int) -> int:
        """Number of distinct nodes of a degree in the whole mesh."""
        return self.count * (degree + 1) ** AXES

    def tags(self, elements: ArrayLike) -> Integers:
        """See `Hexahedra`: the tag of a face on the boundary is its number plus one."""
        kinds = find_faces(self.forest, np.asarray(elements, np.int64)).kinds
        return np.where(kinds == FaceKind.BOUNDARY, np.arange(1, 2 * AXES + 1), INSIDE)


def box_nodes(low: Floats, high: Floats, order: int) -> Floats:
    """Positions of the nodes of boxes, (boxes, (order + 1)^3, 3), m.

    Args:
        low, high: corners of the boxes, (boxes, 3), m.
        order: degree of the nodes.
    """
    inside, n = (gll(order).points + 1) / 2, order + 1
    places = np.unravel_index(np.arange(n**AXES), (n,) * AXES)[::-1]
    columns = [
        low[:, a, None] * (1 - inside[place]) + high[:, a, None] * inside[place]
        for a, place in enumerate(places)
    ]
    return np.stack(columns, axis=-1)
