"""Perfectly matched layers (PML) around the region.

In a layer normal to x, derivatives along x are divided by s = 1 + d / (alpha + i w). Waves of
angular frequency w decay in the layer, without a reflection at its inner face. With a memory
variable psi for each derivative,

    df/dx becomes df/dx + psi,   d psi / dt = -(d + alpha) psi - d df/dx.

The frequency shift alpha at the inner face absorbs static fields and waves at grazing incidence
(Kuzuoglu & Mittra, IEEE Microw. Guided Wave Lett. 6:447, 1996; Komatitsch & Martin, Geophysics
72:SM155, 2007). Derivatives include the terms of element faces. Next to soft ground, layers need
further measures; see seismology/guided_waves.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log, pi
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.seismology.guided_waves import LARGEST_RATIO, SoftGround
from groundswell.seismology.media.statistics import SideSpeeds
from groundswell.solvers.dgwave.boundaries.layers import (
    PML,
    SPONGE,
    LayerProfiles,
    add_profiles,
    has_layers,
    layer_profiles,
    sponge_damping,
    strongest_decay,
)
from groundswell.solvers.dgwave.mesh.elements import RankElements

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

Floats = NDArray[np.float64]

# The damping d increases with this power of the depth in a layer. A wave at normal incidence
# returns with this amplitude.
POWER, RETURNED = 3, 1e-4
SHIFT = 2.0  # frequency shift at the inner face over 2 pi / duration; falls linearly to 0
HIGHEST_SHIFT = 0.1  # its upper limit over 2 pi times the highest frequency that elements resolve


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
    numbers: Numbers
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


def soft_ground(setup: Setup) -> SoftGround | None:
    """Soft ground next to matched layers at the sides; None in fluids.

    Rows are as high as the smallest elements in these layers, which may be halved.
    """
    if not setup.statistics.vs_max or setup.case.boundary.sides != PML:
        return None
    beside = _beside(setup)
    faces, material = _row_faces(setup), setup.material(beside)
    lower, upper = (corners[:, 2] for corners in setup.forest.boxes(beside))
    slowest = setup.statistics.slowest[beside]
    rows = [(lower < below) & (upper > above) for above, below in pairwise(faces)]
    sides = SideSpeeds(*(np.array([v[row].min() for row in rows]) for v in (slowest, material.vp)))
    return SoftGround(sides, setup.statistics.vs_max, np.diff(faces), setup.resolved_frequency)


def _beside(setup: Setup) -> Numbers:
    """The elements of all ranks in matched layers at the sides."""
    return np.flatnonzero(in_matched_layers(setup)[:, :2].any(axis=1))


def _row_faces(setup: Setup) -> Floats:
    """Depths of the horizontal faces of these elements in the region, ascending, m."""
    corners = np.stack(setup.forest.boxes(_beside(setup)))[..., 2]
    return np.unique(np.clip(corners, 0.0, setup.extent[2]))


def field_damping(setup: Setup, elements: RankElements) -> tuple[NDArray[np.int32] | None, Floats]:
    """Damping of all fields, in sponges and next to soft ground: rows and rates, see `Terms`.

    The rows are None if there is no damping on any rank.
    """
    ground = setup.soft_ground
    is_soft = ground is not None and ground.resonance > 0
    if not is_soft and not has_layers(setup, SPONGE):
        return None, np.empty((0, (setup.degree + 1) ** AXES))
    (rows, sponge), (others, multiaxial) = (
        kind(setup, elements) for kind in (sponge_damping, multiaxial_damping)
    )
    moved = np.where(others < 0, -1, others + len(sponge))
    profiles = np.concatenate([sponge, multiaxial])
    return add_profiles(np.where(rows < 0, moved, rows).astype(np.int32), profiles)


def multiaxial_damping(setup: Setup, elements: RankElements) -> tuple[NDArray[np.int32], Floats]:
    """Damping of all fields next to soft ground: rows and profiles, see `sponge_damping`.

    It is a fraction of the damping d that depends on the depth.
    """
    found, ground = layer_profiles(setup, elements, PML), setup.soft_ground
    rows, none = np.full(found.rows.shape, -1, np.int32), np.empty((0, setup.degree + 1))
    if ground is None:
        return rows, none
    ratios = ground.damping_ratio(_cells(setup))
    tops = setup.forest.boxes(elements.numbers)[0][:, 2]
    row = np.searchsorted(_row_faces(setup), tops, side="right") - 1
    ratio = ratios[np.clip(row, 0, len(ratios) - 1)]
    element, axis = np.nonzero((found.rows[:, :2] >= 0) & (ratio > 0)[:, None])
    if not len(element):
        return rows, none
    kinds = np.stack([found.rows[element, axis], ratio[element]], axis=1)
    unique, number = np.unique(kinds, axis=0, return_inverse=True)
    rows[element, axis] = number.ravel()
    return rows, unique[:, 1:] * _damping(setup, found)[unique[:, 0].astype(int)]


def total_decay(setup: Setup) -> float:
    """An upper bound for the rate of decay in layers, 1/s.

    At corners, the damping of sponges along all axes adds up, and so does the multiaxial damping of
    matched layers. Each memory variable of matched layers belongs to one axis.
    """
    grid, speed, ground = setup.grid, setup.statistics.vp_max, setup.soft_ground
    layers = [[t for t in grid.thickness(axis) if t] for axis in range(AXES)]
    thickness = np.array([min(ends) for ends in layers if ends])
    sponge = strongest_decay(thickness, speed).sum() if has_layers(setup, SPONGE) else 0.0
    if not has_layers(setup, PML):
        return float(sponge)
    damping = strongest_damping(thickness, speed)
    if ground is None:
        return float(max(sponge, damping.max(initial=0.0)))
    damping = ground.damping_factor * damping
    shifted = damping.max() + ground.side_shift + LARGEST_RATIO * damping.sum()
    return float(max(sponge, shifted))


def _cells(setup: Setup) -> int:
    """Number of intervals between nodes across the layers at the sides."""
    return max(*setup.grid.before[:2], *setup.grid.after[:2]) * setup.degree


def matched_layers(setup: Setup, elements: RankElements) -> MatchedLayers | None:
    """The matched layers of a rank's elements; None if no rank has any."""
    if not has_layers(setup, PML):
        return None
    found, in_layers = layer_profiles(setup, elements, PML), in_matched_layers(setup)
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


def in_matched_layers(setup: Setup) -> NDArray[np.bool_]:
    """Whether each element of all ranks is in a matched layer along x, y, z, (elements, 3)."""
    everyone = RankElements(setup.connectivity, np.array([0, setup.count]), 0)
    return layer_profiles(setup, everyone, PML).rows >= 0


def _profiles(setup: Setup, found: LayerProfiles) -> Floats:
    d, ground = _damping(setup, found), setup.soft_ground
    highest = HIGHEST_SHIFT * setup.resolved_frequency
    shift = 2 * pi * min(SHIFT / setup.case.time.duration, highest) * (1 - found.depths)
    if ground:
        uniform = np.array([ground.frequency_shift(axis) for axis in range(AXES)])
        shift += uniform[found.axes][:, None]
    return np.stack([d, d + shift], axis=1)


def _damping(setup: Setup, found: LayerProfiles) -> Floats:
    """The damping d of each profile, (profiles, N + 1), 1/s."""
    ground = setup.soft_ground
    factor = ground.damping_factor if ground else 1.0
    strongest = factor * strongest_damping(found.thickness, setup.statistics.vp_max)
    return np.asarray(strongest[:, None] * found.depths**POWER)
