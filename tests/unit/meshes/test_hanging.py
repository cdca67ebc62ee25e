"""Vertices inside faces of other elements: found in meshes that do not conform, only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.meshes.box import Box
from groundswell.meshes.hanging import find_hanging
from groundswell.meshes.mesh import Mesh


def stacked(below: Any, *, high: Any = (1, 1, 1)) -> tuple[Mesh, Any]:
    """A box of 2 x 2 x 1 elements on another one, with coincident vertices merged."""
    boxes = [Box((2, 2, 1), high=high, order=1), Box(below, high=high, order=1)]
    nodes = [box.geometry_nodes(np.arange(box.count)) for box in boxes]
    nodes = np.concatenate([nodes[0], nodes[1] + [0, 0, high[2]]])
    points, corners = np.unique(nodes.reshape(-1, 3), axis=0, return_inverse=True)
    return Mesh(corners.reshape(-1, 8), nodes), points


@pytest.mark.parametrize("below", [(4, 4, 1), (3, 2, 1), (1, 1, 1)])
def test_vertices_in_faces_of_others_are_found(below: Any) -> None:
    mesh, points = stacked(below)
    faces, vertices = find_hanging(mesh, points)
    assert len(faces) and (points[vertices, 2] == 1).all()
    assert not (mesh.faces[0][faces] == vertices[:, None]).any()


@pytest.mark.parametrize("thickness", [1, 1e-3, 1e-5])
def test_conforming_meshes_have_none_however_thin(thickness: float) -> None:
    mesh, points = stacked((2, 2, 1), high=(1, 1, thickness))
    assert not find_hanging(mesh, points)[0].size
