"""Geometric factors and mass of the weak Laplacian at the nodes of elements.

Integrals of gradients become those of reference derivatives times G = w |J| J^-1 J^-T, a symmetric
matrix at each node of weight w; the mass is w |J| (Deville, Fischer & Mund 2002, High-order methods
for incompressible fluid flow, sections 4.3 and 4.4; Chalmers et al. 2023, section "The NekBone
benchmark").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, Shapes, StoredShapes
from groundswell.spectral_elements.geometry import (
    MetricTerms,
    TrilinearMaps,
    require_positive,
    tabulate,
)
from groundswell.spectral_elements.space import FunctionSpace

PAIRS = [(a, b) for a in range(AXES) for b in range(a, AXES)]  # rr, rs, rt, ss, st, tt


@dataclass(frozen=True, eq=False)
class GeometricFactors:
    """Geometric factors of elements.

    Args:
        factors: entries of G in the order of PAIRS, (elements, 6, (N + 1)^3).
        mass: (elements, (N + 1)^3).
        degree: N.
    """

    factors: Floats
    mass: Floats
    degree: int

    @classmethod
    def of(cls, mesh: Hexahedra, degree: int, elements: ArrayLike) -> GeometricFactors:
        """The factors of these elements at the nodes of a degree.

        Raises:
            InputError: elements are inverted somewhere.
        """
        chosen = np.asarray(elements)
        shapes = StoredShapes.of(mesh, chosen)

        def compute(some: Integers) -> tuple[Floats, Floats]:
            found = cls.of_few(shapes, degree, some)
            return found.factors, found.mass

        factors, mass = tabulate(compute, len(chosen), (degree + 1) ** AXES)
        require_positive(mass, chosen)
        return cls(factors, mass, degree)

    @classmethod
    def of_few(cls, mesh: Shapes, degree: int, elements: Integers) -> GeometricFactors:
        """The same for a few elements, whose arrays fit in the cache; they may be inverted."""
        terms = MetricTerms.of(mesh, degree, elements)
        normals, weights = terms.contravariant, gll(degree).cube_weights
        with np.errstate(divide="ignore", invalid="ignore"):  # flat elements are refused later
            scale = weights / terms.determinant
            factors = [np.einsum("exn,exn->en", normals[a], normals[b]) * scale for a, b in PAIRS]
        return cls(np.stack(factors, axis=1), weights * terms.determinant, degree)

    def diagonal(self, screening: float) -> Floats:
        """The diagonal of each element's operator, (elements, (N + 1)^3)."""
        d = gll(self.degree).derivative
        n = len(d)
        rr, rs, rt, ss, st, tt = np.moveaxis(self.factors.reshape(-1, 6, n, n, n), 1, 0)
        along_t = (d.T**2 @ tt.reshape(-1, n, n * n)).reshape(tt.shape)
        own = np.diag(d)
        r, s, t = own, own[:, None], own[:, None, None]
        mixed = 2 * (r * s * rs + r * t * rt + s * t * st)
        diagonal = rr @ d**2 + d.T**2 @ ss + along_t + mixed
        return np.asarray(diagonal.reshape(self.mass.shape) + screening * self.mass)


def element_diagonals(space: FunctionSpace, screening: float) -> Floats:
    """The diagonals of the elements' operators, (elements, (N + 1)^3)."""

    def compute(some: Integers) -> tuple[Floats]:
        return (GeometricFactors.of_few(space.shapes, space.degree, some).diagonal(screening),)

    return tabulate(compute, len(space.elements), (space.degree + 1) ** AXES)[0]


def affine_metric(maps: TrilinearMaps, screening: float) -> Floats:
    """Factors and screening times mass of parallelepipeds, without weights, (elements, 7)."""
    r, s, t = np.moveaxis(maps.coefficients[:, :AXES], 1, 0)
    normals = (np.cross(s, t), np.cross(t, r), np.cross(r, s))
    determinant = np.einsum("ex,ex->e", r, normals[0])
    factors = [np.einsum("ex,ex->e", normals[a], normals[b]) / determinant for a, b in PAIRS]
    return np.stack([*factors, screening * determinant], axis=1)
