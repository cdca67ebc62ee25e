"""Moduli and inverse quality factors of a material in the form that the solver uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Reals
from groundswell.grids.axis import Axis
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.media.material import Material, Medium, lame
from groundswell.seismology.sources.point_sources import Property

PROPERTIES = ("rho", "lam", "compliance", "inverse_qp", "inverse_qs")


def properties(
    material: Material, relaxation: Relaxation | None, reference: float
) -> dict[str, Reals]:
    """PROPERTIES of a material, in double precision.

    With `relaxation` the moduli are unrelaxed, and the phase velocities at the frequency
    `reference` (Hz) are the speeds of the material.
    """
    rho, vp, vs = (np.asarray(a, float) for a in (material.rho, material.vp, material.vs))
    inverse_qp, inverse_qs = (_inverse(q) for q in (material.qp, material.qs))
    # The Qs of a fluid has no effect and may be 0.
    inverse_qs = np.where((vs == 0) & np.isinf(inverse_qs), 0.0, inverse_qs)
    p_modulus, mu = rho * vp**2, rho * vs**2
    if relaxation:
        p_modulus = p_modulus * relaxation.modulus_ratio(inverse_qp, reference)
        mu = mu * relaxation.modulus_ratio(inverse_qs, reference)
    with np.errstate(divide="ignore"):
        compliance = 1 / mu
    values = (rho, p_modulus - 2 * mu, compliance, inverse_qp, inverse_qs)
    return dict(zip(PROPERTIES, values, strict=True))


def elastic_properties(material: Material) -> dict[str, Reals]:
    """PROPERTIES of a material without attenuation, whatever its quality factors."""
    return properties(replace(material, qp=None, qs=None), None, 1.0)


def _inverse(q: Reals | None) -> Reals:
    """1/Q, zero where the medium is elastic."""
    if q is None:
        return np.zeros(1)
    with np.errstate(divide="ignore"):
        return 1 / np.asarray(q, float)


def at_positions(medium: Medium, choose: Callable[[Material], Reals]) -> Property:
    """A function of positions (m) that returns a property of the cells there.

    Args:
        medium: the medium.
        choose: function of a material that returns the property.
    """

    def at(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Floats:
        positions = np.stack([np.atleast_1d(np.asarray(a, float)) for a in (x, y, z)])
        along = zip(medium.spacing, positions, medium.cells, strict=True)
        i, j, k = (np.clip(Axis(h).index(a).astype(int), 0, n - 1) for h, a, n in along)
        shape = medium.cells[1::-1]
        planes = {
            row: np.broadcast_to(choose(medium.plane(int(row))), shape) for row in np.unique(k)
        }
        return np.array([planes[c][b, a] for a, b, c in zip(i, j, k, strict=True)])

    return at


def rigidity(medium: Medium) -> Property:
    """A function of positions (m) that returns mu of the cells there, Pa."""
    return at_positions(medium, lambda material: lame(material)[1])
