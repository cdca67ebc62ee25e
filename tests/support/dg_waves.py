"""Exact waves for the tests of dg_scheme.py: plane waves, standing waves and their errors."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
from dg_energy import energy
from dg_scheme import Scheme, advanced, step_limit
from numpy.typing import ArrayLike

from groundswell.arrays import Floats


def fields_of(stress: Floats, v: Floats) -> Floats:
    """The nine fields of a stress (3, 3, ...) and a velocity (3, ...), in front."""
    rows, columns = (0, 1, 2, 1, 0, 0), (0, 1, 2, 2, 2, 1)
    return np.concatenate([stress[rows, columns], v])


def plane_wave(
    medium: tuple[float, float, float], k: ArrayLike, polarisation: ArrayLike
) -> tuple[Floats, complex]:
    """Amplitudes of the nine fields and the frequency of v = a exp(i (k.x - omega t)).

    Args:
        medium: rho, lam and mu.
        k: wave vector, whose components may be complex.
        polarisation: a, along k for a P wave and normal to it for an S wave.
    """
    rho, lam, mu = medium
    k, a = np.asarray(k, complex), np.asarray(polarisation, complex)
    length = np.sqrt(k @ k)
    is_p = abs(k @ a) > 1e-9 * abs(length)
    omega = length * sqrt((lam + 2 * mu if is_p else mu) / rho)
    stress = -(lam * (k @ a) * np.eye(3) + mu * (np.outer(a, k) + np.outer(k, a))) / omega
    return fields_of(stress, a), complex(omega)


def wave_at(scheme: Scheme, k: ArrayLike, amplitudes: Floats, phase: complex) -> Floats:
    """The real part of amplitudes times exp(i (k.x - phase)) at the nodes."""
    x = scheme.bricks.positions(scheme.degree)
    wave = np.exp(1j * (np.tensordot(np.asarray(k, complex), x, 1) - phase))
    return (amplitudes[None, :, None, None, None] * wave[:, None]).real


def acoustic(u: Floats) -> Floats:
    """The four fields of nine in a fluid."""
    return np.concatenate([-u[..., :1, :, :, :], u[..., 6:, :, :, :]], axis=-4)


def standing_wave(scheme: Scheme, modes: ArrayLike, rigid: bool, t: float) -> Floats:
    """A wave of p in a unit box of density and speed 1 that is rigid or free of pressure.

    Modes are half waves along each axis; along axes of none, all is constant.
    """
    k = pi * np.asarray(modes, float)
    x = scheme.bricks.positions(scheme.degree)
    cosines = [np.cos(k[d] * x[d]) for d in range(3)]
    sines = [np.sin(k[d] * x[d]) if k[d] else np.ones_like(x[d]) for d in range(3)]
    even, odd = (cosines, sines) if rigid else (sines, cosines)
    omega = sqrt(k @ k)
    v = [
        (1 if rigid else -1) * k[d] / omega * np.sin(omega * t) * odd[d] * even[d - 1] * even[d - 2]
        for d in range(3)
    ]
    return np.stack([np.cos(omega * t) * even[0] * even[1] * even[2], *v], axis=1)


def relative_error(scheme: Scheme, u: Floats, exact: Floats) -> Floats:
    """Error of each state in the energy norm."""
    return np.sqrt(energy(scheme, u - exact) / energy(scheme, exact))


def run(scheme: Scheme, u: Floats, end: float, courant: float = 1.6) -> Floats:
    """The state at t = end without sources."""
    steps = int(np.ceil(end / step_limit(scheme, courant)))
    return advanced(lambda u, t: scheme.rates(u), u, end / steps, steps)
