"""Reduction of attenuation in transversely isotropic rows that would otherwise gain energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from groundswell.arrays import Mask, Reals
from groundswell.seismology.attenuation import LARGEST_WEIGHT, Relaxation
from groundswell.solvers.earthquake.effective import DepthRows

REDUCTION = 0.8  # factor of 1/Q in each iteration


def make_passive(rows: DepthRows, relaxation: Relaxation) -> DepthRows:
    """Rows with 1/Q reduced where the memory variables would create energy.

    Memory variables relax the stiffness of an isotropic solid (see `add_memory` in
    kernels/stress.h). A corrected row, a mixture of materials with extreme contrasts and low Q, may
    have less stiffness than they relax. Corrected rows of fluids become elastic.

    Args:
        rows: parameters of the depth rows.
        relaxation: relaxation mechanisms.
    """
    corrected = rows.are_corrected
    is_fluid = np.isinf(rows.properties["compliance"])
    solid = corrected & ~is_fluid
    p, s = rows.properties["inverse_qp"], rows.properties["inverse_qs"]
    # Otherwise pure compression gains energy.
    largest = 0.75 * (2 + rows.properties["lam"] * rows.properties["compliance"]) * p
    s = np.where(solid, np.minimum(s, largest), s)
    found = _with_quality(rows, np.where(corrected & is_fluid, 0.0, p), s)
    while (excessive := solid & ~_keeps_stiffness(found, relaxation)).any():
        factor = np.where(excessive, REDUCTION, 1.0)
        p, s = (factor * found.properties[q] for q in ("inverse_qp", "inverse_qs"))
        found = _with_quality(found, p, s)
    return found


def _with_quality(rows: DepthRows, p: Reals, s: Reals) -> DepthRows:
    """Rows with 1/Qp = `p` and 1/Qs = `s`, (rows,)."""
    return replace(rows, properties=rows.properties | {"inverse_qp": p, "inverse_qs": s})


def _keeps_stiffness(rows: DepthRows, relaxation: Relaxation) -> Mask:
    """Whether each mechanism leaves at least 1 - LARGEST_WEIGHT of the stiffness of a row, (rows,).

    In cells of one material it always does. The stiffness of normal stresses is a 2 x 2 matrix. It
    acts on the square root of 2 times the equal strains along x and y, and on the strain along z.
    It must remain positive semidefinite.
    """
    lam, mu = rows.properties["lam"], 1 / rows.properties["compliance"]
    along, across = rows.corrections[:, 2:].T
    p, s = (relaxation.weights(rows.properties[q]) for q in ("inverse_qp", "inverse_qs"))
    bulk, shear = p * (lam + 2 * mu), 2 * s * mu
    level = LARGEST_WEIGHT * 2 * (lam + mu + across) - 2 * bulk + shear
    mixed = np.sqrt(2) * (LARGEST_WEIGHT * lam - bulk + shear)
    upright = LARGEST_WEIGHT * (lam + 2 * mu + along) - bulk
    return np.asarray(((upright >= 0) & (level * upright >= mixed**2)).all(axis=0))
