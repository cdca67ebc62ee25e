"""Stress in the rock before the waves, by depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.expressions import Expression
from groundswell.seismology.case.plasticity import (
    FLUID,
    HYDROSTATIC,
    RATIO,
    STRESS,
    DruckerPragerSection,
    OfDepth,
    OfDepthValue,
)
from groundswell.seismology.case.soil import IwanSection
from groundswell.seismology.permitted import require_permitted

GRAVITY = 9.81  # m/s^2
WATER = 1000.0  # kg/m^3
COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True, eq=False)
class Overburden:
    """The weight of the rock above.

    Args:
        edges: depths between which the density is constant, ascending from the surface, (n + 1,),
            m.
        rho: mean density of each interval, (n,), kg/m^3; the last one continues below.
    """

    edges: Floats
    rho: Floats

    def at(self, depth: Floats) -> Floats:
        """The pressure at depths, of any shape, Pa; 0 above the surface."""
        weights = GRAVITY * self.rho * np.diff(self.edges)
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        below = GRAVITY * self.rho[-1] * np.maximum(depth - self.edges[-1], 0)
        return np.asarray(np.interp(depth, self.edges, sums) + below)


@dataclass(frozen=True, eq=False)
class InitialStress:
    """Stress and fluid pressure of a case by depth.

    Args:
        overburden: the weight of the rock; used if the case gives no tensor.
    """

    section: DruckerPragerSection | IwanSection
    overburden: Overburden

    @property
    def is_sheared(self) -> bool:
        """Whether it has a deviator. Such rock has energy to give when it yields."""
        return self.section.stress.tensor is not None or self.section.stress.ratio != 1

    def at(self, depth: Floats) -> Floats:
        """The stress at depths (...): xx, yy, zz, xy, xz, yz, (6, ...), tension positive, Pa.

        Raises:
            InputError: a value is not finite or out of bounds.
        """
        stress = self.section.stress
        if stress.tensor:
            key = "plasticity.stress.tensor"
            parts = [(f"{key}.{c}", getattr(stress.tensor, c)) for c in COMPONENTS]
            return np.stack([_values(name, value, STRESS, depth) for name, value in parts])
        assert stress.ratio is not None
        vertical = -self.overburden.at(depth)
        level = vertical * _values("plasticity.stress.ratio", stress.ratio, RATIO, depth)
        shear = np.zeros_like(vertical)
        return np.stack([level, level, vertical, shear, shear, shear])

    def fluid_pressure(self, depth: Floats) -> Floats:
        """Pressure of the fluid in the pores at depths (...), Pa.

        Raises:
            InputError: a value is not finite or out of bounds.
        """
        value = self.section.fluid_pressure
        if value == HYDROSTATIC:
            return np.asarray(WATER * GRAVITY * np.maximum(depth, 0.0))
        return _values("plasticity.fluid_pressure", value, FLUID, depth)


def _values(name: str, value: OfDepthValue, allowed: OfDepth, depth: Floats) -> Floats:
    """Values of a parameter at depths, in SI units."""
    if not isinstance(value, str):
        return np.full(np.shape(depth), value, float)
    values = Expression(value, allowed.variables)(np.asarray(depth, float))
    return require_permitted(name, values, allowed, lambda n: f"depth = {np.ravel(depth)[n]:g} m")
