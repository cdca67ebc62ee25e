"""Strength of the rock of a case at points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Mask, Reals
from groundswell.case.expressions import Expression
from groundswell.seismology.case.plasticity import (
    ANGLE,
    COHESION,
    VARIABLES,
    DruckerPragerSection,
    MaterialStrength,
    OfRock,
    RockTable,
    RockValue,
)
from groundswell.seismology.media.material import Material
from groundswell.seismology.permitted import require_permitted
from groundswell.seismology.plasticity.drucker_prager import DruckerPrager


@dataclass(frozen=True, eq=False)
class RockPoints:
    """Points of the medium, with what expressions of a strength may depend on; arrays (n,).

    Args:
        x, y, depth: positions, m.
        vp, vs: wave speeds, m/s.
        rho: density, kg/m^3.
    """

    x: Floats
    y: Floats
    depth: Floats
    vp: Floats
    vs: Floats
    rho: Floats

    @classmethod
    def of(cls, position: Mapping[str, Reals], material: Material) -> RockPoints:
        """Points at positions `x`, `y` and `depth`, and their material; arrays that broadcast."""
        values = {**position, "vp": material.vp, "vs": material.vs, "rho": material.rho}
        arrays = np.broadcast_arrays(*(np.asarray(values[name], float) for name in VARIABLES))
        return cls(*(array.ravel() for array in arrays))

    def __len__(self) -> int:
        return len(self.x)

    def at(self, chosen: Mask) -> RockPoints:
        """Some of the points; `chosen` is (n,)."""
        return RockPoints(*(getattr(self, name)[chosen] for name in VARIABLES))

    def describe(self, n: int) -> str:
        """The position of a point, for messages."""
        return f"x, y, depth = {self.x[n]:.8g}, {self.y[n]:.8g}, {self.depth[n]:.8g} m"


def strength_at(
    section: DruckerPragerSection, points: RockPoints, material: str | None = None
) -> DruckerPrager:
    """Cohesion and friction angle at points, (n,); fluids have infinite cohesion.

    Args:
        points: of one material of the medium, if its materials have names.
        material: the name.

    Raises:
        InputError: a value is not finite or out of bounds.
    """
    own, key = section.strength_of(material), _key(section, material)
    cohesion = values_at(f"{key}.cohesion", own.cohesion, COHESION, points)
    angle = values_at(f"{key}.friction_angle", own.friction_angle, ANGLE, points)
    cohesion = np.where(points.vs == 0, np.inf, cohesion)
    return DruckerPrager(
        cohesion=cohesion, friction_angle=angle, relaxation_time=section.relaxation_time
    )


def varies_sideways(section: DruckerPragerSection) -> bool:
    """Whether a strength depends on x or y, other than through the medium."""
    return bool({"x", "y"} & _variables(section))


def varies_with_medium(section: DruckerPragerSection) -> bool:
    """Whether a strength depends on wave speeds or the density."""
    return bool({"vp", "vs", "rho"} & _variables(section))


def _variables(section: DruckerPragerSection) -> set[str]:
    """On which of VARIABLES strengths depend."""
    strengths: list[DruckerPragerSection | MaterialStrength] = [section, *section.material]
    found = set[str]()
    for value in (value for own in strengths for value in (own.cohesion, own.friction_angle)):
        if isinstance(value, RockTable):
            found.add(value.by)
        elif isinstance(value, str):
            found |= Expression(value, VARIABLES).names
    return found


def _key(section: DruckerPragerSection, material: str | None) -> str:
    """The key of the strength of a material, for messages."""
    names = [each.name for each in section.material]
    return f"plasticity.material[{names.index(material)}]" if material in names else "plasticity"


def values_at(name: str, value: RockValue, allowed: OfRock, points: RockPoints) -> Floats:
    """Values of a parameter at points, (n,), in SI units.

    Args:
        name: of the parameter, for messages.

    Raises:
        InputError: a value is not finite or out of bounds.
    """
    return require_permitted(name, _evaluate(value, points), allowed, points.describe)


def _evaluate(value: RockValue, points: RockPoints) -> Floats:
    if isinstance(value, RockTable):
        return np.interp(getattr(points, value.by), value.at, value.values)
    if isinstance(value, str):
        return Expression(value, VARIABLES)(*(getattr(points, name) for name in VARIABLES))
    return np.full(len(points), value, float)
