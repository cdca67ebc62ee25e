"""Normals and surface Jacobians of faces against volumes, areas and each other."""

from __future__ import annotations

import numpy as np
import pytest
from dense_spectral_elements import shuffled

from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import face_nodes, positions
from groundswell.spectral_elements.geometry import FaceGeometry, compute_mass

DEGREE = 7


def bent(p: np.ndarray) -> np.ndarray:
    return p + 0.1 * p[..., ::-1] ** 2


def test_the_flux_of_positions_is_three_volumes() -> None:
    """The divergence theorem on curved elements in any orientation, exactly integrated."""
    mesh = shuffled(Box((2, 2, 1), deform=bent, order=2), np.random.default_rng(3))
    everyone = np.arange(mesh.count)
    nodes = positions(mesh, DEGREE, everyone)
    faces = FaceGeometry.at_nodes(nodes, DEGREE)
    on_faces = np.stack([nodes[:, face_nodes(DEGREE, face)] for face in range(6)], axis=1)
    weights = np.outer(gll(DEGREE).weights, gll(DEGREE).weights).ravel()
    flux = np.einsum("efnx,efnx,efn,n->e", on_faces, faces.normals, faces.areas, weights)
    volumes = compute_mass(mesh, DEGREE, everyone).sum(axis=1)
    assert np.allclose(flux, 3 * volumes, rtol=1e-12)
    assert np.allclose(np.linalg.norm(faces.normals, axis=-1), 1, rtol=1e-14)


@pytest.mark.parametrize("face", range(6))
def test_faces_of_a_box(face: int) -> None:
    size = np.array([2.0, 3.0, 5.0])
    box = Box((1, 1, 1), high=tuple(size))
    found = FaceGeometry.at_nodes(positions(box, 3, [0]), 3)
    axis, side = divmod(face, 2)
    assert np.allclose(found.normals[0, face], (2 * side - 1) * np.eye(3)[axis], atol=1e-14)
    assert np.allclose(found.areas[0, face], np.prod(np.delete(size, axis)) / 4, rtol=1e-13)
