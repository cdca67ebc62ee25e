"""The operators of bake-off problems 1 to 4, with Gauss points, against their definition."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from dense_spectral_elements import space_on
from emulated_backend import EmulatedBackend
from gauss_integrals import MATRICES, MESHES, problem, products, require_products
from guard_page import GuardedBackend, guarded
from variants import long_variants, short_and_long

from groundswell.arrays import Floats
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.backends.cpu import READABLE_BYTES
from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.spectral_elements.geometry import compute_mass
from groundswell.spectral_elements.space import FunctionSpace
from groundswell_rivals.poisson.gauss_operator import MASS, STIFFNESS, GaussOperator, gauss

pytestmark = pytest.mark.each_value


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


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


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("mesh", ["straight", "curved"])
def test_it_reads_no_more_than_it_may(mesh: str, matrix: str) -> None:
    """Vectors reach beyond the last row of points, where there may be anything."""
    backend = GuardedBackend()
    with patch.object(backend, "to_device", lambda host: guarded(host, READABLE_BYTES)):
        require_products(backend, problem(mesh, 3, matrix), matrix, 0, "float64")


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
