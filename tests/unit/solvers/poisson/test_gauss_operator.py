"""The operators of bake-off problems 1 to 4, with Gauss points, against dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import derivatives, shuffled, space_on
from emulated_backend import EmulatedBackend
from variants import long_variants, short_and_long

from groundswell.arrays import Floats
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.gll import gll
from groundswell.spectral_elements.geometry import compute_mass
from groundswell.spectral_elements.space import FunctionSpace
from groundswell_rivals.poisson.gauss_operator import MASS, STIFFNESS, GaussOperator, gauss

pytestmark = pytest.mark.each_value

MATRICES = (MASS, STIFFNESS)


def bent(points: Any) -> Any:
    """A smooth deformation whose elements have no right angles."""
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.07 * np.sin(2 * x + 0.3) * np.cos(y) * np.cos(1.5 * z)
    return points + np.stack([wave, -0.6 * wave, 0.8 * wave * x], axis=-1)


MESHES = {
    "curved": Box((3, 2, 2), deform=bent, order=2),
    "straight": Box((6, 2, 2), deform=kershaw(0.3, 0.3), order=1),
    "turned": shuffled(Box((2, 2, 2), deform=bent, order=2), np.random.default_rng(7)),
}


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


Products = Callable[[Floats], Floats]  # with values at nodes, (..., elements, (N + 1)^3)


def products(space: FunctionSpace, matrix: str) -> Products:
    """Products with the matrices of elements, from the definition of the integrals."""
    points, weights = np.polynomial.legendre.leggauss(space.degree + 2)
    line = gll(space.degree).interpolation(points)
    values = np.kron(np.kron(line, line), line)
    gradients = [values @ d for d in derivatives(space.degree)]
    jacobian = np.stack([d @ space.nodes for d in gradients], axis=-1)  # (elements, points, x, r)
    weight = np.kron(np.kron(weights, weights), weights) * np.linalg.det(jacobian)
    if matrix == MASS:
        return lambda u: (weight * (u @ values.T)) @ values
    inverse = np.linalg.inv(jacobian)  # (elements, points, r, x)

    def laplacian(u: Floats) -> Floats:
        along = np.stack([u @ d.T for d in gradients], axis=-1)
        gradient = np.einsum("epr,eprx->epx", along, inverse)
        flux = np.einsum("ep,epx,eprx->epr", weight, gradient, inverse)
        return np.asarray(sum(flux[..., a] @ d for a, d in enumerate(gradients)))

    return lambda u: np.stack([laplacian(each) for each in u])


@cache
def problem(mesh: str, degree: int, matrix: str) -> tuple[FunctionSpace, Products]:
    """A space of at least the mesh's order, and the products that are expected."""
    space = space_on(MESHES[mesh], degree)
    return space, products(space, matrix)


def applied(operator: GaussOperator, x: Floats, scale: Floats | None, backend: Backend) -> Any:
    """The elements' results of all elements but one, and the sum of energies."""
    space = operator.space
    chosen = np.delete(np.arange(space.mesh.count), 1)
    y = backend.zeros((*x.shape[:-1], space.dofs.size), operator.dtype)
    y[...] = np.nan
    energies = backend.zeros((operator.blocks(chosen),), "f8")
    of_scale = None if scale is None else backend.to_device(scale.astype(operator.dtype))
    given = backend.to_device(x.astype(operator.dtype))
    in_order(operator.launches(chosen, given, y, energies, of_scale))()
    return np.array(y), float(np.sum(energies)), chosen


