"""Stability of matched layers next to soft ground, which guides waves.

Matched layers amplify guided waves with opposite phase and group velocities (Becache, Fauqueux &
Joly 2003, J. Comput. Phys. 188, 399-433; Skelton et al. 2007, Wave Motion 44, 573-592). A soft
layer on stiff ground guides waves of this kind, near the resonance of P waves in the layer. Two
measures together suppress the growth:

- Frequency shift. A constant part of alpha, in proportion to the resonance frequency, reduces the
  amplification at this frequency.
- Multiaxial damping. A fraction of the damping, the damping ratio, also acts along the other two
  axes (multiaxial PML: Meza-Fajardo & Papageorgiou 2008, BSSA 98, 1811-1836). A layer with it is no
  longer perfectly matched; according to perturbation theory, it reflects about this fraction of
  each wave. It acts only in the depth rows of soft ground.

Neither measure is enough by itself. A shift so large that the layer is stable without damping
reflects long waves that the layer should absorb. A damping ratio so large that the layer is stable
without a shift reflects more of all waves. The constants are the result of runs of 50,000 steps: in
soft layers of 4 to 22 cells with contrasts from 1.24 to 12 and vp/vs from 1.7 to 7, in a low-speed
channel and in a gradient, next to matched layers of 4 to 30 cells. Layers next to a fluid on rock
remain unstable: waves grow by a factor of e in about 7,000 steps.
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
RATIO_SLOPE, RATIO_OFFSET = 0.001, 0.8  # damping ratio = slope (contrast - offset)
USUAL_WIDTH = 12  # cells; the slope grows in proportion to the width of wider layers
LARGEST_RATIO = 0.08


@dataclass(frozen=True)
class SoftGround:
    """The soft depth rows at the sides of a medium.

    Args:
        sides: speeds in the outermost cells.
        fastest: speed of the fastest S wave of the medium, m/s.
        spacing: height of a row, m.
    """

    sides: SideSpeeds
    fastest: float
    spacing: float

    @property
    def contrast(self) -> Floats:
        """Speed of the fastest S wave over that of the slowest wave at the sides, (nz,)."""
        return self.fastest / self.sides.slowest

    @property
    def is_soft(self) -> NDArray[np.bool_]:
        """Whether a row is soft ground, (nz,)."""
        return self.contrast > STABLE_CONTRAST

    def frequency_shift(self) -> float:
        """Constant part of the frequency shift that the layers need, 1/s; zero without soft ground.

        The resonance frequency is 1 / 4t, where t is the travel time of P waves through all soft
        rows.
        """
        if not self.is_soft.any():
            return 0.0
        resonance = 0.25 / (self.spacing / self.sides.vp[self.is_soft]).sum()
        return float(SHIFT_PER_RESONANCE * 2 * pi * resonance)

    def damping_ratio(self, width: int) -> Floats:
        """Ratio of multiaxial to axial damping in each row, (nz,).

        Args:
            width: width of the matched layers, cells. Waves grow more in wider layers.
        """
        slope = RATIO_SLOPE * max(1.0, width / USUAL_WIDTH)
        ratio = slope * (self.contrast - RATIO_OFFSET)
        return np.where(self.is_soft, np.minimum(ratio, LARGEST_RATIO), 0.0)
