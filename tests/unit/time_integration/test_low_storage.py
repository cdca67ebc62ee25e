"""The low-storage Runge-Kutta scheme: conditions of order 4, limits of stability, convergence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from groundswell.arrays import Floats
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY, LowStorageScheme


def step(rate: Callable[[Any, float], Any], u: Any, t: float, dt: float) -> Any:
    scheme, r = CARPENTER_KENNEDY, 0.0 * u
    for a, b, c in zip(scheme.a, scheme.b, scheme.c, strict=True):
        r = a * r + dt * rate(u, t + c * dt)
        u = u + b * r
    return u


def butcher(scheme: LowStorageScheme) -> tuple[Floats, Floats]:
    """The matrix and the weights of the same scheme in Butcher's form."""
    rows, u, r = [], np.zeros(scheme.stages), np.zeros(scheme.stages)
    for a, b, unit in zip(scheme.a, scheme.b, np.eye(scheme.stages), strict=True):
        rows.append(u)
        r = a * r + unit
        u = u + b * r
    return np.array(rows), u


def test_the_conditions_of_order_4() -> None:
    A, b = butcher(CARPENTER_KENNEDY)
    c = A.sum(axis=1)
    one = np.ones_like(c)
    of_lower_order = [(one, 1), (c, 1 / 2), (c**2, 1 / 3), (A @ c, 1 / 6)]
    of_order_4 = [(c**3, 1 / 4), (c * (A @ c), 1 / 8), (A @ c**2, 1 / 12), (A @ A @ c, 1 / 24)]
    for vector, value in of_lower_order + of_order_4:
        assert b @ vector == pytest.approx(value, rel=1e-15, abs=2e-16)
    assert CARPENTER_KENNEDY.c == pytest.approx(c, rel=1e-13, abs=0)
    assert CARPENTER_KENNEDY.a[0] == 0


def test_the_stability_polynomial() -> None:
    z = np.exp(2j * np.pi * np.arange(8) / 8)
    coefficients = np.fft.fft(step(lambda u, t: z * u, np.ones(8, complex), 0.0, 1.0)) / 8
    expected = [1, 1, 1 / 2, 1 / 6, 1 / 24, 1 / 200, 0, 0]
    assert np.allclose(coefficients, expected, rtol=0, atol=2e-14)


@pytest.mark.parametrize(("direction", "limit"), [(1j, 3.3407), (-1.0, 4.6568)])
def test_the_limits_of_stability(direction: complex, limit: float) -> None:
    def growth(z: Any) -> Any:
        return np.abs(step(lambda u, t: z * u, np.ones_like(z), 0.0, 1.0))

    inside = direction * np.linspace(0, limit - 1e-4, 4001).astype(complex)
    assert growth(inside).max() <= 1 + 1e-14
    assert growth(np.array([direction * (limit + 1e-4)], complex))[0] > 1


def test_the_loss_of_an_oscillation() -> None:
    frequency = 0.2
    energy = abs(step(lambda u, t: 1j * frequency * u, 1.0 + 0j, 0.0, 1.0)) ** 2
    assert 1 - energy == pytest.approx((1 / 72 - 1 / 100) * frequency**6, rel=0.02)


def test_convergence_with_rates_that_depend_on_time() -> None:
    def error(steps: int) -> float:
        u, dt = 1.0, 1 / steps  # u = exp(sin(3 t)) + t^2
        for n in range(steps):
            u = step(lambda u, t: 3 * np.cos(3 * t) * (u - t**2) + 2 * t, u, n * dt, dt)
        return abs(u - np.exp(np.sin(3)) - 1)

    assert np.log2(error(100) / error(200)) == pytest.approx(4, abs=0.1)
