"""Reflection and transmission against the conditions at the interface and closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from plane_wave_interface import Solid, exact_coefficients
from wave_equations import largest, residuals, tensor

from groundswell.errors import InputError
from groundswell.seismology.reference.half_spaces import Interface, reflect, total_field
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import Harmonic, PlaneWave
from groundswell.seismology.reference.pulse import Pulse

ROCK = HomogeneousMedium(vp=5000.0, vs=2900.0, rho=2600.0)
SEDIMENT = HomogeneousMedium(vp=2600.0, vs=1400.0, rho=2050.0)
WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
OMEGA = 20.0
HARMONIC = Harmonic(OMEGA)
PAIRS = {
    "solid-solid": "ss",
    "solid-fluid": "sf",
    "fluid-solid": "fs",
    "fluid-fluid": "ff",
    "solid-vacuum": "sv",
    "fluid-vacuum": "fv",
}


@pytest.fixture
def rng():
    return np.random.default_rng(20240611)


def random_unit(rng):
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def random_medium(rng, state):
    vp = rng.uniform(1000.0, 6000.0)
    vs = vp * rng.uniform(0.3, 0.7) if state == "s" else 0.0
    return None if state == "v" else HomogeneousMedium(vp, vs, rng.uniform(500.0, 3500.0))


def random_incidence(rng, states, angle=None):
    """An interface of any orientation, and a P or S wave at any angle of incidence."""
    first, second = (random_medium(rng, state) for state in states)
    normal, across = random_unit(rng), random_unit(rng)
    across = np.cross(normal, across) / np.linalg.norm(np.cross(normal, across))
    theta = rng.uniform(0.0, 0.49 * np.pi) if angle is None else angle
    ray = np.cos(theta) * normal + np.sin(theta) * np.cross(across, normal)
    interface = Interface(first, second, 3.0 * normal, 500.0 * rng.normal(size=3))
    is_p = first.is_fluid or rng.random() < 0.5
    wave = PlaneWave.p(first, ray) if is_p else PlaneWave.s(first, ray, random_unit(rng))
    return interface, wave


def points_on(interface, rng, count=20):
    normal = np.array(interface.normal) / np.linalg.norm(interface.normal)
    x = 300.0 * rng.normal(size=(3, count))
    return x - np.outer(normal, normal @ (x - np.array(interface.point)[:, None])), normal


@pytest.mark.parametrize("states", PAIRS.values(), ids=PAIRS.keys())
def test_the_conditions_at_the_interface_hold(rng, states):
    for _ in range(30):
        interface, incident = random_incidence(rng, states)
        field = total_field(interface, incident, HARMONIC)
        x, normal = points_on(interface, rng)
        t = rng.uniform(0.0, 1.0, 20)
        scale = incident.medium.rho * incident.medium.vp
        traction = [np.einsum("ij...,j->i...", tensor(f, x, t), normal) for f in sides(field)]
        velocity = [f.velocity(x, t) for f in sides(field)]
        size = max(np.abs(velocity).max(), np.abs(traction).max() / scale)
        assert np.abs(traction[1] - traction[0]).max() < 1e-12 * size * scale
        jump = velocity[1] - velocity[0]
        if states == "ss":
            assert np.abs(jump).max() < 1e-12 * size
        if "v" not in states:
            assert np.abs(normal @ jump).max() < 1e-12 * size
        if "f" in states:
            shear = traction[0] - np.outer(normal, normal @ traction[0])
            assert np.abs(shear).max() < 1e-12 * size * scale


def sides(field):
    return field.first, field.second


@pytest.mark.parametrize("states", PAIRS.values(), ids=PAIRS.keys())
def test_both_half_spaces_satisfy_the_equations_of_motion(rng, states):
    for _ in range(5):
        interface, incident = random_incidence(rng, states)
        field = total_field(interface, incident, HARMONIC)
        slownesses = [np.abs(w.slowness).max() for f in sides(field) for w in f.waves]
        x, normal = points_on(interface, rng)
        distance, t = rng.uniform(10.0, 200.0, 20), rng.uniform(0.0, 1.0, 20)
        for medium, side, sign in zip(interface.media, sides(field), (-1, 1), strict=False):
            here = x + sign * normal[:, None] * distance
            numbers = OMEGA * max(slownesses), OMEGA
            assert np.all(residuals(side, medium, here, t, numbers) < 1e-9)
            assert np.array_equal(field.velocity(here, t), side.velocity(here, t))
            assert np.array_equal(field.stress(here, t), side.stress(here, t))


def normal_flux(wave, normal):
    """Mean flux of energy along the normal; evanescent waves carry none."""
    speed = wave.medium.vp if wave.kind == "P" else wave.medium.vs
    cosine = (np.asarray(wave.slowness) @ normal).real * speed
    return 0.5 * wave.medium.rho * speed * abs(wave.amplitude) ** 2 * cosine


@pytest.mark.parametrize("states", PAIRS.values(), ids=PAIRS.keys())
def test_energy_is_conserved(rng, states):
    for _ in range(40):
        interface, incident = random_incidence(rng, states)
        reflected, transmitted = reflect(interface, incident)
        normal = np.array(interface.normal) / 3.0
        leaving = [-normal_flux(w, normal) for w in reflected.values()]
        leaving += [normal_flux(w, normal) for w in transmitted.values()]
        arriving = normal_flux(incident, normal)
        assert min(leaving) >= -1e-14 * arriving
        assert sum(leaving) == pytest.approx(arriving, rel=1e-11)


def test_all_waves_obey_snells_law_and_leave_or_decay(rng):
    for states in PAIRS.values():
        interface, incident = random_incidence(rng, states)
        normal = np.array(interface.normal) / 3.0
        along = incident.slowness - (incident.slowness @ normal) * normal
        for waves, sign in zip(reflect(interface, incident), (-1, 1), strict=True):
            for kind, wave in waves.items():
                speed = wave.medium.vp if kind == "P" else wave.medium.vs
                across = wave.slowness @ normal
                rounding = 1e-14 / speed
                assert np.allclose(wave.slowness - across * normal, along, rtol=1e-12)
                assert wave.slowness @ wave.slowness == pytest.approx(speed**-2, rel=1e-12)
                assert sign * across.real > -rounding and sign * across.imag > -rounding


@pytest.mark.parametrize("states", ["ss", "sf", "fs", "ff"])
@pytest.mark.parametrize("kind", ["P", "S"])
def test_normal_incidence_depends_on_impedances(rng, states, kind):
    interface, incident = random_incidence(rng, states, angle=0.0)
    first = interface.first
    z1, z2 = (m.rho * (m.vp if kind == "P" else m.vs) for m in interface.media)
    if kind == "S" and first.is_fluid:
        return
    normal = np.array(interface.normal)
    incident = PlaneWave.p(first, normal) if kind == "P" else incident
    if kind == "S":
        incident = PlaneWave.s(first, normal, random_unit(rng))
    waves = reflect(interface, incident)
    reflected, transmitted = (sum(wave.motion for wave in side.values()) for side in waves)
    # The pressure or traction is reflected with R, the velocity with -R.
    r = (z2 - z1) / (z2 + z1)
    assert np.allclose(reflected, -r * incident.motion, atol=1e-13)
    assert np.allclose(transmitted, (1.0 - r) * incident.motion * (z2 > 0), atol=1e-13)
    stress = sum(wave.stress for wave in waves[0].values())
    assert np.allclose(normal @ stress, r * normal @ incident.stress, rtol=1e-12, atol=1e-6)


@pytest.mark.parametrize("angle", [0.1, 0.4, 1.0, 1.5])
def test_free_surface_is_aki_and_richards(angle):
    """Aki and Richards (2002), equations 5.27 to 5.32; z is down."""
    interface, a, b = Interface(ROCK, None, (0.0, 0.0, -1.0)), ROCK.vp, ROCK.vs
    ray = np.array([np.sin(angle), 0.0, -np.cos(angle)])
    for kind, c in (("P", a), ("SV", b)):
        p = np.sin(angle) / c
        cos_p, cos_s = np.sqrt(1 - (a * p) ** 2 + 0j), np.sqrt(1 - (b * p) ** 2 + 0j)
        square, product = (b**-2 - 2 * p**2) ** 2, 4 * p**2 * cos_p / a * cos_s / b
        cross = 4 * p * (b**-2 - 2 * p**2) / (square + product)
        same = (square - product) / (square + product)
        if kind == "P":
            incident = PlaneWave.p(ROCK, ray)
            expected = {"P": -same, "SV": a / b * cross * cos_p / a}
        else:
            incident = PlaneWave.s(ROCK, ray, (0.0, 0.0, 1.0))
            expected = {"P": b / a * cross * cos_s / b, "SV": same}
        reflected, none = reflect(interface, incident)
        for name, value in expected.items():
            assert reflected[name].amplitude == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert abs(reflected["SH"].amplitude) < 1e-15 and not none


@pytest.mark.parametrize("states", ["ss", "sf", "fs"])
def test_coefficients_of_p_and_sv_match_an_independent_solution(rng, states):
    for _ in range(20):
        first, second = (random_medium(rng, state) for state in states)
        interface = Interface(first, second)
        angle = rng.uniform(0.01, 1.5)
        ray = np.array([np.sin(angle), 0.0, np.cos(angle)])
        waves = [PlaneWave.p(first, ray)]
        if not first.is_fluid:
            waves.append(PlaneWave.s(first, ray, (0.0, 0.0, -1.0)))
        solids = [Solid(m.vp, m.vs, m.rho) for m in interface.media]
        for number, incident in enumerate(waves):
            k = OMEGA * incident.slowness[0]
            expected = exact_coefficients(*solids, OMEGA, k, number)
            sides = reflect(interface, incident)
            found = [w.amplitude for side in sides for kind, w in side.items() if kind != "SH"]
            assert np.allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_sh_waves_have_the_textbook_coefficients():
    angle = 0.3
    ray = np.array([np.sin(angle), 0.0, np.cos(angle)])
    reflected, transmitted = reflect(
        Interface(SEDIMENT, ROCK), PlaneWave.s(SEDIMENT, ray, (0.0, 1.0, 0.0))
    )
    one = SEDIMENT.rho * SEDIMENT.vs * np.cos(angle)
    two = ROCK.rho * ROCK.vs * np.sqrt(1.0 - (ROCK.vs / SEDIMENT.vs * np.sin(angle)) ** 2)
    assert reflected["SH"].amplitude == pytest.approx((one - two) / (one + two), rel=1e-13)
    assert transmitted["SH"].amplitude == pytest.approx(2.0 * one / (one + two), rel=1e-13)
    others = [w.amplitude for side in (reflected, transmitted) for w in (side["P"], side["SV"])]
    assert np.abs(others).max() < 1e-15


def test_acoustic_waves_are_totally_reflected_beyond_the_critical_angle():
    slow, fast = WATER, replace(WATER, vp=1800.0, rho=1200.0)
    angle = np.arcsin(1500.0 / 1800.0) + 0.1
    ray = (np.sin(angle), 0.0, np.cos(angle))
    field = total_field(Interface(slow, fast), PlaneWave.p(slow, ray), HARMONIC)
    assert abs(field.first.waves[1].amplitude) == pytest.approx(1.0, rel=1e-13)
    gamma = OMEGA * np.sqrt((np.sin(angle) / 1500.0) ** 2 - 1800.0**-2)
    peak = [np.abs(field.velocity((0, 0, z), np.linspace(0, 0.4, 99))).max() for z in (1.0, 101.0)]
    assert peak[1] / peak[0] == pytest.approx(np.exp(-100.0 * gamma), rel=1e-12)


def test_pulses_are_reflected_below_the_critical_angle_only(rng):
    pulse = Pulse.gaussian(0.02, 0.2)
    interface, ray = Interface(SEDIMENT, ROCK, (0, 0, 1), (0, 0, 100.0)), (0.1, 0.15, 0.9)
    field = total_field(interface, PlaneWave.s(SEDIMENT, ray, (0, 1, 0)), pulse)
    x, normal = points_on(interface, rng)
    t = rng.uniform(0.0, 0.5, 20)
    velocity = [f.velocity(x, t) for f in sides(field)]
    traction = [normal @ tensor(f, x, t).swapaxes(0, 1) for f in sides(field)]
    assert largest(velocity[1] - velocity[0], velocity[0]) < 1e-12
    assert largest(traction[1] - traction[0], traction[0]) < 1e-12
    with pytest.raises(InputError, match="critical angle"):
        total_field(interface, PlaneWave.s(SEDIMENT, (3.0, 0.0, 1.0), (0, 1, 0)), pulse)


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_waves_are_continuous_near_normal_incidence(rng, angle):
    interface, _ = random_incidence(rng, "ss")
    interface = replace(interface, point=(0.0, 0.0, 0.0))
    normal = np.array(interface.normal)
    ray = normal + 3.0 * angle * random_unit(rng)
    for polarisation in (-normal, np.cross(normal, ray)):
        incident = PlaneWave.s(interface.first, ray, polarisation)
        waves = reflect(interface, incident)
        reflected, transmitted = (sum(w.motion for w in side.values()) for side in waves)
        assert abs(incident.motion @ incident.slowness) * incident.medium.vs < 1e-15
        assert np.abs(incident.motion + reflected - transmitted).max() < 1e-13


@pytest.mark.filterwarnings("error")
def test_evanescent_waves_do_not_overflow_far_beyond_the_interface():
    slow = replace(WATER, vp=300.0)
    field = total_field(Interface(slow, ROCK), PlaneWave.p(slow, (1.0, 0.0, 1.0)), HARMONIC)
    assert np.isfinite(field.velocity((0.0, 0.0, -1e5), 0.0)).all()
    assert not field.velocity((0.0, 0.0, 1e5), 0.0).any()


def test_nodes_on_the_interface_may_choose_their_half_space(rng):
    interface = Interface(WATER, ROCK)
    incident = PlaneWave.p(WATER, (0.1, 0.0, 1.0))
    field = total_field(interface, incident, HARMONIC)
    x, t = (
        np.array([rng.normal(size=(4, 1)), rng.normal(size=(4, 1)), np.zeros((4, 1))]),
        [0.1, 0.2],
    )
    below = np.array([[True], [False], [True], [False]])
    for name in ("velocity", "stress"):
        found = getattr(field, name)(x, t, below)
        for index, side in ((0, field.second), (1, field.first)):
            assert np.array_equal(found[:, index::2], getattr(side, name)(x[:, index::2], t))
        assert np.array_equal(getattr(field, name)(x, t), getattr(field.first, name)(x, t))


def test_nodes_on_a_free_surface_move_whatever_their_rounding_errors():
    field = total_field(Interface(ROCK, None), PlaneWave.p(ROCK, (0.3, 0.0, 1.0)), HARMONIC)
    below, above = (field.velocity((1.0, 2.0, z), 0.1) for z in (-1e-12, 1e-12))
    assert np.allclose(below, above, rtol=1e-12) and below.any()


def test_reflection_refuses_waves_that_are_not_incident():
    interface = Interface(WATER, ROCK)
    with pytest.raises(InputError, match="first half-space"):
        reflect(interface, PlaneWave.p(ROCK, (0, 0, 1)))
    for ray in ((0, 0, -1), (1, 0, 0)):
        with pytest.raises(InputError, match="propagate along the normal"):
            reflect(interface, PlaneWave.p(WATER, ray))
    evanescent = reflect(interface, PlaneWave.p(WATER, (1, 0, 1)))[1]["P"]
    with pytest.raises(InputError, match="evanescent"):
        reflect(Interface(ROCK, WATER), evanescent)
