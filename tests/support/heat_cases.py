"""Media for Pennes' equation on any backend, and treatments of them."""

from __future__ import annotations

import numpy as np

from groundswell.backends import Backend
from groundswell.solvers.ultrasound.heat.bioheat import bioheat
from groundswell.solvers.ultrasound.heat.tissue import Coefficients, Tissue
from groundswell.solvers.ultrasound.heat.treatment import Exposure, Treated, treat

SHAPE, SPACING = (9, 14, 11), (0.5e-3, 0.4e-3, 0.3e-3)


def uniform() -> Coefficients:
    return Tissue(perfusion=8.0).coefficients(1000.0)


def varying() -> Coefficients:
    """All three vary."""
    random = np.random.default_rng(4)
    return Coefficients(
        random.uniform(0.2, 0.8, SHAPE), random.uniform(2e6, 4e6, SHAPE), random.random(SHAPE) / 20
    )


def partly_varying() -> Coefficients:
    """The conductivity varies only, and there is no perfusion."""
    return Coefficients(varying().conductivity, np.array(3.6e6), np.array(0.0))


MEDIA = {"uniform": uniform, "varying": varying, "partly": partly_varying}


def treated_on(backend: Backend, medium: str) -> Treated:
    """A treatment that heats to about 65 degrees and lets tissue cool."""
    rate = np.random.default_rng(5).uniform(0, 6e7, SHAPE)
    with backend.arithmetic():
        method = bioheat(MEDIA[medium](), rate, SPACING, backend)
        return treat(method, Exposure(on=4.0, off=3.0, duty=0.7, step=0.08), backend)
