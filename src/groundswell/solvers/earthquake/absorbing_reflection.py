"""Exact reflection of scalar plane waves from a matched layer on the grid.

The wave varies as exp(i omega t - i k x) along the layer. In front of the layer it is the sum of an
incident wave, a reflected wave and two spurious waves, which the fourth-order difference adds and
which decay away from the layer. The result is exact for SH waves, and a good approximation for P
and SV waves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import pi, radians, sin

import numpy as np

from groundswell.arrays import Complexes, Mask
from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer
from groundswell.solvers.earthquake.stability import difference

LIMITS = (1e-3, 3e-3, 1e-2, 3e-2, 0.1)  # of the reflection; the first with a wide band applies
WIDE = 3.0  # highest over lowest frequency of a wide band, at least
ANGLE = 45.0  # angle of incidence of the fastest waves, degrees
REACH = 3  # half-width of the stencil of the second-order wave equation, cells
FREE = 2 * REACH  # cells in front of the layer in which the motion is a sum of waves
LOWEST = 1e-3  # frequency over the highest one that the grid resolves
FREQUENCIES = 121  # between these two, 6 % apart


@dataclass(frozen=True)
class AbsorbedBand:
    """Frequencies at which a layer reflects only a small fraction of plane waves.

    Args:
        lowest, highest: ends of the band, Hz.
        reflection: upper limit of the reflection coefficient in the band.
    """

    lowest: float
    highest: float
    reflection: float


def reflection(
    layer: MatchedLayer, dt: float, speed: float, frequency: float, angle: float = 0.0
) -> float:
    """Reflection coefficient (magnitude) of a plane wave at the layer at the high end of its axis.

    Args:
        layer: the layer.
        dt: time step, s.
        speed: speed of the wave, m/s.
        frequency: frequency of the wave, Hz.
        angle: angle of incidence, degrees.
    """
    omega = 2 / dt * sin(pi * frequency * dt) * layer.spacing / speed  # radians per cell
    stretched = _stretching(layer, dt, frequency)
    matrix = _equations(omega * np.cos(radians(angle)), stretched)
    arriving, *others = _waves(matrix[REACH, : 2 * REACH + 1])
    cells = np.arange(FREE)
    motions = np.eye(len(matrix), len(matrix) - REACH, REACH - FREE, dtype=complex)
    motions[:FREE, :REACH] = np.power.outer(others, cells).T
    source = matrix[REACH:, :FREE] @ arriving**cells
    return float(abs(np.linalg.solve(matrix[REACH:] @ motions, -source)[0]))


@lru_cache(maxsize=32)  # most runs of an ensemble have the same layers
def absorbed_band(
    layer: MatchedLayer, dt: float, speeds: tuple[float, float], highest: float
) -> AbsorbedBand | None:
    """Frequencies that a layer absorbs.

    In the band, the reflection coefficients of the fastest wave at ANGLE and of the slowest wave at
    normal incidence are below a limit. It is the first of LIMITS for which the highest frequency is
    at least WIDE times the lowest.

    Args:
        layer: the layer.
        dt: time step, s.
        speeds: speeds of the slowest and the fastest wave, m/s.
        highest: highest frequency that the grid resolves, Hz.

    Returns:
        The widest band, in octaves, of this limit; None if no limit has a wide band.
    """
    slowest, fastest = speeds
    frequencies = highest * np.geomspace(LOWEST, 1.0, FREQUENCIES)
    reflected = np.array(
        [
            max(reflection(layer, dt, fastest, f, ANGLE), reflection(layer, dt, slowest, f))
            for f in frequencies
        ]
    )
    for limit in LIMITS:
        first, last = _longest_run(reflected < limit)
        if frequencies[last] >= WIDE * frequencies[first]:
            return AbsorbedBand(float(frequencies[first]), float(frequencies[last]), limit)
    return None


def _longest_run(values: Mask) -> tuple[int, int]:
    """First and last index of the longest run of true values; (0, 0) without one."""
    ends = np.flatnonzero(np.diff([False, *values, False])).reshape(-1, 2)
    first, stop = max(ends.tolist(), key=lambda run: run[1] - run[0], default=(0, 1))
    return first, stop - 1


def _stretching(layer: MatchedLayer, dt: float, frequency: float) -> Complexes:
    """1/s of a harmonic wave at the faces and centres of the layer at the high end, (2, width)."""
    cells = np.arange(layer.cells - layer.after, layer.cells)
    c0, c1, c2, c3 = layer.coefficients(dt, cells).reshape(2, 4, -1).swapaxes(0, 1)
    return np.asarray(c0 + c1 * c3 / (np.exp(2j * pi * frequency * dt) - c2))


def _equations(wavenumber: float, stretched: Complexes) -> Complexes:
    """Matrix of the equations of motion of the free cells and of the layer, (n, n).

    Args:
        wavenumber: wavenumber normal to the layer, radians per cell.
        stretched: 1/s at the faces and centres of the layer, (2, width).
    """
    faces, centres = np.concatenate([np.ones((2, FREE)), stretched], axis=1)
    down = difference(len(faces))
    return np.asarray(
        wavenumber**2 * np.eye(len(faces)) - (centres[:, None] * down) @ (faces[:, None] * down.T)
    )


def _waves(weights: Complexes) -> list[complex]:
    """Factors from one cell to the next of the waves in front of a layer.

    They are roots of the equation of motion.

    Args:
        weights: coefficients of the equation of motion of a free cell, (2 REACH + 1,).

    Returns:
        The factors of the incident wave, the reflected wave and the two that decay away from the
        layer.
    """
    factors = np.roots(weights)
    one, other, *rest = factors[np.abs(np.abs(factors) - 1).argsort()]
    arriving, returning = (one, other) if one.imag < 0 else (other, one)
    return [arriving, returning, *(factor for factor in rest if abs(factor) > 1)]
