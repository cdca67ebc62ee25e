"""Geometric factors and mass of the weak equation at the nodes of elements.

Integrals of k times gradients become those of reference derivatives times G = w |J| J^-1 k J^-T, a
symmetric matrix at each node of weight w, for a number or a tensor k; the mass is w |J| (Deville,
Fischer & Mund 2002, High-order methods for incompressible fluid flow, sections 4.3 and 4.4;
Chalmers et al. 2023, section "The NekBone benchmark").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, Shapes, StoredShapes
from groundswell.solvers.poisson.coefficients import (
    ONE,
    TENSOR,
    Coefficients,
    SideFactors,
    part_of,
)
from groundswell.spectral_elements.geometry import (
    MetricTerms,
    TrilinearMaps,
    require_positive,
    tabulate,
)
from groundswell.spectral_elements.space import FunctionSpace

PAIRS = TENSOR  # of reference axes: rr, rs, rt, ss, st, tt
UNIFORM = Coefficients()  # k = 1, c = 0
NO_SIDES = SideFactors(np.empty(0, np.int64), np.zeros((0, 1)))


@dataclass(frozen=True, eq=False)
class GeometricFactors:
    """Geometric factors of elements.

    Args:
        factors: entries of G in the order of PAIRS, (elements, 6, (N + 1)^3).
        mass: (elements, (N + 1)^3).
        degree: N.
        screening: c, (elements or 1, (N + 1)^3 or 1).
        sides: integrals of h over sides times basis functions, (elements or 1, (N + 1)^3 or 1).
    """

    factors: Floats
    mass: Floats
    degree: int
    screening: Floats
    sides: Floats

    @classmethod
    def of(
        cls,
        mesh: Hexahedra,
        degree: int,
        elements: ArrayLike,
        coefficients: Coefficients = UNIFORM,
    ) -> GeometricFactors:
        """The factors of these elements at the nodes of a degree.

        Args:
            coefficients: of these elements, numbered from 0 on.

        Raises:
            InputError: elements are inverted somewhere.
        """
        chosen = np.asarray(elements)
        shapes, everyone = StoredShapes.of(mesh, chosen), np.arange(len(chosen))

        def compute(some: Integers) -> tuple[Floats, Floats]:
            found = cls.of_few(shapes, degree, some, coefficients)
            return found.factors, found.mass

        factors, mass = tabulate(compute, len(chosen), (degree + 1) ** AXES)
        require_positive(mass, chosen)
        sides = integrate_sides(shapes, coefficients).of(everyone)
        return cls(factors, mass, degree, coefficients.screening, sides)

    @classmethod
    def of_few(
        cls,
        mesh: Shapes,
        degree: int,
        elements: Integers,
        coefficients: Coefficients = UNIFORM,
        sides: SideFactors = NO_SIDES,
    ) -> GeometricFactors:
        """The same for a few elements, whose arrays fit in the cache; they may be inverted.

        Args:
            sides: of all elements, see `integrate_sides`.
        """
        terms = MetricTerms.of(mesh, degree, elements)
        normals, weights = terms.contravariant, gll(degree).cube_weights
        fluxes = [coefficients.times_conductivity(normal, elements) for normal in normals]
        with np.errstate(divide="ignore", invalid="ignore"):  # flat elements are refused later
            scale = weights / terms.determinant
            factors = [np.einsum("exn,exn->en", normals[a], fluxes[b]) * scale for a, b in PAIRS]
        return cls(
            *(np.stack(factors, axis=1), weights * terms.determinant, degree),
            *(part_of(coefficients.screening, elements), sides.of(elements)),
        )

    @property
    def reaction(self) -> Floats:
        """What multiplies u itself: c times the mass, and h on sides, (elements, (N + 1)^3)."""
        return np.asarray(self.screening * self.mass + self.sides)

    def diagonal(self) -> Floats:
        """The diagonal of each element's operator, (elements, (N + 1)^3)."""
        d = gll(self.degree).derivative
        n = len(d)
        rr, rs, rt, ss, st, tt = np.moveaxis(self.factors.reshape(-1, 6, n, n, n), 1, 0)
        along_t = (d.T**2 @ tt.reshape(-1, n, n * n)).reshape(tt.shape)
        own = np.diag(d)
        r, s, t = own, own[:, None], own[:, None, None]
        mixed = 2 * (r * s * rs + r * t * rt + s * t * st)
        diagonal = rr @ d**2 + d.T**2 @ ss + along_t + mixed
        return np.asarray(diagonal.reshape(self.mass.shape) + self.reaction)


def integrate_sides(shapes: Shapes, coefficients: Coefficients) -> SideFactors:
    """What sides with heat transfer add to the diagonal of the elements' operators."""
    transfer = coefficients.transfer
    return NO_SIDES if transfer is None else transfer.integrate(shapes)


def element_diagonals(space: FunctionSpace, coefficients: Coefficients) -> Floats:
    """The diagonals of the elements' operators, (elements, (N + 1)^3)."""
    shapes, degree = space.shapes, space.degree
    sides = integrate_sides(shapes, coefficients)

    def compute(some: Integers) -> tuple[Floats]:
        return (GeometricFactors.of_few(shapes, degree, some, coefficients, sides).diagonal(),)

    return tabulate(compute, len(space.elements), (degree + 1) ** AXES)[0]


def affine_metric(maps: TrilinearMaps, coefficients: Coefficients) -> Floats:
    """Factors and c times mass of parallelepipeds, without weights, (elements, 7).

    Coefficients that vary within elements are left out.
    """
    k, c = coefficients.conductivity, coefficients.screening
    by_element = Coefficients(
        k if k.shape[2] == 1 else ONE, c if c.shape[1] == 1 else np.ones((1, 1))
    )
    r, s, t = np.moveaxis(maps.coefficients[:, :AXES], 1, 0)
    normals = (np.cross(s, t), np.cross(t, r), np.cross(r, s))
    everyone = np.arange(len(r))
    fluxes = [by_element.times_conductivity(n[..., None], everyone)[..., 0] for n in normals]
    determinant = np.einsum("ex,ex->e", r, normals[0])
    factors = [np.einsum("ex,ex->e", normals[a], fluxes[b]) / determinant for a, b in PAIRS]
    return np.stack([*factors, by_element.screening[:, 0] * determinant], axis=1)
