"""The kernels of DG waves for GPUs against their oracle, with and without a GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dg_problems import CLOSED, TORUS, Problem, Variant, error
from emulated_backend import EmulatedBackend
from variants import long_variants

from groundswell.backends import Backend
from groundswell.solvers.dgwave.kernel_shapes import KernelShape

pytestmark = pytest.mark.each_value

TOLERANCE = {"float64": 1e-13, "float32": 2e-6}

# 12 elements in blocks of five are two blocks and a part of one.
MIXED = Variant(2, True, 0.3, (False, True, False), fluid=0.4, damping=True, sources=4)
FLUID = Variant(1, False, 1.0, TORUS, sources=3, damping=True)
SOLID = Variant(3, True, 1.0, CLOSED, sources=3, counts=(2, 1, 2))
CASES = [  # problem, shape of the blocks, and whether the GPU has bulk copies
    (MIXED, KernelShape(3, elements=5), True),
    (replace(MIXED, mechanisms=3, halved=0.3), KernelShape(2, elements=2), True),
    (replace(FLUID, nodal=True, mechanisms=2), KernelShape(2, in_shared=False), False),
]
LONG = [
    (MIXED, KernelShape(2, in_shared=False), True),
    (FLUID, KernelShape(1, elements=5), False),
    (SOLID, KernelShape(2), True),
    (replace(FLUID, mechanisms=2), KernelShape(2, in_shared=False), True),
    (replace(MIXED, nodal=True, halved=0.3), KernelShape(3, elements=5), True),
    (MIXED, KernelShape(1, elements=7), False),
    (FLUID, KernelShape(2, elements=8, in_shared=False), True),
    (SOLID, KernelShape(4, elements=3), True),
    (SOLID, KernelShape(2), False),
    (SOLID, KernelShape(3, in_shared=False), True),
    (Variant(4, False, 0.0, CLOSED, counts=(2, 2, 1)), KernelShape(5), True),
    (Variant(5, True, 0.0, TORUS, counts=(2, 1, 1)), KernelShape(2, in_shared=False), True),
    (Variant(6, True, 1.0, damping=True, counts=(2, 1, 1)), KernelShape(3), True),
    (Variant(7, False, 0.3, TORUS, counts=(1, 1, 2)), KernelShape(2, elements=2), True),
    (replace(SOLID, mechanisms=4), KernelShape(2, in_shared=False), False),
    (replace(SOLID, nodal=True), KernelShape(2), False),
    (replace(MIXED, nodal=True, mechanisms=3), KernelShape(2, in_shared=False), True),
]


def check(backend: Backend, variant: Variant, dtype: str, shape: KernelShape | None = None) -> None:
    """The solver finds what the oracle finds, whatever traces, register and padding hold before."""
    problem = Problem(variant)
    found = problem.found(problem.propagation(backend, dtype, shape), backend, 2)
    assert error(found, problem.expected(2)) < TOLERANCE[dtype]


@pytest.mark.parametrize(("variant", "shape", "bulk_copy"), [*CASES, *long_variants(LONG)], ids=str)
def test_blocks_of_any_shape_advance_as_the_scheme_does(
    variant: Variant, shape: KernelShape, bulk_copy: bool
) -> None:
    """Blocks that are incomplete too, and elements that stay in global memory."""
    check(EmulatedBackend(bulk_copy=bulk_copy), variant, "float64", shape)


def test_single_precision() -> None:
    check(EmulatedBackend(), FLUID, "float32", KernelShape(2, elements=5))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize("degree", range(1, 16))
def test_steps_on_a_gpu_are_the_schemes(gpu: Any, degree: int, elastic: bool, dtype: str) -> None:
    """With the shape that the solver chooses."""
    few = (3, 2, 2) if degree < 8 else (2, 1, 2)
    for upwind, damping in ((1.0, False), (0.3, True)):
        variant = Variant(degree, elastic, upwind, (False, True, False), 0.4, counts=few)
        check(gpu, replace(variant, damping=damping, sources=3 * damping), dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("degree", [1, 4, 7, 15])
def test_finer_neighbours_on_a_gpu(gpu: Any, degree: int, dtype: str) -> None:
    few = (2, 2, 1) if degree < 8 else (2, 1, 1)
    for elastic, upwind in ((True, 1.0), (False, 0.3)):
        variant = Variant(degree, elastic, upwind, (True, False, False), 0.4, counts=few)
        check(gpu, replace(variant, halved=0.5), dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("degree", [1, 2, 4, 7, 8, 12, 15])
def test_attenuation_on_a_gpu(gpu: Any, degree: int, dtype: str) -> None:
    few = (3, 2, 1) if degree < 8 else (2, 1, 1)
    for elastic, upwind, mechanisms in ((True, 1.0, 3), (True, 0.3, 6), (False, 1.0, 2)):
        variant = Variant(degree, elastic, upwind, (True, False, False), 0.4, True, counts=few)
        check(gpu, replace(variant, mechanisms=mechanisms), dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize("degree", [1, 2, 4, 7, 8, 12, 15])
def test_nodal_materials_on_a_gpu(gpu: Any, degree: int, elastic: bool, dtype: str) -> None:
    few = (2, 2, 1) if degree < 8 else (2, 1, 1)
    for upwind, halved in ((1.0, 0.0), (0.3, 0.5 * (degree < 8))):
        variant = Variant(degree, elastic, upwind, (True, False, False), 0.4, counts=few)
        check(gpu, replace(variant, halved=halved, nodal=True), dtype)


@pytest.mark.gpu
@pytest.mark.parametrize(("variant", "shape"), [case[:2] for case in (*CASES, *LONG)], ids=str)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_other_shapes_on_a_gpu(gpu: Any, variant: Variant, shape: KernelShape, dtype: str) -> None:
    check(gpu, variant, dtype, shape)
