"""The elements of a grid: bricks, which may be halved, and stretched below a topography."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.case.quantities import Quantity
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import describe_grid, format_extent
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.meshes.leaves import Leaves
from groundswell.meshes.octree import Forest
from groundswell.seismology.media.material import Medium
from groundswell.seismology.sources.placement import refuse_misplaced, require_sources_inside
from groundswell.seismology.survey import Survey
from groundswell.seismology.topography import build_elevation
from groundswell.solvers.dgwave.equations import REFLECTION
from groundswell.solvers.dgwave.geometry import MESH, OFFSET, Geometry
from groundswell.solvers.dgwave.geometry.terrain import terrain_quantities, terrain_warnings
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.solvers.dgwave.mesh.forest import build_forest
from groundswell.solvers.dgwave.mesh.topography import SurfacePolynomials
from groundswell.spectral_elements.surface_location import LocatedOnFaces

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.case import DgWaveCase

TOP = 4  # the face of a brick at its lowest z, see `face_nodes`
DEPTH_ROUNDING = 1e-3  # m


@dataclass(frozen=True, eq=False)
class BrickGeometry(Geometry):
    """The elements of a grid; see `Geometry`.

    Args:
        grid: the elements of the region and of the absorbing layers around it.
        forest: the same elements, some of which are halved.
        surface: the surface along which elements are stretched; None if it is flat.
        degree: degree of the elements.
        conditions: names of the boundary conditions at the low and the high end of x, y and z.
    """

    grid: Bricks
    forest: Forest
    surface: SurfacePolynomials | None
    degree: int
    conditions: Sequence[str]

    @property
    def extent(self) -> tuple[float, float, float]:
        """Size of the region (x, y, z), m."""
        return self.grid.size

    @property
    def count(self) -> int:
        """Number of elements."""
        return self.forest.count

    @property
    def connectivity(self) -> Forest:
        """The mesh that defines the neighbours of elements."""
        return self.forest

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

    @property
    def edges(self) -> Floats:
        """Edge lengths that limit time steps, (elements, 3), m; see `CurvedElements`."""
        if self.is_curved:
            return super().edges
        lower, upper = self.forest.boxes()
        return upper - lower

    # --- positions --------------------------------------------------------------------------------

    def locate(self, points: Floats) -> tuple[Integers, Floats]:
        """The elements that hold positions, and reference coordinates in them."""
        inside = points if self.surface is None else self.surface.bricks_of(points)
        low, high = (np.array([line[n] for line in self.forest.edges]) for n in (0, -1))
        leaves = self.forest.locate(np.clip(inside, low, high))
        lower, upper = self.forest.boxes(leaves)
        return leaves, np.clip(2 * (inside - lower) / (upper - lower) - 1, -1.0, 1.0)

    def place(self, points: Floats) -> Floats:
        """Coordinates x, y, z of positions (x, y, depth below the surface), (n, 3), m."""
        return points if self.surface is None else self.surface.place(points)

    def below_surface(self, points: Floats) -> Floats:
        """The inverse of `place`: x, y and depth below the surface of positions, (n, 3), m."""
        if self.surface is None:
            return points
        x, y, z = points.T
        beside = (np.clip(at, 0.0, end) for at, end in zip((x, y), self.extent, strict=False))
        return np.column_stack([x, y, z + self.surface.height(*beside)])

    def bottom(self, points: Floats) -> Floats:
        """Depth of the region's bottom below the surface at positions (x, y, any), (n,), m."""
        if self.surface is None:
            return np.full(len(points), self.extent[2])
        return self.surface.bottom(*points[:, :2].T)

    def keep_inside(self, points: Floats, origins: Floats) -> Floats:
        """Move positions x, y, depth below the surface that lie outside into the elements."""
        depth = np.clip(points[:, 2], 0.0, self.bottom(points))
        return np.column_stack([points[:, :2], depth])

    def require_inside(self, survey: Survey) -> None:
        """See `Geometry`; the bottom of the region is less deep below valleys."""
        require_sources_inside(survey.entries, self.extent)
        if self.surface is None or not survey.places:
            return
        names, points = zip(*survey.places, strict=True)
        self._require_above_the_bottom(names, np.array(points))

    def _require_above_the_bottom(self, names: Sequence[str], points: Floats) -> None:
        depth, floor = points[:, 2], self.bottom(points)
        refuse_misplaced(
            (
                names[n],
                f"lies below the region, which is {floor[n]:g} m deep there, at a depth of "
                f"{depth[n]:g} m; move it, or enlarge grid.size",
            )
            for n in np.flatnonzero(depth > floor + DEPTH_ROUNDING).tolist()
        )

    # --- the surface ------------------------------------------------------------------------------

    def locate_surface(self, points: Floats) -> LocatedOnFaces:
        """The faces of the surface at positions (x, y), (n, 2), m."""
        below = np.full(len(points), OFFSET * self.smallest)  # layers may lie above the surface
        leaves, places = self.locate(np.column_stack([points, below]))
        return LocatedOnFaces(leaves, np.full(len(leaves), TOP), places[:, :2])

    @cached_property
    def surface_axes(self) -> tuple[Floats, Floats]:
        """See `Geometry`: the centres of N x N cells on each element of `[grid]`, of degree N."""
        x, y = (
            axis.divided(self.degree).at(np.arange(0.5, count * self.degree))
            for axis, count in zip(self.grid.axes[:2], self.grid.region[:2], strict=True)
        )
        return x, y

    # --- boundaries -------------------------------------------------------------------------------

    def cells(self, elements: Integers) -> Integers:
        """Indices (x, y, z) of the grid cells that contain elements, (n, 3)."""
        return self.forest.anchors(elements) >> self.forest.max_level

    def in_region(self, elements: Integers) -> Mask:
        """Which elements lie in the region rather than in layers around it, (elements,)."""
        if self.grid.cells == self.grid.region:
            return np.ones(len(elements), bool)
        cells = self.cells(elements) - np.array(self.grid.before)
        return np.asarray(((cells >= 0) & (cells < self.grid.region)).all(axis=1))

    def reflection(self, elements: RankElements) -> Floats:
        """Reflection coefficients that faces have if they are boundaries, (elements, 6)."""
        ends = [REFLECTION[end] for end in self.conditions]
        return np.broadcast_to(ends, (elements.count, len(ends)))

    # --- for `groundswell check` ------------------------------------------------------------------

    def quantities(self) -> Iterator[Quantity]:
        """Number and size of the elements, for `groundswell check`."""
        grid = self.grid
        text = describe_grid(grid.cells, grid.spacing, "elements of {} m") + ", layers included"
        yield Quantity("grid", grid.cells, "grid", text=text, group=MESH)
        total = self.count
        text = f"{total:,}, the smallest of {self.smallest:g} m" if total > grid.count else ""
        yield Quantity("elements", total, "halved elements" * bool(text), text=text, group=MESH)
        size = [length / 1e3 for length in grid.size]
        region = f"{format_extent(grid.region)} elements, {format_extent(size)} km"
        yield Quantity("region", grid.region, "region", "elements", region, MESH)
        yield Quantity("spacing", grid.spacing, unit="m", group=MESH)
        if self.surface is not None:
            yield from terrain_quantities(self.surface, MESH)

    def warnings(self, wavelength: float) -> Iterator[str]:
        """Reasons to expect poor results, each with its remedy."""
        if self.surface is not None:
            yield from terrain_warnings(self.surface, wavelength)


def build_bricks(
    case: DgWaveCase, grid: Bricks, media: Sequence[Medium], comm: Communicator | None = None
) -> BrickGeometry:
    """The elements of a case on a grid.

    Args:
        grid: the elements of the region and of the absorbing layers, before any is halved.
        media: average materials by which elements are halved, see `build_media`.
        comm: the ranks, each of which reads a part of the media; None for a single rank.

    Raises:
        InputError: the topography or the file of a forest cannot be used.
    """
    surface, boundary = build_surface(case, grid), case.boundary
    forest = build_forest(case, grid, media, surface, comm)
    conditions = [*[boundary.sides] * 4, boundary.top, boundary.bottom]
    return BrickGeometry(grid, forest, surface, case.method.degree, conditions)


def build_surface(case: DgWaveCase, grid: Bricks) -> SurfacePolynomials | None:
    """The surface of a case's topography; None if it is flat.

    Raises:
        InputError: the topography cannot be read, or is too rough or too high for the elements.
    """
    if case.topography is None:
        return None
    elevation = build_elevation(case.topography, grid.size[:2], case.grid.frame)
    surface = SurfacePolynomials(elevation, grid, case.method.degree)
    surface.require_valid(periodic=case.boundary.sides == "periodic")
    return surface
