"""Neighbours of the leaves of a forest of octrees, beyond each of their six faces.

Faces are numbered like those of hexahedra: face 2 a is at the low end of axis a, face 2 a + 1 at
the high end.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import Integers, Mask
from groundswell.errors import InputError
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.octree import Forest

QUARTERS = 4


class FaceKind(IntEnum):
    """The kind of neighbour beyond a face of a leaf."""

    BOUNDARY = 0  # none: the face is on the boundary of the box
    SAME = 1  # a leaf of the same level
    COARSER = 2  # a leaf one level up; this face covers a quarter of the neighbour's face
    FINER = 3  # four leaves one level down, one for each quarter of the face


@dataclass(frozen=True, eq=False)
class LeafFaces:
    """The faces of leaves; created by `find_faces`.

    Quarters of a face are numbered along the first of its two axes, then the second: for a face at
    an end of x, quarters 1 and 3 are at high y, 2 and 3 at high z.

    Args:
        kinds: `FaceKind` of each face, (leaves, 6).
        neighbours: numbers of the neighbouring leaves, (leaves, 6, 4): four finer ones in the order
            of quarters, or one. Other entries are -1.
        quarters: the quarter of a coarser neighbour's face that the face covers, 0 to 3; -1 for
            faces of other kinds, (leaves, 6).
    """

    kinds: NDArray[np.int8]
    neighbours: Integers
    quarters: NDArray[np.int8]


def find_faces(forest: Forest, leaves: ArrayLike | None = None) -> LeafFaces:
    """Find the neighbours beyond each face of leaves.

    A leaf that spans a periodic axis is its own neighbour.

    Args:
        forest: a forest that is balanced, at least across faces.
        leaves: numbers of leaves; all of them if None.

    Raises:
        InputError: levels on the two sides of a face differ by more than one.
    """
    anchors, sizes = forest.anchors(leaves), forest.sizes(leaves)
    kinds = np.empty((len(sizes), 2 * AXES), np.int8)
    neighbours = np.full((*kinds.shape, QUARTERS), -1, np.int64)
    quarters = np.full(kinds.shape, -1, np.int8)
    for face in range(2 * AXES):
        beyond = _octants_beyond(anchors, sizes, face)
        found = neighbours[:, face, 0] = forest.find(beyond)
        kind = kinds[:, face] = _kinds(forest, found, sizes)
        coarser, finer = kind == FaceKind.COARSER, kind == FaceKind.FINER
        quarters[coarser, face] = _quarters(anchors[coarser], sizes[coarser], face)
        neighbours[finer, face] = _finer(forest, beyond[finer], sizes[finer], face)
    return LeafFaces(kinds, neighbours, quarters)


def _octants_beyond(anchors: Integers, sizes: Integers, face: int) -> Integers:
    """First lattice cells of the octants of the same size beyond a face of leaves, (leaves, 3)."""
    axis, side = divmod(face, 2)
    cells = anchors.copy()
    cells[:, axis] += sizes if side else -sizes
    return cells


def _kinds(forest: Forest, found: Integers, sizes: Integers) -> NDArray[np.int8]:
    """The kind of a face of leaves of given sizes, from the first leaf beyond, (leaves,)."""
    beyond = forest.sizes(found)
    kinds = np.full(len(found), FaceKind.SAME, np.int8)
    kinds[beyond > sizes] = FaceKind.COARSER
    kinds[beyond < sizes] = FaceKind.FINER
    kinds[found < 0] = FaceKind.BOUNDARY
    _require_balanced(beyond[kinds == FaceKind.COARSER] == 2 * sizes[kinds == FaceKind.COARSER])
    return kinds


def _quarters(anchors: Integers, sizes: Integers, face: int) -> Integers:
    """The quarter of the parent's face that the face of each leaf covers, (leaves,)."""
    first, second = ((anchors[:, axis] // sizes) & 1 for axis in _tangential(face))
    return first + 2 * second


def _finer(forest: Forest, octants: Integers, sizes: Integers, face: int) -> Integers:
    """The four leaves next to a face in the octants beyond it, (leaves, 4)."""
    (axis, side), (first, second) = divmod(face, 2), _tangential(face)
    steps = np.zeros((QUARTERS, AXES), np.int64)
    steps[:, first], steps[:, second] = [0, 1, 0, 1], [0, 0, 1, 1]
    steps[:, axis] = 1 - side  # beyond a low face, the leaves are at the high end of the octant
    halves = sizes[:, None] // 2
    found = forest.find(octants[:, None] + halves[:, None] * steps)
    _require_balanced(forest.sizes(found) == halves)
    return found


def _tangential(face: int) -> tuple[int, int]:
    """The two axes in the plane of a face."""
    first, second = (axis for axis in range(AXES) if axis != face // 2)
    return first, second


def _require_balanced(balanced: Mask) -> None:
    """Check that all neighbours beyond faces have valid sizes."""
    if not balanced.all():
        raise InputError(
            "levels of leaves on two sides of a face differ by more than one; balance the forest"
        )
