"""Metric terms of elements with straight edges, against the curl form and exact volumes."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import face_nodes, positions
from groundswell.meshes.mesh import Mesh
from groundswell.solvers.dgwave.mesh.curved import CurvedElements, metric_terms
from groundswell.spectral_elements import curl_form as curl
from groundswell.spectral_elements.trilinear_metrics import (
    longest_straight_edges,
    trilinear_metrics,
)

COUNT = 7


def corners(seed: int) -> Floats:
    """Corners of bent hexahedra of different sizes, (COUNT, 8, 3)."""
    rng = np.random.default_rng(seed)
    cube = Box((1, 1, 1), (-1.0,) * 3).geometry_nodes([0])
    sizes = rng.uniform(0.1, 10.0, (COUNT, 1, 3))
    return sizes * (cube + rng.uniform(-0.3, 0.3, (COUNT, 8, 3))) + rng.uniform(-20, 20, (1, 1, 3))


def mesh_of(nodes: Floats) -> Mesh:
    """Elements that share no corners."""
    return Mesh(np.arange(8 * len(nodes)).reshape(-1, 8), nodes)


@pytest.mark.parametrize("degree", [2, 3, 6])
def test_they_are_those_of_the_curl_form(degree: int) -> None:
    """Up to the rounding of its two derivatives."""
    mesh, everyone = mesh_of(corners(1)), np.arange(COUNT)
    nodes = positions(mesh, degree, everyone)
    expected = curl.curl_form(nodes, degree)
    found, determinants = trilinear_metrics(mesh.nodes, degree)
    scale = np.abs(expected).max(axis=(1, 2), keepdims=True)
    assert np.abs((found - expected) / scale).max() < 1e-13 * degree**2
    assert np.allclose(determinants, curl.jacobians(expected), rtol=1e-12, atol=0)
    assert (metric_terms(mesh, degree, everyone) == found).all()


def test_degree_1_has_the_curl_form() -> None:
    """Its nodes cannot represent the cross products, whose divergence would not vanish."""
    mesh, everyone = mesh_of(corners(2)), np.arange(COUNT)
    assert (metric_terms(mesh, 1, everyone) == curl.curl_form(mesh.nodes, 1)).all()


def test_bits_do_not_depend_on_other_elements() -> None:
    nodes = corners(3)
    whole, determinants = trilinear_metrics(nodes, 3)
    for chosen in ([4], [6, 0], range(2, 7)):
        found, of_chosen = trilinear_metrics(nodes[list(chosen)], 3)
        assert (found == whole[list(chosen)]).all()
        assert (of_chosen == determinants[list(chosen)]).all()


@pytest.mark.parametrize("axis", range(3))
def test_both_elements_at_a_face_have_the_same_bits_there(axis: int) -> None:
    counts = tuple(2 if n == axis else 1 for n in range(3))
    box = Box(counts, deform=lambda x: x + 0.1 * np.sin(3 * x[..., [1, 2, 0]]), order=1)
    found, _ = trilinear_metrics(box.geometry_nodes([0, 1]), 4)
    of_axis = found.reshape(2, 3, 3, -1)[:, axis]
    low, high = (of_axis[n][:, face_nodes(4, 2 * axis + side)] for n, side in ((1, 0), (0, 1)))
    assert (low == high).all()


def test_lengths_and_volumes() -> None:
    """The quadrature is exact for J, which has degree 2 along each axis."""
    mesh, everyone = mesh_of(corners(4)), np.arange(COUNT)
    found = CurvedElements(mesh, 3)
    _, determinants = trilinear_metrics(mesh.nodes, 5)
    assert np.allclose(found.volumes, determinants @ gll(5).cube_weights, rtol=1e-13)
    nodes = positions(mesh, 3, everyone)
    assert np.allclose(longest_straight_edges(mesh.nodes), curl.longest_edges(nodes, 3), rtol=1e-13)
    assert np.allclose(found.longest, longest_straight_edges(mesh.nodes), rtol=0)
    metrics = curl.curl_form(nodes, 3)
    norms = curl.gradient_norms(metrics, curl.jacobians(metrics)).max(axis=1)
    assert np.allclose(found.edges, 6 / norms[:, None], rtol=1e-12)


def test_elements_that_are_inverted_at_a_corner_are_found() -> None:
    """Their volume is positive, so that a mesh may hold them."""
    nodes = corners(5)
    nodes[3, 7] -= 0.6 * (nodes[3, 7] - nodes[3, 0])
    with pytest.raises(InputError, match=r"element 3 is inverted, flat or not finite at x = "):
        _ = CurvedElements(mesh_of(nodes), 3).edges
