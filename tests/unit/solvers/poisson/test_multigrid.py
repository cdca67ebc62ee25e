"""Multigrid in the degree: what cycles come to, on elements of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checked import warnings_of
from dense_spectral_elements import assembled, at_nodes, equation_of, shuffled, space_on, system_on
from variants import long_variants

import groundswell as gs
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.meshes.box import Box, kershaw
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.geometric_factors import GeometricFactors
from groundswell.solvers.poisson.lines import find_lines, shortest_axes, sum_stacks
from groundswell.solvers.poisson.multigrid import Cycle, Multigrid
from groundswell.solvers.poisson.schwarz import compute_stretches
from groundswell.solvers.poisson.setup import prepare

pytestmark = pytest.mark.each_value


RNG = np.random.default_rng
EVERY_SIDE = range(1, 7)


def bent(points: Any) -> Any:
    """A smooth deformation whose elements have no right angles."""
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.07 * np.sin(2 * x + 0.3) * np.cos(y) * np.cos(1.5 * z)
    return points + np.stack([wave, -0.6 * wave, 0.8 * wave * x], axis=-1)


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


# --- cycles ---------------------------------------------------------------------------------------

MESHES = {
    "bent": (Box((2, 2, 1), deform=bent, order=2), 0.0, (1, 4)),
    "free": (Box((2, 1, 1), deform=bent, order=2), 0.5, ()),
    "periodic": (Box((3, 1, 2), periodic=(True, True, False)), 0.0, (5,)),
    "turned": (shuffled(Box((2, 2, 2), deform=bent, order=2), RNG(7)), 0.1, ()),
    "flat": (Box((2, 2, 2), high=(1.0, 1.0, 0.02)), 0.0, (1,)),
    "flat in places": (
        Box((2, 1, 3), deform=lambda p: np.where([0, 0, 1], 1 - (1 - p) ** 4, p), order=1),
        0.2,
        (4,),
    ),
}


def columns(backend: Backend, name: str, degree: int, cycle: Cycle, given: Any) -> tuple[Any, Any]:
    """What a cycle makes of columns, by rising id, and which values are free."""
    mesh, screening, fixed = MESHES[name]
    space = space_on(mesh, degree)
    order = np.argsort(space.sharing.ids)
    x, y = (backend.zeros((len(order),), "f8") for _ in range(2))
    part = Multigrid(backend, space, equation_of(screening, fixed), x, y, cycle=cycle)
    free = np.ones(len(order)) if not fixed else part.levels[0].operator.mask[order]
    wanted = given(np.flatnonzero(free), len(order))
    found = np.empty_like(wanted)
    for n, column in enumerate(wanted.T):
        x[order], y[:] = column, np.nan
        in_order(part.launches)()
        found[:, n] = y[order]
    part.check()
    part.close()
    return wanted, found


@pytest.mark.parametrize("name", MESHES)
def test_a_cycle_is_symmetric_and_positive(backend: Backend, name: str) -> None:
    def some(free: Any, count: int) -> Any:
        found = np.zeros((count, 6))
        found[free] = RNG().standard_normal((len(free), 6))
        return found

    x, y = columns(backend, name, 4, Cycle(dtype="float64"), some)
    products = x.T @ y
    assert np.allclose(products, products.T, rtol=0, atol=1e-12 * np.abs(products).max())
    assert np.linalg.eigvalsh(products).min() > 0


def test_a_cycle_is_nearly_the_inverse(backend: Backend) -> None:
    """As a matrix M, by its columns: eigenvalues of M A are near 1."""
    cycle = Cycle(dtype="float64", degrees=(3, 2, 1))
    _, found = columns(backend, "free", 3, cycle, lambda free, count: np.eye(count))
    mesh, screening, _ = MESHES["free"]
    values = np.linalg.eigvals(found @ assembled(mesh, 3, screening)[0])
    assert np.abs(values.imag).max() < 1e-9
    assert values.real.min() > 0.5 and values.real.max() < 1.2


def iterations(
    backend: Backend,
    mesh: Any,
    degree: int,
    cycle: Cycle | None = None,
    *,
    fixed: Any = EVERY_SIDE,
    screening: float = 0.0,
    tolerance: float = 1e-8,
) -> int:
    """To a small residual, from a random right-hand side."""
    equation = equation_of(screening, fixed)
    system = system_on(backend, space_on(mesh, degree), equation, "multigrid", cycle)
    source = RNG(1).standard_normal((mesh.count, (degree + 1) ** 3))
    _, history = system.solve(source, tolerance=tolerance)
    system.close()
    assert history.converged
    return history.iterations


def test_thin_and_slanted_elements(backend: Backend) -> None:
    """Kershaw's, on which Jacobi's preconditioner takes 700."""
    assert iterations(backend, Box((6, 6, 6), deform=kershaw(0.3, 0.3), order=1), 7) <= 20


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("ratio", [1, 10, 100, 1000])
def test_flat_elements(backend: Backend, ratio: float, axis: int) -> None:
    """Fixed at both ends of a long axis; with lower degrees alone, in single precision, 300."""
    high = tuple(1 / ratio if a == axis else 1.0 for a in range(3))
    fixed = tuple(2 * ((axis + 1) % 3) + n for n in (1, 2))
    assert iterations(backend, Box((4, 4, 4), high=high), 7, fixed=fixed) <= 18


@pytest.mark.parametrize(
    ("mesh", "options"),
    [
        (Box((3, 3, 2), high=(1.0, 1.0, 1e-4)), {"screening": 1.0, "fixed": ()}),
        (Box((3, 3, 9), high=(1.0, 1.0, 0.03)), {"fixed": (2,)}),
        (Box((3, 3, 3), high=(1.0, 1.0, 0.01), periodic=(True, False, True)), {"fixed": (3,)}),
        (Box((4, 2, 2), high=(1.0, 0.01, 0.001)), {"fixed": (1,)}),
        (shuffled(Box((3, 3, 2), high=(1.0, 1.0, 0.01)), RNG(5)), {"fixed": (1,)}),
    ],
    ids=["screened", "thick", "periodic", "thin along two axes", "turned"],
)
def test_other_flat_elements(backend: Backend, mesh: Any, options: Any) -> None:
    most = 30 if mesh.count > 80 else 15  # waves along many layers are smoothed only
    assert iterations(backend, mesh, 5, **options) <= most


@pytest.mark.parametrize(
    ("counts", "fixed", "is_said"),
    [((40, 40, 2), "west", True), ((40, 40, 2), "top", False), ((20, 20, 2), "west", False)],
)
def test_too_many_lines_are_a_warning(counts: Any, fixed: str, is_said: bool) -> None:
    case = PoissonCase(
        mesh={"kind": "box", "counts": counts, "size": [1.0, 1.0, 0.001]},
        boundaries={fixed: {"kind": "fixed"}},
        method={"preconditioner": "multigrid", "degree": 7},
    )
    found = warnings_of(prepare(case))
    assert [text for text in found if "78,961" in text and "at most 50,000" in text] == found
    assert len(found) == is_said


def test_matrices_of_lines_are_the_operators(backend: Backend) -> None:
    """P' A P, with P from lines to nodes, of slanted elements that are flat along several axes."""

    def flat(points: Any) -> Any:
        x, y, z = np.moveaxis(points, -1, 0)
        return np.stack([x + 0.1 * y, y + 0.2 * x * y, 0.02 * z + 0.3 * x], axis=-1)

    space = space_on(shuffled(Box((2, 2, 2), deform=flat, order=2), RNG(3)), 3)
    screened = Coefficients.screened(0.4)
    geometry = GeometricFactors.of(space.mesh, 3, space.elements, screened)
    lines = find_lines(space, shortest_axes(compute_stretches(geometry)))
    assert len(lines.flat) == 8 and len({*lines.axis}) > 1
    ids, rows = np.unique(lines.of_nodes, return_inverse=True)
    p = np.eye(len(ids))[rows.ravel()]
    order = np.argsort(space.sharing.ids)
    expected = p[order].T @ assembled(space.mesh, 3, 0.4)[0] @ p[order]
    stacks, matrices = sum_stacks(space, lines, screened)
    found = np.zeros_like(expected)
    for of_stack, matrix in zip(np.searchsorted(ids, stacks), matrices, strict=True):
        np.add.at(found, np.ix_(of_stack, of_stack), matrix)
    assert len(ids) == 49 and 4 <= len(stacks) <= 8
    assert np.allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_precision_inside_loses_nothing(backend: Backend) -> None:
    mesh = Box((6, 2, 2), deform=kershaw(0.3, 0.3), order=1)
    single, double = (iterations(backend, mesh, 5, Cycle(dtype=f"float{n}")) for n in (32, 64))
    assert abs(single - double) <= 2


