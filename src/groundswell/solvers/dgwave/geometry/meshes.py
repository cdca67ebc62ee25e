"""The elements of a mesh of hexahedra from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.case.quantities import Quantity
from groundswell.errors import InputError, counted, quoted
from groundswell.meshes.assembly import MeshGroups
from groundswell.meshes.hexahedra import AXES, Hexahedra
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.morton import BITS, encode
from groundswell.meshes.reading import read_mesh_groups
from groundswell.meshes.separate import SeparateElements
from groundswell.seismology.sources.placement import refuse_misplaced
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.equations import ABSORBING, REFLECTION
from groundswell.solvers.dgwave.geometry import MESH, Geometry
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.spectral_elements.point_location import NOWHERE, locate
from groundswell.spectral_elements.surface_location import (
    LocatedOnFaces,
    find_surface,
    locate_surface,
    top_faces,
    upward_areas,
)

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.case import DgWaveCase

ROUNDING = 1e-9  # relative, of edges
LEANING = 0.05  # horizontal share of the area of a side, from which on it leans over rock
FREE = "free-surface"  # the condition


@dataclass(frozen=True, eq=False)
class MeshGeometry(Geometry):
    """The elements of a mesh; see `Geometry`. The mesh has its own surface, and no layers around.

    Args:
        groups: the mesh, z down, and its physical groups.
        degree: degree of the elements.
        conditions: names of the boundary conditions on physical surfaces, by name of the surface.
        file: name of the file of the mesh.
    """

    groups: MeshGroups
    degree: int
    conditions: Mapping[str, str]
    file: str

    @property
    def mesh(self) -> Mesh:
        """The elements."""
        return self.groups.mesh

    @property
    def count(self) -> int:
        """Number of elements."""
        return self.mesh.count

    @property
    def connectivity(self) -> Mesh:
        """The mesh that defines the neighbours of elements."""
        return self.mesh

    @cached_property
    def hexahedra(self) -> Hexahedra:
        """The elements with their geometry, for output."""
        return SeparateElements(self.mesh)

    @property
    def outline(self) -> Hexahedra:
        """A mesh that fills the same space, as coarse as possible."""
        return self.hexahedra

    @property
    def is_curved(self) -> bool:
        """Whether elements are not bricks."""
        return True

    @property
    def _ends(self) -> list[tuple[float, float]]:
        """The lowest and the highest coordinate of nodes along x, y, z, m."""
        nodes = self.mesh.nodes.reshape(-1, AXES) + 0.0  # without negative zeros
        return list(zip(nodes.min(axis=0).tolist(), nodes.max(axis=0).tolist(), strict=True))

    # --- positions --------------------------------------------------------------------------------

    def locate(self, points: Floats) -> tuple[Integers, Floats]:
        """See `Geometry`; the element of a position outside the mesh is NOWHERE."""
        places = self.place(points)
        beside = np.asarray(np.isnan(places).any(axis=1))
        found = locate(self.mesh, np.arange(self.count), np.where(beside[:, None], 0.0, places))
        return np.where(beside, NOWHERE, found.elements), found.places

    def place(self, points: Floats) -> Floats:
        """See `Geometry`; outside the mesh, coordinates are NaN."""
        tops = find_surface(self.mesh, points[:, :2])
        return np.column_stack([points[:, :2], tops + points[:, 2]])

    def below_surface(self, points: Floats) -> Floats:
        """The inverse of `place`: x, y and depth below the surface of positions, (n, 3), m."""
        if self._level is not None:
            return np.column_stack([points[:, :2], points[:, 2] - self._level])
        # Columns of elements have few places. Finding the surface takes some 50 us for each.
        places, back = np.unique(points[:, :2], axis=0, return_inverse=True)
        tops = find_surface(self.mesh, places)[back.ravel()]
        return np.column_stack([points[:, :2], points[:, 2] - tops])

    @cached_property
    def _level(self) -> float | None:
        """z of the surface, m; None if it is not level."""
        if not self.has_surface:
            return None
        heights = self.mesh.nodes[np.unique(self._top_faces[0]), :, 2]
        on_top = (heights == heights.min()).sum(axis=1)
        is_level = bool((on_top >= (self.mesh.order + 1) ** 2).all())
        return float(heights.min()) if is_level else None

    @cached_property
    def _top_faces(self) -> tuple[Integers, Floats]:
        """See `top_faces`."""
        return top_faces(self.mesh)

    def keep_inside(self, points: Floats, origins: Floats) -> Floats:
        """Move positions x, y, depth below the surface that lie outside into the elements."""
        beside = self.locate(points)[0] == NOWHERE
        return np.where(beside[:, None], origins, points)

    def require_inside(self, survey: Survey) -> None:
        """Check that sources and receivers lie in the elements, or in the region of a grid."""
        places = np.reshape([place for _, place in survey.places], (-1, AXES))
        missing = self.outside(places)
        refuse_misplaced((survey.places[n][0], sentence) for n, sentence in missing)

    def outside(self, points: Floats) -> Iterator[tuple[int, str]]:
        """Yield the index of each position outside the mesh, and a sentence on it for messages."""
        for n in np.flatnonzero(self.locate(points)[0] == NOWHERE).tolist():
            yield n, self._outside(points[n].tolist())

    def _outside(self, place: Iterable[float]) -> str:
        """That a position x, y, depth, m, is outside the mesh, for messages."""
        x, y, depth = place
        ends = " x ".join(f"{low:g} to {high:g}" for low, high in self._ends)
        return (
            f"lies outside the mesh, at x = {x:g} m, y = {y:g} m and a depth of {depth:g} m below "
            f"its surface; the mesh extends over {ends} m, z down; move it, or enlarge the mesh"
        )

    # --- the surface ------------------------------------------------------------------------------

    def locate_surface(self, points: Floats) -> LocatedOnFaces:
        """See `Geometry`; the element of a position beside the mesh is NOWHERE."""
        return locate_surface(self.mesh, points)[1]

    @cached_property
    def has_surface(self) -> bool:
        """See `Geometry`."""
        return len(self._top_faces[0]) > 0

    @cached_property
    def surface_axes(self) -> tuple[Floats, Floats]:
        """See `Geometry`: as many points per area as N x N on each face of the surface, on average.

        Raises:
            InputError: the mesh has no surface.
        """
        elements, areas = self._top_faces
        if not self.has_surface:
            raise InputError(
                "the mesh has no surface: no boundary face lies on top of an element; z must point "
                "downwards, or leave out output.shaking_map, output.surface and maps of "
                "output.intensity"
            )
        edge = sqrt(areas.sum() / len(elements)) / self.degree
        x, y = (_centres(low, high, edge) for low, high in self._ends[: AXES - 1])
        return x, y

    # --- boundaries -------------------------------------------------------------------------------

    def in_region(self, elements: Integers) -> Mask:
        """See `Geometry`: all of them."""
        return np.ones(len(elements), bool)

    def reflection(self, elements: RankElements) -> Floats:
        """Reflection coefficients that faces have if they are boundaries, (elements, 6)."""
        tags = self.mesh.tags(elements.numbers)
        found = np.full(tags.shape, ABSORBING)
        for name, tag in self.groups.sides.items():
            found[tags == tag] = REFLECTION[self.conditions[name]]
        return found

    # --- for `groundswell check` ------------------------------------------------------------------

    def quantities(self) -> Iterator[Quantity]:
        """Number and size of the elements, for `groundswell check`."""
        text = f"{self.count:,} elements of order {self.mesh.order} from {self.file}"
        yield Quantity("elements", self.count, "mesh", text=text, group=MESH)
        ends = " x ".join(f"{low:g} to {high:g}" for low, high in self._ends)
        region = [*(low for low, _ in self._ends), *(high for _, high in self._ends)]
        yield Quantity("region", region, "region", "m", f"{ends} m, z down", MESH)
        text = f"{self.smallest:.4g} m for time steps, {self.longest.max():.4g} m the longest"
        yield Quantity("smallest", self.smallest, "elements", "m", text, MESH)

    def warnings(self, wavelength: float) -> Iterator[str]:
        """See `Geometry`: what the file holds that is ignored, and sides above rock."""
        yield from self.groups.warnings
        yield from self._leaning_sides()

    def _leaning_sides(self) -> Iterator[str]:
        """Yield for each side that leans over rock that depths count from it."""
        if FREE not in self.conditions.values():
            return
        element, face, upward, whole = upward_areas(self.mesh)
        leans = upward > LEANING * whole
        tags = self.mesh.tags(element[leans])[np.arange(leans.sum()), face[leans]]
        for name, tag in self.groups.sides.items():
            if self.conditions[name] != FREE and (count := int((tags == tag).sum())):
                yield (
                    f"{counted(count, 'face')} of surface {quoted(name)} "
                    f"({self.conditions[name]}) lie above rock: depths of sources, receivers and "
                    "faults below them count from there, not from the free surface; make the sides "
                    "of the mesh upright, or let them lean outwards"
                )


def read_mesh(case: DgWaveCase) -> MeshGeometry:
    """The elements of a case on a mesh, in Morton order of their centres.

    Raises:
        InputError: the mesh cannot be read.
    """
    groups = read_mesh_groups(case.grid.file, inner=True)
    mesh = groups.mesh if case.grid.vertical == "down" else groups.mesh.mirrored(2)
    groups, surfaces = _sorted(replace(groups, mesh=mesh)), case.boundary.surfaces
    conditions = {n: s if isinstance(s, str) else str(s.kind) for n, s in surfaces.items()}
    return MeshGeometry(groups, case.method.degree, conditions, case.grid.file.name)


def _sorted(groups: MeshGroups) -> MeshGroups:
    """The elements in Morton order of their centres."""
    middles = groups.mesh.nodes.mean(axis=1)
    low, size = middles.min(axis=0), np.ptp(middles, axis=0)
    shares = (middles - low) / np.where(size > 0, size, 1.0)
    order = np.argsort(encode((shares * (2**BITS - 1)).astype(np.int64)), kind="stable")
    return replace(groups, mesh=groups.mesh.reordered(order), volumes=groups.volumes[order])


def require_groups(key: str, given: Iterable[str], there: Iterable[str], kind: str) -> None:
    """Check that a section of a case names exactly the physical groups of a mesh.

    Args:
        key: the section.
        given: the names in the case.
        there: the names in the mesh.
        kind: what the groups are, "surface" or "volume".

    Raises:
        InputError: a name is unknown or missing.
    """
    names = sorted(there)
    if unknown := sorted(set(given) - set(names)):
        raise InputError(
            f"{key}: the mesh has no physical {kind} {unknown[0]!r}; it has "
            f"{', '.join(names) or 'none'}"
        )
    if missing := sorted(set(names) - set(given)):
        raise InputError(f"{key} lacks the physical {kind} {missing[0]!r} of the mesh; add it")


def _centres(low: float, high: float, edge: float) -> Floats:
    """The centres of equal cells between two ends that are at most about as long as `edge`."""
    count = max(1, ceil((high - low) / edge * (1 - ROUNDING)))
    return np.linspace(low, high, count, endpoint=False) + (high - low) / count / 2
