"""The ground of a case on a mesh of hexahedra from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.errors import InputError, counted
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.grids.geography import Geography
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.case.media import HomogeneousSection
from groundswell.seismology.case.sources import AwpRupture
from groundswell.seismology.media.build import build_sampled
from groundswell.seismology.media.material import Material, find_unphysical
from groundswell.seismology.sources.point_sources import Property, SourceContext
from groundswell.solvers.dgwave.boundaries.case import SpongeSection
from groundswell.solvers.dgwave.boundaries.surface_sponges import SurfaceSponges
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.geometry.meshes import MeshGeometry, read_mesh, require_groups
from groundswell.solvers.dgwave.materials.anelastic import read_materials
from groundswell.solvers.dgwave.materials.case import VolumesSection
from groundswell.solvers.dgwave.materials.elements import ElementMaterials, as_points
from groundswell.solvers.dgwave.materials.properties import needed
from groundswell.solvers.dgwave.materials.statistics import share_of
from groundswell.solvers.dgwave.materials.volume_media import VolumeMedia
from groundswell.solvers.dgwave.setup.record import WaveDomain


def on_mesh(case: DgWaveCase, comm: Communicator | None = None) -> WaveDomain:
    """Read the ground of a case on a mesh; ranks share the reading of the medium.

    Raises:
        InputError: the mesh cannot be read, or the data do not fit the case, which must list
            exactly the physical volumes and surfaces of the mesh.
    """
    _require_no_cell_indices(case)
    geometry = read_mesh(case)
    geography = _geography(case, geometry)
    job = comm or SerialCommunicator()
    media, surfaces = _media(case, geometry, geography, job), case.boundary.surfaces
    require_groups("boundary.surfaces", surfaces, geometry.groups.sides, "surface")
    own = share_of(geometry.count, job)
    job.collective_try(lambda: require_physical(media.averages.at(own), geometry, own))
    is_nodal = case.method.material == "node" and media.varies
    elements = ElementMaterials(geometry, media, is_nodal)
    materials = read_materials(case, elements, comm)
    widths = {name: s.width for name, s in surfaces.items() if isinstance(s, SpongeSection)}
    sponges = SurfaceSponges(geometry, widths, materials.statistics.vp_max)

    def context(step: float) -> SourceContext:
        return SourceContext(
            geography,
            step,
            case.time.duration,
            (),
            rigidity=_inside(geometry, elements.rigidity),
            lame=_inside(geometry, elements.lame),
            density=_inside(geometry, elements.density),
        )

    return WaveDomain(geometry, materials, sponges, context)


def _inside(geometry: MeshGeometry, of_medium: Property) -> Property:
    """A property of the medium at sources, which are located before it is evaluated.

    Raises:
        InputError: when called, a source lies outside the mesh.
    """

    def found(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> ArrayLike:
        for _, sentence in geometry.outside(as_points(x, y, z)):
            raise InputError(f"the source {sentence}")
        return of_medium(x, y, z)

    return found


def _geography(case: DgWaveCase, geometry: MeshGeometry) -> Geography | None:
    """Where the mesh lies on Earth, if the case says so.

    Raises:
        InputError: the projection distorts the mesh.
    """
    frame, nodes = case.grid.frame, geometry.mesh.nodes.reshape(-1, AXES)
    ends = ((float(of[0]), float(of[1])) for of in (nodes.min(axis=0), nodes.max(axis=0)))
    return frame.covering(*ends) if frame else None


def _media(
    case: DgWaveCase, geometry: MeshGeometry, geography: Geography | None, comm: Communicator
) -> VolumeMedia:
    """The media of physical volumes, or one medium of all elements.

    Raises:
        InputError: see `on_mesh`; or the whole mesh lies above z = 0.
    """
    sections, numbers = _media_sections(case, geometry)
    middles = geometry.mesh.nodes.mean(axis=1)
    is_uniform = [isinstance(section, HomogeneousSection) for section in sections]
    if not all(is_uniform) and middles[:, 2].max() <= 0:
        raise InputError(
            f"{case.grid.file}: the mesh lies above z = 0, where layers and models begin; move it, "
            "or correct grid.vertical"
        )
    middles[:, 2] = np.maximum(middles[:, 2], 0.0)
    media = [
        build_sampled(section, middles[numbers == n], geography, comm)
        for n, section in enumerate(sections)
    ]
    names = needed(case.attenuation.model)
    by_volume = isinstance(case.medium, VolumesSection)
    volumes = [*geometry.groups.volume_names.values()] if by_volume else []
    return VolumeMedia(geometry.mesh, numbers, media, is_uniform, names, volumes)


def _media_sections(case: DgWaveCase, geometry: MeshGeometry) -> tuple[list[Any], Integers]:
    """The sections of the media, and the index of the medium of each element."""
    groups, medium = geometry.groups, case.medium
    if not isinstance(medium, VolumesSection):
        return [medium], np.zeros(geometry.count, np.int64)
    names = groups.volume_names
    require_groups("medium.volumes", medium.volumes, names.values(), "volume")
    if unnamed := int((groups.volumes == 0).sum()):
        raise InputError(
            f"{case.grid.file}: {counted(unnamed, 'element')} in no physical volume; put "
            "each in one"
        )
    return [medium.volumes[v] for v in names.values()], np.searchsorted([*names], groups.volumes)


def require_physical(averages: Material, geometry: MeshGeometry, elements: Integers) -> None:
    """Check the average material of elements, arrays (elements,).

    Raises:
        InputError: that of an element is unphysical.
    """
    if unphysical := find_unphysical(averages):
        raise InputError(
            f"medium: the element around {geometry.describe(elements[unphysical.entry[0]])} has "
            f"{unphysical.properties}: {unphysical.rule}; correct the model, or give lower bounds "
            "in medium.floor"
        )


def _require_no_cell_indices(case: DgWaveCase) -> None:
    for n, source in enumerate(case.source):
        if isinstance(source, AwpRupture):
            raise InputError(
                f'source[{n}]: positions in a file of kind "awp" are indices of the cells of a '
                "grid, which a mesh lacks; use an SRF file or point sources, or a grid of bricks"
            )
