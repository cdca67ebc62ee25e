"""Pulses and the solutions in a full space against independent statements of the same physics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf

from groundswell.errors import InputError
from groundswell.seismology.reference import fullspace
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.pulse import Pulse

ROCK = HomogeneousMedium(vp=5000.0, vs=2800.0, rho=2500.0)
SHAPE = Pulse.gaussian(0.1, 0.7)


@pytest.fixture
def rng():
    return np.random.default_rng(20240611)


def error(actual, expected):
    """Largest difference as a share of the largest value: these motions are tiny numbers."""
    return np.abs(actual - expected).max() / np.abs(expected).max()


def stencil(function, point, axis, h):
    """Fourth-order central difference of `function`(point) along `axis`."""
    e = h * np.eye(3)[axis]
    near = function(point + e) - function(point - e)
    far = function(point + 2 * e) - function(point - 2 * e)
    return (8.0 * near - far) / (12.0 * h)


# Pulses


def test_brune_pulse_is_its_closed_form():
    T, t = 0.3, np.linspace(-0.5, 9.0, 700)
    x = np.maximum(t, 0.0) / T
    pulse, e = Pulse.brune(T), np.exp(-x)
    assert np.allclose(pulse(t), x * e / T, atol=1e-9)
    assert np.allclose(pulse(t, 1)[t > 0], ((1 - x) * e / T**2)[t > 0], atol=1e-6)
    assert np.allclose(pulse(t, -1), 1 - (1 + x) * e, atol=1e-10)
    assert np.allclose(pulse(t, -2), T * (x - 2 + (x + 2) * e), atol=1e-10)


def test_integral_of_gaussian_is_error_function_and_stays_one():
    t = np.array([0.5, 0.7, 0.75, 1.0, 50.0])
    exact = 0.5 * (1 + erf((t - 0.7) / 0.1 / np.sqrt(2)))
    assert np.allclose(SHAPE.integral()(t), exact, atol=1e-8)
    assert np.allclose(SHAPE.integral()(t, 1), SHAPE(t))


def test_sampled_pulse_is_linear_between_samples_and_zero_outside(rng):
    samples = np.r_[0.0, rng.random(7), 0.0]
    pulse = Pulse.from_samples(samples, step=0.5, start=1.0)
    t = rng.uniform(0.0, 7.0, 50)
    times = 1.0 + 0.5 * np.arange(9)
    assert np.allclose(pulse(t), np.interp(t, times, samples, left=0.0, right=0.0))
    assert pulse(100.0, -1) == pytest.approx(0.5 * samples.sum())
    centroid = np.sum(0.5 * samples * times)
    assert pulse(100.0, -2) == pytest.approx(100.0 * 0.5 * samples.sum() - centroid)


def test_pulse_refuses_a_derivative_that_holds_impulses():
    with pytest.raises(InputError, match="order 1 jumps at 0 s"):
        Pulse.brune(0.1)([1.0], 2)
    with pytest.raises(InputError, match="order 0 jumps at 2 s"):
        Pulse.from_samples([0.0, 1.0, 1.0], step=1.0)([1.0], 1)


# Full space


def test_force_solution_satisfies_the_equation_of_motion(rng):
    force, receiver = rng.normal(size=3), np.array([900.0, -500.0, 700.0])
    t, h = np.array([0.95, 1.0, 1.1, 1.2]), 8.0
    mu = ROCK.rho * ROCK.vs**2
    lam = ROCK.rho * ROCK.vp**2 - 2.0 * mu

    def displacement(x):
        return fullspace.force_velocity(ROCK, force, x, t, SHAPE.integral())

    def gradient(x):
        return np.stack(
            [stencil(displacement, x, j, h) for j in range(3)]
        )  # [j, i] = d u_i / d x_j

    def stress(x):
        g = gradient(x)
        return lam * np.einsum("iit->t", g) * np.eye(3)[..., None] + mu * (g + g.swapaxes(0, 1))

    divergence = sum(stencil(stress, receiver, j, h)[j] for j in range(3))
    dt = 1e-3
    late, early = (
        fullspace.force_velocity(ROCK, force, receiver, t + s * dt, SHAPE) for s in (1, -1)
    )
    inertia = ROCK.rho * (late - early) / (2 * dt)
    assert error(divergence, inertia) < 2e-3


def test_force_solution_at_rest_is_kelvins(rng):
    force, x = rng.normal(size=3), rng.normal(size=3) * 1000.0
    r = np.linalg.norm(x)
    mu = ROCK.rho * ROCK.vs**2
    nu = (ROCK.vp**2 - 2 * ROCK.vs**2) / (2 * (ROCK.vp**2 - ROCK.vs**2))
    kelvin = ((3 - 4 * nu) * force + x * (x @ force) / r**2) / (16 * np.pi * mu * (1 - nu) * r)
    u = fullspace.force_velocity(ROCK, force, x, [20.0], SHAPE.integral().integral())[:, 0]
    assert error(u, kelvin) < 1e-7


@pytest.mark.parametrize("shape", [SHAPE, SHAPE.integral()], ids=["velocity", "displacement"])
def test_moment_solution_is_the_gradient_of_the_force_solution(rng, shape):
    m = rng.normal(size=(3, 3))
    m += m.T
    x, t = rng.normal(size=3) * 800.0, np.linspace(0.0, 2.0, 201)
    expected = np.zeros((3, t.size))
    for p, q in np.ndindex(3, 3):  # G depends on x - xi, hence the minus sign

        def green(y, p=p):
            return fullspace.force_velocity(ROCK, np.eye(3)[p], y, t, shape.integral())

        expected -= m[p, q] * stencil(green, x, q, 2.0)
    u = fullspace.moment_velocity(ROCK, m, x, t, shape)
    assert error(u, expected) < 1e-7


@pytest.mark.parametrize("vs", [0.0, ROCK.vs])
def test_explosion_accelerates_the_medium_by_its_pressure(rng, vs):
    """Momentum of a fluid with the pressure M rate'(t - r / c) / (4 pi c^2 r); isotropic moment."""
    medium = HomogeneousMedium(vp=ROCK.vp, vs=vs, rho=ROCK.rho)
    x, t, c = rng.normal(size=3) * 800.0, np.linspace(0.5, 1.5, 101), ROCK.vp

    def impulse(y):  # the time integral of the pressure
        r = np.linalg.norm(y)
        return 7.0 * SHAPE(t - r / c) / (4 * np.pi * c**2 * r)

    u = fullspace.explosion_velocity(medium, 7.0, x, t, SHAPE)
    gradient = np.stack([stencil(impulse, x, j, 2.0) for j in range(3)])
    assert error(u, -gradient / medium.rho) < 1e-7
    assert error(u, fullspace.moment_velocity(ROCK, 7.0 * np.eye(3), x, t, SHAPE)) < 1e-12


