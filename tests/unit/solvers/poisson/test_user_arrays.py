"""Arrays of other libraries as sources, and a problem's parts as operators on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse.linalg import aslinearoperator, cg

import groundswell as gs
from groundswell.errors import InputError
from groundswell.meshes.box import Box, kershaw

SIDES = {
    "west": {"kind": "fixed", "value": "1 + y"},
    "east": {"kind": "robin", "h": 2.0, "ambient": "z"},
}
MESH = Box((2, 2, 2), deform=kershaw(0.8, 0.8), order=1)
DEGREE, NODES = 3, 64


class OnlyDlpack:
    """An array that only DLPack can view, in host memory or said to be on a GPU."""

    def __init__(self, array: NDArray[Any], device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


def convert_to(library: str) -> Callable[[NDArray[Any]], Any]:
    if library == "dlpack":
        return OnlyDlpack
    module = pytest.importorskip("jax.numpy" if library == "jax" else library)
    return module.asarray  # type: ignore[no-any-return]


@pytest.fixture(scope="module", params=["none", "jacobi", "multigrid"])
def problem(request: pytest.FixtureRequest) -> Iterator[gs.poisson.Problem]:
    with gs.poisson.Problem(MESH, DEGREE, SIDES, preconditioner=request.param) as made:
        yield made


@pytest.fixture
def f() -> NDArray[np.float64]:
    at = gs.poisson.nodes(MESH, DEGREE)
    return np.asarray(np.stack([at[..., 0] * at[..., 1], 1e4 * np.sin(9 * at[..., 2])]))


# --- solutions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["dlpack", "torch"])
def test_sources_of_other_libraries(
    problem: gs.poisson.Problem, f: NDArray[np.float64], library: str
) -> None:
    """One component, several, and from a guess: as with NumPy's arrays."""
    convert, ambient = convert_to(library), {"east": [0.0, "x"]}
    for source, values in ((f[0], {}), (f, {}), (f[:1], {}), (f, ambient), (f[1], ambient)):
        wanted = problem.solve(source, values=values)
        found = problem.solve(convert(source), values=values)
        assert found.converged and abs(found.iterations - wanted.iterations) <= 1
        assert found.values.shape == wanted.values.shape
        assert np.allclose(found.values, wanted.values, rtol=0, atol=1e-8 * wanted.values.max())
        for start in (found, wanted):
            again = problem.solve(convert(source), values=values, start=start)
            assert again.iterations <= 1
            assert np.allclose(again.values, wanted.values, rtol=0, atol=1e-8 * found.values.max())
    assert np.isclose(found.residuals[0], wanted.residuals[0], rtol=1e-9)


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_solutions_are_in_the_library_of_the_source(f: NDArray[np.float64], library: str) -> None:
    source = convert_to(library)(f.astype("f4"))
    with gs.poisson.Problem(MESH, DEGREE, SIDES, precision="single") as problem:
        found, wanted = problem.solve(source), problem.solve(f)
        product = problem.operator @ problem.right_hand_side(source)
    assert type(found.values) is type(source) and type(product) is type(source)
    difference = np.asarray(found.values) - wanted.values
    assert np.abs(difference).max() < 1e-4 * np.abs(wanted.values).max()
    assert list(found.fields) == ["u1", "u2"]


def test_a_source_is_read_in_place(f: NDArray[np.float64]) -> None:
    """And neither it nor an earlier solution changes in later ones."""
    with gs.poisson.Problem(MESH, DEGREE, SIDES) as problem:
        first = problem.solve(OnlyDlpack(f[0]))
        kept, given = first.values.copy(), f[0].copy()
        problem.solve(OnlyDlpack(f[1]))
        assert (first.values == kept).all() and (f[0] == given).all()


# --- operators ------------------------------------------------------------------------------------


def test_scipy_solves_with_the_parts(problem: gs.poisson.Problem, f: NDArray[np.float64]) -> None:
    wanted = problem.solve(f[0])
    b = problem.right_hand_side(f[0])
    steps: list[int] = []
    how = {"M": aslinearoperator(problem.preconditioner), "rtol": 1e-12, "atol": 0.0}
    u, failed = cg(aslinearoperator(problem.operator), b, **how, callback=steps.append)
    assert failed == 0 and len(steps) <= 2 * wanted.iterations
    values = problem.gather_scatter.scatter(u)
    assert np.allclose(values, wanted.values, rtol=0, atol=1e-8)


