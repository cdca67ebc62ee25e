"""Fused conjugate gradients take the steps of plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import equation_of, space_on

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.linear.cg import ConjugateGradients, ConvergenceHistory
from groundswell.linear.operators import VectorLayout
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.solvers.poisson.fused_cg import FusedConjugateGradients
from groundswell.solvers.poisson.operator import Operator
from groundswell.spectral_elements.space import FunctionSpace

pytestmark = pytest.mark.each_value


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def bent(points: Any) -> Any:
    return points + 0.1 * points[..., ::-1] ** 2


BOXES = {
    "one element": (Box((1, 1, 1)), 4),
    "box": (Box((3, 2, 4)), 3),
    "bent": (Box((3, 3, 2), deform=bent, order=2), 5),
    "periodic": (Box((3, 2, 4), periodic=(True, True, False)), 2),
}


def solve_plainly(
    backend: Backend, space: FunctionSpace, b: Any, times: int, fixed: Any, jacobi: bool
) -> tuple[ConvergenceHistory, Any, Any]:
    """What plain conjugate gradients find, and the preconditioner."""
    made: list[Operator] = []

    def operator(x: Any, y: Any) -> Operator:
        made.append(Operator(backend, space, equation_of(0.2, fixed), x, y))
        return made[0]

    class Jacobi(Operator):
        def __init__(self, x: Any, y: Any) -> None:
            diagonal = made[0].diagonal()
            super().__init__(backend, space, equation_of(0.2), x.copy(), y.copy())
            self.launches = [lambda: np.divide(x, diagonal, out=y)]

    solver = ConjugateGradients(
        space.vectors(backend, "float64"),
        operator,
        precondition=Jacobi if jacobi else None,
        max_iterations=times,
    )
    mask = made[0].mask
    solver.b[:] = b * mask
    outcome = solver.solve()
    return outcome, solver.x.copy(), mask / made[0].diagonal() if jacobi else mask


@pytest.mark.parametrize("most", [16, 13])  # whole cycles, and not
@pytest.mark.parametrize("jacobi", [False, True])
@pytest.mark.parametrize("fixed", [(), (1, 4)])
@pytest.mark.parametrize("name", BOXES)
def test_iterates_are_those_of_plain_ones(
    backend: Backend, name: str, fixed: Any, jacobi: bool, most: int
) -> None:
    box, degree = BOXES[name]
    space = space_on(box, degree)
    b = np.random.default_rng(1).standard_normal(len(space.sharing.ids))
    wanted, x, scale = solve_plainly(backend, space, b, most, fixed, jacobi)
    elements = ElementOperator(backend, space, Coefficients.screened(0.2), "float64")
    factors = None if (scale == 1).all() else scale
    solver = FusedConjugateGradients(backend, elements, factors, max_iterations=most)
    for _ in range(2):  # nothing is left over from the first time
        solver.b[:] = b * (scale != 0)
        outcome = solver.solve()
        assert np.allclose(
            outcome.residuals, wanted.residuals, rtol=1e-9, atol=1e-10 * wanted.residuals[0]
        )
        assert np.allclose(solver.x, x, rtol=0, atol=1e-9 * np.abs(x).max())
    solver.close()


def test_components_are_one_system(backend: Backend) -> None:
    """As conjugate gradients on a matrix that has the operator three times on its diagonal."""
    box = Box((3, 2, 4))
    space = space_on(box, 3)
    count, rng = len(space.sharing.ids), np.random.default_rng(2)
    b, scale = rng.standard_normal((3, count)), rng.uniform(0.5, 1, count)
    elements = ElementOperator(backend, space, Coefficients.screened(0.2), "float64")

    class Three:
        """The operator on each component."""

        in_graph = True

        def __init__(self, x: Any, y: Any) -> None:
            parts = [slice(n * count, (n + 1) * count) for n in range(3)]
            self.each = [Operator(backend, space, equation_of(0.2), x[p], y[p]) for p in parts]
            self.launches = [launch for part in self.each for launch in part.launches]

        def check(self) -> None: ...

        def close(self) -> None: ...

    class Diagonal(Three):
        """The preconditioner."""

        def __init__(self, x: Any, y: Any) -> None:
            self.launches = [lambda: np.multiply(x, np.tile(scale, 3), out=y)]

    solver = FusedConjugateGradients(backend, elements, scale, components=3, max_iterations=16)
    vectors = VectorLayout(backend, SerialCommunicator(), 3 * count, 3 * count, "float64")
    plain = ConjugateGradients(vectors, Three, precondition=Diagonal, max_iterations=16)
    solver.b[:], plain.b[:] = b, b.ravel()
    found, wanted = solver.solve(), plain.solve()
    assert np.allclose(found.residuals, wanted.residuals, rtol=1e-9)
    assert np.allclose(solver.x.ravel(), plain.x, rtol=0, atol=1e-9 * np.abs(plain.x).max())


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-11), ("float32", 1e-4)])
def test_to_a_tolerance(backend: Backend, dtype: str, tolerance: float) -> None:
    box = Box((4, 3, 2))
    space = space_on(box, 6)
    elements = ElementOperator(backend, space, Coefficients.screened(0.5), dtype)
    solver = FusedConjugateGradients(backend, elements, max_iterations=501)
    solver.b[:] = b = np.random.default_rng(3).standard_normal(len(space.sharing.ids)).astype(dtype)
    outcome = solver.solve(tolerance)
    assert outcome.converged and outcome.residuals[-1] <= tolerance * outcome.residuals[0]
    x, made = backend.zeros((len(b),), dtype), backend.zeros((len(b),), dtype)
    operator = Operator(backend, space, equation_of(0.5), x, made)
    x[:] = solver.x
    in_order(operator.launches)()
    assert np.linalg.norm(made - b) <= 20 * tolerance * np.linalg.norm(b)
