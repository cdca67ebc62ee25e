"""A smooth solution: errors decrease exponentially with the degree, to rounding.

Spectral elements have this property (Deville, Fischer & Mund 2002, section 2.5).
"""

from __future__ import annotations

from collections.abc import Callable

from groundswell.backends import Backend
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.verification.degrees import decrease
from groundswell.solvers.poisson.verification.shapes import (
    EVERY_SIDE,
    bent,
    from_gmsh,
    largest_error,
    solution,
    source,
    whole_space,
)
from groundswell.verify import Check

QUICK, FULL = (2, 4, 6, 8, 11), tuple(range(1, 16))
TOLERANCE = 1e-15


def box(backend: Backend, full: bool) -> list[Check]:
    """Elements without a deformation."""
    return _checks("box", lambda degree: Box((2, 2, 2)), backend, full)


def curved(backend: Backend, full: bool) -> list[Check]:
    """Curved elements that are polynomials of the degree of u."""
    return _checks("curved", lambda n: Box((2, 2, 2), deform=bent, order=n), backend, full)


def kershaw_mesh(backend: Backend, full: bool) -> list[Check]:
    """Thin and slanted elements."""
    mesh = Box((6, 2, 2), deform=kershaw(0.5, 0.5), order=1)
    return _checks("Kershaw, eps 0.5", lambda degree: mesh, backend, full)


def gmsh_mesh(backend: Backend, full: bool) -> list[Check]:
    """Elements of 27 nodes from a file."""
    mesh = from_gmsh()
    return _checks("Gmsh", lambda degree: mesh, backend, full, sides=(1,))


def _checks(
    name: str,
    mesh: Callable[[int], Hexahedra],
    backend: Backend,
    full: bool,
    sides: tuple[int, ...] = EVERY_SIDE,
) -> list[Check]:
    degrees = FULL if full else QUICK
    return decrease(name, {n: _error(backend, mesh(n), n, sides) for n in degrees})


def _error(backend: Backend, mesh: Hexahedra, degree: int, sides: tuple[int, ...]) -> float:
    """The largest error at a node, with u prescribed on all sides."""
    equation = Equation(source(0.0), fixed=dict.fromkeys(sides, solution))
    return largest_error(backend, whole_space(mesh, degree), equation, TOLERANCE)
