"""Faces that elements of a mesh share, and those that are its surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled
from numpy.typing import NDArray

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.mesh_faces import NOWHERE, find_mesh_faces, turned
from groundswell.spectral_elements.surface_location import find_surface, top_faces

pytestmark = pytest.mark.each_value


def test_faces_meet_at_their_nodes() -> None:
    """Nodes of a face are those of the other side, turned."""
    mesh = shuffled(Box((3, 2, 2), order=3), np.random.default_rng(4))
    found = find_mesh_faces(mesh)
    everyone = np.argwhere(found.neighbours != NOWHERE)
    assert len(everyone) == 2 * (2 * 2 * 2 + 3 * 2 + 3 * 2)
    assert len(np.unique(found.turns[found.neighbours != NOWHERE])) == 8
    for element, face in everyone:
        other, its = found.neighbours[element, face], found.faces[element, face]
        assert found.neighbours[other, its] == element and found.faces[other, its] == face
        here = mesh.nodes[element, face_nodes(3, face)]
        there = mesh.nodes[other, face_nodes(3, its)]
        assert np.allclose(here, there[turned(found.turns[element, face], 4)], atol=1e-14)


def test_tops_of_meshes() -> None:
    """Exact on trilinear and on curved elements, at their edges too; nothing beside them."""
    rng = np.random.default_rng(1)
    points = rng.uniform(0.05, 0.95, (30, 2))
    points[:5], points[5:9, 0] = [[0.5, 0.5]], 0.25

    def bend(x: NDArray[Any]) -> NDArray[Any]:
        lift = 0.1 * x[..., 0] ** 2 - 0.2 * x[..., 0] * x[..., 1] + 0.1 * x[..., 1]
        return np.stack([x[..., 0], x[..., 1], x[..., 2] + lift * (1 - x[..., 2])], axis=-1)

    mesh = shuffled(Box((4, 2, 2), deform=bend, order=2), rng)
    x, y = points.T
    assert np.allclose(find_surface(mesh, points), 0.1 * x**2 - 0.2 * x * y + 0.1 * y, atol=1e-12)
    assert np.isnan(find_surface(mesh, np.array([[1.2, 0.5], [-0.1, 0.0]]))).all()
    elements, areas = top_faces(mesh)
    assert len(set(elements)) == 8 and np.allclose(areas, 1 / 8)


def test_only_the_highest_of_many_faces_is_the_top() -> None:
    """Of two boxes above each other, and beside them."""
    low, high = (
        Box((3, 2, 1), high=(3, 2, 1)),
        Box((1, 1, 1), low=(1.0, 0.0, -2.0), high=(2, 1, -1)),
    )
    nodes = np.concatenate([box.geometry_nodes(np.arange(box.count)) for box in (low, high)])
    corners = np.concatenate([low.ids(1, np.arange(6)), high.ids(1, [0]) + 100])
    mesh = Mesh(corners, nodes, 1)
    points = np.array([[0.5, 0.5], [1.5, 0.5], [1.5, 1.5], [2.5, 1.999], [3.5, 0.5]])
    assert np.array_equal(find_surface(mesh, points), [0, -2, 0, 0, np.nan], equal_nan=True)
    assert sorted(top_faces(mesh)[0]) == [0, 2, 3, 4, 5, 6]


def test_floors_of_caves_are_not_the_surface() -> None:
    """A block of 3 x 1 x 3 elements without its middle."""
    box = Box((3, 1, 3), high=(3, 1, 3))
    solid = np.delete(np.arange(9), 4)
    mesh = Mesh(box.ids(1, solid), box.geometry_nodes(solid), 1)
    points = np.array([[0.5, 0.5], [1.5, 0.5]])
    assert np.array_equal(find_surface(mesh, points), [0, 0])
    elements, areas = top_faces(mesh)
    assert sorted(solid[elements]) == [0, 1, 2] and np.allclose(areas, 1)
