"""The k-space scheme on every backend against NumPy, for random media, sources and pressures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kspace_problems import (
    PLANE,
    PROBLEMS,
    STEPS,
    TOLERANCE,
    Problem,
    assert_close,
    operators_of,
    scheme_of,
)

from groundswell.backends import Backend, open_backend
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.propagation import Propagation


def check(backend: Backend, problem: Problem, dtype: str) -> None:
    medium, sources = problem.medium(), problem.sources()
    found = Propagation(backend, operators_of(problem), medium, dtype, sources)
    wanted = scheme_of(problem, medium, sources)
    pressure = 1e6 * problem.rng.standard_normal(problem.shape)
    found.start(pressure)
    wanted.start(pressure)
    for _ in range(STEPS):
        found.step()
        wanted.step()
    assert_close(backend.to_host(found.p), wanted.p, TOLERANCE[dtype])
    for axis in wanted.axes:
        assert_close(backend.to_host(found.u[axis]), wanted.u[axis], TOLERANCE[dtype])
        assert_close(backend.to_host(found.rho[axis]), wanted.rho[axis], TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_on_a_cpu_are_the_schemes(name: str, dtype: str) -> None:
    check(open_backend("cpu"), PROBLEMS[name], dtype)


def test_a_new_start_forgets_earlier_steps() -> None:
    """Sources, too, begin again."""
    problem = Problem(PLANE, modes=(("p", "uncorrected"),))
    grid = Grid((PLANE[2], PLANE[1], 1), problem.spacing)
    operators = SpectralOperators(grid, problem.dt, problem.reference_speed)
    sources = problem.sources()
    waves = Propagation(open_backend("cpu"), operators, problem.medium(), "float64", sources)
    found = []
    for _ in range(2):
        waves.start(problem.varying(0.0) + 1.0)
        for _ in range(3):
            waves.step()
        found.append(waves.p.copy())
    assert np.array_equal(*found)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", PROBLEMS)
def test_steps_on_a_gpu_are_the_schemes(gpu: Any, name: str, dtype: str) -> None:
    check(gpu, PROBLEMS[name], dtype)
