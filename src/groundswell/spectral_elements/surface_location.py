"""The surface of a mesh: where vertical lines enter it, by Newton's method on boundary faces."""

from __future__ import annotations

import numpy as np

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, INSIDE, Floats, Hexahedra, Numbers, face_nodes
from groundswell.spectral_elements.geometry import FaceGeometry, chunks
from groundswell.spectral_elements.point_location import (
    BULGE,
    CONVERGED,
    FARTHEST,
    ITERATIONS,
    pairs_in_boxes,
)
from groundswell.spectral_elements.point_location import INSIDE as WITHIN

FLAT = 1e-12  # determinant of a map to x and y over its squares, below which a face is vertical
STEEP = 0.5  # share of a face's area that is horizontal, below which it is a side of the mesh


def find_surface(mesh: Hexahedra, points: Floats) -> Floats:
    """The lowest z of the mesh's boundary at positions (x, y), (points, 2); NaN where it has none.

    z points down, so this is the top of the mesh, (points,), m.
    """
    found = np.full(len(points), np.inf)
    if not len(points):
        return found
    faces = _boundary(mesh)
    low, high = faces[..., :2].min(axis=1), faces[..., :2].max(axis=1)
    margin = BULGE * (high - low).max(axis=1, keepdims=True)
    which, near = pairs_in_boxes(low - margin, high + margin, points)
    for part in chunks(len(which), faces.shape[1]):
        heights = _heights(faces[near[part]], mesh.order, points[which[part]])
        np.fmin.at(found, which[part], heights)
    return np.where(np.isfinite(found), found, np.nan)


def top_faces(mesh: Hexahedra) -> tuple[Numbers, Floats]:
    """The elements of boundary faces that face up, and the horizontal areas of these faces, m^2.

    z points down. Steep faces count as sides. An element with two faces is there twice.
    """
    element, face = _boundary_faces(mesh)
    every = FaceGeometry.at_nodes(mesh.geometry_nodes(element), mesh.order)
    normals, areas = (values[np.arange(len(face)), face] for values in (every.normals, every.areas))
    weights = np.outer(gll(mesh.order).weights, gll(mesh.order).weights).ravel()
    upward = -(normals[..., 2] * areas) @ weights
    is_top = upward > STEEP * (areas @ weights)
    return element[is_top], upward[is_top]


def _boundary_faces(mesh: Hexahedra) -> tuple[Numbers, Numbers]:
    """Elements and faces of the boundary, (faces,) each."""
    element, face = np.nonzero(mesh.tags(np.arange(mesh.count)) != INSIDE)
    return element, face


def _boundary(mesh: Hexahedra) -> Floats:
    """Nodes of the boundary's faces, (faces, (order + 1)^2, 3)."""
    element, face = _boundary_faces(mesh)
    inside = np.array([face_nodes(mesh.order, n) for n in range(2 * AXES)])
    return np.asarray(mesh.geometry_nodes(element)[np.arange(len(face))[:, None], inside[face]])


def _heights(faces: Floats, order: int, points: Floats) -> Floats:
    """z of each face at a position (x, y), (faces,); NaN where the face does not hold it."""
    places, flat = np.zeros((len(faces), 2)), np.zeros(len(faces), bool)
    active = np.arange(len(faces))
    for _ in range(ITERATIONS):
        reached, slopes = _map(faces[active], order, places[active])
        determinants = np.linalg.det(slopes[:, :2])
        flat[active] |= np.abs(determinants) < FLAT * np.square(slopes).sum(axis=(1, 2))
        safe = np.where(flat[active, None, None], np.eye(2), slopes[:, :2])
        change = np.linalg.solve(safe, (points[active] - reached[:, :2])[..., None])[..., 0]
        moved = np.clip(places[active] + change, -FARTHEST, FARTHEST)
        change, places[active] = moved - places[active], moved
        active = active[~flat[active] & (np.abs(change).max(axis=1) > CONVERGED)]
        if not len(active):
            break
    reached, _ = _map(faces, order, places)
    size = np.ptp(faces, axis=1).max(axis=1)
    near = np.linalg.norm(reached[:, :2] - points, axis=1) <= 1e-9 * size
    holds = near & ~flat & (np.abs(places) <= WITHIN).all(axis=1)
    return np.where(holds, reached[:, 2], np.nan)


def _map(faces: Floats, order: int, places: Floats) -> tuple[Floats, Floats]:
    """Positions (faces, 3) of places (faces, 2), and derivatives (faces, 3 of x, 2)."""
    basis, n = gll(order), order + 1
    values = [basis.interpolation(along) for along in places.T]
    slopes = [along @ basis.derivative for along in values]
    grid = faces.reshape(len(faces), n, n, AXES)

    def at(r: Floats, s: Floats) -> Floats:
        return np.asarray(np.einsum("fs,fr,fsrx->fx", s, r, grid))

    derivatives = [at(slopes[0], values[1]), at(values[0], slopes[1])]
    return at(*values), np.stack(derivatives, axis=-1)
