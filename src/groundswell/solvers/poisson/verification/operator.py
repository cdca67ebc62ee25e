"""Properties of the operator on any mesh: symmetric, positive, and exact for constants."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.operator import Operator
from groundswell.solvers.poisson.verification.shapes import bent, from_gmsh, whole_space
from groundswell.spectral_elements.geometry import compute_mass
from groundswell.verify import Check

QUICK, FULL = (7,), tuple(range(1, 16))
SCREENING, TRIALS = 1.0, 5
ROUNDING = 1e-14  # of sums of some thousand terms of either sign, over the largest


def properties(backend: Backend, full: bool) -> list[Check]:
    """The worst result over all kinds of meshes, for each degree."""
    meshes: tuple[Hexahedra, ...] = (
        Box((2, 2, 2), deform=bent, order=3),
        Box((6, 2, 2), deform=kershaw(0.3, 0.3), order=1),
        Box((2, 1, 3), periodic=(True, True, True)),
        from_gmsh(),
    )
    degrees = FULL if full else QUICK
    found = [_properties(backend, mesh, degree) for mesh in meshes for degree in degrees]
    constants, symmetry, positive = zip(*found, strict=True)
    return [
        Check.at_most("A 1 from lambda M 1, over A's diagonal", max(constants), ROUNDING),
        Check.at_most("v A u from u A v, relative", max(symmetry), ROUNDING),
        Check.at_least("least u A u over u lambda M u", min(positive), 1.0 - ROUNDING),
    ]


def _properties(backend: Backend, mesh: Hexahedra, degree: int) -> tuple[float, float, float]:
    """Errors of A 1 and of symmetry, and the smallest of random Rayleigh quotients.

    A 1 is the sum of each row of A, in which all terms but lambda M cancel.
    """
    space = whole_space(mesh, degree)
    x, y = (backend.zeros((space.size,), "float64") for _ in range(2))
    operator = Operator(backend, space, Equation(screening=SCREENING), x, y)

    def applied(values: Floats) -> Floats:
        backend.assign(x, values)
        in_order(operator.launches)()
        return np.asarray(backend.to_host(y))

    mass = operator.assemble(compute_mass(mesh, degree, space.elements))
    ones = np.ones_like(mass)
    constants = np.abs(applied(ones) - SCREENING * mass).max() / operator.diagonal().max()
    symmetry, positive = [], []
    rng = np.random.default_rng(5)
    for u, v in rng.standard_normal((TRIALS, 2, len(mass))):
        au, av = applied(u), applied(v)
        symmetry.append(abs(v @ au - u @ av) / (np.abs(v) @ np.abs(au)))
        positive.append(u @ au / (SCREENING * mass @ u**2))
    operator.close()
    return float(constants), float(max(symmetry)), float(min(positive))
