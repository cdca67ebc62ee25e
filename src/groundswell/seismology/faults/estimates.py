"""Estimates of a rupture from the initial conditions: stress drop, S ratio, cohesive zone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.seismology.faults.conditions import FaultConditions
from groundswell.seismology.faults.points import FaultPoints

BREAKING = 1e-3  # slip rate at which a point counts as broken, m/s; SCEC benchmarks
SLIDING = 1.0  # slip rate of a rupture, m/s
_LONG = 1e9  # s of slip, after which friction is steady
_LITTLE = 1e-6  # s of slip, during which friction falls linearly
STRONGEST = 100.0  # largest S ratio of points that may slip; barriers have thousands


@dataclass(frozen=True, eq=False)
class FaultEstimates:
    """Strength and stress of a fault before it breaks; arrays (n,).

    The static strength is that at the onset of slip, the dynamic strength that of steady slip at
    1 m/s; for rate and state, both depend weakly on these rates.

    Args:
        points, conditions: of all points.
        shear_modulus: mu of the softer side, (n,), Pa.
        poisson_ratio: (n,).
        damping: by the waves that slip radiates, the shear stress over the slip rate, (n,), Pa s/m.
    """

    points: FaultPoints
    conditions: FaultConditions
    shear_modulus: Floats
    poisson_ratio: Floats
    damping: Floats

    @cached_property
    def shear(self) -> Floats:
        """Initial shear stress, Pa."""
        return np.hypot(self.conditions.shear_strike, self.conditions.shear_updip)

    @cached_property
    def loaded(self) -> Floats:
        """Shear stress with the whole nucleation, Pa."""
        given = self.conditions
        return np.hypot(
            given.shear_strike + given.added_strike, given.shear_updip + given.added_updip
        )

    @cached_property
    def static(self) -> Floats:
        """Strength at the onset of slip, Pa."""
        return self._strength(BREAKING, self.conditions.state)

    @cached_property
    def dynamic(self) -> Floats:
        """Strength in steady slip, Pa."""
        return self._strength(SLIDING, self._state_after(_LONG))

    @property
    def excess(self) -> Floats:
        """Strength excess: static strength minus initial shear stress, Pa."""
        return self.static - self.shear

    @property
    def drop(self) -> Floats:
        """Stress drop: initial shear stress minus dynamic strength, Pa."""
        return self.shear - self.dynamic

    @cached_property
    def may_slip(self) -> Mask:
        """Points where slip releases stress and that are no barriers."""
        return np.asarray((self.drop > 0) & (self.excess < STRONGEST * self.drop))

    @property
    def s_ratio(self) -> Floats:
        """S = strength excess over stress drop, where points may slip; Andrews (1976).

        J. Geophys. Res. 81, 5679-5687.
        """
        return self.excess[self.may_slip] / self.drop[self.may_slip]

    @cached_property
    def cohesive_zone(self) -> Floats:
        """Anti-plane cohesive zone of a slow rupture, where points may slip, m.

        It is (9 pi / 32) mu / w, where the strength falls by w = sigma (mu_s - mu_d) / D with slip.
        Palmer & Rice (1973), Proc. R. Soc. Lond. A 332, 527-548; Day et al. (2005), J. Geophys.
        Res. 110, B12307. In-plane, it is larger by 1 / (1 - Poisson's ratio).
        """
        before = self._strength(SLIDING, self.conditions.state)
        after = self._strength(SLIDING, self._state_after(_LITTLE))
        fall = (before - after) / (SLIDING * _LITTLE)
        zone = np.full(len(self.points), np.inf)
        weakens = fall > 0
        zone[weakens] = 9 * np.pi / 32 * self.shear_modulus[weakens] / fall[weakens]
        return zone[self.may_slip]

    @cached_property
    def peak_rate(self) -> Floats:
        """About the largest slip rate of a rupture, where points may slip, m/s.

        Its tip raises the stress to the strength; weakened friction and radiated waves balance it.
        """
        before = self._strength(SLIDING, self.conditions.state)
        stress = np.maximum(before, self.loaded) - self.dynamic
        return np.asarray((stress / self.damping)[self.may_slip])

    @property
    def in_plane_zone(self) -> Floats:
        """In-plane cohesive zone of a slow rupture, where points may slip, m."""
        return self.cohesive_zone / (1 - self.poisson_ratio[self.may_slip])

    @property
    def area(self) -> Floats:
        """Areas of the points that may slip, m^2."""
        return self.points.area[self.may_slip]

    @property
    def mean_drop(self) -> float:
        """Mean stress drop of the area that may slip, Pa."""
        return float(np.average(self.drop[self.may_slip], weights=self.area))

    @property
    def moment(self) -> float:
        """Scalar moment of a circular crack of the area and mean stress drop, N m.

        M0 = (16 / 7) drop (A / pi)^(3/2); Eshelby (1957), Proc. R. Soc. Lond. A 241, 376-396. Long
        faults have less, faults that reach the surface more.
        """
        return float(16 / 7 * self.mean_drop * (self.area.sum() / np.pi) ** 1.5)

    def _state_after(self, seconds: float) -> Floats:
        """The state after slip at the rate of a rupture."""
        given = self.conditions
        return np.asarray(given.law.advance_state(SLIDING, given.state, seconds))

    def _strength(self, rate: float, state: Floats) -> Floats:
        strength = self.conditions.law.strength(rate, self.conditions.normal_stress, state)
        return np.asarray(np.broadcast_to(strength, (len(self.points),)))


def weighted_median(values: Floats, weights: Floats) -> float:
    """The value below which half of the weights lie."""
    order = np.argsort(values)
    summed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(summed, summed[-1] / 2)])
