"""The surface of a mesh: where vertical lines enter it, by Newton's method on boundary faces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from groundswell.arrays import Integers
from groundswell.meshes import hexahedra
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, face_nodes
from groundswell.spectral_elements.geometry import FaceGeometry, chunks
from groundswell.spectral_elements.point_location import (
    BULGE,
    INSIDE,
    NOWHERE,
    iterate,
    pairs_in_boxes,
    rounding,
)

FLAT = 1e-12  # determinant of a map to x and y over its squares, below which a face is vertical
SAME = 1e-9  # distance over the size of a face, below which positions are the same
STEEP = 0.5  # share of a face's area that is horizontal, below which it is a side of the mesh


@dataclass(frozen=True, eq=False)
class LocatedOnFaces:
    """Where positions lie on faces of elements.

    Args:
        elements: indices of the elements, or NOWHERE, (points,).
        faces: their faces, see `face_nodes`, (points,).
        places: coordinates on the faces' reference squares, (points, 2); along the first one, nodes
            are next to each other.
    """

    elements: Integers
    faces: Integers
    places: Floats

    def of(self, points: Integers, elements: Integers) -> Self:
        """Those of some points; `elements` are other indices of their elements."""
        return type(self)(elements, self.faces[points], self.places[points])

    def weights(self, degree: int) -> Floats:
        """Of a face's nodes in the value at each position, (points, (degree + 1)^2)."""
        r, s = (gll(degree).interpolation(along) for along in self.places.T)
        return (s[:, :, None] * r[:, None, :]).reshape(len(r), (degree + 1) ** 2)


def find_surface(mesh: Hexahedra, points: Floats) -> Floats:
    """The lowest z of the mesh's boundary at positions (x, y), (points, 2); NaN where it has none.

    z points down, so this is the top of the mesh, (points,), m.
    """
    return locate_surface(mesh, points)[0]


def locate_surface(mesh: Hexahedra, points: Floats) -> tuple[Floats, LocatedOnFaces]:
    """The surface at positions (x, y), (points, 2): its z, see `find_surface`, and its faces."""
    lowest, count = np.full(len(points), np.inf), len(points)
    found = LocatedOnFaces(np.full(count, NOWHERE), np.zeros(count, np.int64), np.zeros((count, 2)))
    element, face = _boundary_faces(mesh)
    nodes = _nodes_of(mesh, element, face)
    which, near = _faces_near(nodes, points)
    heights, places = np.empty(len(which)), np.empty((len(which), 2))
    for part in chunks(len(which), nodes.shape[1]):
        heights[part], places[part] = _enter(nodes[near[part]], mesh.order, points[which[part]])
    np.fmin.at(lowest, which, heights)
    # Faces that meet at a position differ by rounding; the first of them is taken.
    is_top = heights <= lowest[which] + SAME * np.ptp(nodes, axis=1).max(axis=1)[near]
    own, first = np.unique(which[is_top], return_index=True)
    chosen = near[is_top][first]
    found.elements[own], found.faces[own] = element[chosen], face[chosen]
    found.places[own] = places[is_top][first]
    return np.where(np.isfinite(lowest), lowest, np.nan), found


def top_faces(mesh: Hexahedra) -> tuple[Integers, Floats]:
    """The elements of the surface's faces, and the horizontal areas of these faces, m^2.

    z points down. A face belongs to the surface if a vertical line through its middle enters the
    mesh there. Steep faces count as sides. An element with two such faces is there twice.
    """
    element, face, upward, whole = upward_areas(mesh)
    rising = np.flatnonzero(upward > STEEP * whole)
    nodes = _nodes_of(mesh, element[rising], face[rising])
    middles, _ = _map(nodes, mesh.order, np.zeros((len(rising), 2)))
    below = middles[:, 2] - find_surface(mesh, middles[:, :2])
    highest = rising[below <= SAME * np.ptp(nodes, axis=1).max(axis=1)]
    return element[highest], upward[highest]


def upward_areas(mesh: Hexahedra) -> tuple[Integers, Integers, Floats, Floats]:
    """Elements and faces of the boundary, and their areas (faces,), m^2, z down.

    The areas are the horizontal ones, negative where the outward normal points down, and the whole.
    """
    element, face = _boundary_faces(mesh)
    every = FaceGeometry.at_nodes(mesh.geometry_nodes(element), mesh.order)
    normals, areas = (values[np.arange(len(face)), face] for values in (every.normals, every.areas))
    weights = np.outer(gll(mesh.order).weights, gll(mesh.order).weights).ravel()
    return element, face, -(normals[..., 2] * areas) @ weights, areas @ weights


def _boundary_faces(mesh: Hexahedra) -> tuple[Integers, Integers]:
    """Elements and faces of the boundary, (faces,) each."""
    element, face = np.nonzero(mesh.tags(np.arange(mesh.count)) != hexahedra.INSIDE)
    return element, face


def _nodes_of(mesh: Hexahedra, element: Integers, face: Integers) -> Floats:
    """Nodes of faces, (faces, (order + 1)^2, 3)."""
    inside = np.array([face_nodes(mesh.order, n) for n in range(2 * AXES)])
    return np.asarray(mesh.geometry_nodes(element)[np.arange(len(face))[:, None], inside[face]])


def _faces_near(nodes: Floats, points: Floats) -> tuple[Integers, Integers]:
    """Pairs of positions (x, y) and faces whose bounding boxes hold them."""
    low, high = nodes[..., :2].min(axis=1), nodes[..., :2].max(axis=1)
    margin = BULGE * (high - low).max(axis=1, keepdims=True)
    return pairs_in_boxes(low - margin, high + margin, points)


def _enter(faces: Floats, order: int, points: Floats) -> tuple[Floats, Floats]:
    """z of faces at a position (x, y) each, NaN beside the face, and places, (faces, 2)."""
    flat = np.zeros(len(faces), bool)  # vertical somewhere on the way

    def step(active: Integers, places: Floats) -> Floats:
        reached, slopes = _map(faces[active], order, places)
        determinants = np.linalg.det(slopes[:, :2])
        flat[active] |= np.abs(determinants) < FLAT * np.square(slopes).sum(axis=(1, 2))
        safe = np.where(flat[active, None, None], np.eye(2), slopes[:, :2])
        change = np.linalg.solve(safe, (points[active] - reached[:, :2])[..., None])[..., 0]
        return np.where(flat[active, None], 0.0, change)

    places = iterate(step, np.zeros((len(faces), 2)))
    reached, _ = _map(faces, order, places)
    size = np.ptp(faces, axis=1).max(axis=1)
    slack = rounding(points)
    near = np.linalg.norm(reached[:, :2] - points, axis=1) <= SAME * size + slack
    within = np.abs(places).max(axis=1, initial=0) <= INSIDE + 2 * slack / size
    holds = near & within & ~flat
    return np.where(holds, reached[:, 2], np.nan), np.clip(places, -1.0, 1.0)


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
