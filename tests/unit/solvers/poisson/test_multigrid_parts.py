"""Parts of multigrid in the degree against dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import assembled, element_matrix, shuffled, space_on
from variants import long_variants

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.gather_scatter.sharing import hash_ids
from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import positions
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.geometric_factors import GeometricFactors
from groundswell.solvers.poisson.grid_transfer import GridTransfer
from groundswell.solvers.poisson.level_geometry import galerkin_matrices
from groundswell.solvers.poisson.multigrid import level_degrees
from groundswell.solvers.poisson.schwarz import Schwarz, compute_stretches
from groundswell.spectral_elements.space import FunctionSpace

pytestmark = pytest.mark.each_value


RNG = np.random.default_rng


def bent(points: Any) -> Any:
    """A smooth deformation whose elements have no right angles."""
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.07 * np.sin(2 * x + 0.3) * np.cos(y) * np.cos(1.5 * z)
    return points + np.stack([wave, -0.6 * wave, 0.8 * wave * x], axis=-1)


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def factors_of(mesh: Any, degree: int, elements: Any, screening: float) -> GeometricFactors:
    return GeometricFactors.of(mesh, degree, elements, Coefficients.screened(screening))


def transfer(
    backend: Backend, mesh: Any, degrees: tuple[int, int], mask: Any = None
) -> tuple[GridTransfer, tuple[FunctionSpace, FunctionSpace], list[Any]]:
    """Between two degrees, with r, b, e and x."""
    fine, coarse = (space_on(mesh, degree) for degree in degrees)
    n, m = len(fine.sharing.ids), len(coarse.sharing.ids)
    r, b, e, x = arrays = [backend.zeros((size,), "f8") for size in (n, m, m, n)]
    mask = np.ones(n) if mask is None else mask
    return GridTransfer(backend, fine, coarse, mask, (r, b), (e, x)), (fine, coarse), arrays


@pytest.mark.parametrize("degrees", [(2, 1), (4, 3), (5, 2), (7, 5)])
def test_polynomials_stay_what_they_are(backend: Backend, degrees: tuple[int, int]) -> None:
    mesh = shuffled(Box((2, 3, 2), high=(1.0, 2.0, 0.7)), RNG(3))
    moved, spaces, (_, _, e, x) = transfer(backend, mesh, degrees)

    def polynomial(space: FunctionSpace) -> Any:
        """Of the lower degree along each axis, at assembled values."""
        at = np.moveaxis(positions(mesh, space.degree, space.elements), -1, 0)
        values = np.empty(len(space.sharing.ids))
        values[space.dofs] = (at[0] - 0.3) ** degrees[1] * (1 + at[1]) * at[2] ** degrees[1]
        return values

    before = RNG().standard_normal(len(x))
    x[:], e[:] = before, polynomial(spaces[1])
    in_order(moved.up)()
    assert np.allclose(x - before, polynomial(spaces[0]), rtol=0, atol=1e-13)


@pytest.mark.parametrize("degrees", [(2, 1), (5, 3), (7, 1), *long_variants([((9, 6),)])])
def test_down_is_the_transpose_of_up(backend: Backend, degrees: tuple[int, int]) -> None:
    """b'(P'r) = r'(P b) for assembled values; what is prescribed takes no part, whatever it is."""
    mesh = shuffled(Box((2, 2, 2), deform=bent, order=2), RNG(4))
    count = len(space_on(mesh, degrees[0]).sharing.ids)
    mask = (RNG().random(count) < 0.8).astype(float)
    moved, _, (r, b, e, x) = transfer(backend, mesh, degrees, mask)
    r[:] = np.where(mask > 0, RNG().standard_normal(count), np.nan)
    e[:], x[:], b[:] = RNG().standard_normal(len(e)), 0.0, np.nan
    in_order([*moved.down, *moved.up])()
    assert e @ b == pytest.approx(np.nan_to_num(r) @ x, rel=1e-12, abs=1e-11)
    assert not x[mask == 0].any() and x[mask > 0].all()


