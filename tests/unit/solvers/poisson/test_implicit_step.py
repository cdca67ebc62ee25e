"""Steps in time on the device: kernels against NumPy, what is copied, and what changes in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counting_backend import Counted
from emulated_backend import EmulatedBackend

from groundswell.arrays import Floats
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError, RunFailed
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.case_in_time import split_case
from groundswell.solvers.poisson.setup import prepare
from groundswell.solvers.poisson.step_kernels import Choice, Combination, SparseUpload, StepKernels
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson

ANCHOR = Path(__file__).parents[4] / "examples" / "poisson" / "anchor.msh"
DTYPES = ("float64", "float32")


def solver_of(backend: Backend | None = None, **changes: Any) -> UnsteadyPoisson:
    content = {
        "solver": "poisson",
        "mesh": {"kind": "box", "counts": [3, 2, 2]},
        "equation": {"capacity": "1 + x", "initial": "y", "source": "1 + x"},
        "boundaries": {"west": {"kind": "fixed", "value": "y"}},
        "method": {"degree": 4, "tolerance": 1e-13},
        "time": {"step": 0.05, "duration": 1.0, "order": 2},
        **changes,
    }
    setup = prepare(PoissonCase.from_dict(content))
    return UnsteadyPoisson(setup, backend or open_backend("cpu"))


def after_steps(solver: UnsteadyPoisson, steps: int = 4) -> Floats:
    for _ in range(steps):
        solver.step()
    return solver.solution()


# --- kernels --------------------------------------------------------------------------------------


@pytest.fixture(params=[open_backend("cpu"), EmulatedBackend()], ids=["cpu", "gpu"])
def kernels_on(request: pytest.FixtureRequest) -> Backend:
    backend: Backend = request.param
    return backend


def numbers(count: int, *shape: int) -> Floats:
    return np.random.default_rng(count).standard_normal((*shape, count))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_residual_and_its_squares(kernels_on: Backend, dtype: str) -> None:
    """Of more values than blocks have threads."""
    count, kernels = 1100, StepKernels(kernels_on, dtype)
    load, inertia, base, product, image = numbers(count, 5)
    free = (numbers(count) > 0).astype(np.uint8)
    chosen = Choice(from_system=4.0, to_square=0.5)
    given = dict(
        zip(("load", "inertia", "base", "product"), (load, inertia, base, product), strict=True)
    )
    arrays = {name: kernels_on.to_device(a) for name, a in given.items()}
    arrays |= {"choice": kernels_on.to_device(chosen.numbers), "free": kernels_on.to_device(free)}
    arrays["image"] = kernels_on.to_device(image.astype(dtype))
    residual = kernels_on.zeros((count,), "f8")
    launches, squares = kernels.on_blocks(
        "find_residual", count, 2, "squares", **arrays, residual=residual
    )
    in_order(launches)()
    before = free * (load + inertia * base - product)
    now = free * (load + inertia * base - 4 * image.astype(dtype))
    np.testing.assert_allclose(residual, now, rtol=1e-14, atol=1e-14)
    wanted = [np.sum(before**2) / 4, np.sum(now**2) / 4]
    np.testing.assert_allclose(squares.sum(axis=0), wanted, rtol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_correction_and_the_extremes_of_own_values(kernels_on: Backend, dtype: str) -> None:
    count, own, kernels = 700, 650, StepKernels(kernels_on, dtype)
    u, weights, x = numbers(count, 3)
    x = x.astype(dtype)
    target = kernels_on.to_device(u)
    launches, found = kernels.on_blocks(
        *("correct_values", count, 3, "extremes"),
        choice=kernels_on.to_device(Choice(from_residual=2.0).numbers),
        x=kernels_on.to_device(x),
        weights=kernels_on.to_device(weights),
        u=target,
        own=own,
    )
    in_order(launches)()
    wanted = u + 2.0 * x
    np.testing.assert_array_equal(target, wanted)
    assert found[:, 0].min() == wanted[:own].min() and found[:, 1].max() == wanted[:own].max()
    assert found[:, 2].sum() == pytest.approx(float(weights[:own] @ wanted[:own]), rel=1e-12)


def test_values_before_are_combined_and_kept(kernels_on: Backend) -> None:
    nodes, count, kernels = 90, 60, StepKernels(kernels_on, "float64")
    kept, first = numbers(nodes, 3), np.random.default_rng(1).permutation(nodes)[:count]
    base, guess = kernels_on.zeros((count,), "f8"), kernels_on.zeros((count,), "f8")
    device = kernels_on.to_device(kept)
    choice = kernels_on.to_device(Choice(base=(2.0, -1.0), guess=(3.0, 1.0)).numbers)
    given = {"choice": choice, "kept": device, "first": kernels_on.to_device(first)}
    given |= {"base": base, "guess": guess}
    in_order(kernels.on_items("combine_kept", count, **given, terms=2, pitch=nodes))()
    np.testing.assert_allclose(base, (2 * kept[0] - kept[1])[first], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(guess, (3 * kept[0] + kept[1])[first], rtol=1e-14, atol=1e-14)
    dofs = np.random.default_rng(2).integers(0, count, nodes).astype(np.int32)
    stored = {"u": guess, "dofs": kernels_on.to_device(dofs), "kept": device}
    in_order(kernels.on_items("store_values", nodes, **stored))()
    np.testing.assert_array_equal(device, [guess[dofs], kept[0], kept[1]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_prescribed_values_and_conversions(kernels_on: Backend, dtype: str) -> None:
    count, kernels = 100, StepKernels(kernels_on, dtype)
    u, prescribed = numbers(count, 2)
    free = (numbers(count) > 0).astype(np.uint8)
    chosen = Choice(to_system=0.5, from_system=2.0, to_residual=8.0)
    choice, target = kernels_on.to_device(chosen.numbers), kernels_on.to_device(u)
    x, back = kernels_on.zeros((count,), dtype), kernels_on.zeros((count,), "f8")
    given = {"free": kernels_on.to_device(free), "prescribed": kernels_on.to_device(prescribed)}
    in_order(kernels.on_items("prescribe_values", count, choice=choice, u=target, x=x, **given))()
    wanted = np.where(free, u, prescribed)
    np.testing.assert_array_equal(target, wanted)
    np.testing.assert_array_equal(x, (wanted / 2).astype(dtype))
    in_order(kernels.on_items("convert_image", count, choice=choice, image=x, product=back))()
    np.testing.assert_array_equal(back, 2 * x.astype("f8"))
    in_order(kernels.on_items("convert_residual", count, choice=choice, residual=target, b=x))()
    np.testing.assert_array_equal(x, (8 * wanted).astype(dtype))


def test_combinations_and_uploads(kernels_on: Backend) -> None:
    kernels, vectors = StepKernels(kernels_on, "float64"), numbers(80, 3)
    target = kernels_on.zeros((80,), "f8")
    combination = Combination(kernels, kernels_on, kernels_on.to_device(vectors), target)
    combination.run((2.0, -1.0))
    np.testing.assert_allclose(target, 2 * vectors[0] - vectors[1], rtol=1e-14, atol=1e-14)
    SparseUpload(kernels, kernels_on, np.array([5, 3]), target).run(np.array([7.0, 8.0]))
    assert (target[3], target[5]) == (8.0, 7.0)


# --- copies ---------------------------------------------------------------------------------------

SMALL = 8_000  # bytes: sums of blocks and numbers that the host chooses
FIXED = {"kind": "fixed", "value": "y"}


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        ({"boundaries": {"west": FIXED}}, SMALL),
        ({"equation": {"source": "sin(t) * x + t"}, "boundaries": {"west": FIXED}}, SMALL),
        (
            {"boundaries": {"west": FIXED | {"value": "t * y"}, "top": {"kind": "robin", "h": 2}}},
            SMALL,
        ),
        ({"boundaries": {"west": FIXED | {"value": "sin(y - t)"}}}, 8 * 25 * 25),
        ({"boundaries": {"west": FIXED, "top": {"kind": "flux", "value": "x**t"}}}, 8 * 16 * 49),
        ({"equation": {"source": "sin(x - t)"}}, 8 * 64 * 343),
    ],
)
def test_a_step_copies_numbers_and_what_changes(changes: dict[str, Any], most: int) -> None:
    """No values of u, and of functions only those that change as a function of position."""
    backend = Counted()
    box = {"kind": "box", "counts": [4, 4, 4]}
    method = {"degree": 6, "tolerance": 1e-8}
    solver = solver_of(backend, mesh=box, method=method, **changes)
    solver.step()
    backend.copies.clear()
    solver.step()
    assert solver.kept[0].nbytes > 20 * SMALL
    assert max(backend.copies) <= max(most, SMALL)
    large = [count for count in backend.copies if count > SMALL]
    assert len(large) <= 1


# --- what depends on time -------------------------------------------------------------------------

LEAD = {"capacity": "1 + x", "initial": "y"}


def hidden(function: str) -> str:
    """The same function, in which a condition of position and time hides the product."""
    return f"where(x < 1e9 + t, {function}, 0)"


@pytest.mark.parametrize("order", [1, 3])
def test_products_are_as_what_is_evaluated_at_each_time(order: int) -> None:
    """Where sides of both kinds meet, too."""

    def sides(make: Any) -> dict[str, Any]:
        return {
            "west": {"kind": "fixed", "value": make("sin(t) + y * t")},
            "south": {"kind": "fixed", "value": "1 + z"},
            "north": {"kind": "flux", "value": make("x * exp(-t)")},
            "top": {"kind": "robin", "h": 3.0, "ambient": make("20 * t + y")},
        }

    time = {"step": 0.05, "duration": 1.0, "order": order}
    found = []
    for make in (str, hidden, lambda f: hidden(f) if "exp" in f or "sin" in f else f):
        equation = LEAD | {"source": make("cos(3 * t) * x + z * t")}
        solver = solver_of(equation=equation, boundaries=sides(make), time=time)
        found.append(after_steps(solver))
    assert np.ptp(found[0]) > 0.1
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-11)


def test_products_in_materials() -> None:
    found = []
    for make in (str, hidden):
        materials = {
            "steel": {"capacity": 3.0, "source": make("6 * t * y")},
            "insulation": {"capacity": 1.0, "source": make("2 + t")},
        }
        mesh = {"kind": "gmsh", "file": str(ANCHOR)}
        method = {"degree": 1, "tolerance": 1e-13}
        changes = {"mesh": mesh, "material": materials, "boundaries": {}, "equation": {}}
        found.append(after_steps(solver_of(**changes, method=method)))
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_the_parts_of_a_case() -> None:
    solver = solver_of(
        equation=LEAD | {"source": "t * x + z"},
        boundaries={
            "west": {"kind": "fixed", "value": "t"},
            "top": {"kind": "flux", "value": "sin(x * t)"},
            "north": {"kind": "flux", "value": "y"},
        },
    )
    parts, rest = split_case(solver.setup.case)
    assert set(parts) == {"1", "t"}
    assert parts["t"].equation.source == "x" and parts["1"].equation.source == "z"
    assert parts["t"].boundaries["west"].value == "1"
    assert rest is not None and rest.equation.source == 0 and [*rest.boundaries] == ["top"]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"equation": {"source": "(1 + x) / (t - 0.1)"}}, "the source is inf at"),
        (
            {"boundaries": {"west": {"kind": "fixed", "value": "sqrt(0.05 + y - t)"}}},
            "the value of side west is nan at",
        ),
    ],
)
def test_functions_of_time_that_are_not_finite_are_refused(changes: Any, text: str) -> None:
    """With the time: of a sum of products, and of a side that the host evaluates."""
    solver = solver_of(time={"step": 0.1, "duration": 1.0, "order": 1}, **changes)
    with pytest.raises(InputError, match=rf"^at t = 0.1 s, {text}"):
        solver.step()


def test_values_that_are_not_finite_end_a_step() -> None:
    solver = solver_of()
    solver.step()
    solver.kept[0][1, 7] = np.nan
    with pytest.raises(RunFailed, match="not finite"):
        solver.step()


@pytest.mark.parametrize("power", [-500, 500])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_extreme_units_of_u(power: int, precision: str) -> None:
    found = []
    for scale in (1.0, 2.0**power):
        equation = {"initial": f"{scale!r} * sin(pi * x)", "source": f"{scale!r} * (x + t)"}
        west = {"kind": "fixed", "value": f"{scale!r} * y * t"}
        run, method = {"precision": precision}, {"degree": 4, "tolerance": 1e-5}
        solver = solver_of(equation=equation, boundaries={"west": west}, run=run, method=method)
        found.append(after_steps(solver) / scale)
    np.testing.assert_allclose(*found, rtol=0, atol=1e-4)
    assert np.ptp(found[0]) > 0.1


def test_steps_of_a_solution_of_zero() -> None:
    """No guess is nearer than 0."""
    solver = solver_of(equation={}, boundaries={"west": {"kind": "fixed"}})
    assert not after_steps(solver, 2).any()
    assert solver.history.missed == 0 and not solver.history.column("iterations").any()
