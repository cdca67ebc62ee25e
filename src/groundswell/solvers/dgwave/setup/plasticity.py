"""The yielding rock of a case."""

from __future__ import annotations

from groundswell.arrays import Integers
from groundswell.errors import InputError
from groundswell.seismology.plasticity.initial_stress import InitialStress
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
    weight = overburden(elements.geometry, materials.statistics.average_rho)
    initial, medium = InitialStress(section, weight), elements.medium
    if not isinstance(medium, VolumeMedia):
        return YieldingRock(section, initial, elements, absorbing)
    classes = medium.material_names, medium.numbers
    return YieldingRock(section, initial, elements, absorbing, *classes)
