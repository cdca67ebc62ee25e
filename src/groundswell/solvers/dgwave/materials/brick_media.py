"""The media of a grid: averages over its elements, and over elements halved once or more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.hexahedra import Numbers
from groundswell.meshes.octree import Forest
from groundswell.seismology.media.build import build_medium
from groundswell.seismology.media.material import Material, Medium
from groundswell.seismology.media.statistics import physical_plane
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.solvers.dgwave.mesh.forest import deepest_level

Floats = NDArray[np.float64]

USED = ("vp", "vs", "rho")  # of a material
QUALITY = ("qp", "qs")  # with attenuation too
# Nodes at faces are moved inwards by this fraction of half an edge, so that they lie inside an
# interface on the face. It exceeds the distance at which interfaces count as on a face, see
# `Profile`.
INWARDS = 1e-8
# Number of positions at which the medium is sampled at a time. They take about 100 MB. Of a file,
# their depths are read once.
SAMPLES = 2**20


def build_media(case: Any, grid: Bricks) -> list[Medium]:
    """The media of the region's elements, and of elements halved once, twice and so on.

    Raises:
        InputError: the data are unreadable, incomplete or do not cover the region.
    """
    return [_medium(case, grid, level) for level in range(deepest_level(case, grid) + 1)]


def _medium(case: Any, grid: Bricks, level: int) -> Medium:
    nx, ny, nz = (n << level for n in grid.region)
    hx, hy, hz = (axis.divided(2**level).spacing for axis in grid.axes)
    return build_medium(case.medium, (nx, ny, nz), (hx, hy, hz), case.grid.frame)


def read_material(
    forest: Forest, grid: Bricks, media: Sequence[Medium], leaves: Numbers, names: Sequence[str]
) -> Material:
    """Properties of elements; absorbing layers continue the outermost elements of the region."""
    found = {name: np.empty(len(leaves)) for name in names}
    levels, anchors = forest.levels[leaves], forest.anchors(leaves)
    for level in np.unique(levels):
        chosen = np.flatnonzero(levels == level)
        cells = anchors[chosen] >> (forest.max_level - int(level))
        inside = grid.nearest(cells - np.array(grid.before) * 2**level, level)
        _read(media[level], inside, {name: (v, chosen) for name, v in found.items()})
    return Material(**found)


def _read(medium: Medium, cells: Numbers, into: Mapping[str, tuple[Floats, Numbers]]) -> None:
    """Read properties of cells, (n, 3), into arrays at given indices, by name.

    Quality factors that the medium lacks are infinite.
    """
    nx, ny, _ = medium.cells
    for k in np.unique(cells[:, 2]):
        row = np.flatnonzero(cells[:, 2] == k)
        plane, (x, y) = physical_plane(medium, int(k)).given(), cells[row, :2].T
        for name, (array, places) in into.items():
            values = plane.get(name, np.array(np.inf))
            array[places[row]] = np.broadcast_to(values, (ny, nx))[y, x]
