"""Poisson's operator and conjugate gradients on the CPU and on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import space_on
from gpu import gpu_count

import groundswell as gs
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import METRICS, ElementOperator
from groundswell.solvers.poisson.equation import Equation, Robin
from groundswell.solvers.poisson.fused_cg import FusedConjugateGradients
from groundswell.solvers.poisson.kernel_variants import OperatorVariant, choose_variant
from groundswell.spectral_elements.given_fields import GivenValues
from groundswell.spectral_elements.kernel_variants import PENCILS, SLICES, TENSOR_CORES
from groundswell.spectral_elements.space import FunctionSpace

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(gpu_count() < 1, reason="needs a GPU")]

ROUNDING = {"float64": 1e-12, "float32": 1e-4}
SHEAR = np.array([[1.0, 0.2, 0.0], [0.1, 0.8, -0.3], [0.0, 0.2, 1.3]])


def mesh_of(metric: str) -> Box:
    """Parallelepipeds, or what bends them; 45 elements fill no whole number of blocks."""
    bend = 0.0 if metric == "affine" else 0.1
    moved = lambda p: p @ SHEAR + bend * p[..., ::-1] * p[..., [1, 2, 0]]  # noqa: E731
    return Box((5, 3, 3), deform=moved, order=1)


def variants(degree: int, dtype: str, metric: str) -> list[OperatorVariant]:
    """All that can be tried."""
    n = degree + 1
    tensor = dtype == "float64" and n > 4
    return [
        choose_variant(dtype, degree, metric, 0.3),
        OperatorVariant(SLICES, max(1, 256 // n**2)),
        OperatorVariant(PENCILS, max(1, 256 // n**2), 0, n // 2),
        *[OperatorVariant(TENSOR_CORES, 4 if n <= 8 else 1, 0, n % 4)] * tensor,
    ]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("degree", range(1, 16))
def test_operators_agree(degree: int, dtype: str, metric: str) -> None:
    mesh = mesh_of(metric)
    space = space_on(mesh, degree)
    rng = np.random.default_rng(1)
    x, scale = rng.standard_normal((2, len(space.sharing.ids))).astype(dtype)
    some = rng.permutation(mesh.count)[:-1]
    wanted, energy = applied(open_backend("cpu"), space, metric, x, scale, some, None)
    for variant in dict.fromkeys(variants(degree, dtype, metric)):
        found, total = applied(open_backend("cuda"), space, metric, x, scale, some, variant)
        most = np.nanmax(np.abs(wanted))
        assert np.array_equal(np.isnan(found), np.isnan(wanted)), variant
        assert np.nanmax(np.abs(found - wanted)) <= ROUNDING[dtype] * most, variant
        size = np.abs(wanted[np.isfinite(wanted)]).sum() * np.abs(x * scale).max()
        assert abs(total - energy) <= ROUNDING[dtype] * size, variant


def applied(
    backend: Backend,
    space: FunctionSpace,
    metric: str,
    x: Any,
    scale: Any,
    some: Any,
    variant: OperatorVariant | None,
) -> tuple[Any, float]:
    """What some elements make of x, and x times that."""
    elements = ElementOperator(
        backend, space, Coefficients.screened(0.3), x.dtype, metric=metric, variant=variant
    )
    y = backend.to_device(np.full(space.dofs.size, np.nan, x.dtype))
    energies = backend.to_device(np.full(elements.blocks(some), np.nan))
    given = (backend.to_device(x), y, energies, backend.to_device(scale))
    in_order(elements.launches(some, *given))()
    return backend.to_host(y), float(backend.to_host(energies).sum())


def varying(x: Any, y: Any, z: Any) -> Any:
    return 1.5 + np.sin(x) * np.cos(y + z)


BY_ELEMENT = GivenValues(np.random.default_rng(6).uniform(0.5, 20, 45))
TENSOR = (2.0, 0.3, varying, 1.5 + 2.0, 0.4, 4.0)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("degree", [1, 2, 3, 5, 7, 8, 11, 15])
def test_operators_with_coefficients_agree(degree: int, dtype: str, metric: str) -> None:
    """k and c by function and by element, and heat transfer through two sides."""
    mesh = mesh_of(metric)
    space = space_on(mesh, degree)
    x = np.random.default_rng(1).standard_normal(len(space.sharing.ids)).astype(dtype)
    robin = {tag: Robin(varying, varying) for tag in (2, 5)}
    kinds = [(varying, 0.3), (BY_ELEMENT, varying), (varying, BY_ELEMENT)]
    for k, c in [*kinds, *[(TENSOR, varying)] * (metric == "stored")]:
        equation, found = Equation(screening=c, conductivity=k, robin=robin), []
        coefficients = equation.on(space).coefficients
        for name in ("cpu", "cuda"):
            backend = open_backend(name)
            elements = ElementOperator(backend, space, coefficients, dtype, metric=metric)
            y = backend.to_device(np.full(space.dofs.size, np.nan, dtype))
            everyone = np.arange(mesh.count)
            energies = backend.to_device(np.full(elements.blocks(everyone), np.nan))
            in_order(elements.launches(everyone, backend.to_device(x), y, energies))()
            found.append((backend.to_host(y), float(backend.to_host(energies).sum())))
        (wanted, energy), (made, other) = found
        most = np.abs(wanted).max()
        assert np.abs(made - wanted).max() <= ROUNDING[dtype] * most
        assert abs(other - energy) <= ROUNDING[dtype] * np.abs(wanted).sum() * np.abs(x).max()


@pytest.mark.parametrize("preconditioner", ["jacobi", "multigrid"])
@pytest.mark.parametrize("k", ["where(x < 0.6, 1, 1e6)", list(TENSOR)], ids=["jump", "tensor"])
def test_solutions_with_coefficients_agree(k: Any, preconditioner: str) -> None:
    box = Box((5, 3, 3))
    sides = {"west": {"kind": "fixed"}, "top": {"kind": "robin", "h": "1 + x", "ambient": "y"}}
    one, found = (
        gs.poisson.solve(
            *(box, 5, "1", sides),
            conductivity=k,
            screening=varying,
            preconditioner=preconditioner,
            tolerance=1e-12,
            backend=backend,
        )
        for backend in ("cpu", "cuda")
    )
    assert found.converged and abs(found.iterations - one.iterations) <= 2
    assert np.allclose(found.values, one.values, rtol=0, atol=1e-8 * np.abs(one.values).max())


@pytest.mark.parametrize("degree", [1, 2, 3, 7, 9, 12, 14])
def test_components_agree(degree: int) -> None:
    mesh = mesh_of("straight")
    space, everyone = space_on(mesh, degree), np.arange(mesh.count)
    x, found = np.random.default_rng(2).standard_normal((3, len(space.sharing.ids))), []
    for name in ("cpu", "cuda"):
        backend = open_backend(name)
        kind = ("float64", degree, "stored", 0.3)
        variant = choose_variant(*kind, components=3, on_host=backend.on_host)
        elements = ElementOperator(
            backend, space, Coefficients.screened(kind[3]), "f8", metric="stored", variant=variant
        )
        y = backend.to_device(np.full((3, space.dofs.size), np.nan))
        energies = backend.zeros((elements.blocks(everyone),), "f8")
        in_order(elements.launches(everyone, backend.to_device(x), y, energies))()
        found.append((backend.to_host(y), backend.to_host(energies).sum()))
    (wanted, energy), (made, other) = found
    assert np.allclose(made, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    assert other == pytest.approx(energy, rel=1e-11)


@pytest.mark.parametrize("jacobi", [False, True])
@pytest.mark.parametrize(("degree", "dtype"), [(3, "float64"), (7, "float64"), (5, "float32")])
def test_iterations_agree(degree: int, dtype: str, jacobi: bool) -> None:
    mesh = mesh_of("straight")
    space = space_on(mesh, degree)
    rng = np.random.default_rng(3)
    b = rng.standard_normal(len(space.sharing.ids))
    scale = rng.uniform(0.5, 1, len(b)) if jacobi else None
    found = []
    for name in ("cpu", "cuda"):
        backend = open_backend(name)
        solver = FusedConjugateGradients(
            backend,
            ElementOperator(backend, space, Coefficients.screened(0.3), dtype),
            scale,
            max_iterations=20,
        )
        for _ in range(2):
            backend.assign(solver.b, b.astype(dtype))
            outcome = solver.solve()
        found.append((outcome.residuals, backend.to_host(solver.x)))
        solver.close()
    (residuals, x), (others, y) = found
    rounding = {"float64": 1e-8, "float32": 1e-2}[dtype]
    assert np.allclose(others, residuals, rtol=rounding)
    assert np.allclose(y, x, rtol=0, atol=rounding * np.abs(x).max())


def test_two_runs_are_the_same_bits() -> None:
    mesh, backend = Box((6, 6, 6)), open_backend("cuda")
    space = space_on(mesh, 7)
    b = np.random.default_rng(4).standard_normal(len(space.sharing.ids))
    elements = ElementOperator(backend, space, Coefficients.screened(0.1), "float64")
    solver = FusedConjugateGradients(backend, elements, max_iterations=30)
    found = []
    for _ in range(2):
        backend.assign(solver.b, b)
        found.append((solver.solve().residuals, backend.to_host(solver.x)))
    solver.close()
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("edge", [1e-14, 4e13])
@pytest.mark.parametrize("preconditioner", ["jacobi", "multigrid"])
def test_solutions_of_any_size_agree(edge: float, preconditioner: str) -> None:
    """In single precision, elements with straight edges, whose metric GPUs work out."""
    box = Box(
        (3, 2, 2),
        high=(edge,) * 3,
        deform=lambda p: p + 0.1 * p[..., ::-1] * (p / edge) ** 2,
        order=1,
    )
    one, found = (
        gs.poisson.solve(
            *(box, 5, "1"),
            {"west": {"kind": "fixed"}},
            screening=3 / edge**2,
            preconditioner=preconditioner,
            precision="single",
            backend=backend,
        )
        for backend in ("cpu", "cuda")
    )
    assert found.converged and one.converged
    most = np.abs(one.values).max()
    assert np.allclose(found.values, one.values, rtol=0, atol=1e-3 * most)


def test_arrays_of_a_gpu_stay_there() -> None:
    """Sources of several components, and the parts of a problem, as on the CPU."""
    cupy = pytest.importorskip("cupy")
    box, sides = mesh_of("straight"), {"west": {"kind": "fixed", "value": "1 + y"}}
    f = np.random.default_rng(2).standard_normal((3, box.count, 64))
    for preconditioner in ("jacobi", "multigrid"):
        options = {"preconditioner": preconditioner}
        with gs.poisson.Problem(box, 3, sides, **options) as problem:
            wanted = problem.solve(f).values
            b = problem.right_hand_side(f)
            products = problem.operator @ b, problem.preconditioner(b)
        with gs.poisson.Problem(box, 3, sides, backend="cuda", **options) as problem:
            found = problem.solve(cupy.asarray(f))
            on_device = problem.right_hand_side(cupy.asarray(f))
            others = problem.operator @ on_device, problem.preconditioner(on_device)
            local = problem.gather_scatter.scatter(on_device)
            again = problem.gather_scatter.gather(local)
            refill = problem.solve(cupy.asarray(f), start=found)
        assert isinstance(found.values, cupy.ndarray) and refill.iterations <= 1
        assert np.abs(found.values.get() - wanted).max() < 1e-8 * np.abs(wanted).max()
        assert np.abs(on_device.get() - b).max() < 1e-12 * np.abs(b).max()
        for one, other in zip(products, others, strict=True):
            assert np.abs(other.get() - one).max() < 1e-5 * np.abs(one).max()
        assert again.shape == on_device.shape