def test_counts_do_not_depend_on_the_mesh(backend: Backend) -> None:
    counts = [iterations(backend, Box((n, n, n)), 5) for n in (2, 4, 8)]
    assert max(counts) <= 7 and max(counts) - min(counts) <= 2


@pytest.mark.parametrize("degree", [1, 2, 3, 6, *long_variants([11])])
def test_every_degree(backend: Backend, degree: int) -> None:
    assert iterations(backend, Box((2, 3, 2)), degree, fixed=(1,)) <= 8


def test_the_highest_degree(backend: Backend) -> None:
    assert iterations(backend, Box((2, 1, 1)), 15, Cycle(degrees=(15, 4, 1))) <= 9


@pytest.mark.parametrize(
    "cycle",
    [
        Cycle(degrees=(5, 1)),
        Cycle(order=1),
        Cycle(coarse="amg"),
    ],
)
def test_other_cycles(backend: Backend, cycle: Cycle) -> None:
    if cycle.coarse == "amg":
        pytest.importorskip("pyamg")
    assert iterations(backend, MESHES["turned"][0], 5, cycle, screening=0.1, fixed=()) <= 16


@pytest.mark.parametrize("preconditioner", ["jacobi", "multigrid"])
def test_the_true_residual_meets_the_tolerance(preconditioner: Any) -> None:
    """b - A u itself, not what the iteration updates; with a cycle in single precision."""
    cube = Box((4, 4, 4), deform=kershaw(0.3, 0.3), order=1)
    k = 10 ** np.random.default_rng(1).uniform(-3, 3, cube.count)
    walls = {"west": {"kind": "fixed", "value": 1.0}, "top": {"kind": "robin", "h": 2.0}}
    options: Any = {"conductivity": k, "preconditioner": preconditioner}
    with gs.poisson.Problem(cube, 4, walls, **options) as problem:
        found, b = problem.solve("1 + x"), problem.right_hand_side("1 + x")
        copies = problem.gather_scatter(np.ones(found.values.shape))
        u = problem.gather_scatter.gather(found.values / copies)
        left = np.linalg.norm(b - problem.operator @ u)
    assert left <= 1.5e-10 * found.residuals[0]


