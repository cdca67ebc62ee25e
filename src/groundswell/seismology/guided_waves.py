"""Stability of matched layers next to soft ground, which guides waves.

Matched layers amplify guided waves with opposite phase and group velocities (Becache, Fauqueux &
Joly 2003, J. Comput. Phys. 188, 399-433; Skelton et al. 2007, Wave Motion 44, 573-592). A soft
layer on stiff ground guides waves of this kind near the resonance of P waves in the layer. A stiff
plate on soft ground does so, too. Two measures together suppress the growth:

- Frequency shift. A constant part of alpha, in proportion to the resonance frequency, reduces the
  amplification at this frequency. It also weakens the absorption of longer waves; the axial damping
  is increased to compensate. The resonance frequency of thin soft layers can exceed the frequencies
  that the grid resolves. The shift is then limited, and multiaxial damping is increased instead.
  Only the evanescent tails of guided waves reach the layer at the bottom, so a fraction of the
  shift is enough there.
- Multiaxial damping. All fields are also damped at a fraction of the axial damping, the damping
  ratio (multiaxial PML: Meza-Fajardo & Papageorgiou 2008, BSSA 98, 1811-1836). Such a layer is no
  longer perfectly matched; it reflects long surface waves in proportion to the ratio. This damping
  acts in the depth rows of soft ground and in all rows above them.

Larger contrasts amplify waves more. The damping ratio and the shift therefore increase with the
contrast, up to limits. The constants are a compromise between two aims. Misfits next to the layers
are small for soft ground of 6 to 22 cells. All motion decays over 50,000 steps in soft layers of 3
to 22 cells with contrasts from 1.12 to 12 and vp/vs from 1.7 to 7, in a low-speed channel and in a
gradient, next to matched layers of 4 to 30 cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, pi

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.seismology.media.statistics import SideSpeeds

STABLE_CONTRAST = 1.1  # largest contrast of speeds at which a plain matched layer is stable
# Constant part of alpha at the sides over the angular frequency of the resonance
# = slope (contrast - offset), up to a limit.
SHIFT_SLOPE, SHIFT_OFFSET, MOST_SHIFT = 0.65, 0.4, 1.4
SHIFT_BELOW = 0.2  # constant part of alpha at the bottom over that at the sides
HIGHEST_SIDE_SHIFT = 0.4  # upper limit over the highest angular frequency that the grid resolves
# Damping ratio = slope (contrast - offset) exp(-decay shift / resonance), between 0 and a limit.
RATIO_SLOPE, RATIO_OFFSET, RATIO_DECAY = 0.003, 1.2, 2.6
LARGEST_RATIO = 0.08
REFERENCE_WIDTH = 12  # cells; the slope increases in proportion to the width of wider layers
# Factor of the axial damping = gain / contrast, between 1 and a limit.
DAMPING_GAIN, MOST_DAMPING = 5.5, 3.0


@dataclass(frozen=True)
class SoftGround:
    """The soft depth rows at the sides of a medium.

    Args:
        sides: speeds in the outermost cells.
        fastest: speed of the fastest S wave of the medium, m/s.
        spacing: height of all rows, or of each, (nz,), m.
        resolved: highest frequency that the grid resolves, Hz.
    """

    sides: SideSpeeds
    fastest: float
    spacing: float | Floats
    resolved: float

    @property
    def contrast(self) -> Floats:
        """Speed of the fastest S wave over that of the slowest wave at the sides, (nz,)."""
        return self.fastest / self.sides.slowest

    @property
    def is_soft(self) -> Mask:
        """Whether a row is soft ground, (nz,)."""
        return self.contrast > STABLE_CONTRAST

    @property
    def resonance(self) -> float:
        """Angular frequency of the resonance, rad/s; zero without soft ground.

        A quarter of its period is the travel time of a vertical P wave through all soft rows.
        """
        if not self.is_soft.any():
            return 0.0
        return float(pi / 2 / (self.spacing / self.sides.vp)[self.is_soft].sum())

    @property
    def side_shift(self) -> float:
        """Constant part of alpha in the layers at the sides, 1/s; zero without soft ground."""
        per_resonance = min(SHIFT_SLOPE * (self.contrast.max() - SHIFT_OFFSET), MOST_SHIFT)
        return min(per_resonance * self.resonance, HIGHEST_SIDE_SHIFT * 2 * pi * self.resolved)

    @property
    def damping_factor(self) -> float:
        """Factor of the axial damping; 1 without soft ground.

        It compensates for the shift, which weakens the absorption. It decreases with the contrast,
        because damping that varies strongly over a wavelength reflects slow waves.
        """
        if not self.resonance:
            return 1.0
        return float(np.clip(DAMPING_GAIN / self.contrast.max(), 1.0, MOST_DAMPING))

    def frequency_shift(self, axis: int) -> float:
        """Constant part of alpha in the layers along an axis, 1/s."""
        return self.side_shift if axis < 2 else SHIFT_BELOW * self.side_shift

    def damping_ratio(self, width: int) -> Floats:
        """Ratio of multiaxial to axial damping in each row next to layers of `width` cells, (nz,).

        It increases with the width, because waves are amplified over a longer distance. A row has
        at least the ratio of the rows below it.
        """
        if not self.resonance:
            return np.zeros_like(self.contrast)
        slope = RATIO_SLOPE * exp(-RATIO_DECAY * self.side_shift / self.resonance)
        ratio = slope * max(1.0, width / REFERENCE_WIDTH) * (self.contrast - RATIO_OFFSET)
        soft = np.where(self.is_soft, np.clip(ratio, 0.0, LARGEST_RATIO), 0.0)
        return np.maximum.accumulate(soft[::-1])[::-1]
