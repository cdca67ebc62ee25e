"""The faces of a fault on a physical surface of a mesh, and which of their sides hangs."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.meshes.hexahedra import AXES, face_nodes
from groundswell.meshes.mesh import FACES, Mesh, pack
from groundswell.meshes.mesh_faces import find_turns
from groundswell.seismology.faults.planes import hanging_side
from groundswell.solvers.dgwave.faults.faces import FaultFaces

SIDES = 2 * AXES  # of an element
AROUND = [0, 1, 3, 2]  # corners of a face one after the other, as `FACES` numbers them
DIAGONALS = ((0, 3), (1, 2))


def faces_on_surface(mesh: Mesh, surface: Integers, azimuth: float | None = None) -> FaultFaces:
    """The faces of a fault on a surface inside a mesh.

    Faces that share an edge are oriented alike. An edge of three or more faces, at a branch, joins
    none.

    Args:
        surface: vertices of its faces in rising order, (faces, 4).
        azimuth: strike, see `hanging_side`.

    Raises:
        InputError: the hanging wall is not defined.
    """
    sides = _sides(mesh, surface)
    parts, signs = _oriented_parts(_corners_around(mesh, sides[:, 0]))
    areas = signs[:, None] * _areas(mesh, sides[:, 0])
    is_foot = signs * _hanging_sides(parts, areas, azimuth) > 0
    walls = np.where(is_foot[:, None], sides, sides[:, ::-1])
    corners = mesh.corners[:, FACES].reshape(-1, 4)
    turns = find_turns(corners[walls[:, 0]], corners[walls[:, 1]])
    elements, faces = np.divmod(walls, SIDES)
    return FaultFaces(elements, faces, turns)


def _sides(mesh: Mesh, surface: Integers) -> Integers:
    """The two sides of faces, as 6 times the element plus its face, (faces, 2)."""
    return np.column_stack(mesh.face_sides)[mesh.find_faces(surface)]


def _outward(sides: Integers) -> Integers:
    """1 where the corners `AROUND` a face turn counterclockwise seen from outside, else -1."""
    axis, end = np.divmod(sides % SIDES, 2)
    return np.where((axis == 1) == (end == 0), 1, -1)


def _corners_around(mesh: Mesh, sides: Integers) -> Integers:
    """Vertices of faces, counterclockwise seen from outside their element, (faces, 4)."""
    around = mesh.corners[:, FACES].reshape(-1, 4)[sides][:, AROUND]
    return np.where(_outward(sides)[:, None] > 0, around, around[:, ::-1])


def _areas(mesh: Mesh, sides: Integers) -> Floats:
    """Outward normals of faces times their areas, from their corners, (faces, 3), m^2."""
    n = mesh.order + 1
    places = np.array([face_nodes(mesh.order, face) for face in range(SIDES)])
    element, face = np.divmod(sides, SIDES)
    corners = places[face][:, [0, n - 1, n * (n - 1), n * n - 1]]
    at = mesh.nodes[element[:, None], corners]
    one, other = (at[:, b] - at[:, a] for a, b in DIAGONALS)
    return np.asarray(_outward(sides)[:, None] * np.cross(one, other) / 2)


# --- orientation ----------------------------------------------------------------------------------


def _oriented_parts(around: Integers) -> tuple[Integers, Integers]:
    """The connected part of each face, and 1 or -1 where its side is that of its part.

    In a graph, each face has a node for either orientation. Links join those that agree.

    Args:
        around: vertices of faces, counterclockwise seen from outside, (faces, 4).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(around)
    one, two, alike = _neighbours(around)
    ends = [(one, two + count * ~alike), (one + count, two + count * alike)]
    rows, columns = (np.concatenate(each) for each in zip(*ends, strict=True))
    links = coo_array((np.ones(len(rows)), (rows, columns)), shape=(2 * count, 2 * count))
    labels = connected_components(links, directed=False)[1].reshape(2, count)
    if (labels[0] == labels[1]).any():
        raise InputError("its surface has only one side (a Moebius strip); cut it")
    return labels.min(axis=0), np.where(labels[0] < labels[1], 1, -1)


def _neighbours(around: Integers) -> tuple[Integers, Integers, Integers]:
    """Pairs of faces that alone share an edge, and whether they agree; see `_oriented_parts`."""
    ends = np.stack([around, np.roll(around, -1, axis=1)], axis=-1).reshape(-1, 2)
    face = np.repeat(np.arange(len(around)), 4)
    _, edge, sharing = np.unique(
        pack(np.sort(ends, axis=1)), return_inverse=True, return_counts=True
    )
    order = np.argsort(edge, kind="stable")
    first = (np.cumsum(sharing) - sharing)[sharing == 2]
    one, two = order[first], order[first + 1]
    alike = ends[one, 0] != ends[two, 0]  # they run along their edge in opposite directions
    return face[one], face[two], alike


def _hanging_sides(parts: Integers, areas: Floats, azimuth: float | None) -> Floats:
    """1 for each face if the normals of its part point to the hanging wall, else -1, (faces,).

    Args:
        parts: of the faces, (faces,).
        areas: normals times areas, oriented alike in each part, (faces, 3), m^2.
    """
    _, part = np.unique(parts, return_inverse=True)
    totals = np.zeros((part.max() + 1, AXES))
    np.add.at(totals, part, areas)
    whole = np.bincount(part, np.linalg.norm(areas, axis=1))
    means = totals / whole[:, None]
    return np.array([hanging_side(mean, azimuth) for mean in means])[part]
