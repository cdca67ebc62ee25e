"""The tables of materials and faces of a problem, by the names of the kernels' parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.attenuation import MaxwellBodies
from groundswell.solvers.dgwave.materials.brick_media import USED
from groundswell.solvers.dgwave.mesh.elements import face_nodes
from groundswell.spectral_elements.element_kernels import to_halves

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.discretisation import Discretisation


def of_elements(problem: Discretisation) -> dict[str, Reals]:
    """The `Material` of each element and the `FaceEntry` of each face."""
    sides = problem.sides
    if problem.is_nodal:
        return {"materials": 2 / problem.edges, "faces": sides.flux}
    equations, material = problem.equations, problem.material
    return {
        "materials": equations.materials(material, problem.edges),
        "faces": equations.faces(material, sides),
    }


def of_mortars(problem: Discretisation) -> dict[str, Reals]:
    """The `FaceEntry` of each quarter and, if they vary along it, impedances and normals."""
    sides, found = problem.mortar_sides, dict[str, Reals]()
    if problem.metrics is not None:
        found["quarter_normals"] = _quarter_normals(problem, problem.metrics)
    if problem.nodal is not None:
        return {
            **found,
            "sides": sides.flux,
            "quarter_impedances": problem.nodal.quarters(problem.dtype),
        }
    elements = problem.elements.mortars[:, 0]
    own = Material(*(getattr(problem.material, name)[elements] for name in USED))
    return {**found, "sides": problem.equations.faces(own, sides)}


def _quarter_normals(problem: Discretisation, metrics: Reals) -> Floats:
    """Outward normals times the surface Jacobian, (mortars, 4, 3, nodes of a face).

    Those of the finer neighbours have the opposite sign and a quarter of the length; see
    `metric_terms`.
    """
    element, face = problem.elements.mortars.T
    n, nodes = problem.degree + 1, face_nodes(problem.degree)
    vectors = metrics.reshape(len(metrics), AXES, AXES, -1)[element, face // 2]
    at_faces = np.take_along_axis(vectors, nodes[face][:, None], axis=2).astype(float)
    outward = (2 * (face % 2) - 1)[:, None, None, None] * at_faces.reshape(-1, AXES, n, n)
    low, high = to_halves(problem.degree)
    quarters = [slow @ outward @ fast.T for slow in (low, high) for fast in (low, high)]
    return np.stack(quarters, axis=1).reshape(len(element), QUARTERS, AXES, n * n)


def of_bodies(problem: Discretisation, bodies: MaxwellBodies) -> dict[str, Reals]:
    """For attenuation, relaxation frequencies and the `RelaxedEntry` of each mechanism."""
    equations = problem.equations
    relaxed = (
        equations.shares(bodies)
        if problem.is_nodal
        else equations.relaxed(problem.material, bodies)
    )
    return {"relaxation_rates": bodies.rates, "relaxed": relaxed}
