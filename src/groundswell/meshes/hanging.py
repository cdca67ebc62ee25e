"""Hanging vertices of hexahedral meshes: those that lie inside faces of other elements."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Integers, Mask
from groundswell.meshes.hexahedra import Floats
from groundswell.meshes.mesh import FACES, Mesh

_NEAR = 1e-3  # distance of a hanging vertex from a face, over the element's least thickness
_PLACES = 1e-3  # tolerance of places in faces, which extend from 0 to 1
_ITERATIONS = 8  # of Newton's method; faces are nearly parallelograms
_BATCH = 2**14  # faces at a time


def find_hanging(mesh: Mesh, points: Floats) -> tuple[Integers, Integers]:
    """Pairs of a face and a vertex that lies in it, or on its edge, but is not its corner.

    Only faces of a single element count. In a conforming mesh, they are the boundary. Faces are
    bilinear.

    Args:
        points: positions of the vertices, (vertices, 3), m.

    Returns:
        Numbers of faces, see `Mesh.faces`, and of vertices; (pairs,) each.
    """
    from scipy.spatial import cKDTree  # takes long to import

    number = mesh.faces[1]
    element, side = np.nonzero(np.bincount(number.ravel())[number] == 1)
    corners = mesh.corners[element[:, None], FACES[side]]
    vertices = np.unique(corners)
    at = points[corners]
    middle = at.mean(axis=1)
    radius = np.linalg.norm(at - middle[:, None], axis=2).max(axis=1) * (1 + _PLACES)
    tree, found = cKDTree(points[vertices]), [np.empty((0, 2), np.int64)]
    for first in range(0, len(corners), _BATCH):
        chosen = np.arange(first, min(first + _BATCH, len(corners)))
        near = tree.query_ball_point(middle[chosen], radius[chosen])
        face = np.repeat(chosen, [len(some) for some in near])
        vertex = vertices[np.concatenate(near).astype(np.int64)]
        other = (corners[face] != vertex[:, None]).all(axis=1)
        face, vertex = face[other], vertex[other]
        thickness = _thickness(points[mesh.corners[element[face]]])
        inside = _lies_in(points[vertex], at[face], thickness)
        found.append(np.column_stack([face, vertex])[inside])
    face, vertex = np.concatenate(found).T
    return number[element, side][face], vertex


def _thickness(corners: Floats) -> Floats:
    """The least distance of the middles of opposite faces, from corners (n, 8, 3), m, (n,)."""
    middles = corners[:, FACES].mean(axis=2)
    found: Floats = np.linalg.norm(middles[:, ::2] - middles[:, 1::2], axis=2).min(axis=1)
    return found


def _lies_in(points: Floats, faces: Floats, thickness: Floats) -> Mask:
    """Whether points, (n, 3), lie in bilinear faces with corners (n, 4, 3)."""
    uv = np.full((len(points), 2), 0.5)
    for _ in range(_ITERATIONS):
        offset, tangents = _residual(points, faces, uv)
        normal = np.einsum("nax,nbx->nab", tangents, tangents)
        slope = np.einsum("nax,nx->na", tangents, offset)
        uv = (uv + np.linalg.solve(normal, slope[..., None])[..., 0]).clip(-1, 2)
    distance = np.linalg.norm(_residual(points, faces, uv)[0], axis=1)
    within = ((uv >= -_PLACES) & (uv <= 1 + _PLACES)).all(axis=1)
    return np.asarray(within & (distance <= _NEAR * thickness))


def _residual(points: Floats, faces: Floats, uv: Floats) -> tuple[Floats, Floats]:
    """Points minus positions at (u, v) in faces, (n, 3), and the tangents there, (n, 2, 3)."""
    u, v = uv[:, 0, None], uv[:, 1, None]
    a, b, c, d = np.moveaxis(faces, 1, 0)
    along_u = (1 - v) * (b - a) + v * (d - c)
    along_v = (1 - u) * (c - a) + u * (d - b)
    offset = points - (1 - v) * ((1 - u) * a + u * b) - v * ((1 - u) * c + u * d)
    return offset, np.stack([along_u, along_v], axis=1)
