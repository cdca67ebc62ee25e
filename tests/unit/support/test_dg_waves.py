"""The reference of discontinuous Galerkin kernels against exact waves: order, interfaces."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
from dg_bricks import equal
from dg_energy import energy
from dg_meshes import PERIODIC, halves, homogeneous, layered
from dg_scheme import Scheme
from dg_waves import acoustic, plane_wave, relative_error, run, standing_wave, wave_at
from variants import long_variants

from groundswell.arrays import Floats

pytestmark = pytest.mark.each_value


SOLID = (1.2, 0.9, 1.1)
WATER = (1.0, 1.0, 0.0)
ROCK = (2.0, 0.565, 1.28)  # speeds of 1.25 and 0.8


def waves_at(scheme: Scheme, medium: Any, waves: Any, t: float) -> Floats:
    """Plane waves with these wave vectors and polarisations, each a state of its own."""
    states = []
    for k, a in waves:
        amplitudes, omega = plane_wave(medium, k, a)
        states.append(wave_at(scheme, k, amplitudes, omega * t))
    return np.stack(states) if medium[2] else acoustic(np.stack(states))


def errors(scheme: Scheme, medium: Any, waves: Any, end: float) -> Floats:
    u = run(scheme, waves_at(scheme, medium, waves, 0), end)
    return relative_error(scheme, u, waves_at(scheme, medium, waves, end))


def rate(coarse: Any, fine: Any) -> Any:
    """Order of convergence from meshes of twice as many elements each way."""
    return np.log2(np.array(coarse) / np.array(fine))


# --- order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("degree", "axis", "counts"), [(2, 0, 4), *long_variants([(3, 1, 4), (4, 2, 3)])]
)
def test_order_for_p_and_s_waves(degree: int, axis: int, counts: int) -> None:
    waves = [(2 * pi * np.eye(3)[axis], a) for a in np.eye(3)]

    def on(count: int) -> Floats:
        along = np.eye(3, dtype=bool)[axis]
        bricks = equal(np.where(along, count, 1), np.where(along, 1.0, 1 / count))
        return errors(homogeneous(bricks, degree, SOLID), SOLID, waves, 0.15)

    assert (rate(on(counts), on(2 * counts)) >= degree + 0.5).all()


@pytest.mark.parametrize("rigid", [False, True])
@pytest.mark.parametrize("degree", [2, 3, 4])
def test_order_for_standing_waves(degree: int, rigid: bool) -> None:
    def on(count: int) -> Any:
        ends = (1.0 if rigid else -1.0,) * 2
        bricks = equal((count, 1, 1), (1, 1 / count, 1 / count), reflections=ends + PERIODIC[2:])
        scheme = homogeneous(bricks, degree, WATER)
        u = run(scheme, standing_wave(scheme, (1, 0, 0), rigid, 0), 0.6)
        return relative_error(scheme, u, standing_wave(scheme, (1, 0, 0), rigid, 0.6))

    assert rate(on(2), on(4)) >= degree + 0.5


@pytest.mark.parametrize("rigid", [False, True])
def test_a_standing_wave_in_a_closed_box(rigid: bool) -> None:
    bricks = equal((2, 2, 2), reflections=(1.0 if rigid else -1.0,) * 6)
    scheme = homogeneous(bricks, 4, WATER)
    u = run(scheme, standing_wave(scheme, (1, 1, 1), rigid, 0), 0.3)
    assert relative_error(scheme, u, standing_wave(scheme, (1, 1, 1), rigid, 0.3)) < 1e-3


@pytest.mark.parametrize(
    ("degree", "theta", "medium"),
    [(2, 1, WATER), *long_variants([(2, 0, WATER), (3, 1, WATER), (2, 1, SOLID)])],
)
def test_order_for_oblique_waves_where_elements_are_refined(
    degree: int, theta: float, medium: Any
) -> None:
    """Half the elements have half the size: errors are below those without, and fall as fast."""
    k = 2 * pi * np.array([1, 1, 0])
    waves = [(k, k / sqrt(2) / 2 / pi), *([(k, np.array([0, 0, 1.0]))] if medium[2] else [])]

    def on(count: int) -> list[Floats]:
        conforming = homogeneous(equal((count, count, 1), (1, 1, 1 / count)), degree, medium, theta)
        refined = layered(2 * count, 2, degree, medium, theta)
        return [errors(scheme, medium, waves, 0.05) for scheme in (refined, conforming)]

    coarse, fine = np.array(on(2)), np.array(on(4))
    assert (coarse[0] < coarse[1]).all() and (fine[0] < fine[1]).all()
    gained = rate(coarse, fine)
    assert (gained[0] > gained[1] - 0.2).all()


# --- boundaries and interfaces --------------------------------------------------------------------


def pulse(z: Floats) -> Floats:
    return np.exp(-((z / 0.15) ** 2))


def pulses(scheme: Scheme, amplitudes: Floats, shape: Floats) -> Floats:
    """Fields (9,) times a shape (elements, n, n, n)."""
    return amplitudes.real[:, None, None, None] * shape[:, None]


def test_a_boundary_absorbs_waves_along_its_normal() -> None:
    bricks = equal((1, 1, 5), (0.2, 0.2, 1), reflections=(None,) * 4 + (0, 0))
    scheme = homogeneous(bricks, 3, SOLID)
    shape = pulse(bricks.positions(3)[2] - 0.5)
    directions = [((0, 0, sign), a) for sign, a in ((-1, np.eye(3)[0]), (1, np.eye(3)[2]))]
    u = np.stack([pulses(scheme, plane_wave(SOLID, *wave)[0], shape) for wave in directions])
    left = energy(scheme, run(scheme, u, 0.9, 2.0)) / energy(scheme, u)
    assert (left < 1e-4).all()


def test_transmission_from_a_fluid_into_a_solid() -> None:
    """A pulse along the normal: T = 2 Z2 / (Z1 + Z2) of pressure, R = (Z2 - Z1) / (Z1 + Z2)."""
    bricks = equal((1, 1, 8), (0.2, 0.2, 1.6), reflections=(None,) * 4 + (0, 0))
    scheme = halves(bricks, 4, WATER, ROCK)
    Z1, Z2, speed = 1.0, 2.5, 1.25
    up, down, through = (
        plane_wave(medium, (0, 0, sign), (0, 0, sign))[0] / impedance
        for medium, sign, impedance in ((WATER, 1, Z1), (WATER, -1, Z1), (ROCK, 1, Z2))
    )
    z = bricks.positions(4)[2] - 0.8
    u = run(scheme, pulses(scheme, up, pulse(z + 0.4)), 0.75, 2.0)
    R, T = (Z2 - Z1) / (Z1 + Z2), 2 * Z2 / (Z1 + Z2)
    reflected, transmitted = R * pulse(z + 0.35), T * pulse(z / speed - 0.35)
    in_fluid = scheme.mu == 0
    exact = pulses(scheme, down, np.where(in_fluid, reflected, 0))
    exact += pulses(scheme, through, np.where(in_fluid, 0, transmitted))
    assert relative_error(scheme, u, exact) < 5e-3
    assert not u[in_fluid.ravel(), 3:6].any()


def refraction(kx: float, angle: float) -> list[tuple[Any, Any, Floats, complex]]:
    """Incident and reflected waves in water, P and S waves in rock: medium, k, fields, omega."""
    omega = kx / np.sin(angle)
    kz = [np.sqrt(complex((omega / speed) ** 2 - kx**2)) for speed in (1, 1.25, 0.8)]
    vectors = [np.array([kx, 0, z]) for z in (kz[0], -kz[0], kz[1], kz[2])]
    across = np.array([vectors[3][2], 0, -kx])
    polarisations = [k / np.sqrt(k @ k) for k in vectors[:3]] + [across / np.sqrt(across @ across)]
    media = (WATER, WATER, ROCK, ROCK)
    fields = [plane_wave(m, k, a)[0] for m, k, a in zip(media, vectors, polarisations, strict=True)]
    szz, sxz, vz = (np.array([f[row] for f in fields]) * (1, 1, -1, -1) for row in (2, 4, 8))
    sxz[:2] = 0  # the solid has no shear traction; the fluid has none anyway
    found = np.linalg.solve(np.stack([szz, sxz, vz])[:, 1:], -np.stack([szz, sxz, vz])[:, 0])
    scaled = [f * by for f, by in zip(fields, (1, *found), strict=True)]
    return [(m, k, f, omega) for m, k, f in zip(media, vectors, scaled, strict=True)]


@pytest.mark.parametrize(
    ("angle", "theta", "most"),
    [(1.1, 0.5, 3e-3), *long_variants([(0.7, 1.0, 3e-3), (0.7, 0.0, 8e-3)])],
)
def test_oblique_waves_from_a_fluid_into_a_solid(angle: float, theta: float, most: float) -> None:
    """Below the critical angle of P waves, and beyond; at elements that the ends do not reach."""
    bricks = equal((4, 1, 6), (1, 1 / 4, 1.5), reflections=(None,) * 4 + (0, 0))
    scheme = halves(bricks, 4, WATER, ROCK, theta)
    in_fluid = scheme.mu == 0

    def exact(t: float) -> Floats:
        parts = [
            np.where((medium is WATER) == in_fluid[:, None], at_nodes(k, fields, omega * t), 0)
            for medium, k, fields, omega in refraction(2 * pi, angle)
        ]
        return np.sum(parts, axis=0)

    def at_nodes(k: Any, fields: Floats, phase: complex) -> Floats:
        return wave_at(scheme, k, fields * np.exp(-0.75j * k[2]), phase)

    error = run(scheme, exact(0), 0.15) - exact(0.15)
    error[(bricks.low[:, 2] < 2) | (bricks.low[:, 2] > 3)] = 0
    assert np.sqrt(energy(scheme, error) / energy(scheme, exact(0.15))) < most
