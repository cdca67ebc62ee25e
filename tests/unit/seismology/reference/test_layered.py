"""Wavenumber integration against closed forms, published series and itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.reference import layered
from groundswell.seismology.reference.fullspace import moment_velocity
from groundswell.seismology.reference.lamb import RATIO, PoissonHalfSpace, lamb_velocity
from groundswell.seismology.reference.layered import (
    LayeredHalfSpace,
    MomentSource,
    layered_velocity,
)
from groundswell.seismology.reference.loh import PROBLEMS, loh_reference, radial_transverse
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.pulse import Pulse

RATE = Pulse.gaussian(0.4, 2.4)
TIME = np.linspace(0.0, 8.0, 81)
OFFSETS = np.array([[0.0, 0.0], [300.0, 400.0], [-2000.0, 1500.0], [5000.0, -6000.0]])
STACK = (
    Layer(0.0, 2600.0, 1400.0, 2050.0),
    Layer(800.0, 4000.0, 2200.0, 2350.0),
    Layer(2000.0, 5000.0, 2850.0, 2550.0),
    Layer(3600.0, 6000.0, 3460.0, 2700.0),
)
DEPTH, MOMENT = 2830.0, np.random.default_rng(20240611).normal(size=6)


def error(actual, expected):
    """Largest difference as a share of the largest value."""
    return np.abs(actual - expected).max() / np.abs(expected).max()


def motion(layers, depth, moment, offsets=OFFSETS, time=TIME, rate=RATE):
    """Velocity on the surface."""
    places = [(x, y, 0.0) for x, y in offsets]
    return layered_velocity(
        LayeredHalfSpace(layers), MomentSource(depth, moment, rate), places, time
    )


@pytest.mark.parametrize("height", [4000.0, -1500.0])
def test_far_below_the_surface_it_is_the_full_space(height):
    """Above and below the source, before waves return from the surface."""
    rock, depth = HomogeneousMedium(vp=6000.0, vs=3460.0, rho=2700.0), 26000.0
    ground = LayeredHalfSpace([Layer(0.0, rock.vp, rock.vs, rock.rho)])
    places = np.column_stack([OFFSETS, np.full(len(OFFSETS), depth - height)])
    found = layered_velocity(ground, MomentSource(depth, MOMENT, RATE), places, TIME)
    for offset, velocity in zip(OFFSETS, found, strict=True):
        expected = moment_velocity(rock, MOMENT, [*offset, -height], TIME, RATE)
        assert error(velocity, expected) < 3e-6


@pytest.mark.full
def test_a_shallow_source_has_the_reciprocal_of_lambs_motion():
    """Vertical motion due to horizontal dipoles is the divergence of that due to a vertical force.

    The surface has no shear stress, so radial motion due to the force is u_r - z du_z/dr + O(z^2)
    at depth z, where the dipoles are. Two depths eliminate z^2.
    """
    ground, r, h, z = PoissonHalfSpace(vs=2000.0, rho=2500.0), 2500.0, 20.0, 60.0
    time = np.linspace(0.0, 6.0, 31)
    u = [lamb_velocity(ground, RATE.integral(), r + n * h, time) for n in (-2, -1, 0, 1, 2)]
    slope = (u[0] - 8 * u[1] + 8 * u[3] - u[4]) / (12 * h)
    curvature = (16 * (u[1] + u[3]) - u[0] - u[4] - 30 * u[2]) / (12 * h**2)
    on_surface = slope[0] + u[2][0] / r
    per_depth = curvature[1] + slope[1] / r
    layers = [Layer(0.0, RATIO * ground.vs, ground.vs, ground.rho)]
    dipoles = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    once, twice = (
        motion(layers, depth, dipoles, [[r, 0.0]], time)[0, 2] + depth * per_depth
        for depth in (z, 2 * z)
    )
    assert error((4 * once - twice) / 3, on_surface) < 1e-3  # O(z^3)


@pytest.mark.parametrize(
    ("name", "scale", "components", "tolerance"),
    [("loh1", 1.006, (1, 2), 0.02), ("loh3", 1.051, (0, 1, 2), 0.012)],
)
def test_a_layer_over_a_half_space_has_the_published_motion(name, scale, components, tolerance):
    """As far as it is accurate: see `loh` for scale and delay, and for the radial part of LOH.1."""
    problem, source = PROBLEMS[name], Pulse.gaussian(0.2, 1.2)
    ground = LayeredHalfSpace(problem.layers, problem.reference_frequency or 1.0)
    time, published = loh_reference(name, source)
    place = problem.receiver
    moment = MomentSource(problem.source[2], problem.moment, source)
    (found,) = layered_velocity(ground, moment, [place], time)
    for n in components:
        actual, expected = radial_transverse(found, place)[n], scale * published[n]
        assert np.linalg.norm(actual - expected) < tolerance * np.linalg.norm(expected)


@pytest.fixture(scope="module")
def usual():
    """Motion of the stack."""
    return motion(STACK, DEPTH, MOMENT)


def test_layers_divided_in_two_change_nothing(usual):
    cuts = [(0, 333.0), (2, 2500.0), (2, 2900.0), (3, 5000.0)]
    layers = [*STACK, *(replace(STACK[n], top=top) for n, top in cuts)]
    divided = motion(sorted(layers, key=lambda layer: layer.top), DEPTH, MOMENT)
    assert error(divided, usual) < 1e-11


@pytest.mark.full
def test_slip_along_an_interface_is_the_same_from_either_side():
    """The moment is mu times slip; on the interface, mu is that of the lower layer."""
    above, on = STACK[1], STACK[2]
    sources = ((on, 2000.0), (on, 2000.01), (above, 1999.99))
    first, *others = (
        motion(STACK, depth, [0, 0, 0, 0, layer.rho * layer.vs**2, 0]) for layer, depth in sources
    )
    assert max(error(other, first) for other in others) < 1e-4


def test_the_integrals_have_converged(usual, monkeypatch):
    finer = {"_DENSITY": 3.0, "_EVANESCENT": 1e-14, "_WRAPPED": 1e-8, "_SAMPLES": 4000}
    for constant, value in finer.items():
        monkeypatch.setattr(layered, constant, value)
    assert error(motion(STACK, DEPTH, MOMENT), usual) < 3e-6


def test_what_lies_too_deep_to_echo_has_no_effect():
    """Also exponentials do not overflow: the layer is 120 S wavelengths thick."""
    time, source, top = np.linspace(0.0, 4.0, 41), Pulse.gaussian(0.1, 0.6), STACK[0]
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        deep = motion([top, replace(STACK[3], top=20e3)], 3000.0, MOMENT, OFFSETS, time, source)
    assert error(motion([top], 3000.0, MOMENT, OFFSETS, time, source), deep) < 1e-6


def test_nothing_moves_before_the_source_starts(usual):
    before = motion(STACK, DEPTH, MOMENT, time=np.linspace(-3.0, 0.0, 31))
    assert np.abs(before).max() < 1e-6 * np.abs(usual).max()


def test_it_refuses_what_it_cannot_compute():
    with pytest.raises(
        InputError, match=r"at a depth of 0 m .* place the source below the surface"
    ):
        motion(STACK, 0.0, MOMENT)
    with pytest.raises(InputError, match="spectrum of the moment rate does not fall below 1e-08"):
        motion(STACK, DEPTH, MOMENT, rate=Pulse.brune(0.2))


def test_an_anelastic_layer_has_its_speed_at_the_reference_frequency_and_its_q_at_all():
    ground = LayeredHalfSpace([Layer(0.0, 2000.0, 800.0, 2000.0, qp=30.0, qs=10.0)], 2.5)
    for ratio in (0.1, 1.0, 7.0):
        (solid,) = ground.at(2.0 * np.pi * 2.5 * ratio)
        for speed, nominal, q in ((solid.vp, 2000.0, 30.0), (solid.vs, 800.0, 10.0)):
            assert (speed**2).imag / (speed**2).real == pytest.approx(1.0 / q)
            if ratio == 1.0:
                assert 1.0 / (1.0 / speed).real == pytest.approx(nominal)
