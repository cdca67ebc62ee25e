"""Exact solutions of linear acoustics, for verification."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.solvers.ultrasound.transducers.curved import cap_depth

Complexes = NDArray[np.complex128]


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


def _axial_pressure(
    z: NDArray[np.float64], rim: NDArray[np.float64], factor: float, wavenumber: float
) -> Complexes:
    """The solution in a form without a singularity at the focus.

    (exp(-i k z) - exp(-i k B)) / (1 - z / R) = i k L sinc(k (B - z) / 2) exp(-i k (B + z) / 2) with
    sinc(x) = sin(x) / x and L = (B - z) / (1 - z / R) = factor / (B + z).
    """
    half = (rim - z) / 2
    middle = (rim + z) / 2
    amplitude = wavenumber * factor / (2 * middle) * np.sinc(wavenumber * half / np.pi)
    return np.asarray(1j * amplitude * np.exp(-1j * wavenumber * middle))
