"""Profiles of absorbing layers: a perfectly matched layer (PML) and a sponge.

A matched layer divides the derivative along its axis by s = 1 + d / (alpha + i omega), where d
grows as the cube of the depth into the layer. This is the complex-frequency-shifted PML of Kuzuoglu
& Mittra (1996) in the form of Zhang & Shen (2010), Geophysics 75, T141-T154. Its parameters
minimise the exact reflection coefficients of plane P and S waves from the discrete layer, over 6 to
120 points per wavelength and 0 to 75 degrees, in media with vp/vs from 1.7 to 6:

- Damping. Collino & Tsogka (2001), Geophysics 66, 294-307: a continuous layer of N cells reflects R
  at normal incidence if d peaks at 4 c / (2 N h) ln(1/R), and R^cos(theta) at other angles. A grid
  reflects more the more d changes from cell to cell. Both reflections are about equal at log10 R =
  -0.6 N, that is, at the same peak whatever the width. A square instead of a cube reflects several
  times more.
- No real stretching. A factor kappa > 1 shortens the wavelength until the grid no longer resolves
  it: kappa = 7 reflects 10 % of an S wave of 8 points. The purpose of kappa, to absorb waves at
  grazing incidence and evanescent fields, is served by alpha here.
- Shift. alpha falls linearly from the inner edge, which absorbs long waves at grazing incidence. A
  part that grows with d limits the shortening of very slow waves.

Matched layers amplify guided waves with opposite phase and group velocities (Becache, Fauqueux &
Joly 2003, J. Comput. Phys. 188, 399-433; Skelton et al. 2007, Wave Motion 44, 573-592). A soft
layer on stiff ground guides such waves. The cure is the multiaxial PML of Meza-Fajardo &
Papageorgiou (2008), BSSA 98, 1811-1836, which adds a share of the damping along the other two axes.
It is no longer perfectly matched, so it is used in depth rows of soft ground only; see
`damping_ratio`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POWER = 3  # exponent of the damping profile
DECADES_PER_CELL = 0.6  # reduction of the reflection at normal incidence
SHIFT_CORNER = 0.1  # alpha / 2 pi at the inner edge over the highest resolved frequency
SHIFT_GROWTH = 0.02  # increase of alpha over the damping
STABLE_CONTRAST = 2.0  # largest contrast of S speeds at which a plain PML is stable
DAMPING_RATIO_SLOPE = 0.01  # per unit of contrast above that; 1.4 times the stable minimum
LARGEST_DAMPING_RATIO = 0.08
SPONGE_EDGE = 0.92  # factor per step at the outer edge of a sponge (default of AWP-ODC)


@dataclass(frozen=True)
class MatchedLayer:
    """The matched layers at both ends of one axis.

    Args:
        before, after: width of the layers on the low and the high side, cells.
        cells: number of cells along the axis, layers included.
        spacing: cell edge, m.
        speed: speed of the fastest wave, m/s.
        frequency: highest frequency that the grid resolves, Hz.
    """

    before: int
    after: int
    cells: int
    spacing: float
    speed: float
    frequency: float

    def coefficients(self, dt: float, cells: NDArray[np.intp]) -> Floats:
        """Update coefficients of `cells` (n,): (8, n), four at faces, then four at cell centres.

        A derivative D and its memory variable A become `c0 D + c1 A` and `c2 A + c3 D`: the
        trapezoidal rule for D - A and dA/dt = d D - (alpha + d) A. Outside the layers A stays zero
        and D does not change.

        Args:
            dt: time step, s.
            cells: indices along the axis.
        """
        faces, centres = (self._depth(cells, offset) for offset in (0.0, 0.5))
        return np.concatenate([self._update(faces, dt), self._update(centres, dt)])

    def damping(self, dt: float, cells: NDArray[np.intp]) -> Floats:
        """Damping d at the centres of `cells` (n,) times the time step `dt` (s): (n,)."""
        return dt * self._damping(self._depth(cells, 0.5))

    def _depth(self, n: NDArray[np.intp], offset: float) -> Floats:
        """Relative depth into a layer, 0 to 1, of values `offset` cells after index `n`."""
        low = (self.before - n - offset) / max(self.before, 1)
        high = (n + offset - (self.cells - self.after)) / max(self.after, 1)
        return np.clip(np.maximum(low, high), 0.0, 1.0)

    def _damping(self, depth: Floats) -> Floats:
        """Damping d at relative depths, 1/s."""
        peak = (POWER + 1) / 2 * DECADES_PER_CELL * log(10) * self.speed / self.spacing
        return peak * depth**POWER

    def _update(self, depth: Floats, dt: float) -> Floats:
        damping = self._damping(depth)
        alpha = 2 * pi * SHIFT_CORNER * self.frequency * (1 - depth) + SHIFT_GROWTH * damping
        half, rate = dt / 2, alpha + damping
        q = 1 + half * rate
        return np.stack([(1 + half * alpha) / q, -1 / q, (1 - half * rate) / q, dt * damping / q])


def damping_ratio(slowest: Floats, vs_max: float) -> Floats:
    """Ratio of multiaxial to axial damping in each depth row, (n,); zero in stiff ground.

    For contrasts of S speed of 2.3, 3, 4 and 12, ratios of 0.002, 0.005, 0.015 and 0.06 suppress
    the growth of backward waves in layers of 2 to 30 cells with vp/vs from 1.7 to 7.

    Args:
        slowest: smallest S speed next to the layers in each row, (n,), m/s; infinite in fluids.
        vs_max: largest S speed of the medium, m/s.
    """
    excess = vs_max / slowest - STABLE_CONTRAST
    return np.clip(DAMPING_RATIO_SLOPE * excess, 0.0, LARGEST_DAMPING_RATIO)


def sponge(before: int, after: int, cells: int) -> Floats:
    """Damping factor per step along one axis, (cells,): exp(-(a depth)^2), Cerjan et al. (1985).

    Args:
        before, after: width of the sponge on the low and the high side, cells.
        cells: number of cells along the axis.
    """
    depth = np.zeros(cells)
    if before:
        depth[:before] = np.arange(before, 0, -1) / before
    if after:
        depth[cells - after :] = np.arange(1, after + 1) / after
    return np.exp(-((sqrt(-log(SPONGE_EDGE)) * depth) ** 2))
