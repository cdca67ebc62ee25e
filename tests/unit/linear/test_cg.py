"""Conjugate gradients against the textbook's, on matrices that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.backends import Backend, open_backend
from groundswell.errors import RunFailed
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.linear import cg
from groundswell.linear.cg import ConjugateGradients
from groundswell.linear.operators import VectorLayout


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


class Matrix:
    """A matrix as an operator between two arrays."""

    in_graph = True

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.checked = 0

    def __call__(self, source: Any, target: Any) -> Matrix:
        def product() -> None:
            target[:] = self.matrix @ source

        self.launches = [product]
        return self

    def check(self) -> None:
        self.checked += 1

    def close(self) -> None: ...


def random_matrix(rng: np.random.Generator, size: int, condition: float) -> Any:
    """Symmetric, with eigenvalues from 1 to `condition`."""
    q, _ = np.linalg.qr(rng.standard_normal((size, size)))
    return q @ np.diag(np.geomspace(1, condition, size)) @ q.T


def textbook(matrix: Any, b: Any, times: int, inverse: Any) -> tuple[Any, list[float]]:
    """Hestenes & Stiefel 1952; the solution and the residuals' norms."""
    x, r, p, last = np.zeros_like(b), b.copy(), np.zeros_like(b), 1.0
    norms = [float(np.linalg.norm(r))]
    for n in range(times):
        u = inverse @ r
        p = u + (r @ u / last if n else 0.0) * p
        last = r @ u
        alpha = last / (p @ matrix @ p)
        x, r = x + alpha * p, r - alpha * (matrix @ p)
        norms.append(float(np.linalg.norm(r)))
    return x, norms


def layout(
    backend: Backend, size: int, own: int | None = None, dtype: str = "float64"
) -> VectorLayout:
    return VectorLayout(backend, SerialCommunicator(), size, size if own is None else own, dtype)


@pytest.mark.parametrize("size", [1, 7, 300, 700])
@pytest.mark.parametrize("jacobi", [False, True])
def test_iterates_are_the_textbooks(backend: Backend, size: int, jacobi: bool) -> None:
    rng = np.random.default_rng(1)
    matrix, b = random_matrix(rng, size, 50.0), rng.standard_normal(size)
    inverse = np.diag(1 / np.diag(matrix)) if jacobi else np.eye(size)
    times = min(size, 25)
    wanted, norms = textbook(matrix, b, times, inverse)
    maker = Matrix(inverse) if jacobi else None
    solver = ConjugateGradients(
        layout(backend, size), Matrix(matrix), precondition=maker, max_iterations=times
    )
    for _ in range(2):  # nothing is left over from the first time
        solver.b[:] = b
        outcome = solver.solve()
        assert outcome.iterations == times or outcome.converged
        known = len(outcome.residuals)
        # What cancels in the last few steps leaves rounding of the first residual's size.
        assert np.allclose(outcome.residuals, norms[:known], rtol=1e-6, atol=1e-9 * norms[0])
        assert np.allclose(solver.x, wanted, rtol=0, atol=1e-9)
    solver.close()


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-4)])
def test_to_a_tolerance(backend: Backend, dtype: str, tolerance: float) -> None:
    rng = np.random.default_rng(2)
    matrix, b = random_matrix(rng, 200, 100.0), rng.standard_normal(200)
    operator = Matrix(matrix.astype(dtype))
    solver = ConjugateGradients(layout(backend, 200, dtype=dtype), operator)
    solver.b[:] = b
    outcome = solver.solve(tolerance)
    assert outcome.converged and 20 < outcome.iterations < 200 and operator.checked
    assert outcome.residuals[-1] <= tolerance * outcome.residuals[0] < outcome.residuals[-2]
    # The host checks later than that, but nothing moves any more.
    error = np.linalg.norm(matrix @ solver.x.astype(float) - b)
    assert error == pytest.approx(outcome.residuals[-1], rel=0.1)


def test_what_others_own_does_not_count(backend: Backend) -> None:
    """Values behind those that are this rank's are neither summed up nor changed."""
    matrix = np.zeros((12, 12))
    matrix[:9, :9] = random_matrix(np.random.default_rng(3), 9, 10.0)
    solver = ConjugateGradients(layout(backend, 12, 9), Matrix(matrix), max_iterations=9)
    solver.b[:9], solver.b[9:] = 1.0, 1e30
    outcome = solver.solve(1e-12)
    assert outcome.residuals[0] == pytest.approx(3.0)
    assert np.allclose(matrix[:9, :9] @ solver.x[:9], 1.0) and not solver.x[9:].any()


def test_nothing_to_be_done(backend: Backend) -> None:
    solver = ConjugateGradients(layout(backend, 5), Matrix(np.eye(5)))
    outcome = solver.solve(1e-3)
    assert (outcome.iterations, outcome.converged) == (0, True) and not solver.x.any()


def test_when_time_is_up(backend: Backend) -> None:
    matrix = random_matrix(np.random.default_rng(4), 100, 1e6)
    solver = ConjugateGradients(layout(backend, 100), Matrix(matrix), max_iterations=13)
    solver.b[:] = 1.0
    outcome = solver.solve(1e-12)
    assert (outcome.iterations, outcome.converged) == (13, False)


def test_numbers_that_are_none(backend: Backend) -> None:
    solver = ConjugateGradients(layout(backend, 3), Matrix(np.full((3, 3), np.nan)))
    solver.b[:] = 1.0
    with pytest.raises(RunFailed, match="before iteration 2 is not finite"):
        solver.solve()


def test_lanes_are_the_kernels() -> None:
    text = cg.SOURCE.read_text()
    assert f"LANES = {cg.LANES};" in text and f"SUMS = {cg.SUMS};" in text
