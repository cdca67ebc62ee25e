"""The kernels of DG waves against their oracle in NumPy, on random bricks and materials."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from platform import machine

import numpy as np
import pytest
from dg_problems import CLOSED, TORUS, Problem, Variant, error
from guard_page import GuardedBackend
from hypothesis import given, settings
from hypothesis import strategies as st
from variants import long_variants

from groundswell.backends import Backend
from groundswell.backends.base import in_order

pytestmark = pytest.mark.each_value

TOLERANCE = {"float64": 1e-13, "float32": 2e-6}

# Each degree, with every flux, boundary and term somewhere.
QUICK = [
    Variant(1, True, 1.0, TORUS, fluid=0.5, sources=4),
    Variant(2, False, 0.3, (False, True, False), damping=True),
    Variant(3, True, 0.0, (True, False, False), fluid=0.5, damping=True, sources=4),
    Variant(4, False, 1.0, CLOSED, sources=4),
    Variant(5, True, 0.3, (False, False, True), fluid=0.3),
    Variant(6, True, 1.0, (True, True, False), damping=True),
    Variant(7, False, 0.0, TORUS, damping=True, sources=4),
    Variant(8, True, 1.0, CLOSED, fluid=0.5, sources=4),
    Variant(9, True, 0.3, (True, False, True), fluid=1.0, counts=(2, 1, 2)),
    Variant(1, False, 1.0, CLOSED, halved=0.4),
    Variant(2, True, 1.0, TORUS, fluid=0.4, halved=0.3, sources=4),
    Variant(3, False, 0.0, (True, False, True), damping=True, halved=0.5, counts=(2, 2, 2)),
    Variant(4, True, 0.3, (False, True, False), fluid=0.4, halved=0.5, counts=(2, 2, 1)),
    Variant(2, True, 0.3, TORUS, fluid=0.4, damping=True, sources=4, mechanisms=3, halved=0.3),
    Variant(3, False, 1.0, CLOSED, sources=3, mechanisms=4),
    Variant(5, True, 1.0, (True, False, True), damping=True, mechanisms=2, counts=(2, 1, 2)),
    Variant(4, False, 0.0, CLOSED, damping=True, halved=0.5, mechanisms=2, counts=(2, 1, 2)),
    Variant(1, True, 1.0, TORUS, fluid=0.5, sources=4, nodal=True),
    Variant(2, False, 0.3, (False, True, False), damping=True, halved=0.4, nodal=True),
    Variant(3, True, 0.0, CLOSED, fluid=0.5, halved=0.3, sources=3, nodal=True),
    Variant(4, True, 1.0, (True, False, False), fluid=0.3, mechanisms=3, nodal=True),
    Variant(5, False, 1.0, CLOSED, mechanisms=2, counts=(2, 1, 2), nodal=True),
]
LONG = [
    *(
        Variant(degree, elastic, upwind, sides, 0.4, damping=True, sources=6, seed=1)
        for degree, elastic, upwind, sides in product(
            range(1, 10), (True, False), (0.0, 0.3, 1.0), (CLOSED, (True, False, True))
        )
    ),
    *(
        Variant(degree, elastic, upwind, CLOSED, 0.4, True, 3, seed=2, mechanisms=mechanisms)
        for degree, elastic, (upwind, mechanisms) in product(
            (1, 4, 6, 7, 8), (True, False), ((0.3, 6), (1.0, 3))
        )
    ),
    *(
        Variant(degree, elastic, sources=2, counts=(2, 1, 1), periodic=(True, False, False))
        for degree, elastic in product((11, 13, 15), (True, False))
    ),
]


@pytest.fixture(scope="module")
def backend() -> Backend:
    return GuardedBackend()


def check(backend: Backend, variant: Variant, dtype: str, steps: int = 3) -> None:
    """The solver finds what the oracle finds, whatever traces, register and padding hold before."""
    problem = Problem(variant)
    found = problem.found(problem.propagation(backend, dtype), backend, steps)
    assert error(found, problem.expected(steps)) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("variant", [*QUICK, *long_variants(LONG)], ids=str)
def test_steps_are_the_schemes(backend: Backend, variant: Variant, dtype: str) -> None:
    check(backend, variant, dtype)


@pytest.mark.full
@given(
    st.builds(
        Variant,
        degree=st.just(2),
        elastic=st.booleans(),
        upwind=st.sampled_from((0.0, 0.3, 1.0)),
        periodic=st.tuples(*[st.booleans()] * 3),
        fluid=st.sampled_from((0.0, 0.4, 1.0)),
        damping=st.just(True),
        sources=st.integers(1, 5),
        counts=st.tuples(*[st.integers(1, 3)] * 3),
        halved=st.sampled_from((0.0, 0.0, 0.4)),
        mechanisms=st.sampled_from((0, 3)),
        nodal=st.booleans(),
        seed=st.integers(0, 2**32),
    )
)
@settings(max_examples=25)
def test_any_box_has_the_schemes_steps(backend: Backend, variant: Variant) -> None:
    """Also where an element is its own neighbour, or the neighbour on two sides."""
    check(backend, variant, "float64", steps=2)


def test_a_solid_without_shear_waves_is_a_fluid(backend: Backend) -> None:
    """Elastic equations of a fluid and acoustic equations have the same solution."""
    elastic = Problem(Variant(3, True, 0.3, CLOSED, fluid=1.0, seed=5))
    acoustic = Problem(replace(elastic.variant, elastic=False))
    acoustic.material, acoustic.reflection = elastic.material, elastic.reflection
    acoustic.u = elastic.u[:, [0, 6, 7, 8]] * [[[[-1]]], [[[1]]], [[[1]]], [[[1]]]]
    found, expected = (
        problem.found(problem.propagation(backend, "float64"), backend, 3)
        for problem in (elastic, acoustic)
    )
    assert error(-found[:, 0], expected[:, 0]) < 1e-13
    assert error(found[:, 6:], expected[:, 1:]) < 1e-13


def test_a_uniform_state_does_not_change(backend: Backend) -> None:
    """Constant fields on a torus of one material have no slopes and no jumps."""
    problem = Problem(Variant(4, periodic=TORUS))
    for values in problem.material.given().values():
        values[...] = values[0]
    problem.u[...] = problem.u[:1, :, :1, :1, :1]
    found = problem.found(problem.propagation(backend, "float64"), backend, 3)
    assert error(found, problem.u) < 1e-13


@pytest.mark.skipif(machine() != "x86_64", reason="only this processor's setting is changed")
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_denormal_numbers_count_as_zero_at_mortars(backend: Backend, dtype: str) -> None:
    """Decaying waves do not slow a CPU down."""
    problem = Problem(Variant(2, True, 0.3, TORUS, fluid=0.4, halved=0.3))
    problem.u = np.finfo(dtype).tiny * np.tanh(problem.u)
    found = problem.propagation(backend, dtype)
    step = [launch for launch in found.stage(0) if launch.name == "project_jumps"]
    in_order([*found.prepare, *step])()
    assert step and not found.traces.jumps.any()
