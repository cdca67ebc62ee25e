"""The media of a grid: averages over its elements, and over elements halved once or more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.exchange.communicator import Communicator
from groundswell.grids.axis import Spacings
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.octree import Forest
from groundswell.seismology.media.build import build_media as build_grid_media
from groundswell.seismology.media.material import (
    Counts,
    Material,
    Medium,
    sample_points,
    solid_at_points,
)
from groundswell.seismology.media.statistics import physical_plane
from groundswell.solvers.dgwave.geometry.bricks import BrickGeometry
from groundswell.solvers.dgwave.materials.averages import KeptAverages
from groundswell.solvers.dgwave.materials.case import VolumesSection
from groundswell.solvers.dgwave.materials.properties import INWARDS, USED
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.solvers.dgwave.mesh.forest import deepest_level

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.case import DgWaveCase


@dataclass(frozen=True, eq=False)
class BrickMedia:
    """The media of a grid, at positions in elements and averaged over elements.

    Args:
        geometry: the elements.
        media: average materials of the region's elements, and of elements halved once, twice and
            so on; see `build_media`.
        names: the properties that averages have.
        varies: whether the medium may vary inside elements.
    """

    geometry: BrickGeometry
    media: Sequence[Medium]
    names: Sequence[str]
    varies: bool

    @property
    def has_dry_surface(self) -> bool:
        """Whether there is a surface that no water reaches."""
        return bool(np.all(self.media[0].plane(0).vs > 0))

    def average(self, elements: Integers) -> Material:
        """The average material of elements, arrays (elements,)."""
        return self._averages.at(elements)

    @cached_property
    def _averages(self) -> KeptAverages:
        forest, grid = self.geometry.forest, self.geometry.grid

        def read(elements: Integers) -> Material:
            return read_material(forest, grid, self.media, elements, self.names)

        return KeptAverages(self.geometry.count, self.names, read)

    def sample(self, elements: Integers, places: Floats) -> Material:
        """See `ElementMedium`; layers continue the region."""
        points = self._points(elements, places)
        found = sample_points(self.media[0], points.reshape(-1, AXES))
        shape = points.shape[:2]
        return Material(**{n: getattr(found, n).reshape(shape) for n in USED})

    def is_solid(self, elements: Integers, places: Floats) -> Mask:
        """Whether the medium is solid at positions in elements, (elements, places)."""
        points = self._points(elements, places)
        found = solid_at_points(self.media[0], points.reshape(-1, AXES))
        return found.reshape(points.shape[:2])

    def _points(self, elements: Integers, places: Floats) -> Floats:
        """Positions in the region, or nearest in it, of places in elements, (elements, places, 3).

        They lie slightly inside the elements, see `INWARDS`.
        """
        grid = self.geometry.grid
        lower, upper = self.geometry.forest.boxes(elements)
        half = (upper - lower)[:, None] / 2
        points = lower[:, None] + half * (1 + (1 - INWARDS) * places)
        low, high = INWARDS * np.array([axis.ends for axis in grid.axes]).T / 2
        return np.clip(points, low, np.array(grid.size) - high)


def build_media(case: DgWaveCase, grid: Bricks, comm: Communicator | None = None) -> list[Medium]:
    """The media of the region's elements, and of elements halved once, twice and so on.

    All ranks must call this.

    Raises:
        InputError: the data are unreadable, incomplete or do not cover the region.
    """
    assert not isinstance(case.medium, VolumesSection)  # which are those of a mesh
    grids = [_halved(grid, level) for level in range(deepest_level(case, grid) + 1)]
    return build_grid_media(case.medium, grids, case.grid.frame, comm)


def _halved(grid: Bricks, level: int) -> tuple[Counts, Spacings]:
    """The number of elements along x, y and z that are halved this many times, and their edges."""
    nx, ny, nz = (n << level for n in grid.region)
    hx, hy, hz = (axis.divided(2**level).spacing for axis in grid.axes)
    return (nx, ny, nz), (hx, hy, hz)


def read_material(
    forest: Forest, grid: Bricks, media: Sequence[Medium], leaves: Integers, names: Sequence[str]
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


def _read(medium: Medium, cells: Integers, into: Mapping[str, tuple[Floats, Integers]]) -> None:
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