@pytest.mark.parametrize("screening", [0.0, 2.0])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_boxes_among_their_like_are_inverted(
    backend: Backend, degree: int, screening: float
) -> None:
    """With no boundary the sum of exact inverses of elements' rows and columns, each shared."""
    mesh = Box((3, 4, 3), high=(1.0, 0.5, 2.0), periodic=(True, True, True))
    matrix, _, _ = assembled(mesh, degree, screening)
    space = space_on(mesh, degree)
    rows = np.argsort(np.argsort(space.sharing.ids))[space.dofs]
    copies = np.bincount(rows.ravel())
    weights = np.sqrt(1 / copies)
    wanted = np.zeros_like(matrix)
    for row in rows:
        block = np.linalg.inv(matrix[np.ix_(row, row)])
        wanted[np.ix_(row, row)] += weights[row][:, None] * block * weights[row]
    order = np.argsort(space.sharing.ids)
    diagonal, r, z = np.empty(len(order)), *(backend.zeros((len(order),), "f8") for _ in range(2))
    diagonal[order] = np.diag(matrix) * copies
    stretches = compute_stretches(factors_of(mesh, degree, np.arange(36), screening))
    part = Schwarz(backend, space, stretches, diagonal, r, z)
    r[order] = values = RNG().standard_normal(len(order))
    in_order(part.launches)()
    assert np.allclose(z[order], wanted @ values, rtol=0, atol=1e-11 * np.abs(z).max())


def test_what_is_prescribed_is_left_alone(backend: Backend) -> None:
    mesh = Box((2, 2, 2), deform=bent, order=2)
    space = space_on(mesh, 4)
    diagonal = np.where(RNG().random(len(space.sharing.ids)) < 0.5, 2.0, 0.0)
    r, z = (backend.zeros(diagonal.shape, "f8") for _ in range(2))
    stretches = compute_stretches(GeometricFactors.of(mesh, 4, np.arange(8)))
    part = Schwarz(backend, space, stretches, diagonal, r, z)
    r[:] = RNG().standard_normal(len(r))
    in_order(part.launches)()
    first = z.copy()
    r[diagonal == 0] = 7.0
    in_order(part.launches)()
    assert np.array_equal(z, first) and not z[diagonal == 0].any() and z[diagonal > 0].all()


def test_stretches_follow_the_shape() -> None:
    """Of a box of a x b x c: bc / 2a and so on; of slants, between what is and what gives way."""
    box = Box((1, 1, 1), high=(2.0, 3.0, 5.0))
    [found] = compute_stretches(factors_of(box, 3, [0], 0.7))
    assert np.allclose(found, [15 / 4, 10 / 6, 6 / 10, 0.7 * 30 / 8])
    shear = Box(
        (1, 1, 1), deform=lambda p: p + 0.8 * p[..., [1]] * np.array([1.0, 0.0, 0.0]), order=1
    )
    [found] = compute_stretches(GeometricFactors.of(shear, 2, [0]))
    # G along r and s is [[1 + k^2, -k], [-k, 1]] / 2 with k = 0.8; the inverse has 2 and 2 + 2 k^2.
    assert np.allclose(found[:3] ** 2, [1.64 / 4, 1 / (4 * 1.64), 1 / 4])


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_the_coarsest_matrices_are_galerkins(degree: int) -> None:
    """P' A P of each element's dense matrix."""
    mesh = Box((2, 1, 1), deform=bent, order=2)
    found = galerkin_matrices(factors_of(mesh, degree, [0, 1], 0.3))
    line = (1 + gll(degree).points[:, None] * np.array([-1, 1])) / 2
    up = np.einsum("tc,sb,ra->tsrcba", line, line, line).reshape(-1, 8)
    for matrix, nodes in zip(found, positions(mesh, degree, [0, 1]), strict=True):
        wanted = up.T @ element_matrix(nodes, degree, 0.3)[0] @ up
        assert np.allclose(matrix, wanted, rtol=0, atol=1e-12)


def test_levels_and_starts() -> None:
    assert level_degrees(7) == (7, 5, 3, 1) and level_degrees(15) == (15, 10, 7, 5, 3, 1)
    assert level_degrees(1) == (1,) and level_degrees(4) == (4, 3, 1)
    numbers = hash_ids(np.arange(10_000) * 977) / 2.0**64 - 0.5
    assert np.abs(numbers).max() <= 0.5 and abs(numbers.mean()) < 0.01
