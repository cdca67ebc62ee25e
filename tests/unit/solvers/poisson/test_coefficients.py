"""Coefficients and sides with heat transfer: against dense matrices, and what lower levels get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from dense_coefficients import dense_matrix
from dense_spectral_elements import shuffled, space_on, system_on

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.solvers.poisson.coefficients import (
    TENSOR,
    Coefficients,
    SideFactors,
    linear_interpolation,
)
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.solvers.poisson.equation import Equation, Robin, zero
from groundswell.solvers.poisson.geometric_factors import GeometricFactors, integrate_sides
from groundswell.solvers.poisson.level_geometry import LevelGeometry, galerkin_matrices
from groundswell.solvers.poisson.operator import Operator
from groundswell.spectral_elements.given_fields import (
    FieldsByMaterial,
    GivenValues,
    limits_within,
)
from groundswell.spectral_elements.space import FunctionSpace

pytestmark = pytest.mark.each_value

RNG = np.random.default_rng
SHEAR = np.array([[1.0, 0.2, 0.0], [0.1, 0.8, -0.3], [0.0, 0.2, 1.3]])
DEGREE, COUNT = 3, 12


def bent(points: Any) -> Any:
    return points @ SHEAR + 0.1 * points[..., ::-1] * points[..., [1, 2, 0]]


MESHES = {
    "affine": Box((3, 2, 2), deform=lambda p: p @ SHEAR, order=1),
    "straight": Box((3, 2, 2), deform=bent, order=1),
    "curved": shuffled(Box((3, 2, 2), deform=bent, order=2), RNG(7)),
}

OF_ELEMENTS = 10 ** RNG(1).uniform(-3, 3, COUNT)


def varying(x: Any, y: Any, z: Any) -> Any:
    return 1.5 + np.sin(3 * x) * np.cos(2 * y + z)


def entry(a: int, b: int) -> Callable[..., Any]:
    """Of a tensor that is diagonally dominant."""
    if a == b:
        return lambda x, y, z: 2 + a + x * y / 4
    return lambda x, y, z: 0.3 * np.cos(x + a * y - b * z)


CONSTANT = (2.0, 0.3, -0.2, 1.5, 0.4, 3.0)
# k as users give it, and by an element's number and the positions of its nodes.
KINDS: dict[str, tuple[Any, Callable[[int, Any], Any]]] = {
    "number": (2.5, lambda e, p: 2.5),
    "elements": (GivenValues(OF_ELEMENTS), lambda e, p: OF_ELEMENTS[e]),
    "function": (varying, lambda e, p: varying(*p.T)),
    "materials": (
        FieldsByMaterial(np.arange(COUNT) % 2, [4.0, varying]),
        lambda e, p: varying(*p.T) if e % 2 else 4.0,
    ),
    "tensor": (CONSTANT, lambda e, p: np.array(CONSTANT)),
    "tensors": (
        tuple(FieldsByMaterial(np.arange(COUNT) % 2, [k, k / 2]) for k in CONSTANT),
        lambda e, p: np.array(CONSTANT) / (2 if e % 2 else 1),
    ),
    "tensor function": (
        tuple(entry(a, b) for a, b in TENSOR),
        lambda e, p: np.stack([entry(a, b)(*p.T) for a, b in TENSOR], axis=-1),
    ),
}
H = {2: 7.0, 4: 0.5}  # of two sides that meet


def as_tensors(k: Any, nodes: int) -> Any:
    """Numbers, or six entries, as matrices at nodes, (nodes, 3, 3)."""
    entries = np.broadcast_to(k, (nodes, 6)) if np.shape(k)[-1:] == (6,) else None
    found = np.zeros((nodes, 3, 3))
    for n, (a, b) in enumerate(TENSOR):
        one = (a == b) * np.asarray(k) if entries is None else entries[:, n]
        found[:, a, b] = found[:, b, a] = one
    return found


def equation_of(k: Any, c: Any = 0.0, h: Mapping[int, float] = H) -> Equation:
    robin = {tag: Robin(lambda x, y, z, h=each: h, zero) for tag, each in h.items()}
    return Equation(screening=c, conductivity=k, robin=robin)


def dense(mesh: Any, kind: str, c: str, h: Mapping[int, float] = H) -> tuple[Any, Any]:
    (_, k_at), (_, c_at) = KINDS[kind], SCREENINGS[c]
    tensors = lambda e, p: as_tensors(k_at(e, p), len(p))  # noqa: E731
    return dense_matrix(mesh, DEGREE, tensors, c_at, h)


SCREENINGS: dict[str, tuple[Any, Callable[[int, Any], Any]]] = {
    "none": (0.0, lambda e, p: 0.0),
    **{name: KINDS[name] for name in ("number", "elements", "function")},
}


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


# Mesh, k, c, and metric; each combination has a kernel of its own.
COMBINATIONS = [
    ("affine", "number", "none", "affine"),
    ("affine", "function", "number", "affine"),
    ("affine", "materials", "function", "affine"),
    ("affine", "tensors", "elements", "affine"),
    ("affine", "tensor", "function", "affine"),
    ("affine", "tensor function", "number", "stored"),
    ("straight", "number", "function", "straight"),
    ("straight", "elements", "number", "straight"),
    ("straight", "function", "elements", "straight"),
    ("straight", "number", "number", "stored"),
    ("straight", "elements", "function", "stored"),
    ("straight", "tensor", "none", "stored"),
    ("curved", "materials", "elements", "stored"),
    ("curved", "tensors", "function", "stored"),
]


@pytest.mark.parametrize(("name", "kind", "c", "metric"), COMBINATIONS)
def test_operators_are_the_assembled_matrix(
    backend: Backend, name: str, kind: str, c: str, metric: str
) -> None:
    """Also their diagonal, and the energy that conjugate gradients need."""
    mesh = MESHES[name]
    matrix, ids = dense(mesh, kind, c)
    space = space_on(mesh, DEGREE)
    order = np.argsort(space.sharing.ids)
    assert np.array_equal(space.sharing.ids[order], ids)
    x, y = (backend.zeros((len(ids),), "f8") for _ in range(2))
    equation = equation_of(KINDS[kind][0], SCREENINGS[c][0])
    coefficients = equation.on(space).coefficients
    elements = ElementOperator(backend, space, coefficients, "f8", metric=metric)
    operator = Operator(backend, space, equation, x, y, elements=elements)
    size = np.abs(matrix).max()
    assert np.allclose(operator.diagonal()[order], np.diag(matrix), rtol=0, atol=1e-12 * size)
    x[order] = u = RNG().standard_normal(len(ids))
    in_order(operator.launches)()
    assert np.abs(y[order] - matrix @ u).max() <= 1e-12 * np.abs(matrix @ u).max()
    everyone, local = np.arange(mesh.count), backend.zeros((space.dofs.size,), "f8")
    energies = np.full(operator.elements.blocks(everyone), np.nan)
    in_order(operator.elements.launches(everyone, x, local, energies))()
    assert energies.sum() == pytest.approx(u @ matrix @ u, rel=1e-12)


@pytest.mark.parametrize("preconditioner", ["jacobi", "multigrid"])
@pytest.mark.parametrize("kind", ["elements", "tensor function"])
def test_solutions_are_those_of_the_matrix(
    backend: Backend, kind: str, preconditioner: str
) -> None:
    """With heat transfer alone to determine u."""
    mesh = MESHES["straight"]
    matrix, ids = dense(mesh, kind, "none")
    space = space_on(mesh, DEGREE)
    system = system_on(backend, space, equation_of(KINDS[kind][0]), preconditioner)
    source = np.random.default_rng(5).standard_normal(space.dofs.shape)
    found, outcome = system.solve(source, tolerance=1e-13)
    assert outcome.converged and outcome.iterations < (400 if preconditioner == "jacobi" else 40)
    mass = GeometricFactors.of(mesh, DEGREE, space.elements).mass
    rows = np.searchsorted(ids, mesh.ids(DEGREE, np.arange(COUNT)))
    load = np.bincount(rows.ravel(), (mass * source).ravel())
    wanted = np.linalg.solve(matrix, load)[rows]
    assert np.abs(found - wanted).max() <= 1e-8 * np.abs(wanted).max()


@pytest.mark.parametrize("kind", ["elements", "tensor function"])
def test_the_coarsest_matrices_are_galerkins(kind: str) -> None:
    mesh = MESHES["curved"]
    space = space_on(mesh, DEGREE)
    equation = equation_of(KINDS[kind][0], varying)
    coefficients = equation.on(space).coefficients
    geometry = GeometricFactors.of(mesh, DEGREE, np.arange(COUNT), coefficients)
    found = galerkin_matrices(geometry)
    line = (1 + gll(DEGREE).points[:, None] * np.array([-1, 1])) / 2
    up = np.einsum("tc,sb,ra->tsrcba", line, line, line).reshape(-1, 8)
    matrix, ids = dense(mesh, kind, "function")
    rows = np.searchsorted(ids, mesh.ids(DEGREE, np.arange(COUNT)))
    whole = np.zeros((8 * COUNT, 8 * COUNT))
    for e in range(COUNT):
        whole[8 * e : 8 * e + 8, 8 * e : 8 * e + 8] = found[e]
    # Coarse functions of one vertex of all elements that have it, prolonged to the nodes.
    corners, vertex = np.unique(mesh.ids(1, np.arange(COUNT)), return_inverse=True)
    p, q = np.zeros((len(ids), len(corners))), np.eye(len(corners))[vertex.ravel()]
    for e in range(COUNT):
        p[rows[e]] = up @ q[8 * e : 8 * e + 8]
    wanted = p.T @ matrix @ p
    assert np.allclose(q.T @ whole @ q, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("degrees", [(7, 5), (5, 3), (3, 1), (15, 10)])
def test_lower_degrees_have_averages(degrees: tuple[int, int]) -> None:
    """Also of coefficients that jump within an element: k stays positive, c and h 0 or more."""
    matrix = linear_interpolation(*degrees)
    assert (matrix >= 0).all() and np.allclose(matrix.sum(axis=1), 1)
    high, low = degrees
    space = space_on(Box((2, 1, 1)), high)
    steep = lambda x, y, z: np.where(x + y < 0.7, 1e-6, 1.0)  # noqa: E731
    equation = equation_of(steep, lambda x, y, z: steep(x, y, z) - 1e-6, {})
    found = equation.on(space).on(space.coarsen(low)).coefficients
    assert found.conductivity.shape == (2, 1, (low + 1) ** 3)
    assert 1e-6 <= found.conductivity.min() < found.conductivity.max() <= 1
    assert found.screening.min() >= 0


def test_values_of_elements_take_one_number_each() -> None:
    space = space_on(MESHES["affine"], DEGREE)
    by_element = equation_of(GivenValues(OF_ELEMENTS), 2.0).on(space).coefficients
    assert by_element.conductivity.shape == (COUNT, 1, 1) and by_element.screening.size == 1
    assert by_element.at_degree(1).conductivity is by_element.conductivity


def test_functions_may_jump_between_elements() -> None:
    """Each element has its own limit, and what is smooth is as exact as rounding."""
    space = space_on(Box((4, 1, 1), deform=bent, order=2), 6)
    smooth = limits_within(varying, space, np.arange(4), "k")
    assert np.allclose(smooth, varying(*np.moveaxis(space.nodes, -1, 0)), rtol=0, atol=1e-13)
    space = space_on(Box((4, 1, 1)), 6)
    layer = limits_within(lambda x, y, z: np.floor(4 * x), space, np.arange(4), "k")
    assert np.array_equal(layer, np.repeat(np.arange(4.0), 7**3).reshape(4, -1))
    square = limits_within(lambda x, y, z: x**2, space, np.arange(4), "c")
    assert np.array_equal(square, space.nodes[..., 0] ** 2)
    ramps = limits_within(lambda x, y, z: 1 + np.floor(4 * x) - 4 * x, space, np.arange(4), "c")
    ends = ramps.reshape(4, -1, 7)[..., [0, -1]]
    assert np.allclose(ends, [1, 0], rtol=0, atol=1e-6) and (ramps >= 0).all()


def test_sides_that_meet_add_up() -> None:
    """The integrals of h over the sides are h times their areas."""
    space = space_on(Box((2, 3, 1), high=(2.0, 3.0, 5.0)), 4)
    transfer = equation_of(1.0).on(space).coefficients.transfer
    assert transfer is not None
    for degree in (4, 2, 1):
        lower = Coefficients(transfer=transfer.at_degree(degree))
        sides = integrate_sides(space.shapes, lower)
        assert sides.values.sum() == pytest.approx(7.0 * 3 * 5 + 0.5 * 2 * 5, rel=1e-13)
        corner = sides.of(np.array([5]))[0].reshape((degree + 1,) * 3)[:, -1, -1]
        w = gll(degree).weights * 5 / 2
        assert np.allclose(corner, w * gll(degree).weights[0] / 2 * 7.5)
    assert not sides.of(np.array([0])).any()


def test_elements_without_sides() -> None:
    some = SideFactors(np.array([2, 5]), np.ones((2, 8)))
    assert np.array_equal(some.of(np.array([5, 1, 2, 9]))[:, 0], [1, 0, 1, 0])
    numbers, values = some.nonzero(np.array([5, 1]))
    assert np.array_equal(numbers, 40 + np.arange(8)) and len(values) == 8


@pytest.mark.parametrize(
    ("metric", "kind"), [("straight", "tensor"), ("affine", "tensor function")]
)
def test_metrics_that_cannot_hold_a_tensor(backend: Backend, metric: str, kind: str) -> None:
    space = space_on(MESHES["affine"], 1)
    coefficients = equation_of(KINDS[kind][0]).on(space).coefficients
    with pytest.raises(InputError, match=f"metric = '{metric}' does not apply"):
        ElementOperator(backend, space, coefficients, "f8", metric=metric)


def test_components_share_coefficients(backend: Backend) -> None:
    """Each component is what it would be alone, also on sides, and scaled."""
    space, everyone = space_on(MESHES["straight"], DEGREE), np.arange(COUNT)
    coefficients = equation_of(varying, 1.0).on(space).coefficients
    elements = ElementOperator(backend, space, coefficients, "f8")
    x, scale = RNG(2).standard_normal((3, space.size)), RNG(3).uniform(0.5, 2, space.size)
    together, alone = np.zeros((2, 3, space.dofs.size))
    sums = np.zeros((4, elements.blocks(everyone)))
    for n in range(3):
        in_order(elements.launches(everyone, x[n], alone[n], sums[n], scale))()
    in_order(elements.launches(everyone, x, together, sums[3], scale))()
    assert np.array_equal(together, alone)
    assert sums[3].sum() == pytest.approx(sums[:3].sum(), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_without_elements(backend: Backend, kind: str) -> None:
    mesh = MESHES["affine"]
    space = FunctionSpace.on(SerialCommunicator(), mesh, DEGREE, np.arange(0))
    equation = equation_of(KINDS[kind][0], varying).on(space)
    elements = ElementOperator(backend, space, equation.coefficients, "f8")
    assert elements.launches(np.arange(0), *np.zeros((3, 1))) == []
    lower = space.coarsen(2)
    found = LevelGeometry.of(lower, equation.on(lower), has_coarsest=True)
    assert found.coarsest.shape == (0, 8, 8)
