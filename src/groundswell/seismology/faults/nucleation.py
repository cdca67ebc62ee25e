"""Nucleation of ruptures: friction that is forced to fall, or additional shear stress."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.case.fault import ForcedNucleation, StressNucleation

_SLOWING = 0.081  # of the forced rupture towards its edge


def forced_onset(nucleation: ForcedNucleation, distance: Floats) -> Floats:
    """The time at which friction begins to fall, s; infinite beyond the radius rc.

    T(r) = r / v + 0.081 (rc / v) (1 / (1 - (r / rc)^2) - 1), with the speed v; SCEC TPV24.

    Args:
        distance: r from the hypocenter, (n,), m.
    """
    onset, inside = np.full(distance.shape, np.inf), distance < nucleation.radius
    share = distance[inside] / nucleation.radius
    delay = share + _SLOWING * (1 / (1 - share**2) - 1)
    onset[inside] = nucleation.radius / nucleation.speed * delay
    return onset


def added_shear(nucleation: StressNucleation, distance: Floats) -> Floats:
    """Magnitude of the additional shear stress, (n,), Pa: times exp(r^2 / (r^2 - R^2)), r < R.

    SCEC TPV101 to TPV104.

    Args:
        distance: r from the hypocenter, (n,), m.
    """
    added, inside = np.zeros(distance.shape), distance < nucleation.radius
    square = (distance[inside] / nucleation.radius) ** 2
    added[inside] = nucleation.shear * np.exp(square / (square - 1))
    return added
