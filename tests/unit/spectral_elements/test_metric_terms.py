"""Metric terms and mass against cross products of derivatives at nodes; tables over elements."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import Floats, StoredShapes, positions, refine, tangents
from groundswell.spectral_elements import geometry
from groundswell.spectral_elements.geometry import MetricTerms, compute_mass, tabulate


def bent(points: Floats) -> Floats:
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([x + 0.1 * y * z, y - 0.2 * z**2 + 0.1 * x, z + 0.15 * x * y], axis=-1)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("degree", [1, 2, 5, 9])
def test_metric_terms_are_those_of_the_nodes(order: int, degree: int) -> None:
    """Elements of a higher order than the degree are those through their nodes of this degree."""
    mesh, some = Box((3, 2, 2), deform=bent, order=order), np.array([7, 2, 11])
    r, s, t = tangents(positions(mesh, degree, some), degree)
    normals = np.cross(s, t), np.cross(t, r), np.cross(r, s)
    found = MetricTerms.of(mesh, degree, some)
    for expected, normal in zip(normals, found.contravariant, strict=True):
        assert np.allclose(np.moveaxis(normal, 1, -1), expected, rtol=0, atol=1e-13)
    determinant = np.einsum("enx,enx->en", r, normals[0])
    assert np.allclose(found.determinant, determinant, rtol=0, atol=1e-14)
    mass = compute_mass(mesh, degree, some)
    assert np.allclose(mass, gll(degree).cube_weights * determinant, rtol=1e-11, atol=0)


def test_stored_shapes_are_those_of_the_mesh() -> None:
    mesh, some = Box((3, 2, 2), deform=bent, order=2), np.array([7, 2, 11])
    shapes = StoredShapes.of(mesh, some)
    assert (positions(shapes, 4, [2, 0]) == positions(mesh, 4, [11, 7])).all()


def test_inverted_elements_have_their_own_numbers() -> None:
    mesh = Box((4, 1, 1), deform=lambda p: np.where(p > 0.8, 1.6 - p, p), order=1)
    with pytest.raises(InputError, match=r"1 element inverted.* the first is 3;"):
        compute_mass(mesh, 3, [1, 3, 2])


def test_interpolation_reproduces_polynomials() -> None:
    rng = np.random.default_rng(6)
    power = rng.standard_normal((4, 4, 4))
    evaluate = lambda p: np.polynomial.polynomial.polyval3d(*np.moveaxis(p, -1, 0), power)  # noqa: E731
    cube = Box((1, 1, 1))
    coarse, fine = (evaluate(positions(cube, degree, [0])) for degree in (3, 8))
    found = refine(np.stack([coarse, -coarse], axis=-1), 3, 8)
    assert np.allclose(found, np.stack([fine, -fine], axis=-1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("count", [0, 1, 50])
def test_tables_are_whole(threads: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr(geometry, "LEAST_SHARE", 28)
    monkeypatch.setattr(geometry, "LARGEST_SHARE", 28)
    numbers, squares = tabulate(lambda some: (some, some[:, None] * np.array([1, 4])), count, 9)
    assert (numbers == np.arange(count)).all() and squares.shape == (count, 2)
    assert (squares[:, 1] == 4 * np.arange(count)).all()
