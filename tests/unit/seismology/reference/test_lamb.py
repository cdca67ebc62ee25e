"""Lamb's problem against integrals over slowness, its limit at rest and its scaling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from groundswell.seismology.reference import lamb
from groundswell.seismology.reference.pulse import Pulse

SHAPE = Pulse.gaussian(0.1, 0.7)
GROUND = lamb.PoissonHalfSpace(vs=1000.0, rho=2000.0)


@pytest.fixture
def rng():
    return np.random.default_rng(20240611)


def error(actual, expected):
    """Largest difference as a share of the largest value: these motions are tiny numbers."""
    return np.abs(actual - expected).max() / np.abs(expected).max()


def lamb_displacement(space, force, distance, time):
    """The displacement by a force is the velocity by its integral."""
    return lamb.lamb_velocity(space, force.integral(), distance, time)


def slowness_integrals(tau):
    """Radial and vertical step response before the Rayleigh wave, as integrals over slowness q.

    Inverse Laplace transform of the Hankel integrals over the real wavenumber (Pekeris's method).
    """

    def vertical(q):
        p, s, d = q * q - 1.0 / 3.0, 1.0 - q * q, (1.0 - 2.0 * q * q) ** 2
        if s > 0:
            return -2.0 * q * np.sqrt(p) * d / (d**2 + 16.0 * q**4 * p * s) / np.pi
        return -2.0 * q * np.sqrt(p) / (d - 4.0 * q * q * np.sqrt(-p * s)) / np.pi

    def radial(q):
        p, s, d = q * q - 1.0 / 3.0, 1.0 - q * q, 1.0 - 2.0 * q * q
        return 4.0 * tau * q * np.sqrt(p * s) * d / (d**4 + 16.0 * q**4 * p * s) / np.pi

    def integral(f, low, high):  # q = tau sin(x) removes the root of tau^2 - q^2
        return quad(lambda x: f(tau * np.sin(x)), np.arcsin(low / tau), np.arcsin(high / tau))[0]

    low, top = 1.0 / np.sqrt(3.0), min(tau, 1.0)
    return integral(radial, low, top), integral(vertical, low, top) + integral(vertical, top, tau)


@pytest.mark.parametrize("window", [(0.58, 0.999), (1.001, 1.08)])
def test_lamb_step_responses_are_slowness_integrals(rng, window):
    tau = rng.uniform(*window, 6)
    expected = np.array([slowness_integrals(x) for x in tau])
    assert np.allclose(lamb.radial_step_response(tau), expected[:, 0], atol=1e-7)
    assert np.allclose(lamb.vertical_step_response(tau), expected[:, 1], atol=1e-7)


def test_lamb_at_rest_is_boussinesq():
    r, F, nu = 3000.0, 2.0e9, 0.25
    u = F * lamb_displacement(GROUND, SHAPE.integral(), r, [2000.0])[:, 0]
    unit = F / (2 * np.pi * GROUND.mu * r)
    assert u[0] == pytest.approx(-(0.5 - nu) * unit, rel=1e-5)
    assert u[1] == pytest.approx((1.0 - nu) * unit, rel=1e-8)


def test_lamb_convolution_matches_adaptive_quadrature():
    r, unit = 5000.0, 5.0
    for t in (4.5, 6.1):
        got = lamb_displacement(GROUND, SHAPE, r, [t])[:, 0]

        def integrand(w, sign, step_response, t=t):  # tau = gamma +- w^2 removes the root
            tau = lamb.RAYLEIGH_ARRIVAL + sign * w * w
            return 2 * w * unit * step_response(np.array([tau]))[0] * SHAPE(t - tau * unit, 1)

        for i, response in enumerate((lamb.radial_step_response, lamb.vertical_step_response)):
            sides = [quad(integrand, 0.0, 0.75, (s, response), limit=200)[0] for s in (1, -1)]
            assert error(got[i], sum(sides) / (2 * np.pi * GROUND.mu * r)) < 1e-6


def test_lamb_velocity_is_the_derivative_and_starts_at_the_p_arrival():
    r, h = 5000.0, 1e-3
    t = np.linspace(2.0, 7.5, 23)
    u = [lamb_displacement(GROUND, SHAPE, r, t + k * h) for k in (-2, -1, 1, 2)]
    v = lamb.lamb_velocity(GROUND, SHAPE, r, t)
    assert error((u[0] - 8 * u[1] + 8 * u[2] - u[3]) / (12 * h), v) < 1e-6
    first = SHAPE.start + r / GROUND.vp
    assert np.all(v[:, t < first] == 0.0) and np.all(v[:, t > first + 0.5] != 0.0)


def test_lamb_scales_with_distance_speed_and_stiffness():
    t = np.linspace(0.0, 8.0, 30)
    u = lamb_displacement(GROUND, SHAPE, 5000.0, t)
    far = lamb_displacement(GROUND, Pulse.gaussian(0.3, 2.1), 15000.0, 3.0 * t) * 3.0
    # Three times the distance and duration: a Gaussian of unit area is three times weaker.
    assert error(3.0 * far, u) < 1e-9
    dense = lamb.PoissonHalfSpace(vs=1000.0, rho=5000.0)
    assert error(2.5 * lamb_displacement(dense, SHAPE, 5000.0, t), u) < 1e-12
