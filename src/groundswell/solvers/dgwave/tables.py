"""The tables of materials and faces of a problem, in the layout of the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.attenuation import MaxwellBodies
from groundswell.solvers.dgwave.mesh import USED

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.propagation import Discretisation

Floats = NDArray[np.float64]


def of_elements(problem: Discretisation) -> tuple[Floats, Floats]:
    """The `Material` of each element and the `FaceEntry` of each face."""
    if problem.is_nodal:
        return 2 / problem.edges, problem.sides.flux
    equations, material = problem.equations, problem.material
    return equations.materials(material, problem.edges), equations.faces(material, problem.sides)


def of_mortars(problem: Discretisation) -> list[NDArray[np.floating[Any]]]:
    """The `FaceEntry` of each quarter and, for nodal materials, impedances of both sides."""
    sides = problem.mortar_sides
    if problem.nodal is not None:
        return [sides.flux, problem.nodal.quarters(problem.dtype)]
    elements = problem.elements.mortars[:, 0]
    own = Material(*(getattr(problem.material, name)[elements] for name in USED))
    return [problem.equations.faces(own, sides)]


def of_bodies(problem: Discretisation, bodies: MaxwellBodies) -> tuple[Floats, Floats]:
    """For attenuation, relaxation frequencies and the `RelaxedEntry` of each mechanism."""
    if problem.is_nodal:
        return bodies.rates, problem.equations.shares(bodies)
    return bodies.rates, problem.equations.relaxed(problem.material, bodies)
