"""Damping of sponges, and their reflection coefficients by the theory of layered media."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from groundswell.solvers.dgwave.boundaries.layers import sponge_decay, strongest_decay
from groundswell.solvers.dgwave.verification.sponge_theory import reflection_coefficient

ANGLES = np.arange(46.0)  # degrees


def admittance_of_sponge(angle: float, wavelengths: float) -> complex:
    """At the inner end, by integration of dY/dz = rho g Y^2 - (g / K + k^2 / (rho g))."""
    omega = 2 * np.pi * wavelengths
    along = omega * np.sin(np.radians(angle))

    def slope(height: float, admittance: np.ndarray) -> np.ndarray:
        g = float(sponge_decay(np.array([[1 - height]]), 1.0, 1.0)[0, 0]) - 1j * omega
        return g + along**2 / g - g * admittance**2

    start = np.ones(1, np.complex128)  # the absorbing boundary at the outer end
    return complex(solve_ivp(slope, (0, 1), start, rtol=1e-9, atol=1e-11).y[0, -1])


@pytest.mark.parametrize(("angle", "wavelengths"), [(20, 0.7), (45, 2), (45, 4), (60, 1.3)])
def test_theory_solves_the_equations_of_motion(angle: float, wavelengths: float) -> None:
    inside, outside = admittance_of_sponge(angle, wavelengths), np.cos(np.radians(angle))
    exact = (outside - inside) / (outside + inside)
    assert reflection_coefficient(angle, wavelengths) == pytest.approx(exact, rel=0.01, abs=1e-6)


def test_sponges_absorb_waves_at_normal_incidence() -> None:
    assert np.abs(reflection_coefficient(0.0, np.array([0.01, 0.3, 1, 10]))).max() < 1e-12


@pytest.mark.parametrize("fastest", [1.0, np.sqrt(3)])
def test_sponges_of_four_wavelengths_return_a_thousandth(fastest: float) -> None:
    """P and S waves, of 2.5 elements in sponges of ten elements, and shorter ones."""
    thickness = np.geomspace(4, 40, 20)
    assert np.abs(reflection_coefficient(ANGLES[:, None], thickness, fastest)).max() < 0.00095


@pytest.mark.parametrize(
    ("wavelengths", "angle", "limit"), [(2, 45, 0.0012), (2, 60, 0.018), (1, 45, 0.044)]
)
def test_thinner_sponges(wavelengths: float, angle: float, limit: float) -> None:
    """At most 2 % more than with the quadratic profile that returns 5 %."""
    assert abs(reflection_coefficient(angle, wavelengths)) < limit


def test_damping_is_strongest_at_the_outer_end() -> None:
    thickness, depths = np.array([100.0, 400.0]), np.linspace(0, 1, 9) * np.ones((2, 1))
    decay = sponge_decay(depths, thickness, 3000.0)
    assert (decay[:, 0] == 0).all() and (np.diff(decay) > 0).all()
    assert np.array_equal(decay[:, -1], strongest_decay(thickness, 3000.0))
