"""Rayleigh, Scholte and Stoneley waves: waves that propagate along the plane between half-spaces.

They are superpositions of evanescent P and SV waves that satisfy the conditions at the interface
without an incident wave. This is possible at one phase speed, the root of the determinant of these
conditions (the secular equation). A solid and a vacuum have a Rayleigh wave, a solid and a fluid a
Scholte wave, and two solids a Stoneley wave if their shear speeds are similar.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.reference.half_spaces import (
    Interface,
    Sides,
    WavesAtInterface,
    at_interface,
    scale,
)
from groundswell.seismology.reference.plane_waves import Complex, Harmonic, unit

# Lower end of the search for the phase speed, in units of the slowest wave speed. The determinant
# also vanishes at zero speed.
_LOWEST = 0.01


def interface_wave_speed(interface: Interface) -> float:
    """Phase speed of the Rayleigh, Scholte or Stoneley wave, m/s.

    Raises:
        InputError: the half-spaces have no interface wave.
    """
    from scipy.optimize import brentq

    frame = interface.frame(interface.normal)

    def secular(speed: float) -> float:
        determinant = np.linalg.det(_jumps(interface, _p_sv(interface, speed, frame), frame))
        return float(determinant.real + determinant.imag)  # one of them is always zero

    slowest = min(medium.vs or medium.vp for medium in interface.media)
    ends = _LOWEST * slowest, slowest
    no_solid = all(medium.is_fluid for medium in interface.media)
    if no_solid or secular(ends[0]) * secular(ends[1]) >= 0:
        raise InputError(
            f"interface wave: no wave propagates along the interface between {interface.first} and "
            f"{interface.second}; it exists between a solid and a vacuum, a solid and a fluid, or "
            "two solids of similar shear speeds"
        )
    return float(brentq(secular, *ends, xtol=1e-300, rtol=4 * np.finfo(float).eps))


def interface_wave(
    interface: Interface, direction: ArrayLike, omega: float, amplitude: float = 1.0
) -> WavesAtInterface:
    """The harmonic Rayleigh, Scholte or Stoneley wave.

    The velocity along the normal at the point of the interface is amplitude * cos(omega t).

    Args:
        interface: the interface.
        direction: vector (3,) whose part in the plane is the direction of propagation.
        omega: angular frequency, rad/s.
        amplitude: m/s.

    Raises:
        InputError: the half-spaces have no interface wave.
    """
    frame = interface.frame(direction)
    waves = _p_sv(interface, interface_wave_speed(interface), frame)
    null = np.linalg.svd(_jumps(interface, waves, frame))[2][-1].conj()
    normal_motion = sum(wave.motion @ frame[2] for wave in scale(waves, null)[0].values())
    first, second = scale(waves, amplitude / normal_motion * null)
    return at_interface(interface, (first.values(), second.values()), Harmonic(omega))


def eigenfunctions(wave: WavesAtInterface, distance: ArrayLike) -> tuple[Complex, Complex]:
    """Complex amplitudes of velocity (3, n), m/s, and stress (6, n), Pa, along the normal.

    The motion at the point of the interface and at `distance` from it is the real part of the
    amplitudes times exp(-i omega t).

    Args:
        wave: a result of `interface_wave` or another harmonic wave.
        distance: along the normal, (n,), m; negative in the first half-space.

    Raises:
        InputError: the wave is not harmonic.
    """
    profile = wave.first.profile
    if not isinstance(profile, Harmonic):
        raise InputError(f"eigenfunctions: time function {profile}; use a wave of a Harmonic one")
    point, normal = np.asarray(wave.interface.point), unit(wave.interface.normal)
    points = point[:, None] + np.outer(normal, np.asarray(distance))
    quarter = np.pi / (2.0 * profile.omega)  # of the period: the imaginary part
    velocity, stress = (
        values(points, 0.0) + 1j * values(points, quarter)
        for values in (wave.velocity, wave.stress)
    )
    return velocity, stress


def _p_sv(interface: Interface, speed: float, frame: Floats) -> Sides:
    """Evanescent P and SV waves of unit amplitude."""
    first, second = interface.outgoing(1.0 / speed, frame)
    for side in (first, second):
        side.pop("SH", None)
    return first, second


def _jumps(interface: Interface, waves: Sides, frame: Floats) -> Complex:
    """Their jumps along the direction of propagation and the normal, a square matrix."""
    return interface.jumps(waves, frame[[0, 2]])
