"""Poisson's equation with known solutions: errors vanish exponentially with the degree."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.exchange.world import Alone
from groundswell.meshes.box import Box, kershaw
from groundswell.solvers.poisson.problem import Poisson

EVERY_SIDE = range(1, 7)


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def solution(x: Any, y: Any, z: Any) -> Any:
    return np.sin(2 * x + 0.3) * np.cos(1.5 * y) * np.exp(0.5 * z)


def source(screening: float) -> Any:
    """-div grad of the solution, and the screening."""
    return lambda x, y, z: (4 + 2.25 - 0.25 + screening) * solution(x, y, z)


def bent(points: Any) -> Any:
    """A smooth deformation of the unit cube, whose sides bulge, too."""
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.06 * np.sin(2 * x + 0.3) * np.cos(y) * np.cos(1.5 * z)
    return points + np.stack([wave, -0.6 * wave, 0.8 * wave * x], axis=-1)


def error(backend: Backend, mesh: Any, degree: int, screening: float, sides: Any) -> float:
    """Largest error at a node; prescribed values are right."""
    problem = Poisson(
        *(backend, Alone(), mesh, degree, np.arange(mesh.count)), screening=screening, fixed=sides
    )
    found, outcome = problem.solve(source(screening), solution, tolerance=1e-13)
    assert outcome.converged
    exact = solution(*np.moveaxis(problem.nodes, -1, 0))
    problem.close()
    return float(np.abs(found - exact).max())


@pytest.mark.parametrize("screening", [0.0, 3.0])
@pytest.mark.parametrize("shape", ["box", "bent", "kershaw"])
def test_errors_vanish_exponentially(backend: Backend, shape: str, screening: float) -> None:
    """To rounding, of which a condition of some thousands leaves 1e-11 or so."""

    def mesh(degree: int) -> Box:
        return {
            "box": Box((2, 2, 2)),
            "bent": Box((2, 2, 2), deform=bent, order=degree),
            "kershaw": Box((6, 2, 2), deform=kershaw(0.5, 0.5), order=1),
        }[shape]

    degrees = (2, 4, 6, 8, 11)
    found = [error(backend, mesh(n), n, screening, EVERY_SIDE) for n in degrees]
    assert found[-1] <= 1e-11, found
    assert all(after < before / 10 for before, after in pairwise(found[:3])), found


def test_sides_without_flux(backend: Backend) -> None:
    """cos(pi y) cos(pi z) has none through the sides across y and z."""
    box = Box((3, 2, 2))
    problem = Poisson(backend, Alone(), box, 10, np.arange(12), fixed=(1, 2))

    def wave(x: Any, y: Any, z: Any) -> Any:
        return np.sin(x) * np.cos(np.pi * y) * np.cos(np.pi * z)

    found, _ = problem.solve(lambda *at: (1 + 2 * np.pi**2) * wave(*at), wave, tolerance=1e-13)
    assert np.abs(found - wave(*np.moveaxis(problem.nodes, -1, 0))).max() <= 1e-10


def test_a_periodic_domain(backend: Backend) -> None:
    box = Box((3, 1, 2), periodic=(True, True, True))
    problem = Poisson(backend, Alone(), box, 11, np.arange(6), screening=0.7)

    def wave(x: Any, y: Any, z: Any) -> Any:
        return np.sin(2 * np.pi * x) + 0.3 * np.cos(2 * np.pi * (y + z))

    def forced(x: Any, y: Any, z: Any) -> Any:
        four = 4 * np.pi**2
        return (four + 0.7) * np.sin(2 * np.pi * x) + 0.3 * (2 * four + 0.7) * np.cos(
            2 * np.pi * (y + z)
        )

    found, _ = problem.solve(forced, tolerance=1e-13)
    assert np.abs(found - wave(*np.moveaxis(problem.nodes, -1, 0))).max() <= 2e-5


def test_problems_without_a_unique_solution(backend: Backend) -> None:
    with pytest.raises(InputError, match="any constant may be added to u"):
        Poisson(backend, Alone(), Box((1, 1, 1)), 2, [0])
    with pytest.raises(InputError, match="allowed: 0 and more"):
        Poisson(backend, Alone(), Box((1, 1, 1)), 2, [0], screening=-1.0)
