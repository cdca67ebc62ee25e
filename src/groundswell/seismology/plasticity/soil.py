"""Curves and reference strains of the soil of a case."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Indices
from groundswell.errors import InputError
from groundswell.seismology.case.soil import (
    DARENDELI,
    STRAIN,
    CurveSection,
    IwanSection,
    SoilCurve,
)
from groundswell.seismology.plasticity.backbone import (
    DARENDELI_CURVATURE,
    Elements,
    Hyperbola,
    MeasuredCurve,
    darendeli_reference_strain,
)
from groundswell.seismology.plasticity.initial_stress import InitialStress, Overburden
from groundswell.seismology.plasticity.rock import RockPoints, values_at

LARGEST = 30.0  # strain of backbones, in units of the reference strain, unless a table ends before


@dataclass(frozen=True, eq=False)
class Soils:
    """The soils of a case, from the surface down.

    Args:
        overburden: the weight of the rock above, for curves that depend on the stress.
    """

    section: IwanSection
    overburden: Overburden

    @cached_property
    def elements(self) -> tuple[Elements, ...]:
        """The elements of each soil.

        Raises:
            InputError: a curve cannot be used.
        """
        return tuple(self._fit(curve) for _, _, curve in self.section.curves)

    def numbers(self, depth: Floats) -> Indices:
        """The number of the soil at depths (n,), m."""
        tops = [top for _, top, _ in self.section.curves]
        return np.searchsorted(tops, depth, side="right") - 1

    def reference_strains(self, points: RockPoints) -> Floats:
        """Reference strains at points, (n,).

        Raises:
            InputError: a value is not finite or out of bounds, or the soil has no effective stress.
        """
        found, numbers = np.empty(len(points)), self.numbers(points.depth)
        for n, (key, _, curve) in enumerate(self.section.curves):
            own = numbers == n
            if own.any():
                found[own] = self._strains(key, curve, points.at(own))
        return found

    def _fit(self, curve: SoilCurve) -> Elements:
        count = self.section.surfaces
        if isinstance(curve.curve, CurveSection):
            measured = _measured(curve.curve)
            return Elements.fit(measured, count, measured.largest)
        curvature = DARENDELI_CURVATURE if curve.curve == DARENDELI else 1.0
        return Elements.fit(Hyperbola(curvature), count, LARGEST)

    def _strains(self, key: str, curve: SoilCurve, points: RockPoints) -> Floats:
        if isinstance(curve.curve, CurveSection):
            return np.full(len(points), _measured(curve.curve).reference)
        if curve.curve == DARENDELI:
            stress = self._effective_stress(points.depth)
            return darendeli_reference_strain(
                curve.plasticity_index, curve.overconsolidation, stress
            )
        assert curve.reference_strain is not None
        return values_at(f"{key}.reference_strain", curve.reference_strain, STRAIN, points)

    def _effective_stress(self, depth: Floats) -> Floats:
        """Mean effective stress, compression positive, Pa."""
        initial = InitialStress(self.section, self.overburden)
        effective = -initial.at(depth)[:3].mean(axis=0) - initial.fluid_pressure(depth)
        if not (effective > 0).all():
            n = int(np.argmin(effective))
            raise InputError(
                f"the mean effective stress at a depth of {depth[n]:g} m is {effective[n]:.4g} Pa, "
                "but Darendeli's curve needs compression; lower plasticity.fluid_pressure, or "
                "raise plasticity.stress"
            )
        return np.asarray(effective)


def _measured(curve: CurveSection) -> MeasuredCurve:
    return MeasuredCurve(np.array(curve.strain), np.array(curve.modulus))
