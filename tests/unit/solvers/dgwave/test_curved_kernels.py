"""The kernels of curved elements against their oracle, on a CPU and in the form for GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dg_curved_problems import CURVED, CurvedProblem, CurvedVariant
from dg_problems import CLOSED, error
from emulated_backend import EmulatedBackend
from guard_page import GuardedBackend
from variants import long_variants

from groundswell.backends import Backend
from groundswell.solvers.dgwave.kernel_shapes import KernelShape

pytestmark = pytest.mark.each_value

TOLERANCE = {"float64": 1e-13, "float32": 4e-6}


@pytest.fixture(scope="module")
def backend() -> Backend:
    return GuardedBackend()


def check(
    backend: Backend,
    variant: CurvedVariant,
    dtype: str,
    steps: int = 2,
    shape: KernelShape | None = None,
) -> None:
    """The solver finds what the oracle finds, whatever traces, register and padding hold before."""
    problem = CurvedProblem(variant)
    found = problem.found(problem.propagation(backend, dtype, shape), backend, steps)
    high = variant.degree > 10 and dtype == "float64"
    rounding = (variant.degree / 5) ** 2 if high else 1.0  # of derivatives
    assert error(found, problem.expected(steps)) < TOLERANCE[dtype] * rounding


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("variant", CURVED, ids=str)
def test_steps_are_the_schemes(backend: Backend, variant: CurvedVariant, dtype: str) -> None:
    check(backend, variant, dtype)


SHAPES = [
    (CURVED[5], KernelShape(3, elements=5), True),
    (CURVED[9], KernelShape(2, elements=3), True),
    (CURVED[10], KernelShape(3, in_shared=False), False),
]
LONG_SHAPES = [
    (CURVED[2], KernelShape(2, in_shared=False), True),
    (CURVED[1], KernelShape(1, elements=3), False),
    (CURVED[7], KernelShape(2, elements=2), True),
    (CURVED[13], KernelShape(3, elements=5), True),
    (CURVED[14], KernelShape(2), False),
]


@pytest.mark.parametrize(
    ("variant", "shape", "bulk_copy"), [*SHAPES, *long_variants(LONG_SHAPES)], ids=str
)
def test_blocks_of_any_shape_advance_as_the_scheme_does(
    variant: CurvedVariant, shape: KernelShape, bulk_copy: bool
) -> None:
    """Also elements that stay in global memory."""
    check(EmulatedBackend(bulk_copy=bulk_copy), variant, "float64", shape=shape)


def test_finer_neighbours_in_single_precision() -> None:
    check(EmulatedBackend(), CURVED[9], "float32", shape=KernelShape(2))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize("degree", range(1, 16))
def test_steps_on_a_gpu_are_the_schemes(gpu: Any, degree: int, elastic: bool, dtype: str) -> None:
    """With the shape that the solver chooses."""
    few = (2, 2, 1) if degree < 6 else (2, 1, 1)
    for upwind, turned in ((1.0, False), (0.3, True)):
        variant = CurvedVariant(degree, elastic, upwind, CLOSED, 0.4, counts=few, turned=turned)
        check(gpu, replace(variant, damping=True, sources=3), dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("elastic", [True, False])
@pytest.mark.parametrize("degree", [1, 2, 4, 7, 10, 15])
def test_finer_neighbours_on_a_gpu(gpu: Any, degree: int, elastic: bool, dtype: str) -> None:
    for upwind, nodal in ((1.0, False), (0.3, True)):
        variant = CurvedVariant(degree, elastic, upwind, CLOSED, 0.4, counts=(2, 1, 1), seed=3)
        check(gpu, replace(variant, halved=0.5, nodal=nodal), dtype)
