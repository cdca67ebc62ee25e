"""Moduli and quality factors of a material, as the solver uses them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.media.material import Material

Values = NDArray[np.floating]

PROPERTIES = ("rho", "lam", "compliance", "inverse_qp", "inverse_qs")


def properties(
    material: Material, relaxation: Relaxation | None, reference: float
) -> Iterator[tuple[str, Values]]:
    """Yield PROPERTIES of a material, in double precision."""
    p_modulus, mu = unrelaxed_moduli(material, relaxation, reference)
    with np.errstate(divide="ignore"):
        compliance = 1 / mu
    yield "rho", np.asarray(material.rho, float)
    yield "lam", p_modulus - 2 * mu
    yield "compliance", compliance
    yield "inverse_qp", inverse_quality(material.qp)
    yield "inverse_qs", inverse_quality(material.qs)


def unrelaxed_moduli(
    material: Material, relaxation: Relaxation | None, reference: float
) -> tuple[Values, Values]:
    """lambda + 2 mu and mu, Pa, for which `material` has its speeds at `reference`, Hz."""
    rho, vp, vs = (np.asarray(a, float) for a in (material.rho, material.vp, material.vs))
    p_modulus, mu = rho * vp**2, rho * vs**2
    if relaxation:
        p_modulus = p_modulus * relaxation.modulus_ratio(inverse_quality(material.qp), reference)
        mu = mu * relaxation.modulus_ratio(inverse_quality(material.qs), reference)
    return p_modulus, mu


def inverse_quality(q: Values | None) -> Values:
    """1/Q, zero where the medium is elastic."""
    if q is None:
        return np.zeros(1)
    with np.errstate(divide="ignore"):
        return 1 / np.asarray(q, float)
