"""Empirical rules for properties that a model lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Reals
from groundswell.errors import InputError
from groundswell.seismology.media.material import Material


def brocher_density(vp: Reals) -> Reals:
    """Density (kg/m^3) of crustal rocks from `vp` (m/s): the Nafe-Drake curve.

    Brocher (2005), Bull. Seism. Soc. Am. 95, 2081-2092, eq. 1.

    Raises:
        InputError: a speed is outside the range of the fit, 1500 to 8500 m/s.
    """
    _require_in_range("rho_rule", vp, 1500, 8500, "the density")
    v = vp / 1000
    return 1000 * v * (1.6612 + v * (-0.4721 + v * (0.0671 + v * (-0.0043 + v * 0.000106))))


def brocher_shear_speed(vp: Reals) -> Reals:
    """S wave speed (m/s) of crustal rocks from `vp` (m/s).

    Brocher (2005), eq. 6. Gaps (NaN) remain gaps.

    Raises:
        InputError: a speed is outside the range of the fit, 1500 to 8000 m/s.
    """
    _require_in_range("vs_rule", vp[~np.isnan(vp)], 1500, 8000, "vs")
    v = vp / 1000
    return 1000 * (0.7858 + v * (-1.2344 + v * (0.7949 + v * (-0.1238 + v * 0.0064))))


def _require_in_range(rule: str, vp: Reals, least: float, most: float, missing: str) -> None:
    outside = vp[~((vp >= least) & (vp <= most))]
    if outside.size:
        raise InputError(
            f"medium.{rule} = 'brocher' holds for vp from {least:g} to {most:g} m/s and the model "
            f"has vp = {outside[0]:g} m/s; give {missing} in the model, or, if this is water, "
            "medium.water"
        )


def awp_quality(vs: Reals) -> tuple[Reals, Reals]:
    """(qp, qs) of the rule of AWP-ODC: Qs = 0.05 vs with vs in m/s, Qp = 2 Qs."""
    qs = vs / 20
    return 2 * qs, qs


VS_RULES: dict[str, Callable[[Reals], Reals]] = {
    "brocher": brocher_shear_speed,
    "poisson": lambda vp: vp / np.sqrt(3.0),  # of a solid with Poisson's ratio 1/4
    "fluid": np.zeros_like,
}
RHO_RULES: dict[str, Callable[[Reals], Reals]] = {"brocher": brocher_density}
Q_RULES: dict[str, Callable[[Reals], tuple[Reals, Reals]]] = {"awp": awp_quality}


@dataclass(frozen=True)
class Water:
    """Where a model is water rather than rock.

    Args:
        vp: largest P wave speed of water, m/s.
        rho: density of the water if a rule gives that of rock, kg/m^3.
        qp: quality factor of P waves in the water if a rule gives that in rock.
    """

    vp: float
    rho: float
    qp: float


@dataclass(frozen=True)
class Rules:
    """Rules for properties that a model lacks; None if the model has them.

    Args:
        vs, rho: names of rules for S wave speed and density.
        q: name of a rule for quality factors; None also if the model is elastic.
        water: where the rules for rock do not apply; None if nowhere.
    """

    vs: str | None = None
    rho: str | None = None
    q: str | None = None
    water: Water | None = None

    def at_nodes(self, values: Mapping[str, Reals]) -> dict[str, Reals]:
        """Properties at nodes of a model, with vs, which interpolation needs."""
        if self.vs is None:
            return dict(values)
        vp = values["vp"]
        vs = self._of_rock(VS_RULES[self.vs], vp, "vs")
        return {**values, "vs": np.where(np.isnan(vp), np.nan, vs)}

    def complete(self, values: Mapping[str, Reals]) -> Material:
        """A material of interpolated properties and those that the rules derive from them."""
        derived = {}
        if self.rho is not None:
            derived["rho"] = self._of_rock(RHO_RULES[self.rho], values["vp"], "rho")
        if self.q is not None:
            derived["qp"], derived["qs"] = Q_RULES[self.q](values["vs"])
            if self.water is not None:
                in_water = values["vp"] <= self.water.vp
                derived["qp"] = np.where(in_water, self.water.qp, derived["qp"])
        return Material(**values, **derived)

    def _of_rock(self, rule: Callable[[Reals], Reals], vp: Reals, name: str) -> Reals:
        """A property by a rule, and that of water in water, which has no vs."""
        if self.water is None:
            return rule(vp)
        found = np.full(np.shape(vp), getattr(self.water, name, 0.0))
        is_rock = ~(vp <= self.water.vp)
        found[is_rock] = rule(vp[is_rock])
        return found
