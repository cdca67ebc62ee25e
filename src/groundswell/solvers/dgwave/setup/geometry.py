"""Positions and shapes of the elements of a grid; a base class of the set-up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from groundswell.grids.geography import Geography
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra, Numbers
from groundswell.meshes.leaves import Leaves
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.octree import Forest
from groundswell.seismology.guided_waves import SoftGround
from groundswell.seismology.media.material import Medium
from groundswell.seismology.topography import build_elevation
from groundswell.solvers.dgwave.boundaries.matched_layers import (
    MatchedLayers,
    field_damping,
    in_matched_layers,
    matched_layers,
    soft_ground,
    total_decay,
)
from groundswell.solvers.dgwave.equations import REFLECTION
from groundswell.solvers.dgwave.materials.statistics import ElementStatistics
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.solvers.dgwave.mesh.curved import CurvedElements
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.solvers.dgwave.mesh.forest import build_forest
from groundswell.solvers.dgwave.mesh.topography import Surface
from groundswell.solvers.dgwave.recording.lattice import OFFSET
from groundswell.spectral_elements.surface_location import LocatedOnFaces

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

Floats = NDArray[np.float64]

TOP = 4  # the face of a brick at its lowest z, see `face_nodes`


class ElementGeometry:
    """Geometry of the elements of a grid; see `Setup` for the attributes."""

    case: Any
    grid: Bricks
    geography: Geography | None
    media: Sequence[Medium]
    statistics: ElementStatistics

    @property
    def degree(self) -> int:
        """Degree of the elements."""
        return int(self.case.method.degree)

    @property
    def extent(self) -> tuple[float, float, float]:
        """Size of the region (x, y, z), m."""
        return self.grid.size

    @cached_property
    def forest(self) -> Forest:
        """The elements: refined bricks, including absorbing layers."""
        return build_forest(self.case, self.grid, self.media, self.surface)

    @property
    def connectivity(self) -> Forest | Mesh:
        """The mesh that defines the neighbours of elements."""
        return self.forest

    @property
    def count(self) -> int:
        """Number of elements."""
        return self.connectivity.count

    @cached_property
    def surface(self) -> Surface | None:
        """The surface along which elements are stretched; None if it is flat."""
        if self.case.topography is None:
            return None
        elevation = build_elevation(self.case.topography, self.extent[:2], self.geography)
        surface = Surface(elevation, self.grid, self.degree)
        surface.require_valid(periodic=self.case.boundary.sides == "periodic")
        return surface

    @cached_property
    def hexahedra(self) -> Hexahedra:
        """The elements with their geometry, for output."""
        if self.surface is None:
            return Leaves(self.forest)
        return Leaves(self.forest, self.surface.deform, self.degree)

    @property
    def outline(self) -> Hexahedra:
        """A mesh that fills the same space, as coarse as possible."""
        if self.is_curved:
            return self.hexahedra
        x, y, z = self.forest.edges
        low, high = ((float(x[n]), float(y[n]), float(z[n])) for n in (0, -1))
        return Box((1, 1, 1), low, high)

    @property
    def is_curved(self) -> bool:
        """Whether elements are not bricks."""
        return self.surface is not None

    @cached_property
    def shapes(self) -> CurvedElements:
        """Geometry of elements that are not bricks."""
        return CurvedElements(self.hexahedra, self.degree)

    def locate(self, points: Floats) -> tuple[Numbers, Floats]:
        """The elements that hold positions, and reference coordinates in them.

        Args:
            points: x, y and depth below the surface, (n, 3), m. Positions outside the mesh are
                moved to its boundary.

        Returns:
            (n,) and (n, 3).
        """
        inside = points if self.surface is None else self.surface.bricks_of(points)
        low, high = (np.array([line[n] for line in self.forest.edges]) for n in (0, -1))
        leaves = self.forest.locate(np.clip(inside, low, high))
        lower, upper = self.forest.boxes(leaves)
        return leaves, np.clip(2 * (inside - lower) / (upper - lower) - 1, -1.0, 1.0)

    def reflection(self, elements: RankElements) -> Floats:
        """Reflection coefficients that faces have if they are boundaries, (elements, 6)."""
        boundary = self.case.boundary
        ends = [*[boundary.sides] * 4, boundary.top, boundary.bottom]
        return np.broadcast_to([REFLECTION[end] for end in ends], (elements.count, len(ends)))

    def locate_surface(self, points: Floats) -> LocatedOnFaces:
        """The faces of the surface at positions (x, y), (n, 2), m."""
        # Layers may lie above the surface.
        below = np.full(len(points), OFFSET * self._setup.smallest)
        leaves, places = self.locate(np.column_stack([points, below]))
        return LocatedOnFaces(leaves, np.full(len(leaves), TOP), places[:, :2])

    @cached_property
    def surface_axes(self) -> tuple[Floats, Floats]:
        """x and y of the surface points, m.

        The points are the centres of N x N cells on each element of `[grid]`, where N is the
        degree.
        """
        x, y = (
            axis.divided(self.degree).at(np.arange(0.5, count * self.degree))
            for axis, count in zip(self.grid.axes[:2], self.grid.region[:2], strict=True)
        )
        return x, y

    @cached_property
    def has_default_map(self) -> bool:
        """Whether a shaking map is recorded by default: no water reaches the surface."""
        return bool(np.all(self.media[0].plane(0).vs > 0))

    @property
    def edges(self) -> Floats:
        """Edge lengths that limit time steps, (elements, 3), m; see `CurvedElements`."""
        if self.is_curved:
            return self.shapes.edges
        lower, upper = self.forest.boxes()
        return upper - lower

    @property
    def longest(self) -> Floats:
        """The longest edge of each element, (elements,), m."""
        return self.shapes.longest if self.is_curved else self.edges.max(axis=1)

    def place(self, points: Floats) -> Floats:
        """Coordinates x, y, z of positions (x, y, depth below the surface), (n, 3), m."""
        return points if self.surface is None else self.surface.place(points)

    def bottom(self, points: Floats) -> Floats:
        """Depth of the region's bottom below the surface at positions (x, y, any), (n,), m."""
        if self.surface is None:
            return np.full(len(points), self.extent[2])
        return self.surface.bottom(*points[:, :2].T)

    def keep_inside(self, points: Floats, origins: Floats) -> Floats:
        """Move positions (x, y, depth below the surface) that lie outside the region back into it.

        Args:
            origins: where they were before they were moved.
        """
        depth = np.clip(points[:, 2], 0.0, self.bottom(points))
        return np.column_stack([points[:, :2], depth])

    def below_surface(self, points: Floats) -> Floats:
        """The inverse of `place`: x, y and depth below the surface of positions, (n, 3), m."""
        if self.surface is None:
            return points
        x, y, z = points.T
        beside = (np.clip(at, 0.0, end) for at, end in zip((x, y), self.extent, strict=False))
        return np.column_stack([x, y, z + self.surface.height(*beside)])

    # --- absorbing layers -------------------------------------------------------------------------

    @cached_property
    def soft_ground(self) -> SoftGround | None:
        """See `matched_layers.soft_ground`."""
        return soft_ground(self._setup)

    @property
    def decay(self) -> float:
        """See `total_decay`."""
        return total_decay(self._setup)

    def damping(self, elements: RankElements) -> tuple[NDArray[np.int32] | None, Floats]:
        """See `field_damping`."""
        return field_damping(self._setup, elements)

    def matched_layers(self, elements: RankElements) -> MatchedLayers | None:
        """See `matched_layers`."""
        return matched_layers(self._setup, elements)

    @cached_property
    def layer_axes(self) -> Numbers:
        """The number of axes to which matched layers with an element are normal, (elements,)."""
        return np.asarray(in_matched_layers(self._setup).sum(axis=1))

    @property
    def layer_sets(self) -> int:
        """Number of sets of memory variables of matched layers, on all ranks."""
        return int(self.layer_axes.sum())

    @property
    def _setup(self) -> Setup:
        return cast("Setup", self)
