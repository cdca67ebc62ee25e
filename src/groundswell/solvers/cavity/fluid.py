"""Fluid properties from any of the kinds of `[fluid]`."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from groundswell.solvers.cavity.case import AXES, Convection, Driven, Substance

PEAK, PEAK_PRANDTL = 0.4, 0.7  # peak speed of natural convection over that of free fall
# Speed of rolls in fluid heated from below, over that of free fall, at Ra = 1e5: 0.38, 0.88 and 2.6
# with Prandtl numbers of 0.71, 0.1 and 0.01.
ROLL_EXPONENT = -0.44


@dataclass(frozen=True)
class Fluid:
    """The coefficients of the equations and the reference speeds.

    Args:
        viscosity, diffusivity: of momentum and of heat, m^2/s.
        buoyancy: acceleration (x, y, z) per kelvin above `neutral`, m/s^2/K.
        neutral: temperature at which buoyancy vanishes, K.
        speed: reference speed: of free fall or of the fastest wall, m/s.
        wall: speed of the fastest wall, m/s.
    """

    viscosity: float
    diffusivity: float
    buoyancy: tuple[float, float, float]
    neutral: float
    speed: float
    wall: float

    @property
    def peak(self) -> float:
        """Estimate of the largest speed, m/s: viscosity slows flows of high Prandtl number."""
        ratio = self._prandtl_ratio
        return max(self.wall, PEAK * self.speed * ratio ** (-0.5 if ratio > 1 else -0.25))

    @property
    def roll_speed(self) -> float:
        """Estimate of the largest speed of rolls in fluid of low Prandtl number, m/s."""
        return PEAK * self.speed * min(1.0, self._prandtl_ratio) ** ROLL_EXPONENT

    @property
    def _prandtl_ratio(self) -> float:
        return self.viscosity / self.diffusivity / PEAK_PRANDTL


def make_fluid(
    section: Convection | Substance | Driven,
    size: float,
    temperature_difference: float,
    neutral: float,
    wall: float,
) -> Fluid:
    """The fluid, in the units of the case.

    Args:
        size: reference length of the dimensionless numbers, m.
        temperature_difference: largest temperature difference between walls, K.
        neutral: temperature at which buoyancy vanishes, K.
        wall: speed of the fastest wall, m/s.
    """
    if isinstance(section, Driven):
        nu = wall * size / section.reynolds
        return Fluid(nu, nu, (0.0, 0.0, 0.0), 0.0, wall, wall)
    if isinstance(section, Convection):
        nu = size * sqrt(section.prandtl / section.rayleigh)
        up = _up(section.down, 1 / (temperature_difference * size))
        return Fluid(nu, nu / section.prandtl, up, neutral, max(1.0, wall), wall)
    lift = section.gravity * section.expansion
    speed = max(sqrt(lift * temperature_difference * size), wall, section.diffusivity / size)
    up = _up(section.down, lift)
    return Fluid(section.viscosity, section.diffusivity, up, neutral, speed, wall)


def _up(down: str, lift: float) -> tuple[float, float, float]:
    """An acceleration of magnitude `lift` (x, y, z) opposite to `down`."""
    sign, axis = (1.0, down[1]) if down.startswith("-") else (-1.0, down)
    x, y, z = (sign * lift if name == axis else 0.0 for name in AXES)
    return x, y, z