def require_products(
    backend: Backend, problem: tuple[FunctionSpace, Products], matrix: str, scaled: int, dtype: str
) -> None:
    """The operator is the dense one, for one component, or `scaled` ones multiplied by factors."""
    space, expect = problem
    rng = np.random.default_rng(3)
    components = max(1, scaled)
    shape = (space.size,) if components == 1 else (components, space.size)
    x, scale = rng.standard_normal(shape), rng.uniform(0.5, 2, space.size)
    operator = GaussOperator(backend, space, matrix, dtype=dtype, components=components)
    y, energy, chosen = applied(operator, x, scale if scaled else None, backend)
    u = np.atleast_2d(x * scale if scaled else x)[:, space.dofs]
    expected = expect(u)
    found = y.reshape(u.shape)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    error = np.abs(found - expected)[:, chosen].max()
    assert error <= tolerance * np.abs(expected).max()
    assert np.isnan(np.delete(found, chosen, axis=1)).all()
    exact = np.sum((u * expected)[:, chosen])
    assert energy == pytest.approx(exact, rel=tolerance * 10)


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("degree", short_and_long([2, 3, 7], (4, 5, 8)))
@pytest.mark.parametrize("scaled", [0, 1, 3])
def test_it_is_the_dense_matrix(
    backend: Backend, mesh: str, degree: int, matrix: str, scaled: int
) -> None:
    require_products(backend, problem(mesh, degree, matrix), matrix, scaled, "float64")


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("degree", [1, *long_variants([10, 15])])
def test_degrees_of_straight_elements(backend: Backend, degree: int, matrix: str) -> None:
    mesh = Box((2, 2, 1), deform=lambda p: p + 0.1 * p[..., ::-1] * p[..., [1, 2, 0]], order=1)
    space = space_on(mesh, degree)
    require_products(backend, (space, products(space, matrix)), matrix, 0, "float64")


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize(("mesh", "degree", "scaled"), [("straight", 2, 3), ("curved", 4, 0)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_gpus_kernel(mesh: str, degree: int, matrix: str, scaled: int, dtype: str) -> None:
    """On threads of a CPU, with the layout of a GPU."""
    backend = EmulatedBackend()
    backend.on_host = False
    require_products(backend, problem(mesh, degree, matrix), matrix, scaled, dtype)


def test_gauss_points_are_exact_to_their_degree() -> None:
    """Up to degree 2 (N + 2) - 1 = 2 N + 3: the mass is exact in parallelepipeds."""
    for degree in range(1, 16):
        rule = gauss(degree + 2)
        for power in (2 * degree + 2, 2 * degree + 3):
            exact = 2 / (power + 1) if power % 2 == 0 else 0.0
            assert rule.weights @ rule.points**power == pytest.approx(exact, abs=1e-14)


def test_mass_of_products_of_polynomials(backend: Backend) -> None:
    """The integral of x^N y^N z^N squared over a box, which N + 1 GLL points miss."""
    degree, space = 3, space_on(Box((2, 1, 1)), 3)
    x = np.zeros(space.size)
    x[space.dofs] = np.prod(space.nodes**degree, axis=-1)
    exact = (1 / (2 * degree + 1)) ** 3
    assert energy_of(backend, space, MASS, x) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("order", [1, 2])
def test_inverted_elements_are_refused(backend: Backend, matrix: str, order: int) -> None:
    inverted = Box((2, 1, 1), deform=lambda p: p * [-1, 1, 1], order=order)
    with pytest.raises(InputError, match="2 elements inverted"):
        GaussOperator(backend, space_on(inverted, 3), matrix)


@pytest.mark.parametrize("mesh", MESHES)
def test_constants_are_harmonic_and_have_the_volume_as_mass(backend: Backend, mesh: str) -> None:
    space, _ = problem(mesh, 3, MASS)
    volume = np.sum(compute_mass(space.mesh, 9, space.elements))
    for matrix, exact in ((MASS, volume), (STIFFNESS, 0.0)):
        assert energy_of(backend, space, matrix, np.ones(space.size)) == pytest.approx(
            exact, rel=1e-12, abs=1e-12
        )


def energy_of(backend: Backend, space: FunctionSpace, matrix: str, x: Floats) -> float:
    """x . A x, over all elements."""
    operator, everyone = GaussOperator(backend, space, matrix), np.arange(space.mesh.count)
    y = backend.zeros((space.dofs.size,), "f8")
    energies = backend.zeros((operator.blocks(everyone),), "f8")
    in_order(operator.launches(everyone, backend.to_device(x), y, energies))()
    return float(np.sum(energies))
