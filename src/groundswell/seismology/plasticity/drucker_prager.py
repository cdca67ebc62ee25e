"""Drucker-Prager strength with viscoplastic relaxation, without change of volume."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.friction.law import Values, require_valid

DIAGONAL = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
COUNTED = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])  # how often a component is in a tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class DruckerPrager:
    """Rock whose deviatoric stress relaxes towards its strength Y when it exceeds it.

    Y = max(0, c cos(phi) - (sm + Pf) sin(phi)), with the mean stress sm (tension is positive) and
    the fluid pressure Pf. If tau = sqrt(J2) of the deviator exceeds Y, a step dt multiplies the
    deviator by r = e + (1 - e) Y / tau, e = exp(-dt / Tv). The mean stress does not change.

    Source: Drucker & Prager (1952), Q. Appl. Math. 10, 157-165; Duvaut & Lions (1976), Inequalities
    in Mechanics and Physics, Springer; as in problems TPV13 and TPV27 of Harris et al. (2018),
    Seismol. Res. Lett. 89, 1146-1162.

    Stresses are arrays (6, ...) of the components xx, yy, zz, xy, xz, yz, Pa. Parameters are
    numbers, or arrays that broadcast to the rest of the shape.

    Attributes:
        cohesion: c, Pa; infinite where the rock does not yield.
        friction_angle: phi, degrees.
        relaxation_time: Tv, s; 0 where yielding does not depend on the rate.

    Raises:
        InputError: a parameter is outside its range.
    """

    cohesion: Values
    friction_angle: Values
    relaxation_time: Values = 0.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        c, phi, time = (np.asarray(getattr(self, name), float) for name in _NAMES)
        require_valid("DruckerPrager.cohesion", c, c >= 0, "values of at least 0")
        valid, allowed = (phi >= 0) & (phi < 90), "values of at least 0 and less than 90"
        require_valid("DruckerPrager.friction_angle", phi, valid, allowed)
        valid, allowed = (time >= 0) & np.isfinite(time), "finite values of at least 0"
        require_valid("DruckerPrager.relaxation_time", time, valid, allowed)

    @property
    def cohesion_cos(self) -> Values:
        """c cos(phi), Pa."""
        return self.cohesion * np.cos(np.radians(self.friction_angle))

    @property
    def sine(self) -> Values:
        """sin(phi)."""
        return np.sin(np.radians(self.friction_angle))

    def remembered(self, dt: float) -> Values:
        """exp(-dt / Tv), the part of an excess that remains after a step; 0 if Tv is 0."""
        with np.errstate(divide="ignore"):
            return np.exp(-np.divide(dt, self.relaxation_time))

    def yield_strength(self, mean: Values) -> Values:
        """Y under a mean stress plus fluid pressure, Pa."""
        return np.maximum(self.cohesion_cos - mean * self.sine, 0.0)

    def factor(self, mean: Values, j2: Values, dt: float) -> Values:
        """The factor r of the deviator after a step, 1 where nothing yields.

        Args:
            mean: mean stress plus fluid pressure, Pa.
            j2: second invariant of the deviator, Pa^2.
            dt: s.
        """
        tau, strength, e = np.sqrt(j2), self.yield_strength(mean), self.remembered(dt)
        with np.errstate(divide="ignore", invalid="ignore"):
            relaxed = 1 - (1 - e) * (1 - strength / tau)
        return np.where(tau <= strength, 1.0, relaxed)

    def relax(
        self, stress: Floats, initial: Floats, dt: float, fluid_pressure: Values = 0.0
    ) -> tuple[Floats, Floats]:
        """The dynamic stress after a step, and the increment of plastic strain times 2 mu, Pa.

        The second is (1 - r) times the deviator of the whole stress before the step. The
        accumulated plastic strain grows by the square root of its second invariant over 2 mu.

        Args:
            stress: dynamic stress that a linear step leads to, (6, ...), Pa.
            initial: initial stress, (6, ...), Pa.
            dt: s.
            fluid_pressure: Pa.
        """
        whole = stress + initial
        mean, deviator = split(whole)
        r = self.factor(mean + fluid_pressure, second_invariant(deviator), dt)
        lost = (1 - r) * deviator
        return stress - lost, lost


_NAMES = ("cohesion", "friction_angle", "relaxation_time")


def split(stress: Floats) -> tuple[Floats, Floats]:
    """Mean and deviator of a stress (6, ...)."""
    mean = np.asarray(stress[:3].mean(axis=0))
    shape = (6, *(1,) * mean.ndim)
    return mean, stress - DIAGONAL.reshape(shape) * mean


def second_invariant(deviator: Floats) -> Floats:
    """J2 of a deviator (6, ...), half the sum of the squares of its tensor, Pa^2."""
    return np.asarray(np.tensordot(COUNTED / 2, deviator**2, axes=1))
