"""The yielding rock of a case."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError
from groundswell.seismology.case.plasticity import DruckerPragerSection
from groundswell.seismology.plasticity.initial_stress import InitialStress, Overburden
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.materials.volume_media import VolumeMedia
from groundswell.solvers.dgwave.plasticity.model import YieldingRock
from groundswell.solvers.dgwave.plasticity.overburden import overburden


def build_rock(case: DgWaveCase, materials: Materials, absorbing: Integers) -> YieldingRock | None:
    """The rock of a case that yields; None if it is linear.

    Args:
        absorbing: the elements in layers and sponges.

    Raises:
        InputError: there is no rock.
    """
    section, elements = case.plasticity, materials.elements
    if section is None:
        return None
    if not materials.statistics.vs_max:
        raise InputError("[plasticity]: the whole medium is fluid, which does not yield; remove it")
    initial, medium = _initial_stress(section, materials), elements.medium
    if not isinstance(medium, VolumeMedia):
        return YieldingRock(section, initial, elements, absorbing)
    classes = medium.material_names, medium.numbers
    return YieldingRock(section, initial, elements, absorbing, *classes)


def _initial_stress(section: DruckerPragerSection, materials: Materials) -> InitialStress:
    """The stress before the waves; a tensor does not depend on the weight of the rock."""
    if section.stress.tensor:
        return InitialStress(section, Overburden(np.zeros(2), np.zeros(1)))
    rho = materials.statistics.average_rho
    return InitialStress(section, overburden(materials.elements.geometry, rho))
