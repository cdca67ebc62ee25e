"""Absorbing layers: the profiles of a perfectly matched layer and of a sponge."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

KAPPA_MAX = 7.0
DAMPING_POWER = 2.0
SPONGE_EDGE = 0.92  # what a sponge leaves of a value at its outer edge, each step (AWP-ODC's default)


@dataclass(frozen=True)
class MatchedLayer:
    """Complex-frequency-shifted PML along one axis: 1/s = 1 / (kappa + d / (alpha + i omega)).

    `d` grows from zero at the inner edge so that a wave at normal incidence comes back with the
    reflection that Zhang & Shen (2010, eq. 28) recommend for the width; `kappa` slows grazing
    waves; `alpha` falls from pi f at the inner edge to zero, which keeps slow waves in check.

    Args:
        before, after: cells of the layers on the low and the high side.
        kept_before, kept_after: cells there that have memory variables; at least as many. Beyond
            a layer the coefficients leave a derivative as it is.
        spacing: m.
        speed: fastest wave, m/s.
        frequency: corner of the frequency shift, Hz: about the source's dominant frequency.
    """

    before: int
    after: int
    kept_before: int
    kept_after: int
    spacing: float
    speed: float
    frequency: float

    def depth(self, offset: float) -> NDArray[np.float64]:
        """Depth into a layer over its width, in [0, 1], of values `offset` cells off each index.

        Only cells with memory are listed: the low side's, then the high side's.
        """
        low = (self.before - np.arange(self.kept_before) - offset) / max(self.before, 1)
        inner = self.kept_after - self.after
        high = (np.arange(self.kept_after) - inner + offset) / max(self.after, 1)
        return np.clip(np.concatenate([low, high]), 0.0, 1.0)

    def coefficients(self, dt: float) -> NDArray[np.float64]:
        """(8, before + after): four coefficients at faces, then the same at cell centres.

        With `q = 1 + dt/2 (alpha + d/kappa)` a derivative D and its memory A become
        `c0 D + c1 A` and `c2 A + c3 D` (trapezoidal rule for dA/dt = d/kappa D - (alpha + d/kappa) A).
        """
        return np.concatenate([self._at(self.depth(0.0), dt), self._at(self.depth(0.5), dt)])

    def _at(self, depth: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        damping = self._damping() * depth**DAMPING_POWER
        kappa = 1 + (KAPPA_MAX - 1) * depth**DAMPING_POWER
        alpha = pi * self.frequency * (1 - depth)
        rate = alpha + damping / kappa
        q = 1 + dt / 2 * rate
        return np.stack(
            [
                (1 + dt / 2 * alpha) / (kappa * q),
                -1 / (kappa * q),
                (1 - dt / 2 * rate) / q,
                dt * damping / kappa / q,
            ]
        )

    def _damping(self) -> NDArray[np.float64]:
        """Peak damping rate 1/s on each layer cell's side, from the reflection wanted."""
        low, high = (
            peak_damping(n, n * self.spacing, self.speed) if n else 0.0
            for n in (self.before, self.after)
        )
        return np.repeat([low, high], [self.kept_before, self.kept_after])


def peak_damping(cells: int, width: float, speed: float) -> float:
    """Damping rate at the outer edge, 1/s, for the reflection recommended for so many cells.

    Collino & Tsogka (2001, Geophysics 66:294): d0 = (p + 1) c / (2 L) ln(1/R), with
    log10 R = -(log10 N - 1) / log10 2 - 3 (Zhang & Shen 2010).
    """
    reflection = 10 ** (-(np.log10(cells) - 1) / np.log10(2) - 3)
    return (DAMPING_POWER + 1) * speed / (2 * width) * log(1 / reflection)


def sponge(before: int, after: int, cells: int) -> NDArray[np.float64]:
    """Factor a step along one axis (Cerjan et al. 1985): exp(-(a depth)^2), depth in cells."""
    depth = np.zeros(cells)
    if before:
        depth[:before] = np.arange(before, 0, -1) / before
    if after:
        depth[cells - after :] = np.arange(1, after + 1) / after
    return np.exp(-((sqrt(-log(SPONGE_EDGE)) * depth) ** 2))
