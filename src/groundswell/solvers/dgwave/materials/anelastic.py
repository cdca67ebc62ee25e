"""The materials of a run: the material of elements and its attenuation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.exchange.communicator import Communicator
from groundswell.seismology.anelasticity import fit_case
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.attenuation import MaxwellBodies, unrelaxed
from groundswell.solvers.dgwave.materials.elements import ElementMaterials
from groundswell.solvers.dgwave.materials.statistics import ElementStatistics, element_statistics
from groundswell.solvers.dgwave.mesh.case import POINTS_PER_WAVELENGTH

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.case import DgWaveCase


@dataclass(frozen=True, eq=False)
class Materials:
    """The material of all elements, its extremes and its attenuation.

    Args:
        elements: the material at the reference frequency of attenuation.
        statistics: extremes of the material of all elements.
        relaxation: relaxation mechanisms; None without attenuation.
        reference: reference frequency of attenuation, Hz.
    """

    elements: ElementMaterials
    statistics: ElementStatistics
    relaxation: Relaxation | None
    reference: float

    @property
    def is_nodal(self) -> bool:
        """Whether the material varies inside elements."""
        return self.elements.is_nodal

    @property
    def mechanisms(self) -> int:
        """Number of relaxation mechanisms; 0 without attenuation."""
        return len(self.relaxation.tau) if self.relaxation else 0

    def unrelaxed(self, leaves: Integers) -> Material:
        """The average material of elements, with the wave speeds at infinite frequency."""
        return self._unrelaxed(self.elements.average(leaves))

    def unrelaxed_nodes(self, leaves: Integers) -> Material:
        """The same at their nodes, arrays (elements, nodes)."""
        return self._unrelaxed(self.elements.at(leaves))

    def _unrelaxed(self, material: Material) -> Material:
        if self.relaxation is None:
            return material
        return unrelaxed(material, self.relaxation, self.reference)

    def bodies(self, leaves: Integers) -> MaxwellBodies | None:
        """The Maxwell bodies of elements; None without attenuation."""
        if self.relaxation is None:
            return None
        return MaxwellBodies.of(self.elements.average(leaves), self.relaxation)

    @cached_property
    def fastest(self) -> Floats:
        """Speed of the fastest wave in each element at infinite frequency, (elements,), m/s."""
        vp, qp = self.statistics.vp, self.statistics.qp
        if self.relaxation is None:
            return vp
        return vp * np.sqrt(self.relaxation.modulus_ratio(1 / qp, self.reference))

    @property
    def resolved_frequencies(self) -> Floats:
        """Frequency at which the slowest wave in each element spans POINTS_PER_WAVELENGTH, Hz."""
        geometry = self.elements.geometry
        return self.statistics.slowest / geometry.longest * geometry.degree / POINTS_PER_WAVELENGTH

    @cached_property
    def resolved_frequency(self) -> float:
        """Frequency up to which all elements resolve waves, Hz."""
        return float(self.resolved_frequencies.min())


def read_materials(
    case: DgWaveCase, elements: ElementMaterials, comm: Communicator | None = None
) -> Materials:
    """Read the material of all elements, and fit its attenuation.

    Args:
        comm: the ranks, each of which reads a part; None for a single rank.

    Raises:
        InputError: the medium is unreadable or unphysical, or has no quality factors for a fit.
    """
    statistics = element_statistics(elements, comm)
    relaxation = fit_case(case.attenuation, statistics, case.method.mechanisms)
    reference = float(getattr(case.attenuation, "reference", 1.0))
    return Materials(elements, statistics, relaxation, reference)
