"""The stress of soft soil: elements in parallel that yield, as in `kernels/iwan.h`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.plasticity.backbone import Elements


@dataclass(frozen=True, eq=False)
class IwanSoil:
    """Soil at one or several points.

    The deviatoric stress is the sum of those of elastic, perfectly plastic elements (Iwan 1967, J.
    Appl. Mech. 34, 612-617). Each yields by the condition of von Mises, with the radial return of
    Wilkins (1964). Unloading and reloading obey Masing's rules. The mean stress is elastic.

    Tensors have the components xx, yy, zz, xy, xz, yz; those of strain are not doubled.

    Args:
        elements: shares and yield strains of the elements.
        modulus: shear modulus G, Pa, (points,) or a number.
        reference_strain: the unit of the elements' strains, (points,) or a number.
    """

    elements: Elements
    modulus: Floats | float
    reference_strain: Floats | float

    def at_rest(self, points: int) -> Floats:
        """The stresses of all elements before any motion, (elements, 6, points), Pa."""
        return np.zeros((len(self.elements.shares), 6, points))

    def advance(self, stresses: Floats, strain: Floats) -> tuple[Floats, Floats]:
        """Stresses of the elements after an increment of strain, and their sum's loss.

        Args:
            stresses: of the elements before, (elements, 6, points), Pa.
            strain: the increment, (6, points).

        Returns:
            The stresses after it, and the plastic strain (6, points): the stress that yielding
            took, over twice the shear modulus.
        """
        trial = stresses + self.elements.shares[:, None, None] * self._elastic(strain)
        strength = self.elements.strengths[:, None] * self.modulus * self.reference_strain
        size = np.sqrt(half_square(trial))
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.where(size > strength, strength / size, 1.0)[:, None]
        return kept * trial, ((1 - kept) * trial).sum(axis=0) / (2 * np.asarray(self.modulus))

    def _elastic(self, strain: Floats) -> Floats:
        deviator = strain.copy()
        deviator[:3] -= strain[:3].mean(axis=0)
        return np.asarray(2 * self.modulus * deviator)


def half_square(tensor: Floats) -> Floats:
    """J2 of deviators (..., 6, points): half the sum of the squares of all nine components."""
    normal, shear = tensor[..., :3, :], tensor[..., 3:, :]
    return np.asarray((normal**2).sum(axis=-2) / 2 + (shear**2).sum(axis=-2))
