"""Stability of matched layers beside soft ground, which guides waves.

Matched layers amplify guided waves with opposite phase and group velocities (Becache, Fauqueux &
Joly 2003, J. Comput. Phys. 188, 399-433; Skelton et al. 2007, Wave Motion 44, 573-592). A soft
layer on stiff ground guides such waves, near the resonance of P waves in the layer. Two measures
together stop the growth:

- a frequency shift alpha throughout the layers, in proportion to that resonance, which weakens the
  amplification where it acts;
- a share of the damping along the other two axes, as in the multiaxial PML of Meza-Fajardo &
  Papageorgiou (2008), BSSA 98, 1811-1836. Such a layer is no longer perfectly matched and returns
  waves, by an estimate of perturbation theory about this share of each. It acts in the depth rows
  of soft ground only.

Neither is enough alone: a shift that makes the share unnecessary returns waves that the grid should
absorb, and a share that makes the shift unnecessary returns more of all waves. The constants follow
from runs over 50,000 steps in soft layers of 4 to 22 cells with contrasts from 1.24 to 12 and vp/vs
from 1.7 to 7, a channel and a gradient, beside matched layers of 4 to 30 cells. They do not make
layers beside a fluid on rock stable, where waves grow by e in some 7,000 steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

from groundswell.seismology.media.statistics import SideSpeeds

Floats = NDArray[np.float64]

STABLE_CONTRAST = 1.25  # largest contrast of speeds at which a plain matched layer is stable
SHIFT_PER_RESONANCE = 0.55  # alpha over the angular frequency of the resonance
RATIO_SLOPE, RATIO_OFFSET = 0.001, 0.8  # damping ratio per unit of contrast
USUAL_WIDTH = 12  # cells; wider layers need a larger ratio
LARGEST_RATIO = 0.08


@dataclass(frozen=True)
class SoftGround:
    """The soft depth rows of a medium, seen from its sides.

    Args:
        sides: speeds of the outermost cells.
        fastest: speed of the fastest S wave of the medium, m/s.
        spacing: height of a row, m.
    """

    sides: SideSpeeds
    fastest: float
    spacing: float

    @property
    def contrast(self) -> Floats:
        """Speed of the fastest S wave over that of the slowest wave of each row, (nz,)."""
        return self.fastest / self.sides.slowest

    @property
    def is_soft(self) -> NDArray[np.bool_]:
        """Whether a row is soft ground, (nz,)."""
        return self.contrast > STABLE_CONTRAST

    def frequency_shift(self) -> float:
        """Frequency shift that the layers need throughout, 1/s; zero without soft ground.

        The resonance of P waves is at a quarter of the inverse of their time through all soft rows.
        """
        if not self.is_soft.any():
            return 0.0
        resonance = 0.25 / (self.spacing / self.sides.vp[self.is_soft]).sum()
        return float(SHIFT_PER_RESONANCE * 2 * pi * resonance)

    def damping_ratio(self, width: int) -> Floats:
        """Ratio of multiaxial to axial damping in each row, (nz,), beside layers of `width` cells.

        Waves grow further in wider layers.
        """
        slope = RATIO_SLOPE * max(1.0, width / USUAL_WIDTH)
        ratio = slope * (self.contrast - RATIO_OFFSET)
        return np.where(self.is_soft, np.minimum(ratio, LARGEST_RATIO), 0.0)
