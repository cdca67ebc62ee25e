"""What a matched layer returns: the exact reflection of scalar plane waves from its grid.

The wave varies as exp(i omega t - i k x) along the layer. Before the layer it is the sum of the
wave that arrives, the one that returns, and two that the fourth-order difference adds and that
decay away from the layer. This is exact for SH waves and close for P and SV waves, for which the
layer acts on the same differences.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, radians, sin

import numpy as np
from numpy.typing import NDArray

from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer
from groundswell.solvers.earthquake.stability import difference

Vector = NDArray[np.complex128]

LIMIT = 1e-3  # reflection that counts as absorbed
ANGLE = 45.0  # of incidence of the fastest waves, degrees
REACH = 3  # cells from a cell to the furthest one that acts on it
FREE = 2 * REACH  # cells before the layer in which the motion is a sum of waves
BISECTIONS = 12  # of the logarithm of frequency; resolve 0.1 % of three decades


def reflection(
    layer: MatchedLayer, dt: float, speed: float, frequency: float, angle: float = 0.0
) -> float:
    """Amplitude that the layer at the high end of its axis returns of a plane wave.

    Args:
        dt: time step, s.
        speed: of the wave, m/s.
        frequency: of the wave, Hz.
        angle: of incidence, degrees.
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
    """Lowest and highest frequency of the waves of which a layer returns less than LIMIT, Hz.

    Args:
        dt: time step, s.
        speeds: of the slowest and the fastest wave, m/s.
        highest: highest frequency that the grid resolves, Hz.

    Returns:
        None if the layer returns more at every frequency.
    """
    slowest, fastest = speeds
    low = _edge(lambda f: reflection(layer, dt, fastest, f, ANGLE), highest, highest / 1e3)
    if low is None:
        return None
    # From there up, short slow waves are the first to be returned.
    high = _edge(lambda f: reflection(layer, dt, slowest, f), low, highest)
    return None if high is None else (low, high)


def _edge(returned: Callable[[float], float], inside: float, outside: float) -> float | None:
    """Frequency nearest to `outside` at which a layer absorbs, searched from `inside`."""
    if returned(outside) < LIMIT:
        return outside
    if returned(inside) >= LIMIT:
        return None
    for _ in range(BISECTIONS):
        middle = (inside * outside) ** 0.5
        if returned(middle) < LIMIT:
            inside = middle
        else:
            outside = middle
    return inside


def _stretching(layer: MatchedLayer, dt: float, frequency: float) -> Vector:
    """1/s of a harmonic wave at the faces and centres of the high layer, (2, width)."""
    cells = np.arange(layer.cells - layer.after, layer.cells)
    c0, c1, c2, c3 = layer.coefficients(dt, cells).reshape(2, 4, -1).swapaxes(0, 1)
    return np.asarray(c0 + c1 * c3 / (np.exp(2j * pi * frequency * dt) - c2))


def _equations(wavenumber: float, stretched: Vector) -> Vector:
    """Equations of motion of the free cells and those of the layer, (n, n).

    Args:
        wavenumber: of the wave across the layer, radians per cell.
        stretched: 1/s at the faces and centres of the layer, (2, width).
    """
    faces, centres = np.concatenate([np.ones((2, FREE)), stretched], axis=1)
    down = difference(len(faces))
    return np.asarray(
        wavenumber**2 * np.eye(len(faces)) - (centres[:, None] * down) @ (faces[:, None] * down.T)
    )


def _waves(weights: Vector) -> list[complex]:
    """Factors from cell to cell of the waves before a layer, which solve an equation of motion.

    Returns:
        The wave that arrives, the one that returns and the two that decay away from the layer.
    """
    factors = np.roots(weights)
    one, other, *rest = factors[np.abs(np.abs(factors) - 1).argsort()]
    arriving, returning = (one, other) if one.imag < 0 else (other, one)
    return [arriving, returning, *(factor for factor in rest if abs(factor) > 1)]
