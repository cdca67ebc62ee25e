"""Poisson's equation with known solutions: errors vanish exponentially with the degree."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import at_nodes, equation_of, space_on, system_on

from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.meshes.box import Box, kershaw

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
    space = space_on(mesh, degree)
    system = system_on(backend, space, equation_of(screening, sides))
    exact = at_nodes(solution, space)
    found, history = system.solve(at_nodes(source(screening), space), exact, tolerance=1e-13)
    assert history.converged
    system.close()
    return float(np.abs(found - exact).max())


@pytest.mark.each_value
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
    space = space_on(Box((3, 2, 2)), 10)
    system = system_on(backend, space, equation_of(fixed=(1, 2)))

    def wave(x: Any, y: Any, z: Any) -> Any:
        return np.sin(x) * np.cos(np.pi * y) * np.cos(np.pi * z)

    exact = at_nodes(wave, space)
    found, _ = system.solve((1 + 2 * np.pi**2) * exact, exact, tolerance=1e-13)
    assert np.abs(found - exact).max() <= 1e-10


def test_a_periodic_domain(backend: Backend) -> None:
    space = space_on(Box((3, 1, 2), periodic=(True, True, True)), 11)
    system = system_on(backend, space, equation_of(0.7))

    def wave(x: Any, y: Any, z: Any) -> Any:
        return np.sin(2 * np.pi * x) + 0.3 * np.cos(2 * np.pi * (y + z))

    def forced(x: Any, y: Any, z: Any) -> Any:
        four = 4 * np.pi**2
        return (four + 0.7) * np.sin(2 * np.pi * x) + 0.3 * (2 * four + 0.7) * np.cos(
            2 * np.pi * (y + z)
        )

    found, _ = system.solve(at_nodes(forced, space), tolerance=1e-13)
    assert np.abs(found - at_nodes(wave, space)).max() <= 2e-5


def test_problems_without_a_unique_solution(backend: Backend) -> None:
    with pytest.raises(InputError, match="u is determined only up to a constant"):
        system_on(backend, space_on(Box((1, 1, 1)), 2), equation_of())
