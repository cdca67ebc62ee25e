"""Host-side preparation of cases on a mesh of hexahedra from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.case.quantities import Quantity
from groundswell.errors import InputError, counted
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.gmsh import GmshGroups, read_gmsh_groups
from groundswell.meshes.hexahedra import AXES, Hexahedra, Numbers
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.morton import BITS, encode
from groundswell.meshes.separate import SeparateElements
from groundswell.seismology.case.media import HomogeneousSection
from groundswell.seismology.case.sources import AwpRupture
from groundswell.seismology.media.build import build_sampled
from groundswell.seismology.media.cellwise import ArrayMedium
from groundswell.seismology.media.material import Mask, Material
from groundswell.seismology.media.statistics import physical_plane
from groundswell.seismology.sources.placement import refuse_misplaced
from groundswell.solvers.dgwave.boundaries.case import SpongeSection
from groundswell.solvers.dgwave.boundaries.surface_sponges import SurfaceSponges
from groundswell.solvers.dgwave.equations import ABSORBING, REFLECTION
from groundswell.solvers.dgwave.materials.case import VolumesSection
from groundswell.solvers.dgwave.materials.volume_media import VolumeMedia
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.solvers.dgwave.setup.bricks import Setup
from groundswell.solvers.dgwave.setup.quantities import MESH
from groundswell.spectral_elements.point_location import NOWHERE, locate
from groundswell.spectral_elements.surface_location import (
    LocatedOnFaces,
    find_surface,
    locate_surface,
    top_faces,
)

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # relative, of edges


@dataclass(frozen=True)
class UnstructuredSetup(Setup):
    """A case on a mesh; its elements are in Morton order of their centres.

    Args:
        groups: the mesh and its physical groups.
        volume_media: the media of its volumes.
    """

    groups: GmshGroups
    volume_media: VolumeMedia

    def _require_positions(self) -> None:
        """Check that sources and receivers lie in the mesh."""
        places = self._positions
        missing = np.flatnonzero(self.locate(np.array([p for _, p in places]))[0] == NOWHERE)
        refuse_misplaced((places[n][0], self._outside(places[n][1])) for n in missing)

    def _outside(self, place: Iterable[float]) -> str:
        """That a position x, y, depth, m, is outside the mesh, for messages."""
        x, y, depth = place
        ends = " x ".join(f"{low:g} to {high:g}" for low, high in self._ends)
        return (
            f"lies outside the mesh, at x = {x:g} m, y = {y:g} m and a depth of {depth:g} m below "
            f"its surface; the mesh extends over {ends} m, z down; move it, or enlarge the mesh"
        )

    def _locate_inside(self, points: Floats) -> tuple[Numbers, Floats]:
        """See `ElementMaterials`; sources need their material before positions are checked."""
        leaves, places = self.locate(points)
        if (missing := np.flatnonzero(leaves == NOWHERE)).size:
            raise InputError(f"the source {self._outside(points[missing[0]])}")
        return leaves, places

    @cached_property
    def _positions(self) -> list[tuple[str, tuple[float, float, float]]]:
        """Names and positions of receivers and sources."""
        found = [(f"receiver {r.name}", r.position) for r in self.receivers]
        for n, entry in enumerate(self.source_entries):
            found += [(f"source[{n}]", point.position) for point in entry.points]
        return found

    # --- mesh -------------------------------------------------------------------------------------

    @property
    def mesh(self) -> Mesh:
        """The elements."""
        return self.groups.mesh

    @property
    def _ends(self) -> list[tuple[float, float]]:
        """The lowest and the highest coordinate of nodes along x, y, z, m."""
        nodes = self.mesh.nodes.reshape(-1, AXES)
        return list(zip(nodes.min(axis=0).tolist(), nodes.max(axis=0).tolist(), strict=True))

    @property
    def connectivity(self) -> Mesh:
        """See `Setup`."""
        return self.mesh

    @property
    def surface(self) -> None:  # type: ignore[override]
        """See `Setup`: the mesh has its own."""
        return

    @cached_property
    def hexahedra(self) -> Hexahedra:
        """See `Setup`."""
        return SeparateElements(self.mesh)

    @property
    def is_curved(self) -> bool:
        """See `Setup`."""
        return True

    @property
    def is_nodal(self) -> bool:
        """See `ElementMaterials`."""
        return super().is_nodal and self._varies_inside

    @property
    def _varies_inside(self) -> bool:
        """See `ElementMaterials`."""
        return not all(self.volume_media.is_uniform)

    def material(self, leaves: Numbers) -> Material:
        """See `ElementMaterials`."""
        averages = self.volume_media.averages
        return Material(**{name: getattr(averages, name)[leaves] for name in self._properties})

    def _sample(self, leaves: Numbers, places: Floats) -> Material:
        return self.volume_media.sample(leaves, places)

    def _is_solid(self, leaves: Numbers, places: Floats) -> Mask:
        return np.asarray(self._sample(leaves, places).vs > 0)

    def locate(self, points: Floats) -> tuple[Numbers, Floats]:
        """See `Setup`; the element of a position outside the mesh is NOWHERE."""
        places = self.place(points)
        beside = np.asarray(np.isnan(places).any(axis=1))
        found = locate(self.mesh, np.arange(self.count), np.where(beside[:, None], 0.0, places))
        return np.where(beside, NOWHERE, found.elements), found.places

    def place(self, points: Floats) -> Floats:
        """See `Setup`; outside the mesh, coordinates are NaN."""
        tops = find_surface(self.mesh, points[:, :2])
        return np.column_stack([points[:, :2], tops + points[:, 2]])

    def keep_inside(self, points: Floats, origins: Floats) -> Floats:
        """See `Setup`."""
        beside = self.locate(points)[0] == NOWHERE
        return np.where(beside[:, None], origins, points)

    def below_surface(self, points: Floats) -> Floats:
        """See `Setup`."""
        tops = find_surface(self.mesh, points[:, :2])
        return np.column_stack([points[:, :2], points[:, 2] - tops])

    def locate_surface(self, points: Floats) -> LocatedOnFaces:
        """See `Setup`; the element of a position beside the mesh is NOWHERE."""
        return locate_surface(self.mesh, points)[1]

    @cached_property
    def _top(self) -> tuple[Numbers, Floats]:
        return top_faces(self.mesh)

    @cached_property
    def surface_axes(self) -> tuple[Floats, Floats]:
        """See `Setup`: as many points per area as N x N on each face of the surface, on average."""
        elements, areas = self._top
        if not len(elements):
            raise InputError(
                "the mesh has no surface: no boundary face lies on top of an element; z must point "
                "downwards, or leave out output.shaking_map and output.surface"
            )
        edge = sqrt(areas.sum() / len(elements)) / self.degree
        x, y = (_centres(low, high, edge) for low, high in self._ends[: AXES - 1])
        return x, y

    @cached_property
    def has_default_map(self) -> bool:
        """See `Setup`; the mesh must have a surface."""
        elements, _ = self._top
        return len(elements) > 0 and bool(np.all(self.volume_media.averages.vs[elements] > 0))

    @cached_property
    def sponges(self) -> SurfaceSponges:
        """The sponges at surfaces."""
        surfaces = self.case.boundary.surfaces.items()
        widths = {name: s.width for name, s in surfaces if isinstance(s, SpongeSection)}
        return SurfaceSponges(self.mesh, self.degree, self.groups.sides, widths)

    @cached_property
    def _decay(self) -> Floats:
        return self.sponges.decay(self.statistics.vp_max)

    @property
    def decay(self) -> float:
        """The largest rate of decay in sponges, 1/s."""
        return float(self._decay.max(initial=0.0))

    @property
    def tables(self) -> float:
        """See `Setup`; also includes rates of decay in sponges."""
        return super().tables + len(self.sponges.elements) / self.count

    def damping(self, elements: RankElements) -> tuple[NDArray[np.int32] | None, Floats]:
        """Damping in sponges: rows and rates, see `Terms`; no rows if no rank has any."""
        if not self.sponges.widths:
            return None, self._decay
        _, own, rows = np.intersect1d(
            elements.numbers, self.sponges.elements, assume_unique=True, return_indices=True
        )
        damped = np.full(elements.count, -1, np.int32)
        damped[own] = np.arange(len(own))
        return damped, self._decay[rows]

    def matched_layers(self, elements: RankElements) -> None:
        """See `Setup`."""
        return

    @property
    def layer_axes(self) -> Numbers:
        """See `Setup`."""
        return np.zeros(self.count, np.int64)

    def reflection(self, elements: RankElements) -> Floats:
        """See `Setup`."""
        surfaces, tags = self.case.boundary.surfaces, self.mesh.tags(elements.numbers)
        found = np.full(tags.shape, ABSORBING)
        for name, tag in self.groups.sides.items():
            condition = surfaces[name]
            kind = condition.kind if isinstance(condition, SpongeSection) else condition
            found[tags == tag] = REFLECTION[kind]
        return found

    def grid_quantities(self) -> Iterator[Quantity]:
        """See `Setup`."""
        text = f"{self.count:,} elements of order {self.mesh.order} from {self.case.grid.file.name}"
        yield Quantity("elements", self.count, "mesh", text=text, group=MESH)
        ends = " x ".join(f"{low:g} to {high:g}" for low, high in self._ends)
        region = [*(low for low, _ in self._ends), *(high for _, high in self._ends)]
        yield Quantity("region", region, "region", "m", f"{ends} m, z down", MESH)
        text = f"{self.smallest:.4g} m for time steps, {self.longest.max():.4g} m the longest"
        yield Quantity("smallest", self.smallest, "elements", "m", text, MESH)
        damped = len(self.sponges.elements)
        text = f"{counted(damped, 'element')} next to {', '.join(self.sponges.widths)}"
        yield Quantity("sponges", damped, "sponges" * bool(damped), "elements", text, MESH)

    def mesh_warnings(self) -> list[str]:
        """See `Setup`."""
        return [*self.groups.warnings]

    def damped_positions(self) -> Iterator[str]:
        """See `Setup`."""
        names, points = zip(*self._positions, strict=True)
        damped = np.isin(self.locate(np.array(points))[0], self.sponges.elements)
        if count := int(damped.sum()):
            what = f"{count} of {len(names)} sources and receivers"
            yield (
                f"a sponge, which damps all motion, contains {what}; the first is "
                f"{names[damped.argmax()]}. Move them, or reduce the width of the sponge"
            )


def prepare_mesh(case: Any, comm: Communicator | None = None) -> UnstructuredSetup:
    """Read the mesh and check the data of a case.

    Raises:
        InputError: see `prepare_bricks`; or the mesh cannot be read; or the case does not list
            exactly the physical volumes and surfaces of the mesh.
    """
    _require_no_cell_indices(case)
    groups = _sorted(read_gmsh_groups(case.grid.file), down=case.grid.vertical == "down")
    media = _media(case, groups)
    _require_same("boundary.surfaces", case.boundary.surfaces, groups.sides, "surface")
    given = media.averages.given()
    medium = ArrayMedium((1.0, 1.0, 1.0), **{n: v[None, None] for n, v in given.items()})
    physical_plane(medium, 0)
    size = np.ptp(groups.mesh.nodes.reshape(-1, AXES), axis=0)
    grid = Bricks((1, 1, 1), tuple(size.tolist()))  # a box around the mesh
    setup = UnstructuredSetup(case, grid, None, [medium], comm, groups, media)
    setup.validate()
    return setup


def _centres(low: float, high: float, edge: float) -> Floats:
    """The centres of equal cells between two ends that are at most about as long as `edge`."""
    count = max(1, ceil((high - low) / edge * (1 - ROUNDING)))
    return np.linspace(low, high, count, endpoint=False) + (high - low) / count / 2


def _sorted(groups: GmshGroups, *, down: bool) -> GmshGroups:
    """The mesh with z down and its elements in Morton order of their centres."""
    mesh = groups.mesh if down else groups.mesh.mirrored(2)
    middles = mesh.nodes.mean(axis=1)
    low, size = middles.min(axis=0), np.ptp(middles, axis=0)
    shares = (middles - low) / np.where(size > 0, size, 1.0)
    order = np.argsort(encode((shares * (2**BITS - 1)).astype(np.int64)), kind="stable")
    volumes = groups.volumes[order]
    return replace(groups, mesh=mesh.reordered(order), volumes=volumes)


def _media(case: Any, groups: GmshGroups) -> VolumeMedia:
    """The media of physical volumes, or one medium of all elements.

    Raises:
        InputError: see `prepare_mesh`; or the whole mesh lies above z = 0.
    """
    sections, numbers = _media_sections(case, groups)
    middles = groups.mesh.nodes.mean(axis=1)
    is_uniform = [isinstance(section, HomogeneousSection) for section in sections]
    if not all(is_uniform) and middles[:, 2].max() <= 0:
        raise InputError(
            f"{case.grid.file}: the mesh lies above z = 0, where layers and models begin; move it, "
            "or correct grid.vertical"
        )
    middles[:, 2] = np.maximum(middles[:, 2], 0.0)
    media = [build_sampled(s, middles[numbers == n]) for n, s in enumerate(sections)]
    return VolumeMedia(groups.mesh, numbers, media, is_uniform)


def _media_sections(case: Any, groups: GmshGroups) -> tuple[list[Any], Numbers]:
    """The sections of the media, and the index of the medium of each element."""
    medium, volumes = case.medium, groups.volume_names
    if not isinstance(medium, VolumesSection):
        return [medium], np.zeros(groups.mesh.count, np.int64)
    _require_same("medium.volumes", medium.volumes, volumes.values(), "volume")
    if unnamed := int((groups.volumes == 0).sum()):
        raise InputError(
            f"{case.grid.file}: {counted(unnamed, 'element')} in no physical volume; put "
            "each in one"
        )
    return [medium.volumes[v] for v in volumes.values()], np.searchsorted(
        [*volumes], groups.volumes
    )


def _require_no_cell_indices(case: Any) -> None:
    for n, source in enumerate(case.source):
        if isinstance(source, AwpRupture):
            raise InputError(
                f'source[{n}]: positions in a file of kind "awp" are indices of the cells of a '
                "grid, which a mesh lacks; use an SRF file or point sources, or a grid of bricks"
            )


def _require_same(key: str, given: Iterable[str], there: Iterable[str], kind: str) -> None:
    """Check that a case names exactly the physical groups of a mesh."""
    names = sorted(there)
    if unknown := sorted(set(given) - set(names)):
        raise InputError(
            f"{key}: the mesh has no physical {kind} {unknown[0]!r}; it has "
            f"{', '.join(names) or 'none'}"
        )
    if missing := sorted(set(names) - set(given)):
        raise InputError(f"{key} lacks the physical {kind} {missing[0]!r} of the mesh; add it")
