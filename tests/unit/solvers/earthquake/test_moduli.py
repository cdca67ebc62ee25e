"""Moduli and inverse quality factors of materials."""

from __future__ import annotations

import numpy as np

from groundswell.seismology.attenuation_fit import fit
from groundswell.seismology.media.material import Material
from groundswell.solvers.earthquake.moduli import properties


def test_a_fluid_may_have_a_qs_of_zero() -> None:
    """As in models of the Earth; all else is as with any other Qs."""
    relaxation = fit("constant", 0.0, 1.0, (0.1, 10.0))
    found = [
        properties(
            Material(*(np.array([v]) for v in (1500.0, 0.0, 1000.0, 1000.0, qs))), relaxation, 1.0
        )
        for qs in (0.0, 500.0)
    ]
    assert found[0]["inverse_qs"] == 0
    for name in ("rho", "lam", "compliance", "inverse_qp"):
        assert found[0][name] == found[1][name]
