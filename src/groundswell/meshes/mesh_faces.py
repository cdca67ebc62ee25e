"""Neighbours of the elements of an unstructured mesh, whose reference axes may be turned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Integers
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.mesh import FACES, Mesh

NOWHERE = -1
TURNS = 8
REVERSE_FAST, REVERSE_SLOW, SWAP = 1, 2, 4


@dataclass(frozen=True, eq=False)
class MeshFaces:
    """What lies beyond the faces of elements, (elements, 6) each; made by `find_mesh_faces`.

    Args:
        neighbours: the elements beyond, or NOWHERE.
        faces: of these, by which they meet; 0 where there is none.
        turns: how the axes of the face lie in the other element, 0 to 7: bits 1 and 2 reverse the
            fast and the slow axis, then bit 4 swaps them.
    """

    neighbours: Integers
    faces: Integers
    turns: Integers


def find_mesh_faces(mesh: Mesh) -> MeshFaces:
    """Find the neighbours of all elements."""
    one, two = mesh.face_sides
    shared = one != two
    one, two = one[shared], two[shared]
    numbers = mesh.faces[1]
    neighbours, (faces, turns) = np.full(numbers.size, NOWHERE), np.zeros((2, numbers.size), int)
    for own, other in ((one, two), (two, one)):
        neighbours[own], faces[own] = np.divmod(other, 2 * AXES)
    corners = mesh.corners[:, FACES].reshape(-1, 4)
    turns[one] = find_turns(corners[one], corners[two])
    turns[two] = _INVERSES[turns[one]]
    return MeshFaces(*(values.reshape(numbers.shape) for values in (neighbours, faces, turns)))


def turned(turn: int, nodes: int) -> Integers:
    """Indices in the other element's order of the nodes of a face, (nodes^2,).

    Args:
        turn: see `MeshFaces`.
        nodes: of the face along an axis.
    """
    slow, fast = np.divmod(np.arange(nodes**2), nodes)
    a = nodes - 1 - fast if turn & REVERSE_FAST else fast
    b = nodes - 1 - slow if turn & REVERSE_SLOW else slow
    return a * nodes + b if turn & SWAP else b * nodes + a


# By the places in the other element's order of the first corner, and of the next on the fast axis.
_TURN_OF_CORNERS = np.zeros((4, 4), np.int64)
for _turn in range(TURNS):
    _TURN_OF_CORNERS[tuple(turned(_turn, 2)[:2])] = _turn


def find_turns(own: Integers, other: Integers) -> Integers:
    """The turns of faces with these corners, (faces, 4) each, the fast axis first; see `MeshFaces`.

    Args:
        own, other: vertices of the same faces, as two elements number them.
    """
    first, second = (
        sum(place * (other[:, place] == own[:, corner]) for place in range(1, 4))
        for corner in range(2)
    )
    return _TURN_OF_CORNERS[first, second]


# The turns of the same faces as the other elements see them.
_INVERSES = np.array(
    [find_turns(np.argsort(turned(turn, 2))[None], np.arange(4)[None])[0] for turn in range(TURNS)]
)