def test_double_couple_matches_spherical_form(rng):
    """Aki and Richards (2002), equation 4.32: slip along x on the plane normal to z."""
    r, theta, phi = 4000.0, rng.uniform(0.2, 2.9), rng.uniform(0.0, 6.0)
    st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
    er, et, ep = [st * cp, st * sp, ct], [ct * cp, ct * sp, -st], [-sp, cp, 0.0]
    p = np.sin(2 * theta) * cp * np.array(er)
    s = np.cos(2 * theta) * cp * np.array(et) - ct * sp * np.array(ep)
    a, b, T = ROCK.vp, ROCK.vs, 0.2
    t = 2.0

    def moment(t):
        return np.where(t > 0, 1 - (1 + t / T) * np.exp(-t / T), 0.0)

    def rate(t):
        return np.where(t > 0, t / T**2 * np.exp(-t / T), 0.0)

    near = quad(lambda tau: tau * moment(t - tau), r / a, r / b, epsabs=1e-12)[0]
    u = (9 * p - 6 * s) * near / r**4
    u += (4 * p - 2 * s) * moment(t - r / a) / (a * r) ** 2
    u += (-3 * p + 3 * s) * moment(t - r / b) / (b * r) ** 2
    u += p * rate(t - r / a) / (a**3 * r) + s * rate(t - r / b) / (b**3 * r)
    got = fullspace.moment_velocity(
        ROCK, [0, 0, 0, 0, 1.0, 0], r * np.array(er), [t], Pulse.brune(T).integral()
    )
    assert error(got[:, 0], u / (4 * np.pi * ROCK.rho)) < 1e-7


def test_full_space_does_not_care_about_handedness(rng):
    m, x = rng.normal(size=6), rng.normal(size=3) * 1000.0
    flip = np.array([1.0, 1.0, -1.0])
    t = np.linspace(0.0, 3.0, 50)
    u = fullspace.moment_velocity(ROCK, m, x, t, SHAPE)
    mirrored = fullspace.moment_velocity(ROCK, m * [1, 1, 1, 1, -1, -1], flip * x, t, SHAPE)
    assert error(mirrored, flip[:, None] * u) < 1e-12


@pytest.mark.parametrize(
    ("angles", "slip", "normal"),
    [
        ((0.0, 90.0, 0.0), [0, 1, 0], [1, 0, 0]),  # right of a fault to the north is east
        ((90.0, 90.0, 90.0), [0, 0, -1], [0, -1, 0]),  # hanging wall up
        ((0.0, 45.0, -90.0), [0.5**0.5, 0, 0.5**0.5], [0.5**0.5, 0, -(0.5**0.5)]),  # normal fault
    ],
)
def test_double_couple_is_slip_times_normal(angles, slip, normal):
    expected = 3.0 * (np.outer(slip, normal) + np.outer(normal, slip))
    assert np.allclose(fullspace.double_couple_tensor(*angles, 3.0), expected)
