"""Errors of absorption and dispersion: waves of the scheme compared with the power law.

A plane wave exp(i (omega t - k x)) in a homogeneous medium has a complex wavenumber k. Its
imaginary part is minus the absorption. By the power law,

    k = omega / c + alpha_0 tan(pi y / 2) omega^y - i alpha_0 omega^y

(Treeby & Cox 2010, J. Acoust. Soc. Am. 127, 2741-2748). In the scheme, with a, b and K of
stability.py,

    a + b (1 - exp(-i omega dt)) = 4 sin^2(omega dt / 2).

The equations of the solver are the limit dt -> 0. If the absorption or its dispersion is strong,
they differ from the power law.
"""

from __future__ import annotations

from cmath import asin, exp, sqrt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import degrees, pi, sin, tan

import numpy as np

from groundswell.solvers.ultrasound.medium import AcousticMedium

ITERATIONS = 50  # each multiplies the error by about absorption / wavenumber
LIMIT = 1e-4  # step for the limit of short steps, relative to the given step


@dataclass(frozen=True)
class LossyWave:
    """Complex wavenumbers of a plane wave of one frequency, rad/m.

    Args:
        power_law: by the power law.
        equations: by the equations of the solver, without an error of the time step.
        scheme: in the scheme.
    """

    power_law: complex
    equations: complex
    scheme: complex

    @property
    def absorption_error(self) -> float:
        """Relative error of the absorption."""
        return self.scheme.imag / self.power_law.imag - 1

    def absorption_errors(self) -> dict[str, float]:
        """The part of this error due to the equations, and the part due to the time step."""
        equations = self.equations.imag / self.power_law.imag - 1
        return {"equations": equations, "time_step": self.absorption_error - equations}

    def phase_errors(self, distance: float) -> dict[str, float]:
        """Error of the phase after a distance (m), in the same parts, degrees; positive if late."""
        equations = self.equations.real - self.power_law.real
        time_step = self.scheme.real - self.equations.real
        parts = {"equations": equations, "time_step": time_step}
        return {name: degrees(part * distance) for name, part in parts.items()}


def most_absorbing(medium: AcousticMedium) -> list[AcousticMedium]:
    """The points of an absorbing medium with the largest absorption, as homogeneous media.

    If there are several, these are the ones with the smallest and the largest sound speed.
    """
    largest = float(np.max(medium.absorption))
    shape = np.broadcast_shapes(np.shape(medium.absorption), np.shape(medium.speed))
    there = np.broadcast_to(np.asarray(medium.absorption) == largest, shape)
    speeds = np.broadcast_to(medium.speed, shape)
    slowest = np.min(speeds, where=there, initial=np.inf)
    fastest = np.max(speeds, where=there, initial=0.0)
    ends = {float(slowest), float(fastest)}
    return [replace(medium, speed=speed, absorption=largest) for speed in sorted(ends)]


def worst_wave(
    points: Sequence[AcousticMedium], frequency: float, reference_speed: float, dt: float
) -> LossyWave:
    """The wave with the largest error of the absorption in any of these media.

    Args:
        points: homogeneous absorbing media.
        frequency: frequency of the wave, Hz.
        reference_speed: sound speed of the k-space correction, m/s.
        dt: time step, s.
    """
    waves = [lossy_wave(point, frequency, reference_speed, dt) for point in points]
    return max(waves, key=lambda wave: abs(wave.absorption_error))


def lossy_wave(
    medium: AcousticMedium, frequency: float, reference_speed: float, dt: float
) -> LossyWave:
    """The wave in a homogeneous absorbing medium; see `worst_wave`."""
    omega = 2 * pi * frequency
    equations, scheme = (
        _wavenumber(medium, omega, reference_speed, step) for step in (LIMIT * dt, dt)
    )
    return LossyWave(_power_law(medium, omega), equations, scheme)


def _power_law(medium: AcousticMedium, omega: float) -> complex:
    absorption = float(medium.absorption) * omega**medium.power
    late = tan(pi * medium.power / 2) if medium.is_dispersive else 0.0
    return complex(omega / float(medium.speed) + absorption * late, -absorption)


def _wavenumber(medium: AcousticMedium, omega: float, reference_speed: float, dt: float) -> complex:
    """The wavenumber in the scheme, by fixed-point iteration from that without losses."""
    tau, eta = float(medium.tau), float(medium.eta) if medium.is_dispersive else 0.0
    rate = (1 - exp(-1j * omega * dt)) / dt  # of the absorption, which lags by half a step
    acceleration = (2 * sin(omega * dt / 2) / dt) ** 2
    half, y = reference_speed * dt / 2, medium.power
    k = complex(omega / float(medium.speed))
    for _ in range(ITERATIONS):
        stiffness = float(medium.speed) ** 2 * (1 - eta * k ** (y - 1) - tau * rate * k ** (y - 2))
        k = asin(half * sqrt(acceleration / stiffness)) / half
    return k
