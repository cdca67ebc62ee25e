"""Boxes of bent elements with named sides, as Gmsh writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from dense_spectral_elements import shuffled
from numpy.typing import NDArray

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.mesh import Mesh

FORMATS = [("2.2", False), ("2.2", True), ("4.1", False), ("4.1", True)]


def bend(points: NDArray[Any]) -> NDArray[Any]:
    """Quadratic, so elements of order 2 follow it exactly."""
    return points + 0.1 * points[..., [1, 2, 0]] ** 2 - 0.05 * points[..., [2, 0, 1]]


def bent(order: int, counts: Any = (3, 2, 2)) -> tuple[Mesh, NDArray[Any]]:
    """A bent box in disorder; tags of faces: 4 where x was 0, 7 where it was 1, else 2 outside."""
    mesh = shuffled(Box(counts, order=order), np.random.default_rng(5))
    tags = 2 * mesh.tags(np.arange(mesh.count))
    for face in range(6):
        x = mesh.nodes[:, face_nodes(order, face), 0]
        tags[(x == 0).all(axis=1), face] = 4
        tags[(x == 1).all(axis=1), face] = 7
    return Mesh(mesh.corners, bend(mesh.nodes), order), tags


NAMES = {"inlet": (4, 2), "the outlet": (7, 2), "inside": (1, 3)}
