"""Attenuation: a generalised Maxwell body in each element; see kernels/attenuation.h.

With unrelaxed moduli M_u, the modulus of waves of angular frequency w is

    M(w) = M_u (1 - sum_l y_l / (1 + i w / omega_l)),

where mechanism l relaxes the fraction y_l at the frequency omega_l. P waves have the fractions of
Qp and the modulus lambda + 2 mu, S waves those of Qs and mu.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.seismology.anelasticity import QualityFactors
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.media.material import Material


@dataclass(frozen=True, eq=False)
class MaxwellBodies:
    """The Maxwell bodies of elements.

    Args:
        rates: relaxation frequencies omega, 1/s, (mechanisms,).
        p, s: relaxed fractions y for P and S waves, (elements, mechanisms).
    """

    rates: Floats
    p: Floats
    s: Floats

    @property
    def mechanisms(self) -> int:
        """Number of mechanisms."""
        return len(self.rates)

    @classmethod
    def of(cls, material: Material, relaxation: Relaxation) -> MaxwellBodies:
        """The bodies that give a material, of arrays (elements,), its quality factors."""
        p, s = (relaxation.weights(x).T / len(relaxation.tau) for x in _inverse_q(material))
        return cls(1 / relaxation.tau, p, s)


def unrelaxed(material: Material, relaxation: Relaxation, reference: float) -> Material:
    """The elastic material with the unrelaxed wave speeds.

    Args:
        material: material with the wave speeds at the frequency `reference`.
        reference: frequency, Hz.
    """
    ratios = (relaxation.modulus_ratio(x, reference) for x in _inverse_q(material))
    p, s = (np.sqrt(ratio) for ratio in ratios)
    return Material(material.vp * p, material.vs * s, material.rho)


def _inverse_q(material: Material) -> tuple[Reals, Reals]:
    """1/Qp and 1/Qs; 1/Qs is 0 in fluids."""
    assert material.qp is not None and material.qs is not None
    qs = np.where(material.vs > 0, material.qs, np.inf)
    return 1 / material.qp, 1 / qs


def largest_decay(relaxation: Relaxation | None, statistics: QualityFactors) -> float:
    """An upper bound for the rate at which attenuation damps waves, 1/s.

    Rapidly varying stress decays at the rate sum_l omega_l y_l. For mean stress and for shear, this
    rate is at most the sum of the rates for P and S waves. Where the flux damps unresolved waves,
    memory variables decay faster than omega_l, but the difference is less than this bound.
    """
    if relaxation is None:
        return 0.0
    smallest = [q for q in (statistics.qp_min, statistics.qs_min) if q is not None]
    weights = relaxation.weights(1 / np.array(smallest)) / len(relaxation.tau)
    return float((weights.T / relaxation.tau).sum())


def fastest_relaxation(relaxation: Relaxation | None) -> float:
    """The largest relaxation frequency, 1/s."""
    return float((1 / relaxation.tau).max()) if relaxation else 0.0
