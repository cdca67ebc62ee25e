"""The points of faults: the nodes of their faces, and what the rock is there."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.mesh_faces import TURNS, turned
from groundswell.seismology.case.fault import FaultSection
from groundswell.seismology.faults.planes import plane_points, surface_points
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.faults.faces import FOOTWALL, HANGING_WALL, FaultFaces
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.mesh.elements import face_nodes
from groundswell.spectral_elements.curl_form import element_nodes


def positions(geometry: Geometry, found: FaultFaces) -> Floats:
    """Positions of the nodes of faces, in the footwall's order, (points, 3), m."""
    element, face = found.elements[:, FOOTWALL], found.faces[:, FOOTWALL]
    nodes = element_nodes(geometry.hexahedra, geometry.degree, element)
    at = face_nodes(geometry.degree)[face]
    return np.take_along_axis(nodes, at[..., None], axis=1).reshape(-1, AXES)


def scaled_normals(geometry: Geometry, found: FaultFaces) -> Floats:
    """Normals from footwall to hanging wall times the surface Jacobian, (points, 3), m^2."""
    element, face = found.elements[:, FOOTWALL], found.faces[:, FOOTWALL]
    axis, outward = np.divmod(face, 2)
    sign = 2.0 * outward - 1
    nodes = (geometry.degree + 1) ** 2
    if not geometry.is_curved:
        halves = geometry.edges[element] / 2
        areas = halves.prod(axis=1) / np.take_along_axis(halves, axis[:, None], 1)[:, 0]
        normals = np.zeros((len(element), AXES))
        normals[np.arange(len(element)), axis] = sign * areas
        return np.repeat(normals, nodes, axis=0)
    metrics = geometry.shapes.metrics(element, np.float64)
    vectors = metrics.reshape(len(element), AXES, AXES, -1)[np.arange(len(element)), axis]
    at = face_nodes(geometry.degree)[face]
    on_face = np.take_along_axis(vectors, at[:, None], axis=2) * sign[:, None, None]
    return on_face.swapaxes(1, 2).reshape(-1, AXES)


def areas(geometry: Geometry, normals: Floats) -> Floats:
    """The area for which each node of a face stands, (points,), m^2.

    Args:
        normals: see `scaled_normals`.
    """
    weights = gll(geometry.degree).weights
    on_face = np.outer(weights, weights).ravel()
    return np.linalg.norm(normals, axis=1) * np.tile(on_face, len(normals) // len(on_face))


def fault_points(
    geometry: Geometry, found: FaultFaces, section: FaultSection, inward: float = 0.0
) -> FaultPoints:
    """The points of a fault: the nodes of its faces, in the footwall's order.

    Args:
        inward: moves nodes by this fraction of their distance to the middle of their face.
    """
    nodes = positions(geometry, found).reshape(found.count, -1, AXES)
    at = (nodes + inward * (nodes.mean(axis=1, keepdims=True) - nodes)).reshape(-1, AXES)
    place, scaled = geometry.below_surface(at), scaled_normals(geometry, found)
    area = areas(geometry, scaled)
    if section.plane:
        return plane_points(section.plane, place, area, section.hypocenter)
    normal = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return surface_points((place, normal, area), section.strike, section.hypocenter)


def rock_at(materials: Materials, found: FaultFaces, wall: int) -> Material:
    """The unrelaxed rock of a wall at the points, in the footwall's order, arrays (points,)."""
    element, face = found.elements[:, wall], found.faces[:, wall]
    degree = materials.elements.geometry.degree
    if not materials.is_nodal:
        nodes = (degree + 1) ** 2
        given = materials.unrelaxed(element).given()
        return Material(**{name: np.repeat(values, nodes) for name, values in given.items()})
    at = face_nodes(degree)[face]
    if wall == HANGING_WALL:
        orders = np.stack([turned(turn, degree + 1) for turn in range(TURNS)])
        at = np.take_along_axis(at, orders[found.turns], axis=1)
    given = materials.unrelaxed_nodes(element).given()
    taken = {name: np.take_along_axis(values, at, axis=1) for name, values in given.items()}
    return Material(**{name: values.ravel() for name, values in taken.items()})
