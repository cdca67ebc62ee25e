"""Exact reflection of scalar plane waves from a matched layer on the grid.

The wave varies as exp(i omega t - i k x) along the layer. In front of the layer it is the sum of an
incident wave, a reflected wave and two spurious waves, which the fourth-order difference adds and
which decay away from the layer. The result is exact for SH waves, and a good approximation for P
and SV waves.
"""

from __future__ import annotations

from math import pi, radians, sin

import numpy as np
from numpy.typing import NDArray

from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer
from groundswell.solvers.earthquake.stability import difference

Vector = NDArray[np.complex128]

LIMIT = 1e-3  # largest reflection coefficient of waves that count as absorbed
ANGLE = 45.0  # angle of incidence of the fastest waves, degrees
REACH = 3  # half-width of the stencil of the second-order wave equation, cells
FREE = 2 * REACH  # cells in front of the layer in which the motion is a sum of waves
LOWEST = 1e-3  # frequency over the highest one that the grid resolves
FREQUENCIES = 121  # between these two, 6 % apart


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


def absorbed_band(
    layer: MatchedLayer, dt: float, speeds: tuple[float, float], highest: float
) -> tuple[float, float] | None:
    """Lowest and highest frequency between which a layer reflects less than LIMIT, Hz.

    This holds for the fastest wave at ANGLE and for the slowest wave at normal incidence.

    Args:
        layer: the layer.
        dt: time step, s.
        speeds: speeds of the slowest and the fastest wave, m/s.
        highest: highest frequency that the grid resolves, Hz.

    Returns:
        The widest band, in octaves; None if the layer reflects more at every frequency.
    """
    slowest, fastest = speeds
    frequencies = highest * np.geomspace(LOWEST, 1.0, FREQUENCIES)
    absorbed = [
        reflection(layer, dt, fastest, f, ANGLE) < LIMIT
        and reflection(layer, dt, slowest, f) < LIMIT
        for f in frequencies
    ]
    ends = np.flatnonzero(np.diff([False, *absorbed, False])).reshape(-1, 2)
    if not len(ends):
        return None
    first, stop = max(ends.tolist(), key=lambda band: band[1] - band[0])
    return float(frequencies[first]), float(frequencies[stop - 1])


def _stretching(layer: MatchedLayer, dt: float, frequency: float) -> Vector:
    """1/s of a harmonic wave at the faces and centres of the layer at the high end, (2, width)."""
    cells = np.arange(layer.cells - layer.after, layer.cells)
    c0, c1, c2, c3 = layer.coefficients(dt, cells).reshape(2, 4, -1).swapaxes(0, 1)
    return np.asarray(c0 + c1 * c3 / (np.exp(2j * pi * frequency * dt) - c2))


def _equations(wavenumber: float, stretched: Vector) -> Vector:
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


def _waves(weights: Vector) -> list[complex]:
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
