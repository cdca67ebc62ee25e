"""Perfectly matched layers (PML) around the region.

In a layer normal to x, derivatives along x are divided by s = 1 + d / (alpha + i w): waves of
angular frequency w decay there without a reflection at its face. With a memory variable psi for
each derivative,

    df/dx becomes df/dx + psi,   d psi / dt = -(d + alpha) psi - d df/dx.

The frequency shift alpha at the inner face absorbs static fields and waves at grazing incidence
(Kuzuoglu & Mittra, IEEE Microw. Guided Wave Lett. 6:447, 1996; Komatitsch & Martin, Geophysics
72:SM155, 2007). In the scheme, derivatives include the terms of element faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.hexahedra import Numbers
from groundswell.solvers.dgwave.damping import KINDS, LayerProfiles, layer_profiles
from groundswell.solvers.dgwave.elements import RankElements

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

Floats = NDArray[np.float64]

# The damping d rises with this power of the depth in a layer, and lets a wave at normal incidence
# return with this amplitude.
POWER, RETURNED = 3, 1e-4
SHIFT = 2.0  # frequency shift at the inner face over 2 pi / duration: it falls linearly to 0
HIGHEST_SHIFT = 0.1  # its upper limit over 2 pi times the highest frequency that elements resolve


@dataclass(frozen=True, eq=False)
class MatchedLayers:
    """The matched layers of a rank's elements: a set of memory variables for each axis of a layer.

    Args:
        sets: number of the set of each element along x, y, z, -1 outside of layers, (elements, 3).
        numbers: of the rank's sets among those of all ranks, (sets,).
        total: number of sets of all ranks.
        rows: profile of each set, (sets,).
        profiles: d and d + alpha at the nodes of a line, (profiles, 2, N + 1), 1/s.
    """

    sets: NDArray[np.int32]
    numbers: Numbers
    total: int
    rows: NDArray[np.int32]
    profiles: Floats


def strongest_damping(thickness: float | Floats, speed: float) -> Floats:
    """Damping d at the outer face of a layer, 1/s.

    Args:
        thickness: of the layer, m.
        speed: of the fastest wave, m/s.
    """
    return np.asarray((POWER + 1) * speed * log(1 / RETURNED) / (2 * np.asarray(thickness)))


def matched_layers(setup: Setup, elements: RankElements) -> MatchedLayers | None:
    """The matched layers of a rank's elements; None if no rank has any."""
    boundary = setup.case.boundary
    if KINDS[0] not in (boundary.top, boundary.sides, boundary.bottom):
        return None
    found = layer_profiles(setup, elements, KINDS[0])
    in_layers = layer_profiles(setup, _all_elements(setup), KINDS[0]).rows >= 0
    numbers = np.cumsum(in_layers.ravel()).reshape(in_layers.shape) - 1
    is_set = found.rows >= 0
    sets = np.full(found.rows.shape, -1, np.int32)
    sets[is_set] = np.arange(is_set.sum())
    return MatchedLayers(
        sets,
        numbers[elements.numbers][is_set],
        int(in_layers.sum()),
        found.rows[is_set],
        _profiles(setup, found),
    )


def _all_elements(setup: Setup) -> RankElements:
    """All elements on one rank, which has them in the order of their numbers."""
    return RankElements(setup.connectivity, np.array([0, setup.count]), 0)


def _profiles(setup: Setup, found: LayerProfiles) -> Floats:
    damping = strongest_damping(found.thickness, setup.statistics.vp_max)
    d = damping[:, None] * found.depths**POWER
    highest = HIGHEST_SHIFT * setup.resolved_frequency
    shift = 2 * pi * min(SHIFT / setup.case.time.duration, highest) * (1 - found.depths)
    return np.stack([d, d + shift], axis=1)
