"""Absorbing layers of elements around the region, and sponges, in which all fields decay.

A profile has the values at the nodes of a line through an element along the layer's normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats, Integers, Mask
from groundswell.grids.axis import Axis
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.case.boundaries import cells_across
from groundswell.solvers.dgwave.boundaries.case import LAYERS
from groundswell.solvers.dgwave.geometry.bricks import BrickGeometry
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.solvers.dgwave.mesh.elements import RankElements

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.case import DgWaveCase

PML, SPONGE = LAYERS  # see also matched_layers.py

STRENGTH, EXPONENTS = 4.5, (2, 10)  # of sponges, see sponge_decay

ENDS = (0, 1)  # of an axis
ROUNDING = 1e-9  # of a layer's thickness


def build_grid(case: DgWaveCase) -> Bricks:
    """The elements of a case: those of the region and of the absorbing layers around it."""
    boundary, axes = case.boundary, map(Axis, case.grid.spacing)
    x, y, z = ([cells_across(boundary.width, edge) for edge in axis.ends] for axis in axes)
    if boundary.sides not in LAYERS:
        x = y = [0, 0]
    top = z[0] if boundary.top in LAYERS else 0
    bottom = z[1] if boundary.bottom in LAYERS else 0
    low, high = (x[0], y[0], top), (x[1], y[1], bottom)
    return Bricks(case.grid.cells, case.grid.spacing, before=low, after=high)


@dataclass(frozen=True, eq=False)
class LayerProfiles:
    """The layers of one kind: the profiles of elements, and the depths of their nodes.

    Args:
        rows: profile of each element along x, y, z, -1 outside of layers, (elements, 3).
        depths: of the nodes of each profile, 0 at the inner face of the layer and 1 at the outer
            one, (profiles, N + 1).
        axes: normal of the layer of each profile, (profiles,).
        thickness: of the layer of each profile, (profiles,), m.
    """

    rows: NDArray[np.int32]
    depths: Floats
    axes: Integers
    thickness: Floats


def layer_profiles(geometry: BrickGeometry, elements: RankElements, kind: str) -> LayerProfiles:
    """The layers of one kind in a rank's elements."""
    grid, sides = geometry.grid, [*_layers(geometry, kind)]
    corners = geometry.forest.boxes(elements.numbers if sides else [])
    rows = np.full((elements.count, AXES), -1, np.int32)
    depths: list[Floats] = []
    layers: list[tuple[int, float]] = []
    for axis, end in sides:
        thickness = grid.thickness(axis)[end]
        outward, face = (1, geometry.extent[axis]) if end else (-1, 0.0)
        near, far = (outward * (c[:, axis] - face) for c in (corners[1 - end], corners[end]))
        inside = far > ROUNDING * thickness
        spans = np.round(np.stack([near, far], axis=1)[inside] / thickness, 12)
        unique, number = unique_pairs(spans)
        rows[inside, axis] = len(depths) + number
        depths += [_depths(geometry.degree, span, end) for span in unique]
        layers += [(axis, thickness)] * len(unique)
    axes, thicknesses = np.array(layers).reshape(-1, 2).T
    shape = (len(depths), geometry.degree + 1)
    return LayerProfiles(rows, np.reshape(depths, shape), axes.astype(np.int64), thicknesses)


def in_layers(geometry: BrickGeometry, kind: str) -> Mask:
    """Whether each element of all ranks is in such a layer along x, y, z, (elements, 3)."""
    everyone = RankElements(geometry.connectivity, np.array([0, geometry.count]), 0)
    return layer_profiles(geometry, everyone, kind).rows >= 0


def unique_pairs(pairs: Floats) -> tuple[Floats, Integers]:
    """Distinct pairs (n, 2) in ascending order, and the index of each pair among them, (n,).

    Complex numbers sort as pairs do, and faster than rows of an array.
    """
    numbers = np.ascontiguousarray(pairs).view(np.complex128).ravel()
    unique, index = np.unique(numbers, return_inverse=True)
    return unique.view(np.float64).reshape(-1, 2), index


def has_layers(geometry: BrickGeometry, kind: str) -> bool:
    """Whether any rank has layers of this kind."""
    return any(_layers(geometry, kind))


