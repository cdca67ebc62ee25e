"""Wavenumber integration with fluid layers against closed forms, reciprocity and limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.reference.half_spaces import Interface, reflect
from groundswell.seismology.reference.interface_waves import interface_wave_speed
from groundswell.seismology.reference.layered import (
    LayeredHalfSpace,
    MomentSource,
    layered_pressure,
    layered_velocity,
)
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import PlaneWave
from groundswell.seismology.reference.pulse import Pulse
from groundswell.seismology.reference.reflectivity import HarmonicLayer, motion_stress

RATE = Pulse.gaussian(0.1, 0.6)
TIME = np.linspace(0.0, 2.4, 121)
WATER = Layer(0.0, 1500.0, 0.0, 1000.0)
OCEAN = (
    WATER,
    Layer(450.0, 2000.0, 900.0, 1900.0),
    Layer(750.0, 3000.0, 1700.0, 2300.0),
)
DEPTH = 140.0
# In the water, above and below the source.
HYDROPHONES = np.array([[200.0, 0.0, 60.0], [-400.0, 300.0, 350.0], [90.0, -700.0, 449.0]])


def airgun(depth, layer=WATER, volume=1.0, rate=RATE):
    """A source of a volume, m^3."""
    return MomentSource(depth, volume * layer.rho * layer.vp**2 * np.eye(3), rate)


def error(actual, expected):
    """Largest difference as a share of the largest value."""
    return np.abs(actual - expected).max() / np.abs(expected).max()


def direct(offset, layer=WATER):
    """Pressure, Pa, and velocity, m/s, of a volume of 1 m^3 in a full space.

    Landau & Lifshitz, Fluid Mechanics, section 74: p = rho q'(t - r/c) / (4 pi r).
    """
    r, later = np.linalg.norm(offset), TIME - np.linalg.norm(offset) / layer.vp
    slope = RATE(later, 1) / (4 * np.pi * r)
    outwards = slope / layer.vp + RATE(later) / (4 * np.pi * r**2)
    return layer.rho * slope, np.outer(offset / r, outwards)


def images(hydrophone, source=DEPTH, layer=WATER):
    """Pressure and velocity of a source and its negative image above a free surface."""
    x, y, z = hydrophone
    below, above = (direct(np.array([x, y, z - depth]), layer) for depth in (source, -source))
    return below[0] - above[0], below[1] - above[1]


def test_a_fluid_half_space_has_the_motion_of_source_and_negative_image():
    ground = LayeredHalfSpace([WATER])
    pressure = layered_pressure(ground, airgun(DEPTH), HYDROPHONES, TIME)
    velocity = layered_velocity(ground, airgun(DEPTH), HYDROPHONES, TIME)
    for place, p, v in zip(HYDROPHONES, pressure, velocity, strict=True):
        expected = images(place)
        assert error(p, expected[0]) < 3e-6
        assert error(v, expected[1]) < 3e-6


def test_the_surface_of_a_fluid_has_no_pressure_and_moves_twice_as_much():
    ground, places = LayeredHalfSpace([WATER]), HYDROPHONES * [1.0, 1.0, 0.0]
    velocity = layered_velocity(ground, airgun(DEPTH), places, TIME)
    pressure = layered_pressure(ground, airgun(DEPTH), places, TIME)
    expected = [images(place)[1] for place in places]
    assert error(velocity, np.array(expected)) < 3e-6
    assert np.abs(pressure).max() < 1e-9 * np.abs(images(HYDROPHONES[0])[0]).max()


@pytest.mark.parametrize("depth", [400.0, 900.0])
def test_fluids_of_one_speed_reflect_all_angles_alike(depth):
    """By (rho2 - rho1) / (rho2 + rho1), so that all waves are those of images.

    The surface is too far away to matter.
    """
    floor, height = 3000.0, 3000.0 - depth
    bottom = replace(WATER, top=floor, rho=2500.0)
    places = np.array([[300.0, 0.0, floor - 250.0], [0.0, 500.0, floor + 400.0]])
    reflected = (bottom.rho - WATER.rho) / (bottom.rho + WATER.rho)
    found = layered_pressure(LayeredHalfSpace([WATER, bottom]), airgun(height), places, TIME)
    above, below = (np.subtract(place, [0.0, 0.0, height]) for place in places)
    image = above * [1.0, 1.0, -1.0] + [0.0, 0.0, 2 * depth]
    assert error(found[0], direct(above)[0] + reflected * direct(image)[0]) < 3e-6
    assert error(found[1], (1.0 + reflected) * direct(below)[0]) < 3e-6


# --- fluids and solids ----------------------------------------------------------------------------


def test_pressure_is_reciprocal():
    """Between volumes in fluids of different moduli, over a solid."""
    layers = [WATER, Layer(300.0, 1800.0, 0.0, 1300.0), *OCEAN[1:]]
    ground, (upper, lower) = LayeredHalfSpace(layers), (120.0, 400.0)
    there = layered_pressure(ground, airgun(upper), [[500.0, 200.0, lower]], TIME)
    back = layered_pressure(ground, airgun(lower, layers[1]), [[-500.0, -200.0, upper]], TIME)
    assert error(there, back) < 3e-6


@pytest.mark.full
def test_moments_in_solids_are_reciprocal_to_volumes_in_fluids():
    """Betti: M : grad u of a volume V at the moment is -V p of the moment at the volume."""
    ground, step = LayeredHalfSpace(OCEAN), 10.0
    offset, depth = np.array([400.0, -300.0]), 900.0
    m = np.random.default_rng(7).normal(size=(3, 3))
    sigma, delay = 0.2, 1.4
    rate = Pulse.gaussian(sigma, delay)

    def derivative(t):  # so that the pressure is a rate, too
        x = (t - delay) / sigma
        return -x * np.exp(-0.5 * x**2) / (sigma**2 * np.sqrt(2 * np.pi))

    slope = Pulse.from_function(derivative, 0.0, 2 * delay)
    tensor = MomentSource(depth, m + m.T, slope)
    pressure = layered_pressure(ground, tensor, [[*-offset, DEPTH]], TIME)
    stencil = np.array([[n * step * axis for n in (-2, -1, 1, 2)] for axis in np.eye(3)])
    places = np.add(stencil, [*offset, depth])
    velocity = layered_velocity(ground, airgun(DEPTH, rate=rate), places.reshape(-1, 3), TIME)
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * step)
    gradient = np.einsum("s,asin->ian", weights, velocity.reshape(3, 4, 3, -1))
    assert error(np.einsum("ia,ian->n", m + m.T, gradient), -pressure[0]) < 1e-5


def test_the_sea_floor_moves_as_the_water_above_it():
    """Vertically; the water slips along it."""
    floor, places = OCEAN[1].top, np.array([[300.0, 100.0, 0.0]] * 2)
    places[:, 2] = floor - 1e-6, floor
    above, below = layered_velocity(LayeredHalfSpace(OCEAN), airgun(DEPTH), places, TIME)
    assert error(above[2], below[2]) < 1e-6
    assert error(above[:2], below[:2]) > 0.1


# --- kernels --------------------------------------------------------------------------------------

OMEGA, SOURCE, RECEIVER = 30.0 * (1.0 - 1e-6j), 10.0, 40.0  # rad/s; heights over the floor, m
TOP = 1e10  # m, so that nothing comes back from the surface
SEA, ROCK = HomogeneousMedium(1500.0, 0.0, 1000.0), HomogeneousMedium(3000.0, 1700.0, 2300.0)


DEEP_SEA = HarmonicLayer(SEA.vp, SEA.vs, SEA.rho, TOP)


def pressure(bottom, k, above=(DEEP_SEA,), omega=OMEGA):
    """Of an explosion in layers above half-spaces, by wavenumber."""
    floor = sum(layer.thickness for layer in above)
    layers = [*above, HarmonicLayer(bottom.vp, bottom.vs, bottom.rho, np.inf)]
    k = np.atleast_1d(k)
    return motion_stress(layers, floor - SOURCE, floor - RECEIVER, np.eye(3), k, omega)[:, 2, 0]


@pytest.mark.parametrize("angle", [1.0, 25.0, 50.0, 80.0])  # the critical angles are 30 and 61.9
def test_a_sea_floor_reflects_plane_waves(angle):
    along, down = np.sin(np.radians(angle)), np.cos(np.radians(angle))
    reflected, _ = reflect(Interface(SEA, ROCK), PlaneWave.p(SEA, (along, 0.0, down)))
    k = OMEGA.real * along / SEA.vp
    phase = np.exp(-2j * SOURCE * OMEGA.real * down / SEA.vp)
    found = pressure(ROCK, k) / pressure(SEA, k) - 1.0
    # Amplitudes of `reflect` are for exp(-i omega t).
    assert found == pytest.approx(np.conj(reflected["P"].amplitude) * phase, abs=1e-4)


@pytest.mark.parametrize("vs", [1700.0, 900.0])
def test_a_sea_floor_has_its_scholte_wave(vs):
    """The kernel has a pole at its wavenumber."""
    bottom = HomogeneousMedium(3000.0, vs, 2300.0)
    pole = OMEGA.real / interface_wave_speed(Interface(SEA, bottom))
    k = pole * np.array([1.0 - 1e-5, 1.0 + 1e-5])
    (a, b) = (1.0 / pressure(bottom, k)).real
    assert (k[0] * b - k[1] * a) / (b - a) == pytest.approx(pole, rel=1e-7)


def test_a_solid_without_stiffness_is_a_fluid():
    """The difference goes with the speed of S waves."""
    k, omega = np.linspace(1e-3, 0.06, 60), 30.0 * (1.0 - 0.05j)

    def with_mud(vs):
        above = [HarmonicLayer(*layer) for layer in ((1500, 0, 1000, 450), (1600, vs, 1400, 200))]
        return pressure(ROCK, k, above, omega)

    fluid = with_mud(0.0)
    assert error(with_mud(1.0), fluid) < 1e-2
    assert error(with_mud(0.5), fluid) < 0.6 * error(with_mud(1.0), fluid)


# --- errors ---------------------------------------------------------------------------------------


def test_it_refuses_what_it_cannot_compute():
    ground = LayeredHalfSpace(OCEAN)
    with pytest.raises(InputError, match=r"at a depth of 450 m is in a solid; .* to a fluid layer"):
        layered_pressure(ground, airgun(DEPTH), [[0.0, 0.0, 450.0]], TIME)
    with pytest.raises(InputError, match=r"at a depth of 140 m is in a fluid, .* not isotropic"):
        layered_velocity(ground, MomentSource(DEPTH, [1, 1, 0, 0, 0, 0], RATE), HYDROPHONES, TIME)
    with pytest.raises(InputError, match="and both at different depths"):
        layered_pressure(ground, airgun(60.0), HYDROPHONES, TIME)
    with pytest.raises(InputError, match="receivers not above it"):
        layered_pressure(ground, airgun(DEPTH), -HYDROPHONES, TIME)
