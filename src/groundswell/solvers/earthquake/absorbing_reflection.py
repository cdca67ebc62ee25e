"""What a matched layer returns: the exact reflection of scalar plane waves from its grid.

The wave varies as exp(i omega t - i k x) along the layer. On a line across it, a source radiates
towards the layer. The same line with a long, gently growing absorber instead gives the direct wave;
the difference is the reflection. This is exact for SH waves and close for P and SV waves, for which
the layer acts on the same differences.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer

Vector = NDArray[np.complex128]

LIMIT = 1e-3  # reflection that counts as absorbed
ANGLE = 45.0  # of incidence of the fastest waves, degrees
LENGTH = 200  # cells of the absorbers at the ends of the line
FREE = 12  # cells between them
SOURCE, RECEIVERS = LENGTH + 2, slice(LENGTH + 4, LENGTH + FREE)
LOSS = 28.0  # of a wave in such an absorber and back: exp(-LOSS) at normal incidence
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
    gentle = _absorber(omega)
    before = np.concatenate([np.flip(gentle, 1), np.ones((2, FREE))], axis=1)
    # A face lies half a cell before its centre, so the mirrored absorber changes their places.
    before[:, :LENGTH] = before[::-1, :LENGTH]
    along = omega * sin(radians(angle))
    motions = [
        _motion(omega, along, np.concatenate([before, end], axis=1))[RECEIVERS]
        for end in (_stretching(layer, dt, frequency), gentle)
    ]
    returned = np.abs(motions[0] - motions[1]).max()
    return float(returned / np.abs(motions[1]).max())


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


def _absorber(omega: float) -> Vector:
    """1/s at faces and centres of a long layer whose damping grows as the cube of depth."""
    depth = (np.arange(LENGTH) + np.array([[0.0], [0.5]])) / LENGTH
    # An oblique wave of normal wavenumber omega cos(ANGLE) loses LOSS in any case.
    peak = max(12.0, 2 * LOSS / (omega * LENGTH * cos(radians(ANGLE))))
    return np.asarray(1 / (1 - 1j * peak * depth**3))


def _motion(omega: float, along: float, inverse: Vector) -> Vector:
    """Motion at the centres of a line of cells; `inverse` is 1/s at faces and centres."""
    n = inverse.shape[1]
    a, b = 9 / 8, 1 / 24
    to_faces = sp.diags_array([b, -a, a, -b], offsets=[-2, -1, 0, 1], shape=(n, n))
    to_centres = sp.diags_array([b, -a, a, -b], offsets=[-1, 0, 1, 2], shape=(n, n))
    faces, centres = (sp.diags_array(values) for values in inverse)
    matrix = (omega**2 - along**2) * sp.eye_array(n) + centres @ to_centres @ faces @ to_faces
    source = np.zeros(n, complex)
    source[SOURCE] = 1.0
    return np.asarray(splu(matrix.tocsc(), permc_spec="NATURAL").solve(source))
