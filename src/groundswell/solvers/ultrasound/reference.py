"""Exact solutions of acoustics, for verification."""

from __future__ import annotations

from math import asin, ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import hankel2, ive, jv, roots_legendre

from groundswell.arrays import Complexes, Floats
from groundswell.solvers.ultrasound.transducers.curved import cap_depth


def focused_bowl(
    distance: ArrayLike, radius: float, diameter: float, wavenumber: float
) -> Complexes:
    """Pressure on the axis of a focused bowl, relative to rho c u.

    The bowl vibrates with the velocity u exp(i omega t) along its normal in a fluid without losses.
    This is the solution of O'Neil (1949), J. Acoust. Soc. Am. 21, 516-526: the Rayleigh integral
    over the bowl. A pressure source of the amplitude rho c u on the surface has the same field.

    At the distance z from the apex of a bowl with the depth h, the distance to its rim is
    B = sqrt(z^2 + 2 h (R - z)), and

        p / (rho c u) = (exp(-i k z) - exp(-i k B)) / (1 - z / R).

    Args:
        distance: distances z >= 0 from the apex, m.
        radius: radius of curvature R, m.
        diameter: diameter of the aperture, m.
        wavenumber: k, rad/m.
    """
    z, depth = np.asarray(distance, float), cap_depth(radius, diameter)
    rim = np.sqrt(z**2 + 2 * depth * (radius - z))
    return _axial_pressure(z, rim, 2 * depth * radius, wavenumber)


def piston(distance: ArrayLike, diameter: float, wavenumber: float) -> Complexes:
    """Pressure on the axis of a plane disc, exp(-i k z) - exp(-i k B); see `focused_bowl`.

    B = sqrt(z^2 + a^2) is the distance to the rim of the disc with the radius a.
    """
    z, squared = np.asarray(distance, float), diameter**2 / 4
    return _axial_pressure(z, np.sqrt(z**2 + squared), squared, wavenumber)


def _axial_pressure(z: Floats, rim: Floats, factor: float, wavenumber: float) -> Complexes:
    """The solution of `focused_bowl` in a form without a singularity at the focus.

    (exp(-i k z) - exp(-i k B)) / (1 - z / R) = i k L sinc(k (B - z) / 2) exp(-i k (B + z) / 2) with
    sinc(x) = sin(x) / x and L = (B - z) / (1 - z / R) = factor / (B + z).
    """
    half = (rim - z) / 2
    middle = (rim + z) / 2
    amplitude = wavenumber * factor / (2 * middle) * np.sinc(wavenumber * half / np.pi)
    return np.asarray(1j * amplitude * np.exp(-1j * wavenumber * middle))


# --- two dimensions -------------------------------------------------------------------------------


def focused_arc(
    distance: ArrayLike, radius: float, diameter: float, wavenumber: float
) -> Complexes:
    """Pressure on the axis of an arc, the two-dimensional form of a bowl; see `focused_bowl`.

    This is the integral of (k / 2) H(k r) over the arc by Gauss-Legendre quadrature. H is the
    Hankel function of the second kind and order 0, and r the distance from the point on the axis.

    Args:
        distance: distances > 0 from the apex, m, (n,).
        radius: radius of curvature, m.
        diameter: length of the chord, m.
        wavenumber: k, rad/m.
    """
    half = asin(diameter / (2 * radius))
    count = ceil(64 + 2 * wavenumber * radius * half)
    nodes, weights = roots_legendre(count)
    away = np.asarray(distance, float)[:, None] - radius * (1 - np.cos(half * nodes))
    r = np.hypot(away, radius * np.sin(half * nodes))
    integral = hankel2(0, wavenumber * r) @ (weights * half * radius)
    return np.asarray(wavenumber / 2 * integral)


# --- nonlinear plane waves ------------------------------------------------------------------------


def fubini(harmonic: ArrayLike, sigma: ArrayLike) -> Floats:
    """Relative amplitude of a harmonic of a lossless plane wave that starts as a sine.

    Fubini's solution, 2 J_n(n sigma) / (n sigma), holds before the shock (Hamilton & Blackstock
    1998, Nonlinear Acoustics, chapter 4).

    Args:
        harmonic: number n of the harmonic, from 1.
        sigma: distance divided by the shock distance, rho c^3 / (beta omega p); 0 < sigma <= 1.
    """
    argument = np.multiply(harmonic, sigma)
    return np.asarray(2 * jv(harmonic, argument) / argument)


def mendousse(phase: ArrayLike, sigma: ArrayLike, goldberg: float) -> Floats:
    """Pressure of a thermoviscous plane wave that starts as sin(phase), relative to its amplitude.

    Mendousse's solution of Burgers' equation (Hamilton & Blackstock 1998, Nonlinear Acoustics,
    chapter 4): P = (2 / G) d(ln zeta)/d(phase) with
    zeta = sum over all n of (-1)^n I_n(G / 2) exp(-n^2 sigma / G) cos(n phase).

    Args:
        phase: omega times the retarded time, rad.
        sigma: distance divided by the shock distance; see `fubini`.
        goldberg: Gol'dberg number G, the absorption length divided by the shock distance. At most
            20: for larger values, terms cancel.
    """
    phase, sigma = np.broadcast_arrays(np.asarray(phase, float), np.asarray(sigma, float))
    zeta, slope = np.full(phase.shape, float(ive(0, goldberg / 2))), np.zeros(phase.shape)
    for n in range(1, ceil(6 + 4 * sqrt(goldberg))):
        term = 2 * (-1) ** n * ive(n, goldberg / 2) * np.exp(-(n**2) * sigma / goldberg)
        zeta += term * np.cos(n * phase)
        slope -= n * term * np.sin(n * phase)
    return np.asarray(2 / goldberg * slope / zeta)
