"""Rayleigh, Scholte and Stoneley waves against their secular equations and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from wave_equations import largest, residuals, tensor

from groundswell.errors import InputError
from groundswell.seismology.reference.half_spaces import Interface, total_field
from groundswell.seismology.reference.interface_waves import (
    eigenfunctions,
    interface_wave,
    interface_wave_speed,
)
from groundswell.seismology.reference.lamb import RATIO, RAYLEIGH_ARRIVAL
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import PlaneWave
from groundswell.seismology.reference.pulse import Pulse

OMEGA = 15.0
NORMAL, POINT, DIRECTION = (2.0, -1.0, 3.0), (100.0, 200.0, -50.0), (0.4, 1.0, -0.3)


def solid(rho, lam, mu):
    return HomogeneousMedium(np.sqrt((lam + 2 * mu) / rho), np.sqrt(mu / rho), rho)


ROCK = HomogeneousMedium(vp=5000.0, vs=2900.0, rho=2600.0)
MUD = HomogeneousMedium(vp=1700.0, vs=100.0, rho=1800.0)
WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
DENSE, LIGHT = solid(10.0, 3.0, 3.0), solid(1.0, 1.0, 1.0)
PAIRS = {
    "Rayleigh": (ROCK, None),
    "Scholte, rock below": (WATER, ROCK),
    "Scholte, rock above": (ROCK, WATER),
    "Scholte, mud": (WATER, MUD),
    "Stoneley": (DENSE, LIGHT),
    "Stoneley, similar solids": (LIGHT, solid(1.2, 1.2, 1.2)),
}


@pytest.fixture
def rng():
    return np.random.default_rng(20240611)


@pytest.fixture(params=PAIRS.values(), ids=PAIRS.keys())
def interface(request):
    return Interface(*request.param, NORMAL, POINT)


def speed(first, second=None):
    return interface_wave_speed(Interface(first, second))


def rayleigh_function(c, medium):
    """(2 - (c/vs)^2)^2 - 4 sqrt(1 - (c/vp)^2) sqrt(1 - (c/vs)^2)."""
    p, s = (c / medium.vp) ** 2, (c / medium.vs) ** 2
    return (2.0 - s) ** 2 - 4.0 * np.sqrt((1.0 - p) * (1.0 - s))


# Phase speeds


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(np.sqrt(2.0), 0.8740320489), (np.sqrt(3.0), 0.9194016868), (1e6, 0.9553125009)],
)
def test_rayleigh_speeds_are_the_published_ones(ratio, expected):
    assert speed(HomogeneousMedium(ratio * 2000.0, 2000.0, 1500.0)) / 2000.0 == pytest.approx(
        expected, abs=1e-9
    )


def test_rayleigh_speed_is_that_of_lambs_problem():
    found = speed(HomogeneousMedium(RATIO * 2000.0, 2000.0, 1500.0))
    assert found == pytest.approx(2000.0 / RAYLEIGH_ARRIVAL, rel=1e-14)


def test_scholte_and_stoneley_speeds_are_the_reference_numbers():
    for first, second, expected in (
        (HomogeneousMedium(1.0, 0.0, 1.0), LIGHT, 0.7110017230),
        (DENSE, LIGHT, 0.5469813242),
        (LIGHT, solid(1.2, 1.2, 1.2), 0.9999519405),
    ):
        assert speed(first, second) == pytest.approx(expected, abs=1e-9)
        assert speed(second, first) == pytest.approx(speed(first, second), rel=1e-13)


def test_rayleigh_and_scholte_speeds_satisfy_their_secular_equations(rng):
    for _ in range(30):
        vs = rng.uniform(100.0, 3000.0)
        ground = HomogeneousMedium(vs * rng.uniform(1.2, 5.0), vs, rng.uniform(1000.0, 3000.0))
        assert abs(rayleigh_function(speed(ground), ground)) < 1e-13
        fluid = HomogeneousMedium(rng.uniform(1000.0, 2000.0), 0.0, rng.uniform(500.0, 1500.0))
        c = speed(fluid, ground)
        p, f = (np.sqrt(1.0 - (c / vp) ** 2) for vp in (ground.vp, fluid.vp))
        load = fluid.rho / ground.rho * (c / vs) ** 4 * p
        assert abs(rayleigh_function(c, ground) * f + load) < 1e-13


@pytest.mark.parametrize(
    "media", [(WATER, None), (WATER, WATER), (ROCK, MUD), (ROCK, solid(1000.0, 1e9, 1e9))]
)
def test_pairs_without_an_interface_wave_are_refused(media):
    with pytest.raises(InputError, match="no wave propagates along the interface"):
        speed(*media)


# Motion


def waves_of(interface):
    """The wave, its wavelength, and its speed."""
    c = interface_wave_speed(interface)
    return interface_wave(interface, DIRECTION, OMEGA, 2.0), 2 * np.pi * c / OMEGA, c


def test_the_equations_of_motion_hold(rng, interface):
    wave, length, _ = waves_of(interface)
    frame = interface.frame(DIRECTION)
    along = length * frame[:2].T @ rng.normal(size=(2, 20)) + np.array(POINT)[:, None]
    t = rng.uniform(0.0, 1.0, 20)
    for medium, side, sign in zip(
        interface.media, (wave.first, wave.second), (-1, 1), strict=False
    ):
        x = along + sign * length * rng.uniform(0.1, 1.5, 20) * frame[2][:, None]
        assert np.all(residuals(side, medium, x, t, (2 * np.pi / length, OMEGA)) < 1e-9)
        assert np.array_equal(wave.velocity(x, t), side.velocity(x, t))


def test_the_conditions_at_the_interface_hold(rng, interface):
    wave, length, _ = waves_of(interface)
    frame = interface.frame(DIRECTION)
    x = length * frame[:2].T @ rng.normal(size=(2, 20)) + np.array(POINT)[:, None]
    t = rng.uniform(0.0, 1.0, 20)
    fields = wave.first, wave.second
    velocity = [frame @ f.velocity(x, t) for f in fields]
    traction = [frame @ np.einsum("ij...,j->i...", tensor(f, x, t), frame[2]) for f in fields]
    stress = np.abs(wave.first.stress(x, t)).max()
    assert np.abs(traction[1] - traction[0]).max() < 1e-12 * stress
    jump = np.abs(velocity[1] - velocity[0]).max(axis=1) / np.abs(velocity).max()
    if interface.second is not None:
        assert jump[2] < 1e-12
    if len(interface.media) == 2 and not any(m.is_fluid for m in interface.media):
        assert jump.max() < 1e-12
    if interface.second is None or any(m.is_fluid for m in interface.media):
        assert np.abs(traction[0][:2]).max() < 1e-12 * stress


def test_the_wave_travels_along_and_decays_away_from_the_interface(interface):
    wave, length, c = waves_of(interface)
    along, _, normal = interface.frame(DIRECTION)
    t, point = np.linspace(0.0, 1.0, 30), np.array(POINT)
    assert np.allclose(normal @ wave.first.velocity(point, t), 2.0 * np.cos(OMEGA * t), atol=1e-12)
    x = point[:, None] - 0.2 * length * normal[:, None] + np.outer(along, c * t)
    travelling = wave.velocity(x, t)
    assert largest(travelling - travelling[:, :1], travelling) < 1e-12
    for sign in [-1, 1][: len(interface.media)]:
        far = point + sign * 20000.0 * length * normal
        near = wave.velocity(point + sign * length * normal, t)
        assert np.abs(wave.velocity(far, t)).max() < 0.5 * np.abs(near).max()


def test_rayleigh_eigenfunctions_are_the_closed_form():
    wave = interface_wave(Interface(ROCK, None, (0, 0, -1)), (1, 0, 0), OMEGA, -1.0)  # z is down
    c = interface_wave_speed(wave.interface)
    a, b = (np.sqrt(1.0 - (c / speed) ** 2) for speed in (ROCK.vp, ROCK.vs))
    z = np.linspace(0.0, 2000.0, 30)
    p, s = (np.exp(-OMEGA / c * decay * z) for decay in (a, b))
    u, w = p - 2 * a * b / (1 + b**2) * s, 1j * (a * p - 2 * a / (1 + b**2) * s)
    velocity, stress = eigenfunctions(wave, -z)
    assert largest(velocity - np.stack([u, 0 * u, w]) / w[0], velocity) < 1e-13
    slope = OMEGA / c * (-a * p + 2 * a * b**2 / (1 + b**2) * s) / w[0]
    shear = ROCK.mu * (slope + 1j * OMEGA / c * w / w[0])  # of velocity: times -i omega of stress
    assert largest(-1j * OMEGA * stress[4] - shear, shear) < 1e-12
    ellipticity = 2 * b / (2 - (c / ROCK.vs) ** 2)
    assert velocity[0, 0] / velocity[2, 0] == pytest.approx(
        1j * ellipticity, rel=1e-12
    )  # retrograde


def test_eigenfunctions_are_complex_amplitudes(rng):
    wave, length, _ = waves_of(Interface(WATER, ROCK, NORMAL, POINT))
    distance, t = length * rng.normal(size=8), 0.123
    normal = np.array(NORMAL) / np.linalg.norm(NORMAL)
    x = np.array(POINT)[:, None] + np.outer(normal, distance)
    for amplitude, values in zip(
        eigenfunctions(wave, distance), (wave.velocity, wave.stress), strict=True
    ):
        motion = (amplitude * np.exp(-1j * OMEGA * t)).real
        assert largest(motion - values(x, t), amplitude) < 1e-13


def test_eigenfunctions_need_a_harmonic_wave():
    pulse = total_field(Interface(ROCK, None), PlaneWave.p(ROCK, NORMAL), Pulse.gaussian(0.1, 0.7))
    with pytest.raises(InputError, match="use a wave of a Harmonic one"):
        eigenfunctions(pulse, [0.0])
