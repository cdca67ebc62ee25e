"""The k-space scheme against exact solutions of the wave equation and of its losses."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.backends import open_backend
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.propagation import Propagation

SPEED, DENSITY, EDGE = 1500.0, 1000.0, 1e-3  # m/s, kg/m^3, m


def propagation(cells: tuple[int, int, int], dt: float, medium: AcousticMedium) -> Propagation:
    operators = SpectralOperators(Grid(cells, (EDGE,) * 3), dt, SPEED)
    return Propagation(open_backend("cpu"), operators, medium, "float64")


def test_a_gaussian_ball_spreads_as_in_theory() -> None:
    """r p = ((r - ct) f(|r - ct|) + (r + ct) f(r + ct)) / 2; one step takes half a cell's time."""
    n, sigma, steps, dt = 48, 2.5 * EDGE, 16, 0.5 * EDGE / SPEED
    x = EDGE * (np.arange(n) - n // 2)
    r = np.sqrt(x[:, None, None] ** 2 + x[:, None] ** 2 + x**2)
    waves = propagation((n, n, n), dt, AcousticMedium(SPEED, DENSITY))
    waves.start(np.exp(-0.5 * (r / sigma) ** 2))
    for _ in range(steps):
        waves.step()
    t = SPEED * steps * dt
    sides = ((r + side * t) * np.exp(-0.5 * ((r + side * t) / sigma) ** 2) for side in (-1, 1))
    exact = sum(sides) / (2 * np.where(r > 0, r, np.inf))
    assert np.abs(waves.p - exact)[r > 0].max() < 1e-7 * np.abs(exact).max()


@pytest.mark.parametrize("power", [1.1, 1.5, 2.0])
def test_plane_waves_lose_energy_by_the_power_law(power: float) -> None:
    """A standing wave decays as exp(-alpha c t), alpha = alpha_0 omega^y, and turns faster.

    Its frequency is k / (1 / c + alpha_0 tan(pi y / 2) omega^(y - 1)).
    """
    n, waves_along, dt = 32, 2, 0.1 * EDGE / SPEED
    k = 2 * np.pi * waves_along / (n * EDGE)
    omega = SPEED * k
    alpha_0 = float(nepers(0.75, power))  # from dB / (MHz^y cm)
    medium = AcousticMedium(SPEED, DENSITY, alpha_0, power)
    waves = propagation((n, 2, 2), dt, medium)
    shape = np.broadcast_to(np.cos(k * EDGE * np.arange(n)), (2, 2, n))
    waves.start(shape)
    amplitudes = []
    for _ in range(500):
        waves.step()
        amplitudes.append(np.mean(waves.p * shape) * 2)
    # p(t) = exp(-a t) cos(b t): a sum of two exponentials, fitted by linear prediction.
    p = np.array(amplitudes)
    (s, q), *_ = np.linalg.lstsq(np.column_stack([p[1:-1], p[:-2]]), p[2:], rcond=None)
    root = complex(np.roots([1, -s, -q])[0])
    decay, turning = -np.log(abs(root)) / dt, abs(np.angle(root)) / dt
    assert decay == pytest.approx(alpha_0 * omega**power * SPEED, rel=0.01)
    dispersion = 0 if power == 2 else alpha_0 * np.tan(np.pi * power / 2) * omega ** (power - 1)
    wanted = k / (1 / SPEED + dispersion)
    assert turning - omega == pytest.approx(wanted - omega, rel=0.02, abs=6e-6 * omega)
