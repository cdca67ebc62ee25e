"""Perfectly matched layers (PML) around the region.

In a layer normal to x, derivatives along x are divided by s = 1 + d / (alpha + i w). Waves of
angular frequency w decay in the layer, without a reflection at its inner face. With a memory
variable psi for each derivative,

    df/dx becomes df/dx + psi,   d psi / dt = -(d + alpha) psi - d df/dx.

The frequency shift alpha at the inner face absorbs static fields and waves at grazing incidence
(Kuzuoglu & Mittra, IEEE Microw. Guided Wave Lett. 6:447, 1996; Komatitsch & Martin, Geophysics
72:SM155, 2007), and keeps layers stable in long runs. Derivatives include the terms of element
faces. Next to soft ground, layers need further measures; see seismology/guided_waves.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats, Integers

# The damping d increases with this power of the depth in a layer. A wave at normal incidence
# returns with this amplitude.
POWER, RETURNED = 3, 1e-4
SHIFT = 2.0  # frequency shift at the inner face over 2 pi / duration; falls linearly to 0
HIGHEST_SHIFT = 0.1  # its upper limit over 2 pi times the highest frequency that elements resolve
# Its lower limit over the speed of P waves and the thickness. With less, motion that is slow for a
# layer grows in it: a permanent displacement in half-spaces of 6 x 6 x 6 elements of degree 4 grows
# with 0.25 and 0.5 within ten seconds, and decays with 1.
LEAST_SHIFT = 1.5


@dataclass(frozen=True, eq=False)
class MatchedLayers:
    """The matched layers of a rank's elements.

    An element has a set of memory variables for each axis to which a layer is normal.

    Args:
        sets: index of the set of each element along x, y, z, -1 outside layers, (elements, 3).
        numbers: indices of the rank's sets among those of all ranks, (sets,).
        total: number of sets on all ranks.
        rows: profile of each set, (sets,).
        profiles: d and d + alpha at the nodes of a line, (profiles, 2, N + 1), 1/s.
    """

    sets: NDArray[np.int32]
    numbers: Integers
    total: int
    rows: NDArray[np.int32]
    profiles: Floats


def strongest_damping(thickness: float | Floats, speed: float) -> Floats:
    """Damping d at the outer face of a layer without soft ground, 1/s.

    Args:
        thickness: of the layer, m.
        speed: of the fastest wave, m/s.
    """
    return np.asarray((POWER + 1) * speed * log(1 / RETURNED) / (2 * np.asarray(thickness)))
