"""The tables of materials and faces of a problem, in the layout of the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.attenuation import MaxwellBodies
from groundswell.solvers.dgwave.materials.brick_media import USED
from groundswell.solvers.dgwave.mesh.elements import face_nodes
from groundswell.spectral_elements.element_kernels import to_halves

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.discretisation import Discretisation

Floats = NDArray[np.float64]


def of_elements(problem: Discretisation) -> tuple[Floats, Floats]:
    """The `Material` of each element and the `FaceEntry` of each face."""
    if problem.is_nodal:
        return 2 / problem.edges, problem.sides.flux
    equations, material = problem.equations, problem.material
    return equations.materials(material, problem.edges), equations.faces(material, problem.sides)


def of_mortars(problem: Discretisation) -> list[NDArray[np.floating[Any]]]:
    """The values of MORTAR_ARGUMENTS in kernels/mortars.h: sides, impedances and normals."""
    sides, nodal = problem.mortar_sides, problem.nodal
    normals = [_quarter_normals(problem, problem.metrics)] if problem.metrics is not None else []
    if nodal is not None:
        return [sides.flux, nodal.quarters(problem.dtype), *normals]
    elements = problem.elements.mortars[:, 0]
    own = Material(*(getattr(problem.material, name)[elements] for name in USED))
    return [problem.equations.faces(own, sides), *normals]


def _quarter_normals(problem: Discretisation, metrics: NDArray[np.floating[Any]]) -> Floats:
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


def of_bodies(problem: Discretisation, bodies: MaxwellBodies) -> tuple[Floats, Floats]:
    """For attenuation, relaxation frequencies and the `RelaxedEntry` of each mechanism."""
    if problem.is_nodal:
        return bodies.rates, problem.equations.shares(bodies)
    return bodies.rates, problem.equations.relaxed(problem.material, bodies)
