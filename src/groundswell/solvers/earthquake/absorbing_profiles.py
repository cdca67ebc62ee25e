"""Absorbing layers: the profiles of a perfectly matched layer and of a sponge.

A matched layer divides the derivative along its axis by s = 1 + d / (alpha + i omega), d rising as
the cube of the depth into the layer: the complex-frequency-shifted layer of Kuzuoglu & Mittra
(1996) in the form of Zhang & Shen (2010), Geophysics 75, T141-T154. Its numbers minimise the exact
reflection coefficients of plane P and S waves from the discrete layer, over 6 to 120 points a
wavelength and 0 to 75 degrees, in media with vp/vs from 1.7 to 6:

- Damping. Collino & Tsogka (2001), Geophysics 66, 294-307: a continuous layer of N cells reflects R
  at normal incidence if d peaks at 4 c / (2 N h) ln(1/R); R^cos(theta) at other angles. A grid
  reflects more the more d changes from cell to cell. Both are about equal at log10 R = -0.6 N, that
  is, at the same peak whatever the width. A square instead of a cube reflects several times more.
- No real stretching. A factor kappa > 1 shortens the wavelength until the grid no longer carries
  it: kappa = 7 sends 10 % of an S wave of 8 points back. What kappa is for, waves that graze the
  layer and fields that decay into it, alpha does here.
- Shift. alpha falls linearly from the inner edge and so keeps long waves that graze the layer from
  coming back; a part that grows with d keeps very slow waves from being shortened too much.

Matched layers amplify guided waves whose phase and energy travel in opposite directions (Becache,
Fauqueux & Joly 2003, J. Comput. Phys. 188, 399-433; Skelton et al. 2007, Wave Motion 44, 573-592).
A soft layer on stiff ground has such waves. The cure is a loss of all values, equal to damping
along the other two axes too, the multiaxial layer of Meza-Fajardo & Papageorgiou (2008), BSSA 98,
1811-1836; but it ends the perfect match, so it acts in depth rows of soft ground alone: `coupling`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POWER = 3  # of the depth into a layer, by which the damping grows
DECADES_PER_CELL = 0.6  # by which each cell lowers the reflection at normal incidence
SHIFT_CORNER = 0.1  # alpha / 2 pi at the inner edge, as a share of the highest resolved frequency
SHIFT_GROWTH = 0.02  # what the damping adds to alpha, as a share of it
STABLE_CONTRAST = 2.0  # of S speeds: softer ground beside layers needs coupling
COUPLING_SLOPE = 0.01  # coupling per unit of contrast above that: 1.4 times what proved stable
COUPLING_MOST = 0.08
SPONGE_EDGE = (
    0.92  # what a sponge leaves of a value at its outer edge, each step (AWP-ODC's default)
)


@dataclass(frozen=True)
class MatchedLayer:
    """The matched layers at both ends of one axis.

    Args:
        before, after: cells of the layers on the low and the high side.
        cells: of the whole axis.
        spacing: m.
        speed: fastest wave, m/s.
        frequency: highest that the grid resolves, Hz.
    """

    before: int
    after: int
    cells: int
    spacing: float
    speed: float
    frequency: float

    def coefficients(self, dt: float, at: NDArray[np.intp]) -> Floats:
        """(8, len(at)): four coefficients at faces, the same at cell centres, of cells `at`.

        A derivative D and its memory A become `c0 D + c1 A` and `c2 A + c3 D`: the trapezoidal rule
        for D - A and dA/dt = d D - (alpha + d) A. Outside the layers A stays zero, and D as it is.
        """
        faces, centres = (self._depth(at, offset) for offset in (0.0, 0.5))
        return np.concatenate([self._at(faces, dt), self._at(centres, dt)])

    def loss(self, dt: float, at: NDArray[np.intp]) -> Floats:
        """Damping in the middle of cells `at` times the step."""
        return dt * self._damping(self._depth(at, 0.5))

    def _depth(self, n: NDArray[np.intp], offset: float) -> Floats:
        """Depth into a layer over its width, in [0, 1], of values `offset` cells off index n."""
        low = (self.before - n - offset) / max(self.before, 1)
        high = (n + offset - (self.cells - self.after)) / max(self.after, 1)
        return np.clip(np.maximum(low, high), 0.0, 1.0)

    def _damping(self, depth: Floats) -> Floats:
        """d, 1/s."""
        peak = (POWER + 1) / 2 * DECADES_PER_CELL * log(10) * self.speed / self.spacing
        return peak * depth**POWER

    def _at(self, depth: Floats, dt: float) -> Floats:
        damping = self._damping(depth)
        alpha = 2 * pi * SHIFT_CORNER * self.frequency * (1 - depth) + SHIFT_GROWTH * damping
        half, rate = dt / 2, alpha + damping
        q = 1 + half * rate
        return np.stack([(1 + half * alpha) / q, -1 / q, (1 - half * rate) / q, dt * damping / q])


def coupling(slowest: Floats, fastest: float) -> Floats:
    """Share of the sides' damping that all values of a depth row feel, zero in stiff ground.

    With S speeds 2.3, 3, 4 and 12 times below the rock's, shares of 0.002, 0.005, 0.015 and 0.06
    end the growth of backward waves in layers of 2 to 30 cells with vp/vs from 1.7 to 7.

    Args:
        slowest: S speed in each row beside the layers, m/s; infinite where all is fluid.
        fastest: S speed of the stiffest ground, m/s.
    """
    excess = fastest / slowest - STABLE_CONTRAST
    return np.clip(COUPLING_SLOPE * excess, 0.0, COUPLING_MOST)


def sponge(before: int, after: int, cells: int) -> Floats:
    """Factor a step along one axis (Cerjan et al. 1985): exp(-(a depth)^2), of the width."""
    depth = np.zeros(cells)
    if before:
        depth[:before] = np.arange(before, 0, -1) / before
    if after:
        depth[cells - after :] = np.arange(1, after + 1) / after
    return np.exp(-((sqrt(-log(SPONGE_EDGE)) * depth) ** 2))
