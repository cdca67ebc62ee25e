"""Chebyshev's smoothing against its polynomials, and the eigenvalue that it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.linear import chebyshev
from groundswell.linear.chebyshev import SAFETY, Chebyshev, optimal_weights
from groundswell.linear.operators import VectorLayout, convert

SIZE, MORE = 40, 5  # values of this rank, and behind them those of others

# Weights of the fourth kind as Lottes 2023 has them, to eight digits.
PUBLISHED = {
    1: [1.125],
    2: [1.02387288, 1.26408905],
    3: [1.00842545, 1.08867839, 1.33753126],
    4: [1.00391310, 1.04035811, 1.14863498, 1.38268869],
}


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def polynomial(order: int, t: Any) -> Any:
    """What errors are multiplied by, where eigenvalues are t times their bound."""
    angle = 2 * np.arcsin(np.sqrt(t))
    plain = [np.sin((n + 0.5) * angle) / np.sin(angle / 2) / (2 * n + 1) for n in range(order + 1)]
    weights = optimal_weights(order)
    return 1 - sum(w * (a - b) for w, a, b in zip(weights, plain, plain[1:], strict=False))


class Padded:
    """A matrix that works on the first values only, and spoils the others."""

    in_graph = True

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __call__(self, source: Any, target: Any) -> Padded:
        def product() -> None:
            target[:SIZE], target[SIZE:] = self.matrix @ source[:SIZE], np.nan

        self.launches = [product]
        return self

    def check(self) -> None: ...

    def close(self) -> None: ...


def random_matrix(rng: np.random.Generator, size: int, condition: float) -> Any:
    """Symmetric, with eigenvalues from 1 to `condition`."""
    q, _ = np.linalg.qr(rng.standard_normal((size, size)))
    return q @ np.diag(np.geomspace(1, condition, size)) @ q.T


def smoother(backend: Backend, a: Any, s: Any, dtype: str = "float64", **how: Any) -> Chebyshev:
    start = np.cos(np.arange(SIZE) ** 2)
    vectors = VectorLayout(backend, SerialCommunicator(), SIZE + MORE, SIZE, dtype)
    return Chebyshev(vectors, Padded(a), Padded(s), start, **how)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
def test_errors_become_the_polynomials(backend: Backend, order: int) -> None:
    rng = np.random.default_rng(1)
    a, s = random_matrix(rng, SIZE, 60.0), random_matrix(rng, SIZE, 3.0)
    found = smoother(backend, a, s, order=order)
    values, vectors = np.linalg.eig(s @ a)
    # Of S A, what its eigenvalues' polynomial is, times the error before.
    p = polynomial(order, values.real / found.largest)
    change = (vectors @ np.diag(p) @ np.linalg.inv(vectors)).real
    b, x = rng.standard_normal((2, SIZE))
    solution = np.linalg.solve(a, b)
    for launches, before in ((found.before, np.zeros(SIZE)), (found.after, x)):
        found.x[:SIZE], found.b[:SIZE] = x, b
        in_order(launches)()
        expected = solution + change @ (before - solution)
        assert np.allclose(found.x[:SIZE], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    in_order(found.residual)()
    assert np.allclose(found.r[:SIZE], b - a @ found.x[:SIZE], rtol=0, atol=1e-11)


def test_both_ways_are_symmetric_and_positive(backend: Backend) -> None:
    rng = np.random.default_rng(2)
    a, s = random_matrix(rng, SIZE, 1e3), random_matrix(rng, SIZE, 10.0)
    found = smoother(backend, a, s)
    matrix = np.empty((SIZE, SIZE))
    for n, unit in enumerate(np.eye(SIZE)):
        found.b[:SIZE] = unit
        in_order([*found.before, *found.after])()
        matrix[n] = found.x[:SIZE]
    assert np.allclose(matrix, matrix.T, rtol=0, atol=1e-12 * np.abs(matrix).max())
    values = np.linalg.eigvals(matrix @ a).real
    assert values.min() > 0 and values.max() <= 1 + 1e-10


def test_single_precision_is_nearly_so(backend: Backend) -> None:
    rng = np.random.default_rng(3)
    a, s = random_matrix(rng, SIZE, 60.0), random_matrix(rng, SIZE, 3.0)
    b, solutions = rng.standard_normal(SIZE), []
    for dtype in ("float64", "float32"):
        found = smoother(backend, a.astype(dtype), s.astype(dtype), dtype)
        found.b[:SIZE] = b
        in_order([*found.before, *found.after])()
        solutions.append(found.x[:SIZE].copy())
    assert np.abs(solutions[1] - solutions[0]).max() <= 1e-4 * np.abs(solutions[0]).max()


@pytest.mark.parametrize("order", PUBLISHED)
def test_weights_are_the_published_ones(order: int) -> None:
    """To what maxima between the points of a grid leave, a few units of 1e-7."""
    assert np.allclose(optimal_weights(order), PUBLISHED[order], rtol=0, atol=2e-6)


@pytest.mark.parametrize("order", [2, 5, 9, 16])
def test_weights_are_the_best(order: int) -> None:
    """All maxima are the same, and that at 0: any other weights make one of them larger."""
    t = np.sin(np.linspace(1e-3, np.pi / 2, 200_001)) ** 2
    size = t * (p := polynomial(order, t)) ** 2 / (1 - p**2)
    inside = np.flatnonzero((size[1:-1] >= size[:-2]) & (size[1:-1] > size[2:])) + 1
    peaks = size[[*inside, -1]]
    at_zero = 1 / (2 * optimal_weights(order) @ (4 / 3 * np.arange(1, order + 1)))
    assert np.allclose(peaks[-order:], at_zero, rtol=1e-4)


@pytest.mark.parametrize("condition", [1.5, 50.0, 1e4])
def test_the_largest_eigenvalue(backend: Backend, condition: float) -> None:
    rng = np.random.default_rng(8)
    a, s = random_matrix(rng, SIZE, condition), random_matrix(rng, SIZE, 2.0)
    largest = np.linalg.eigvals(s @ a).real.max()
    found = smoother(backend, a, s).largest / SAFETY
    assert 0.95 * largest <= found <= (1 + 1e-9) * largest


def test_lanczos_matrices_of_few_steps(backend: Backend) -> None:
    """With two distinct eigenvalues, two steps give the exact one; without steps, it is 1."""
    one, nothing = np.eye(SIZE), np.zeros((SIZE, SIZE))
    two = np.diag(np.where(np.arange(SIZE) % 2, 7.0, 3.0))
    assert smoother(backend, 7 * one, one).largest == pytest.approx(7 * SAFETY)
    assert smoother(backend, two, one).largest == pytest.approx(7 * SAFETY)
    assert smoother(backend, one, nothing).largest == SAFETY


@pytest.mark.parametrize("target", ["float32", "float64"])
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_conversions(backend: Backend, source: str, target: str) -> None:
    x = np.random.default_rng(5).standard_normal(7).astype(source)
    y = np.full(7, np.nan, target)
    in_order(convert(backend, x, y, 5))()
    assert np.array_equal(y[:5], x[:5].astype(target)) and np.isnan(y[5:]).all()
    assert not convert(backend, x, y, 0)


def test_beginnings_are_the_kernels() -> None:
    text = (chebyshev.HERE / "chebyshev.h").read_text()
    names = ("FROM_ZERO", "FROM_X", "CONTINUE")
    assert ", ".join(f"{name} = {getattr(chebyshev, name)}" for name in names) in text
