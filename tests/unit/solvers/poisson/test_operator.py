"""The screened Poisson operator against assembled matrices, and what must hold of it by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import assembled, equation_of, shuffled, space_on
from variants import long_variants, short_and_long

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import positions
from groundswell.solvers.poisson.kernel_variants import VARIANTS, OperatorVariant, choose_variant
from groundswell.solvers.poisson.operator import Operator
from groundswell.solvers.poisson.roofline import stored_factors
from groundswell.spectral_elements.geometry import TrilinearMaps, compute_mass
from groundswell.spectral_elements.kernel_variants import PENCILS
from groundswell.spectral_elements.metric_layout import plane_bytes

pytestmark = pytest.mark.each_value

RNG = np.random.default_rng


def bent(points: Any) -> Any:
    """A smooth deformation whose elements have no right angles."""
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.07 * np.sin(2 * x + 0.3) * np.cos(y) * np.cos(1.5 * z)
    return points + np.stack([wave, -0.6 * wave, 0.8 * wave * x], axis=-1)


MESHES = {
    "box": Box((3, 2, 2), high=(1.0, 2.0, 0.7)),
    "periodic": Box((3, 1, 2), periodic=(True, True, False)),
    "bent": Box((2, 2, 2), deform=bent, order=3),
    "kershaw": Box((6, 2, 2), deform=kershaw(0.3, 0.3), order=1),
    "turned": shuffled(Box((2, 2, 2), deform=bent, order=2), RNG(7)),
}


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def applied(
    backend: Backend, mesh: Any, degree: int, screening: float, dtype: str = "float64"
) -> tuple[Any, Any]:
    """What applies the operator to values by rising id, and the ids."""
    space = space_on(mesh, degree)
    order = np.argsort(space.sharing.ids)
    x, y = (backend.zeros((len(order),), dtype) for _ in range(2))
    run = in_order(Operator(backend, space, equation_of(screening), x, y).launches)

    def apply(values: Any) -> Any:
        x[order], y[:] = values, np.nan
        run()
        return y[order].copy()

    return apply, space.sharing.ids[order]


@pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES.keys())
@pytest.mark.parametrize("degree", [1, 2, 4, *long_variants([7])])
def test_it_is_the_assembled_matrix(backend: Backend, mesh: Any, degree: int) -> None:
    matrix, _, ids = assembled(mesh, degree, 0.3)
    apply, found = applied(backend, mesh, degree, 0.3)
    assert np.array_equal(ids, found)
    for _ in range(3):
        u = RNG().standard_normal(len(ids))
        expected = matrix @ u
        assert np.abs(apply(u) - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("degree", short_and_long(range(1, 16), (5, 6, 9, 10, 12, 13, 14)))
def test_it_is_symmetric_positive_and_knows_constants(backend: Backend, degree: int) -> None:
    """x'Ay = y'Ax, x'Ax > 0, and A 1 = lambda W 1 with natural boundaries."""
    mesh = Box((2, 2, 1), deform=bent, order=min(degree, 3))
    apply, ids = applied(backend, mesh, degree, 0.1)
    u, v = RNG().standard_normal((2, len(ids)))
    au, av = apply(u), apply(v)
    assert v @ au == pytest.approx(u @ av, rel=1e-11, abs=1e-11 * np.abs(v) @ np.abs(au))
    assert u @ au > 0
    _, rows = np.unique(mesh.ids(degree, np.arange(4)), return_inverse=True)
    mass = np.bincount(rows.ravel(), compute_mass(mesh, degree, np.arange(4)).ravel())
    assert np.allclose(apply(np.ones(len(ids))), 0.1 * mass, rtol=0, atol=1e-10 * np.abs(au).max())


@pytest.mark.parametrize("degree", [3, 7])
def test_single_precision_is_nearly_so(backend: Backend, degree: int) -> None:
    double, ids = applied(backend, MESHES["bent"], degree, 0.1)
    single, _ = applied(backend, MESHES["bent"], degree, 0.1, "float32")
    u = RNG().standard_normal(len(ids)).astype("float32")
    expected = double(u)
    assert np.abs(single(u) - expected).max() <= 2e-5 * np.abs(expected).max()


@pytest.mark.parametrize("degree", [2, 5, 9])
def test_quadratic_functions_have_constant_sources(backend: Backend, degree: int) -> None:
    """-div grad of x^2 + 2 y^2 - 4 z^2 + x y is 2 inside a box of straight elements."""
    mesh = Box((3, 3, 3), high=(1.0, 1.5, 2.0))
    apply, _ = applied(backend, mesh, degree, 0.0)
    everyone = np.arange(27)
    _, first = np.unique(mesh.ids(degree, everyone), return_index=True)
    x, y, z = positions(mesh, degree, everyone).reshape(-1, 3)[first].T
    mass = compute_mass(mesh, degree, everyone)
    _, rows = np.unique(mesh.ids(degree, everyone), return_inverse=True)
    inside = (x % 1 > 1e-9) & (y % 1.5 > 1e-9) & (z % 2 > 1e-9)
    source = 2 * np.bincount(rows.ravel(), mass.ravel())
    found = apply(x**2 + 2 * y**2 - 4 * z**2 + x * y)
    assert np.allclose(found[inside], source[inside], rtol=0, atol=1e-9 * np.abs(found).max())


@pytest.mark.parametrize("degree", [1, 2, 6])
def test_determinants_of_straight_elements(degree: int) -> None:
    """They are what the mass is made of."""
    mesh, everyone = MESHES["kershaw"], np.arange(MESHES["kershaw"].count)
    mass = compute_mass(mesh, degree, everyone)
    least = (mass / gll(degree).cube_weights).min(axis=1)
    assert np.allclose(
        TrilinearMaps.of(mesh, everyone).least_determinants(degree), least, rtol=1e-9, atol=0
    )


@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("screening", [0.0, 0.3])
@pytest.mark.parametrize("kind", VARIANTS, ids=" ".join)
def test_processors_have_room_for_as_many_blocks_as_they_are_to(
    kind: Any, screening: float, components: int
) -> None:
    dtype, metric = kind
    for degree in range(1, 16):
        variant = choose_variant(dtype, degree, metric, screening, components=components)
        factors = stored_factors(metric, screening)
        assert variant.fits(degree, np.dtype(dtype).itemsize, factors), degree
        assert variant.threads(degree) * max(1, variant.blocks) <= 2048, degree


def test_rings_have_no_more_planes_than_elements() -> None:
    one, four, many = (OperatorVariant(PENCILS, 2, ring=ring) for ring in (1, 4, 99))
    assert four.shared_bytes(3, 8, 7) == many.shared_bytes(3, 8, 7)
    assert four.constants(3) == many.constants(3)
    assert four.shared_bytes(3, 8, 7) - one.shared_bytes(3, 8, 7) == 2 * 3 * plane_bytes(3, 8, 7)
    assert plane_bytes(2, 8, 7) == 7 * 9 * 8 + 8


def test_nothing_is_asked_for_where_there_are_no_rings() -> None:
    ringed, plain = OperatorVariant(PENCILS, 2, ring=4), OperatorVariant(PENCILS, 2)
    assert ringed.shared_bytes(3, 8, 0) == plain.shared_bytes(3, 8, 7)


def test_elements_that_are_inverted_somewhere() -> None:
    folded = Box((2, 1, 1), deform=lambda p: p * (1 - 2.2 * p[..., :1]), order=2)
    with pytest.raises(
        InputError, match=r"inverted, flat or not finite somewhere, the first is \d"
    ):
        compute_mass(folded, 3, [0, 1])
