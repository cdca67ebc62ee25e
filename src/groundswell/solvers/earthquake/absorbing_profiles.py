"""Profiles of absorbing layers: a perfectly matched layer (PML) and a sponge.

A matched layer divides the derivative along its axis by s = 1 + d / (alpha + i omega), where d
grows as the cube of the depth into the layer. This is the complex-frequency-shifted PML of Kuzuoglu
& Mittra (1996) in the form of Zhang & Shen (2010), Geophysics 75, T141-T154. Its parameters follow
from the exact reflection coefficients of plane P and S waves from the discrete layer, in media with
vp/vs from 1.7 to 6:

- Damping. Collino & Tsogka (2001), Geophysics 66, 294-307: a continuous layer of N cells reflects R
  at normal incidence if d peaks at 4 c / (2 N h) ln(1/R), and R^cos(theta) at other angles. A grid
  reflects more the more d changes from cell to cell. With log10 R = -0.6 N, that is, with the same
  peak whatever the width, both reflections are small. R need not be less than 1e-8. A quadratic
  profile reflects several times more than a cubic one. A uniform frequency shift weakens the
  absorption of long waves, so the damping then has an additional factor.
- No real stretching. A factor kappa > 1 shortens the wavelength until the grid no longer resolves
  it: kappa = 7 reflects 10 % of an S wave of 8 points. The purpose of kappa, to absorb waves at
  grazing incidence and evanescent fields, is served by alpha here.
- Frequency shift. For frequencies below alpha / 2 pi, the stretching s is almost real, and a layer
  reflects waves instead of absorbing them. So alpha must be small compared with the angular
  frequency of the longest waves. It must not be zero, because alpha at the inner edge absorbs
  static fields. It falls linearly to zero, so that the strongly damped outer cells also absorb long
  waves. With alpha = 4 pi f at the inner edge, a layer of 10 cells reflects less than 0.1 % at the
  frequency f, at normal incidence and at 45 degrees.

Next to soft ground, stable layers need further measures; see guided_waves.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from groundswell.arrays import Floats, Indices

POWER = 3  # exponent of the damping profile
DECADES_PER_CELL = 0.6  # reduction of the reflection at normal incidence
MOST_DECADES = 8.0  # limit of wide layers, without a uniform shift; R = 1e-8 suffices
SPONGE_EDGE = 0.92  # factor per step at the outer edge of a sponge (default of AWP-ODC)


@dataclass(frozen=True)
class MatchedLayer:
    """The matched layers at both ends of one axis.

    Args:
        before, after: width of the layers on the low and the high side, cells.
        cells: number of cells along the axis, layers included.
        spacing: cell edge, m.
        speed: speed of the fastest wave, m/s.
        shift: part of the frequency shift alpha that falls linearly from this value at the inner
            edge to zero at the outer one, 1/s.
        uniform_shift: constant part of alpha, 1/s.
        factor: factor by which the damping is multiplied.
    """

    before: int
    after: int
    cells: int
    spacing: float
    speed: float
    shift: float
    uniform_shift: float = 0.0
    factor: float = 1.0

    def coefficients(self, dt: float, cells: Indices) -> Floats:
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

    def damping(self, dt: float, cells: Indices) -> Floats:
        """Damping d at the centres of `cells` (n,) times the time step `dt` (s): (n,)."""
        return dt * self._damping(self._depth(cells, 0.5))

    def _depth(self, n: Indices, offset: float) -> Floats:
        """Relative depth into a layer, 0 to 1, of values `offset` cells after index `n`."""
        low = (self.before - n - offset) / max(self.before, 1)
        high = (n + offset - (self.cells - self.after)) / max(self.after, 1)
        return np.clip(np.maximum(low, high), 0.0, 1.0)

    @property
    def decades(self) -> float:
        """-log10 of the reflection of a continuous layer at normal incidence, without a shift."""
        return self.factor * min(DECADES_PER_CELL * self._width, MOST_DECADES)

    @property
    def _width(self) -> int:
        return max(self.before, self.after, 1)

    def _damping(self, depth: Floats) -> Floats:
        """Damping d at relative depths, 1/s."""
        loss = (POWER + 1) / 2 * self.decades * log(10)
        return loss * self.speed / (self._width * self.spacing) * depth**POWER

    def _update(self, depth: Floats, dt: float) -> Floats:
        damping = self._damping(depth)
        alpha = self.shift * (1 - depth) + self.uniform_shift
        half, rate = dt / 2, alpha + damping
        q = 1 + half * rate
        return np.stack([(1 + half * alpha) / q, -1 / q, (1 - half * rate) / q, dt * damping / q])


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