def test_operators_are_symmetric_and_positive(problem: gs.poisson.Problem) -> None:
    """On all vectors; prescribed values stand for themselves; columns are one by one."""
    rng = np.random.default_rng(3)
    count = problem.operator.shape[0]
    vectors = rng.standard_normal((count, 4))
    for operator in (problem.operator, problem.preconditioner):
        images = operator @ vectors
        products = vectors.T @ images
        # A cycle in single precision is symmetric to its rounding.
        assert np.allclose(products, products.T, rtol=0, atol=1e-5 * np.abs(products).max())
        assert (np.linalg.eigvalsh((products + products.T) / 2) > 0).all()
        single = operator.matvec(vectors[:, 1])
        assert np.allclose(single, images[:, 1], rtol=1e-12, atol=1e-12 * np.abs(images).max())
        fixed = np.asarray(operator.free) == 0
        assert fixed.sum() == 49 and (images[fixed] == vectors[fixed]).all()
    given = vectors[:, 0].copy()
    assert (problem.operator(vectors[:, 0]) == problem.operator @ OnlyDlpack(given)).all()


def test_right_hand_sides(problem: gs.poisson.Problem, f: NDArray[np.float64]) -> None:
    for source in (f[0], f):
        b = problem.right_hand_side(source)
        other = problem.right_hand_side(OnlyDlpack(source))
        assert b.shape == other.shape == (problem.operator.shape[0], *source.shape[:-2])
        assert np.allclose(b, other, rtol=0, atol=1e-12 * np.abs(b).max())


def test_gather_scatter_against_ids(problem: gs.poisson.Problem) -> None:
    local = np.random.default_rng(4).standard_normal((2, MESH.count, NODES))
    _, place = np.unique(MESH.ids(DEGREE, np.arange(MESH.count)), return_inverse=True)
    sums = np.stack([np.bincount(place.ravel(), u.ravel())[place].reshape(u.shape) for u in local])
    parts = problem.gather_scatter
    assert np.allclose(parts(local), sums, rtol=0, atol=1e-13)
    assert np.allclose(parts(local[0]), sums[0], rtol=0, atol=1e-13)
    assembled = parts.gather(local)
    assert assembled.shape == (parts.values, 2)
    assert (parts.scatter(assembled) == parts(local)).all()
    assert (parts.scatter(assembled[:, 1].copy()) == parts(local)[1]).all()


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p, u: p.solve(OnlyDlpack(np.zeros((7, NODES)))), r"source has shape \(7, 64\); g"),
        (
            lambda p, u: p.solve(OnlyDlpack(np.zeros((8, NODES), "f4"))),
            'source is of type float32, but .* float64; .* precision="single"',
        ),
        (
            lambda p, u: p.solve(OnlyDlpack(np.zeros((8, NODES)), (2, 0))),
            'source is on a GPU, but the problem is on the CPU; create it with backend="cuda"',
        ),
        (
            lambda p, u: p.solve(OnlyDlpack(np.full((8, NODES), np.nan))),
            "the source, or an array derived from it, is not finite",
        ),
        (
            lambda p, u: p.solve(OnlyDlpack(np.zeros((2, 8, NODES))), start=["x", 0, 0]),
            "source has 2, start has 3",
        ),
        (
            lambda p, u: p.solve([OnlyDlpack(np.zeros((8, NODES)))]),
            "source is a list of arrays of another library than NumPy; stack them",
        ),
        (lambda p, u: p.operator @ u[:-1], r"u has shape \(342,\); give 343 values, \(343,\)"),
        (lambda p, u: p.operator @ u.astype("f4"), "u is of type float32"),
        (lambda p, u: p.operator @ [0.0], "a list is not a supported array"),
        (lambda p, u: p.preconditioner(u > 0), "u is of type bool, .*; convert the array$"),
        (lambda p, u: p.gather_scatter(u), r"local has shape \(343,\); give \(8, 64\), or \(comp"),
        (lambda p, u: p.gather_scatter.scatter(u[1:]), r"assembled has shape \(342,\); give"),
    ],
)
def test_what_arrays_are_refused(problem: gs.poisson.Problem, call: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call(problem, np.zeros(343))


def test_a_mean_wants_a_source_on_the_host() -> None:
    with (
        gs.poisson.Problem(Box((2, 2, 2)), 2, mean=0.0) as problem,
        pytest.raises(InputError, match="with a mean, source must be in host memory"),
    ):
        problem.solve(OnlyDlpack(np.zeros((8, 27))))
