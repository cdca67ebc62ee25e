"""Where vertical lines enter a mesh: Newton's method on the faces of its boundary."""

from __future__ import annotations

import numpy as np

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, INSIDE, Floats, Hexahedra, face_nodes
from groundswell.spectral_elements.point_location import BULGE, CONVERGED, FARTHEST, ITERATIONS
from groundswell.spectral_elements.point_location import INSIDE as WITHIN


def find_surface(mesh: Hexahedra, points: Floats) -> Floats:
    """The lowest z of the mesh's boundary at positions (x, y), (points, 2); NaN where it has none.

    z points down, so this is the top of the mesh, (points,), m.
    """
    faces = _boundary(mesh)
    low, high = faces[..., :2].min(axis=1), faces[..., :2].max(axis=1)
    margin = BULGE * (high - low).max(axis=1, keepdims=True)
    found = np.full(len(points), np.nan)
    for n, point in enumerate(points):
        near = ((low - margin <= point) & (point <= high + margin)).all(axis=1)
        heights = _heights(faces[near], mesh.order, point)
        if heights.size:
            found[n] = heights.min()
    return found


def _boundary(mesh: Hexahedra) -> Floats:
    """Nodes of the boundary's faces, (faces, (order + 1)^2, 3)."""
    everyone = np.arange(mesh.count)
    element, face = np.nonzero(mesh.tags(everyone) != INSIDE)
    inside = np.array([face_nodes(mesh.order, n) for n in range(2 * AXES)])
    return np.asarray(mesh.geometry_nodes(element)[np.arange(len(face))[:, None], inside[face]])


def _heights(faces: Floats, order: int, point: Floats) -> Floats:
    """z of the faces that hold a position (x, y)."""
    places, flat = np.zeros((len(faces), 2)), np.zeros(len(faces), bool)
    for _ in range(ITERATIONS):
        reached, slopes = _map(faces, order, places)
        determinants = np.linalg.det(slopes[:, :2])
        flat |= np.abs(determinants) < 1e-12 * np.square(slopes).sum(axis=(1, 2))
        safe = np.where(flat[:, None, None], np.eye(2), slopes[:, :2])
        change = np.linalg.solve(safe, (point - reached[:, :2])[..., None])[..., 0]
        places = np.clip(places + change, -FARTHEST, FARTHEST)
        if (np.abs(change).max(axis=1, initial=0) <= CONVERGED)[~flat].all():
            break
    reached, _ = _map(faces, order, places)
    size = np.ptp(faces, axis=1).max(axis=1)
    near = np.linalg.norm(reached[:, :2] - point, axis=1) <= 1e-9 * size
    return np.asarray(reached[near & ~flat & (np.abs(places) <= WITHIN).all(axis=1), 2])


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
