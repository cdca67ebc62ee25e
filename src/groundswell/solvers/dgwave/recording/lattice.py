"""The points of the surface at which motion is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from groundswell.arrays import Floats, HostArray, Integers
from groundswell.grids.geography import Geography
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.case.outputs import SurfaceOutput
from groundswell.seismology.formats.shaking_maps import SurfacePoints
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.setup import Setup
from groundswell.spectral_elements.point_location import NOWHERE
from groundswell.spectral_elements.surface_location import LocatedOnFaces

PEAKS = 2  # values of a point in a shaking map: of velocity and of acceleration


def surface_axes(geometry: Geometry, stride: int = 1) -> tuple[Floats, Floats]:
    """x and y of every `stride`-th surface point, m."""
    x, y = geometry.surface_axes
    return x[::stride], y[::stride]


def surface_points(geometry: Geometry, stride: int = 1) -> int:
    """Number of surface points, including those outside the mesh."""
    x, y = surface_axes(geometry, stride)
    return x.size * y.size


def intensity_points(setup: Setup) -> int:
    """Number of points of maps of intensity measures; 0 without such maps."""
    section = setup.case.output.intensity
    return surface_points(setup.geometry) if section and section.maps else 0


def has_shaking_map(setup: Setup) -> bool:
    """Whether a shaking map is recorded."""
    wanted = setup.case.output.shaking_map
    return setup.materials.elements.medium.has_dry_surface if wanted is None else wanted


def sample_bytes(section: SurfaceOutput, geometry: Geometry, dtype: str) -> int:
    """Size of one sample of the surface, bytes."""
    return surface_points(geometry, section.stride) * AXES * np.dtype(dtype).itemsize


@dataclass(frozen=True, eq=False)
class Lattice:
    """The regular points of the surface, and those in a rank's elements.

    Args:
        x, y: coordinates of the rows and columns of points, m.
        inside: indices of the points in the mesh among all, x fastest, (count,).
        mine: indices of this rank's points among those, (points,).
        located: where those lie in this rank's elements.
    """

    x: Floats
    y: Floats
    inside: Integers
    mine: Integers
    located: LocatedOnFaces

    @classmethod
    def of(cls, geometry: Geometry, numbers: Integers, stride: int = 1) -> Self:
        """Every `stride`-th point; `numbers` are those of the rank's elements."""
        x, y = surface_axes(geometry, stride)
        flat = [axis.ravel() for axis in np.meshgrid(x, y)]
        found = geometry.locate_surface(np.stack(flat, axis=-1))
        inside = np.flatnonzero(found.elements != NOWHERE)
        rows = np.full(geometry.count, NOWHERE)
        rows[numbers] = np.arange(len(numbers))
        own = rows[found.elements[inside]]
        mine = np.flatnonzero(own != NOWHERE)
        return cls(x, y, inside, mine, found.of(inside[mine], own[mine]))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of all points along y and x."""
        return self.y.size, self.x.size

    @property
    def count(self) -> int:
        """Number of points in the mesh."""
        return len(self.inside)

    def whole(self, values: HostArray) -> HostArray:
        """Values (..., count) as arrays (..., ny, nx), NaN at points outside the mesh."""
        found = np.full((*values.shape[:-1], self.x.size * self.y.size), np.nan, values.dtype)
        found[..., self.inside] = values
        return found.reshape(*values.shape[:-1], *self.shape)

    def points(self, geography: Geography | None) -> SurfacePoints:
        """All points, for files."""
        return SurfacePoints.at(self.x, self.y, geography)
