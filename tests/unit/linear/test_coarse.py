"""Small systems that a library solves, against dense ones."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu
from variants import long_variants

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.gather_scatter.sharing import find_sharing
from groundswell.linear.aggregation import AggregationCycle, Hierarchy
from groundswell.linear.coarse import (
    SYMMETRIC,
    CoarseCycle,
    CoarseSolver,
    cycle_bytes,
    factor_bytes,
    factorise,
    make_coarse_solver,
)
from groundswell.linear.operators import VectorLayout

ELEMENTS, CORNERS, IDS = 30, 8, 60


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def laplacian(count: int) -> Any:
    """Of the seven-point formula on a cube of points."""
    line = sparse.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(count, count))
    one = sparse.eye_array(count)
    axes = [(line, one, one), (one, line, one), (one, one, line)]
    return sum(sparse.kron(sparse.kron(a, b), c) for a, b, c in axes).tocsr()


def solver(
    backend: Backend, rng: np.random.Generator, dtype: str, method: str = "auto"
) -> tuple[CoarseSolver | CoarseCycle, Any, Any]:
    """Of random positive matrices of elements that share ids; the whole matrix, and what is 0."""
    ids = np.stack([rng.choice(IDS, CORNERS, replace=False) for _ in range(ELEMENTS)]) * 1000
    parts = rng.standard_normal((ELEMENTS, CORNERS, CORNERS))
    parts = parts @ parts.swapaxes(1, 2)
    sharing = find_sharing(SerialCommunicator(), ids.ravel())
    count = len(sharing.ids)
    whole = np.zeros((count, count))
    for part, row in zip(parts, sharing.indices.reshape(ELEMENTS, CORNERS), strict=True):
        whole[np.ix_(row, row)] += part
    fixed = rng.random(count) < 0.2
    vectors = VectorLayout(backend, SerialCommunicator(), count, sharing.own, dtype)
    found = make_coarse_solver(vectors, sharing, parts, fixed, method=method)
    return found, whole, fixed


@pytest.mark.parametrize("method", ["direct", "amg"])
@pytest.mark.parametrize(("dtype", "rounding"), [("float64", 1e-9), ("float32", 1e-3)])
def test_it_is_the_inverse_where_nothing_is_prescribed(
    backend: Backend, dtype: str, rounding: float, method: str
) -> None:
    """By factors, and by a cycle of one level, since there are few unknowns."""
    rng = np.random.default_rng(5)  # whose matrix's condition is below a thousand
    coarse, whole, fixed = solver(backend, rng, dtype, method)
    free = ~fixed
    b, x = coarse.b, coarse.x
    for _ in range(2):
        b[:], x[:] = rng.standard_normal(len(b)), np.nan
        in_order(coarse.launches)()
        wanted = np.linalg.solve(whole[np.ix_(free, free)], b[free].astype(float))
        assert np.allclose(x[free], wanted, rtol=0, atol=rounding * np.abs(wanted).max())
        assert not x[fixed].any()
    assert coarse.in_graph == (method == "amg")


def test_factors_are_exact() -> None:
    matrix, u = laplacian(9), np.random.default_rng(2).standard_normal(729)
    assert np.allclose(factorise(matrix)(matrix @ u), u, rtol=0, atol=1e-11)


def test_nothing_to_solve() -> None:
    assert not factorise(sparse.csr_array((0, 0)))(np.empty(0)).size


def test_a_matrix_without_an_inverse(backend: Backend) -> None:
    with pytest.raises(InputError, match=r"is singular .*; give a screening above 0, or a side"):
        factorise(sparse.csr_array(np.zeros((3, 3))))
    sharing = find_sharing(SerialCommunicator(), np.arange(8))
    vectors = VectorLayout(backend, SerialCommunicator(), 8, 8, "float64")
    with pytest.raises(InputError, match=r"is singular .*; give a screening above 0, or a side"):
        CoarseCycle(vectors, sharing, np.zeros((1, 8, 8)), np.zeros(8, bool))


def trilinear(count: int) -> Any:
    """The stiffness of trilinear functions on a cube of points."""
    stiffness = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(count, count))
    mass = sparse.diags_array([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(count, count)) / 6
    axes = [(stiffness, mass, mass), (mass, stiffness, mass), (mass, mass, stiffness), (mass,) * 3]
    return sum(sparse.kron(sparse.kron(a, b), c) for a, b, c in axes)


@pytest.mark.parametrize("count", [16, *long_variants([20, 26])])
def test_what_factors_take(count: int) -> None:
    """8 bytes an entry of them, and as much again at most for where these are."""
    entries = splu(trilinear(count).tocsc(), **SYMMETRIC).nnz
    assert 8 * entries <= factor_bytes(count**3) <= 16 * entries


def test_what_a_cycle_takes(backend: Backend) -> None:
    pytest.importorskip("pyamg")
    matrix, given = trilinear(28), list[int]()
    to_device, zeros = backend.to_device, backend.zeros

    def count(array: Any) -> Any:
        given.append(array.nbytes)
        return array

    with (
        patch.object(backend, "to_device", lambda host: count(to_device(host))),
        patch.object(backend, "zeros", lambda *of: count(zeros(*of))),
    ):
        AggregationCycle(backend, Hierarchy.of(matrix.tocsr()), "float64")
    assert 0.8 * sum(given) < cycle_bytes(28**3, 8) < 1.6 * sum(given)
    assert cycle_bytes(100, 8) == 0 < cycle_bytes(100, 8, on_host=False)
