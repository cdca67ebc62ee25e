"""The faults of a case: their faces between elements, and friction and stress on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError, counted, did_you_mean, quoted
from groundswell.meshes.assembly import MeshGroups
from groundswell.seismology.case.fault import FaultSection
from groundswell.seismology.faults.build import conditions_of
from groundswell.seismology.faults.labels import fault_label, fault_named
from groundswell.solvers.dgwave.faults.faces import WALLS, FaultFaces, Plane, faces_on_plane
from groundswell.solvers.dgwave.faults.model import Fault, Faults
from groundswell.solvers.dgwave.faults.points import fault_points, rock_at
from groundswell.solvers.dgwave.faults.surfaces import faces_on_surface
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.geometry.bricks import BrickGeometry
from groundswell.solvers.dgwave.geometry.meshes import MeshGeometry
from groundswell.solvers.dgwave.materials.anelastic import Materials

INWARD = 1e-6  # of the distance to the middle of a face, by which nodes are moved into it


def build_faults(
    sections: Sequence[FaultSection], geometry: Geometry, materials: Materials
) -> Faults | None:
    """The faults of a case; None without.

    Raises:
        InputError: a fault does not lie between elements, or not in solid rock; faults share faces
            or have different laws of friction.
    """
    if not sections:
        return None
    laws = sorted({section.law for section in sections})
    if len(laws) > 1:
        raise InputError(
            f"[[fault]] has the laws {' and '.join(laws)}; give all faults the same law, or use "
            'solver = "earthquake"'
        )
    found = []
    for n, section in enumerate(sections):
        with fault_named(n, section.name):
            found.append(_fault(section, geometry, materials))
    _require_apart(found)
    return Faults(found)


def _require_apart(faults: Sequence[Fault]) -> None:
    """Refuse faults with the same faces."""
    for (n, one), (m, other) in combinations(enumerate(faults), 2):
        if shared := int(np.isin(one.faces.keys, other.faces.keys).sum()):
            raise InputError(
                f"{fault_label(n, one.name)} and {fault_label(m, other.name)} share "
                f"{counted(shared, 'face')}; let one end where the other begins"
            )


def _fault(section: FaultSection, geometry: Geometry, materials: Materials) -> Fault:
    found = _faces(section, geometry)
    points = fault_points(geometry, found, section)
    # Elements share nodes; each has its own side of the edge of a patch.
    inside = fault_points(geometry, found, section, INWARD)
    foot, hanging = (rock_at(materials, found, wall) for wall in range(WALLS))
    if not (np.all(foot.vs) and np.all(hanging.vs)):
        raise InputError(
            "a part of the fault is in a fluid, which has no friction; move the ends of the fault"
        )
    return Fault(section.name, found, points, conditions_of(section, inside), (foot, hanging))


def _faces(section: FaultSection, geometry: Geometry) -> FaultFaces:
    plane = section.plane
    if isinstance(geometry, MeshGeometry) and section.surface:
        surface = _surface(section.surface, geometry.groups)
        return faces_on_surface(geometry.mesh, surface, section.strike)
    assert isinstance(geometry, BrickGeometry) and plane  # see `DgWaveCase`
    low, high = zip(plane.extent, plane.depth, strict=True)
    place = Plane(plane.axis, plane.position, low, high)
    return faces_on_plane(geometry.connectivity, place)


def _surface(surface: str, groups: MeshGroups) -> Integers:
    """Vertices of the faces of a physical surface inside a mesh, (faces, 4)."""
    if surface in groups.inner:
        return groups.inner[surface]
    if surface in groups.sides:
        raise InputError(
            f"surface {quoted(surface)} is on the boundary of the mesh; a fault has "
            "elements on both sides: give a physical surface inside the mesh"
        )
    there = ", ".join(sorted(groups.inner)) or "none"
    raise InputError(
        f"the mesh has no physical surface {quoted(surface)} inside it; it has "
        f"{there}{did_you_mean(surface, groups.inner)}"
    )
