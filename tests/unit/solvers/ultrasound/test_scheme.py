"""The k-space scheme on every backend against NumPy, for random media, sources and pressures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kspace_problems import (
    ALPHA,
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

pytestmark = pytest.mark.each_value


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


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", [(36, 40, 48), (35, 33, 44), (1, 64, 60)])
def test_a_gpu_follows_the_cpu_for_500_steps(gpu: Any, shape: Any, dtype: str) -> None:
    """Waves in a torus of weak absorption, by the fused step and by the one with a library."""
    found = []
    for backend in (open_backend("cpu"), gpu):
        problem = Problem(shape, alpha=ALPHA / 1000, power=1.5, nonlinearity=6.0)
        medium, grid = problem.medium(), Grid(shape[::-1], problem.spacing)
        operators = SpectralOperators(grid, problem.dt, problem.reference_speed)
        waves = Propagation(backend, operators, medium, dtype)
        z, y, x = (n - size // 2 for n, size in zip(np.indices(shape), shape, strict=True))
        waves.start(1e5 * np.exp(-(x**2 + y**2 + z**2) / 12))
        for _ in range(500):
            waves.step()
        found.append(backend.to_host(waves.p))
    assert np.abs(found[0]).max() > 100
    assert_close(found[1], found[0], TOLERANCE[dtype])