def test_small_residuals_can_be_reached(backend: Backend) -> None:
    """In single precision inside, and double outside."""
    assert iterations(backend, Box((2, 2, 2)), 5, tolerance=1e-13) <= 11


def test_solutions_are_jacobis(backend: Backend) -> None:
    found, space = [], space_on(MESHES["bent"][0], 5)
    source = at_nodes(lambda x, y, z: x * y + z, space)
    prescribed = at_nodes(lambda x, y, z: x - y * z, space)
    for preconditioner in ("jacobi", "multigrid"):
        system = system_on(backend, space, equation_of(fixed=(1, 4)), preconditioner)
        values, history = system.solve(source, prescribed)
        system.close()
        found.append(values)
    assert history.iterations <= 11
    assert np.allclose(*found, rtol=0, atol=1e-8 * np.abs(found[0]).max())


# --- what cannot be done --------------------------------------------------------------------------


def test_elements_that_only_high_degrees_can_have(backend: Backend) -> None:
    def waves(points: Any) -> Any:
        """Along x, which degree 3 cannot follow."""
        k = 2.5 * np.pi
        return points + 0.8 / k * np.cos(k * points[..., :1]) * np.array([1.0, 0.0, 0.0])

    mesh = Box((1, 1, 1), deform=waves, order=9)
    with pytest.raises(InputError, match="degree 3, a level of multigrid, 1 element inv"):
        iterations(backend, mesh, 7)
    assert iterations(backend, mesh, 7, Cycle(degrees=(7, 5, 1))) < 20