def _layers(geometry: BrickGeometry, kind: str) -> Iterator[tuple[int, int]]:
    """Axis and end of each layer of this kind."""
    widths = (geometry.grid.before, geometry.grid.after)
    for axis in range(AXES):
        for end in ENDS:
            if geometry.conditions[2 * axis + end] == kind and widths[end][axis]:
                yield axis, end


def _depths(degree: int, span: Floats, end: int) -> Floats:
    """Depths of an element's nodes in a layer that begins and ends at `span`."""
    inside = (gll(degree).points * (1 if end else -1) + 1) / 2
    return np.asarray(span[0] + (span[1] - span[0]) * inside)


# --- sponges --------------------------------------------------------------------------------------


def strongest_decay(thickness: float | Floats, speed: float) -> Floats:
    """Rate of decay at the outer end of a sponge, 1/s.

    Args:
        thickness: of the sponge, m.
        speed: of the fastest wave, m/s.
    """
    return len(EXPONENTS) * STRENGTH * speed / np.asarray(thickness)


def sponge_damping(
    geometry: BrickGeometry, elements: RankElements, speed: float
) -> tuple[NDArray[np.int32], Floats]:
    """Damping of all fields in sponges, by profiles along the axes.

    Args:
        speed: of the fastest wave, m/s.

    Returns:
        The profile of each element along each axis, -1 outside sponges, (elements, 3); and the
        profiles at the nodes of a line, (profiles, N + 1), 1/s.
    """
    found = layer_profiles(geometry, elements, SPONGE)
    return found.rows, sponge_decay(found.depths, found.thickness, speed)


def sponge_decay(depths: Floats, thickness: float | Floats, speed: float) -> Floats:
    """Rates of decay in sponges, (sponges, nodes), 1/s: 4.5 c / L (d^2 + d^10) at the depth d.

    All fields decay at the same rate, so waves at normal incidence are not reflected. Waves at
    other angles are reflected where the rate increases, and by the absorbing boundary at the outer
    end. The square damps with a small gradient. The steep term damps near the end, where its own
    reflection passes the rest of the sponge twice. The numbers are from a search with the theory in
    verification/sponge_theory.py: at up to 45 degrees, sponges of four wavelengths or more return
    at most 0.1 % of P and S waves, and thinner ones little more than with the square alone.

    Args:
        depths: in the sponge, 0 at the inner end and 1 at the outer end, (sponges, nodes).
        thickness: of the sponges, L, m.
        speed: of the fastest wave, c, m/s.
    """
    profile = sum(depths**exponent for exponent in EXPONENTS)
    return np.asarray(STRENGTH * speed / np.asarray(thickness)[..., None] * profile)


def add_profiles(rows: NDArray[np.int32], profiles: Floats) -> tuple[NDArray[np.int32], Floats]:
    """Add the profiles along x, y and z at the nodes of elements.

    Args:
        rows: profile of each element along each axis, -1 for none, (elements, 3).
        profiles: values at the nodes of a line, (profiles, N + 1).

    Returns:
        The row of each element in the sums, -1 if it has no profile, (elements,); and the
        distinct sums, (rows, nodes).
    """
    keys, number = np.unique(_keys(rows, len(profiles)), return_inverse=True)
    none = int(keys[0] == 0)  # 1 if the first kind has no profile
    padded = np.vstack([np.zeros((1, profiles.shape[1])), profiles])
    x, y, z = padded[np.stack(np.unravel_index(keys[none:], (len(padded),) * AXES))]
    sums = x[:, None, None, :] + y[:, None, :, None] + z[:, :, None, None]
    nodes = profiles.shape[1] ** AXES
    return (number - none).astype(np.int32), sums.reshape(len(sums), nodes)


def count_sums(rows: NDArray[np.int32], profiles: int) -> int:
    """Number of the sums of `add_profiles` for a number of profiles."""
    return int(np.count_nonzero(np.unique(_keys(rows, profiles))))


def _keys(rows: NDArray[np.int32], profiles: int) -> Integers:
    """A number for the profiles of each element, ascending as they are; 0 for none, (elements,)."""
    x, y, z = rows.T.astype(np.int64) + 1
    return (x * (profiles + 1) + y) * (profiles + 1) + z
