"""Quality factors with which transversely isotropic rows lose energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from groundswell.seismology.attenuation import LARGEST_WEIGHT, Relaxation
from groundswell.solvers.earthquake.effective import UNCORRECTED, Rows

Values = NDArray[np.floating]
Mask = NDArray[np.bool_]

REDUCTION = 0.8  # of 1/Q in one try


def make_passive(rows: Rows, relaxation: Relaxation) -> Rows:
    """Rows with 1/Q reduced where the memory variables would make energy.

    Memory variables relax the stiffness of an isotropic solid (see `add_memory` in
    kernels/stress.h). That may be more than a corrected row has, in rows of several materials of
    extreme contrast and low Q. Corrected rows of fluids are elastic.
    """
    corrected = (rows.corrections != UNCORRECTED).any(axis=1)
    is_fluid = np.isinf(rows.properties["compliance"])
    dry = np.where(corrected & is_fluid, 0.0, 1.0)
    found, solid = _reduce(rows, dry, dry), corrected & ~is_fluid
    while True:
        gaining, exhausted = (solid & mask for mask in _faults(found, relaxation))
        if not (gaining | exhausted).any():
            return found
        p = np.where(exhausted, REDUCTION, 1.0)
        found = _reduce(found, p, np.where(gaining | exhausted, REDUCTION, 1.0))


def _reduce(rows: Rows, p: Values, s: Values) -> Rows:
    """Rows with 1/Qp times `p` and 1/Qs times `s`."""
    given = rows.properties
    changed = {"inverse_qp": p * given["inverse_qp"], "inverse_qs": s * given["inverse_qs"]}
    return replace(rows, properties=given | changed)


def _faults(rows: Rows, relaxation: Relaxation) -> tuple[Mask, Mask]:
    """Whether pure compression gains energy, and whether too little stiffness remains.

    A part of 1 - LARGEST_WEIGHT of the stiffness must remain, as in a cell of one material. The
    stiffness of normal stresses is a matrix of the equal strains along x and y, times the square
    root of 2, and of that along z.
    """
    lam, mu = rows.properties["lam"], 1 / rows.properties["compliance"]
    along, across = rows.corrections[:, 2:].T
    p, s = (relaxation.weights(rows.properties[q]) for q in ("inverse_qp", "inverse_qs"))
    bulk, shear = p * (lam + 2 * mu), 2 * s * mu
    level = LARGEST_WEIGHT * 2 * (lam + mu + across) - 2 * bulk + shear
    mixed = np.sqrt(2) * (LARGEST_WEIGHT * lam - bulk + shear)
    upright = LARGEST_WEIGHT * (lam + 2 * mu + along) - bulk
    gaining: Mask = 3 * bulk < 2 * shear
    exhausted: Mask = (upright < 0) | (level * upright < mixed**2)
    return np.any(gaining, axis=0), np.any(exhausted, axis=0)
