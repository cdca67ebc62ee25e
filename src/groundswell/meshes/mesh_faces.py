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
    numbers = mesh.faces[1].ravel()
    order = np.argsort(numbers, kind="stable")
    first = np.flatnonzero(numbers[order][1:] == numbers[order][:-1])
    one, two = order[first], order[first + 1]
    found = np.full((2, numbers.size), NOWHERE), np.zeros(numbers.size, np.int64)
    (neighbours, faces), turns = found
    corners = mesh.corners[:, FACES].reshape(-1, 4)
    for own, other in ((one, two), (two, one)):
        neighbours[own], faces[own] = np.divmod(other, 2 * AXES)
        turns[own] = find_turns(corners[own], corners[other])
    faces[neighbours == NOWHERE] = 0
    shape = mesh.faces[1].shape
    return MeshFaces(neighbours.reshape(shape), faces.reshape(shape), turns.reshape(shape))


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


def find_turns(own: Integers, other: Integers) -> Integers:
    """The turns of faces with these corners, (faces, 4) each, the fast axis first; see `MeshFaces`.

    Args:
        own, other: vertices of the same faces, as two elements number them.
    """
    fits = [(own == other[:, turned(turn, 2)]).all(axis=1) for turn in range(TURNS)]
    return np.argmax(fits, axis=0)
