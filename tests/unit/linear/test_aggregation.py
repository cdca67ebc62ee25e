"""Sparse products, and cycles of algebraic multigrid on a device, against SciPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from emulated_backend import EmulatedBackend
from scipy import sparse

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.linear import sparse as products
from groundswell.linear.aggregation import AggregationCycle, Hierarchy
from groundswell.linear.sparse import SparseProduct, in_slices

ROUNDING = {"float32": 1e-5, "float64": 1e-13}


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def random_matrix(rng: np.random.Generator, rows: int, columns: int, density: float) -> Any:
    """With empty rows, and rows of any length."""
    full = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < density)
    full[rng.random(rows) < 0.2] = 0
    return sparse.csr_array(full)


def laplacian(count: int, shift: float = 0.1) -> Any:
    """Of the seven-point formula on a cube of points."""
    line = sparse.diags_array([-1.0, 2.0 + shift, -1.0], offsets=[-1, 0, 1], shape=(count, count))
    one = sparse.eye_array(count)
    axes = [(line, one, one), (one, line, one), (one, one, line)]
    return sum(sparse.kron(sparse.kron(a, b), c) for a, b, c in axes).tocsr()


@pytest.mark.parametrize("dtype", list(ROUNDING))
@pytest.mark.parametrize(("rows", "columns", "density"), [(70, 50, 0.1), (9, 300, 0.6), (1, 1, 1)])
def test_products(backend: Backend, rows: int, columns: int, density: float, dtype: str) -> None:
    rng = np.random.default_rng(rows)
    matrix = random_matrix(rng, rows, columns, density)
    x, y = (backend.to_device(rng.standard_normal(n).astype(dtype)) for n in (columns, rows))
    before = y.copy()
    in_order(SparseProduct(backend, matrix, x, y, add=True).launches)()
    expected = matrix @ x.astype(float)
    assert np.allclose(y, expected + before, rtol=0, atol=ROUNDING[dtype] * columns)
    in_order(SparseProduct(backend, matrix, x, y).launches)()
    assert np.allclose(y, expected, rtol=0, atol=ROUNDING[dtype] * columns)


@pytest.mark.parametrize(("rows", "columns", "density"), [(70, 50, 0.1), (9, 300, 0.6)])
def test_products_by_the_kernels_of_gpus(rows: int, columns: int, density: float) -> None:
    rng, emulated = np.random.default_rng(rows), EmulatedBackend()
    matrix = random_matrix(rng, rows, columns, density)
    x, y = rng.standard_normal(columns), rng.standard_normal(rows)
    expected = matrix @ x + y
    in_order(SparseProduct(emulated, matrix, x, y, add=True).launches)()
    assert np.allclose(y, expected, rtol=0, atol=1e-13 * columns)


@pytest.mark.parametrize("rows", [1, 31, 32, 65])
def test_slices_for_gpus(backend: Backend, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sums where 32 rows are stored together, also if the last slice is not full."""
    matrix = random_matrix(np.random.default_rng(rows), rows, 20, 0.4)
    first, columns, values = in_slices(matrix, 32)
    assert first[-1] == len(columns) == len(values) and not (first % 32).any()
    monkeypatch.setattr(products, "in_slices", lambda m, height: in_slices(m, 32))
    source = products.sparse_source
    monkeypatch.setattr(products, "sparse_source", lambda dtype, height: source(dtype, 32))
    x, y = np.random.default_rng(1).standard_normal(20), np.full(rows, np.nan)
    in_order(SparseProduct(backend, matrix, x, y).launches)()
    assert np.allclose(y, matrix @ x, rtol=0, atol=1e-13)


@pytest.mark.parametrize("count", [3, 14])  # without and with coarser levels
def test_cycles_are_symmetric_and_reduce_errors(backend: Backend, count: int) -> None:
    matrix = laplacian(count)
    if count > 3:
        pytest.importorskip("pyamg")
    hierarchy = Hierarchy.of(matrix)
    assert len(hierarchy.matrices) == (1 if count > 3 else 0)

    def apply(cycle: AggregationCycle, b: Any) -> Any:
        cycle.b[:] = b
        in_order(cycle.launches)()
        return cycle.x.copy()

    cycle, other = (AggregationCycle(backend, hierarchy, "float64") for _ in range(2))
    u, v = np.random.default_rng(1).standard_normal((2, count**3))
    assert v @ apply(cycle, u) == pytest.approx(u @ apply(cycle, v), rel=1e-11)
    assert u @ apply(cycle, u) > 0
    error = u - apply(cycle, matrix @ u)
    assert error @ (matrix @ error) < (0.01 if count > 3 else 1e-20) * u @ (matrix @ u)
    assert np.array_equal(apply(cycle, u), apply(other, u))  # no run differs from another


def test_nothing_to_solve(backend: Backend) -> None:
    cycle = AggregationCycle(backend, Hierarchy.of(sparse.csr_array((0, 0))), "float64")
    in_order(cycle.launches)()
    assert not cycle.x.size


def test_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyamg", None)
    with pytest.raises(InputError, match=r"pip install -e '\.\[multigrid\]'"):
        Hierarchy.of(laplacian(9))
