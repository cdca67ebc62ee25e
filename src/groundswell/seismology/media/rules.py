"""Empirical rules for properties that a model lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from groundswell.arrays import Reals
from groundswell.errors import InputError
from groundswell.seismology.media.material import Material


def brocher_density(vp: Reals) -> Reals:
    """Density (kg/m^3) of crustal rocks from `vp` (m/s): the Nafe-Drake curve.

    Brocher (2005), Bull. Seism. Soc. Am. 95, 2081-2092, eq. 1.

    Raises:
        InputError: a speed is outside the range of the fit, 1500 to 8500 m/s.
    """
    outside = vp[~((vp >= 1500) & (vp <= 8500))]
    if outside.size:
        raise InputError(
            f"medium.rho_rule = 'brocher' holds for vp from 1500 to 8500 m/s and the model has "
            f"vp = {outside[0]:g} m/s; give the density in the model"
        )
    v = vp / 1000
    return 1000 * v * (1.6612 + v * (-0.4721 + v * (0.0671 + v * (-0.0043 + v * 0.000106))))


def awp_quality(vs: Reals) -> tuple[Reals, Reals]:
    """(qp, qs) of the rule of AWP-ODC: Qs = 0.05 vs with vs in m/s, Qp = 2 Qs."""
    qs = vs / 20
    return 2 * qs, qs


RHO_RULES: dict[str, Callable[[Reals], Reals]] = {"brocher": brocher_density}
Q_RULES: dict[str, Callable[[Reals], tuple[Reals, Reals]]] = {"awp": awp_quality}


def complete_material(
    values: Mapping[str, Reals], rho_rule: str | None, q_rule: str | None
) -> Material:
    """A material of the given properties and those that the rules derive from them."""
    derived = {}
    if rho_rule is not None:
        derived["rho"] = RHO_RULES[rho_rule](values["vp"])
    if q_rule is not None:
        derived["qp"], derived["qs"] = Q_RULES[q_rule](values["vs"])
    return Material(**values, **derived)
