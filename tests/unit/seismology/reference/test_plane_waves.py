"""Plane waves and standing waves against the equations of motion and textbook formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from wave_equations import largest, residuals, tensor

from groundswell.errors import InputError
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import (
    Harmonic,
    PlaneWave,
    PlaneWaves,
    StandingWave,
)
from groundswell.seismology.reference.pulse import Pulse

ROCK = HomogeneousMedium(vp=5000.0, vs=2900.0, rho=2600.0)
WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
OMEGA = 20.0
HARMONIC = Harmonic(OMEGA)


@pytest.fixture
def rng():
    return np.random.default_rng(20240611)


def gaussian(t):
    return np.exp(-0.5 * (OMEGA * t) ** 2)


def random_unit(rng):
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


# Plane waves


@pytest.mark.parametrize("profile", [HARMONIC, gaussian, np.sin])
@pytest.mark.parametrize("medium", [ROCK, WATER])
def test_plane_waves_satisfy_the_equations_of_motion(rng, medium, profile):
    waves = [PlaneWave.p(medium, rng.normal(size=3), 2.0)]
    if not medium.is_fluid:
        waves.append(PlaneWave.s(medium, rng.normal(size=3), rng.normal(size=3), 3.0))
    for wave in waves:
        x, t = 30.0 * rng.normal(size=(3, 20)), 0.03 * rng.normal(size=20)
        field = PlaneWaves([wave], profile, (40.0, 50.0, -60.0))
        x += np.array(field.origin)[:, None]
        numbers = OMEGA * np.linalg.norm(wave.slowness), OMEGA
        assert np.all(residuals(field, medium, x, t, numbers) < 1e-9)


@pytest.mark.parametrize("kind", ["P", "S"])
def test_a_sine_is_the_textbook_formula(rng, kind):
    m, other = random_unit(rng), random_unit(rng)
    a, c = (m, ROCK.vp) if kind == "P" else (np.cross(m, other), ROCK.vs)
    wave = PlaneWave.p(ROCK, 7.0 * m) if kind == "P" else PlaneWave.s(ROCK, m, a + 3.0 * m)
    a = a / np.linalg.norm(a)
    lam, mu = ROCK.rho * (ROCK.vp**2 - 2 * ROCK.vs**2), ROCK.rho * ROCK.vs**2
    x, t = 500.0 * rng.normal(size=(3, 4, 1)), rng.uniform(0.0, 3.0, 5)
    sine = np.sin(OMEGA / c * np.tensordot(m, x, 1) - OMEGA * t)
    stress = lam * (a @ m) * np.eye(3) + mu * (np.outer(a, m) + np.outer(m, a))
    for scale, profile in ((-1j, HARMONIC), (-1.0, lambda t: np.sin(OMEGA * t))):
        field = PlaneWaves([replace(wave, amplitude=scale)], profile)
        assert largest(field.velocity(x, t) - np.multiply.outer(a, sine), a) < 1e-12
        assert (
            largest(tensor(field, x, t) + np.multiply.outer(stress / c, sine), stress / c) < 1e-12
        )


def test_a_pulse_arrives_with_its_shape_and_only_then():
    pulse = Pulse.gaussian(0.05, 0.4)
    field = PlaneWaves([PlaneWave.p(WATER, (0.0, 0.0, 2.0), 1e-9)], pulse)
    t = np.linspace(0.0, 3.0, 60)
    velocity, stress = field.velocity((5.0, 6.0, 1500.0), t), field.stress((5.0, 6.0, 1500.0), t)
    assert np.allclose(velocity[2], 1e-9 * pulse(t - 1.0), rtol=1e-12) and not velocity[:2].any()
    assert np.allclose(stress[:3], -WATER.rho * WATER.vp * velocity[2]) and not stress[3:].any()
    assert not velocity[:, t < 1.0].any()


def test_plane_waves_refuse_what_does_not_exist():
    with pytest.raises(InputError, match="vs = 0"):
        PlaneWave.s(WATER, (1, 0, 0), (0, 1, 0))
    with pytest.raises(InputError, match="parallel"):
        PlaneWave.s(ROCK, (1, 2, 0), (-2, -4, 0))
    with pytest.raises(InputError, match="complex amplitude"):
        PlaneWaves([PlaneWave.p(ROCK, (1, 0, 0), 1j)], gaussian)


# Standing waves

RIGID, RELEASE = ("rigid", "rigid"), ("pressure-release", "pressure-release")
RIGID_BELOW, RIGID_ABOVE = ("rigid", "pressure-release"), ("pressure-release", "rigid")
SIZE = (30.0, 40.0, 25.0)


@pytest.mark.parametrize(
    ("mode", "walls"),
    [
        ((1, 2, 3), (RIGID, RIGID, RIGID)),
        ((1, 2, 1), (RELEASE, RELEASE, RELEASE)),
        ((0, 2, 1), (RIGID, RELEASE, RIGID)),
        ((0, 1, 2), (RIGID_BELOW, RIGID_ABOVE, RIGID)),
        ((1, 0, 0), (RELEASE, RIGID, RIGID_ABOVE)),
    ],
)
def test_standing_waves_satisfy_the_equations_and_the_walls(rng, mode, walls):
    wave = StandingWave(WATER, SIZE, mode, walls, amplitude=1000.0)
    x, t = rng.random((3, 25)) * np.array(SIZE)[:, None], rng.uniform(0.0, 1.0, 25)
    numbers = wave.omega / WATER.vp, wave.omega
    assert np.all(residuals(wave, WATER, x, t, numbers) < 1e-9)
    assert np.array_equal(wave.stress(x, t)[:3], -np.stack([wave.pressure(x, t)] * 3))
    for axis, end in np.ndindex(3, 2):
        on_wall = x.copy()
        on_wall[axis] = end * SIZE[axis]
        if walls[axis][end] == "rigid":
            scale = 1000.0 / (WATER.rho * WATER.vp)
            assert np.abs(wave.velocity(on_wall, t)[axis]).max() < 1e-14 * scale
        else:
            assert np.abs(wave.pressure(on_wall, t)).max() < 1e-12 * 1000.0


def test_standing_waves_are_the_textbook_formulas(rng):
    k = np.pi * np.array([1, 2, 3]) / np.array(SIZE)
    x, t = rng.random((3, 6, 1)) * np.array(SIZE)[:, None, None], rng.uniform(0.0, 1.0, 4)
    angle = k[:, None, None] * x
    for walls, f, g, sign in ((RIGID, np.cos, np.sin, 1), (RELEASE, np.sin, np.cos, -1)):
        wave = StandingWave(WATER, SIZE, (1, 2, 3), (walls,) * 3)
        assert wave.omega == pytest.approx(WATER.vp * np.linalg.norm(k), rel=1e-15)
        p = np.prod(f(angle), axis=0)
        assert np.allclose(wave.pressure(x, t), p * np.cos(wave.omega * t), atol=1e-13)
        scale = sign * k[1] / (WATER.rho * wave.omega) * np.sin(wave.omega * t)
        vy = scale * g(angle[1]) * f(angle[0]) * f(angle[2])
        assert np.allclose(wave.velocity(x, t)[1], vy, rtol=1e-12, atol=1e-19)


def test_standing_waves_refuse_solids_and_modes_at_rest():
    with pytest.raises(InputError, match="use a fluid"):
        StandingWave(ROCK, SIZE, (1, 1, 1))
    with pytest.raises(InputError, match=r"mode \(0, 0, 0\) is at rest"):
        StandingWave(WATER, SIZE, (0, 0, 0))
    with pytest.raises(InputError, match=r"mode \(0, 1, 1\) is at rest"):
        StandingWave(WATER, SIZE, (0, 1, 1), (RELEASE, RIGID, RIGID))
