"""A fluid as the equations have it, from any of the ways to describe one."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from groundswell.solvers.cavity.case import AXES, Convection, Driven, Substance

PEAK = 0.4  # of the speed of free fall: what convection reaches at Pr = 0.7


@dataclass(frozen=True)
class Fluid:
    """What moves the fluid, and what slows it down.

    Args:
        viscosity, diffusivity: of momentum and heat, m^2/s.
        buoyancy: acceleration (x, y, z) a kelvin above `neutral`, m/s^2/K.
        neutral: temperature without buoyancy, K.
        speed: of free fall, or of the fastest wall, m/s: the flow's own unit.
        wall: of the fastest wall, m/s.
    """

    viscosity: float
    diffusivity: float
    buoyancy: tuple[float, float, float]
    neutral: float
    speed: float
    wall: float

    @property
    def peak(self) -> float:
        """About what the flow will reach, m/s."""
        return max(self.wall, PEAK * self.speed)


def make_fluid(
    given: Convection | Substance | Driven,
    size: float,
    contrast: float,
    neutral: float,
    wall: float,
) -> Fluid:
    """The fluid, in the units of the case.

    Args:
        size: what its numbers refer to, m.
        contrast: largest difference of temperature between walls, K.
        neutral: see `Fluid`.
        wall: speed of the fastest wall, m/s.
    """
    if isinstance(given, Driven):
        nu = wall * size / given.reynolds
        return Fluid(nu, nu, (0.0, 0.0, 0.0), 0.0, wall, wall)
    if isinstance(given, Convection):
        nu = size * sqrt(given.prandtl / given.rayleigh)
        up = _up(given.down, 1 / (contrast * size))
        return Fluid(nu, nu / given.prandtl, up, neutral, max(1.0, wall), wall)
    lift = given.gravity * given.expansion
    speed = max(sqrt(lift * contrast * size), wall, given.diffusivity / size)
    up = _up(given.down, lift)
    return Fluid(given.viscosity, given.diffusivity, up, neutral, speed, wall)


def _up(down: str, lift: float) -> tuple[float, float, float]:
    """Acceleration against the direction `down`."""
    sign, axis = (1.0, down[1]) if down.startswith("-") else (-1.0, down)
    x, y, z = (sign * lift if name == axis else 0.0 for name in AXES)
    return x, y, z
