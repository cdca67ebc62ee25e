"""Geometric data of a rank's elements for multigrid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.solvers.poisson.equation import DiscreteEquation, Equation
from groundswell.solvers.poisson.geometric_factors import (
    PAIRS,
    GeometricFactors,
    integrate_sides,
)
from groundswell.solvers.poisson.schwarz import compute_stretches
from groundswell.spectral_elements.geometry import require_positive, tabulate
from groundswell.spectral_elements.space import FunctionSpace


@dataclass(frozen=True, eq=False)
class LevelGeometry:
    """Geometric data for the smoother of a level, and of the highest one for degree 1.

    Args:
        diagonals: diagonals of the elements' operators, (elements, (N + 1)^3).
        stretches: see `compute_stretches`.
        coarsest: Galerkin matrices of the elements for degree 1, (elements, 8, 8); (elements, 0)
            without them.
    """

    diagonals: Floats
    stretches: Floats
    coarsest: Floats

    @classmethod
    def of(
        cls,
        space: FunctionSpace,
        equation: Equation | DiscreteEquation,
        *,
        has_coarsest: bool = False,
    ) -> LevelGeometry:
        """The data of the level with this space; all ranks must call it.

        Args:
            equation: its coefficients.
            has_coarsest: whether to compute the Galerkin matrices for degree 1, too.

        Raises:
            InputError: elements are inverted as polynomials of this degree.
        """
        shapes, coefficients = space.shapes, equation.on(space).coefficients
        sides = integrate_sides(shapes, coefficients)

        def compute(some: Integers) -> tuple[Floats, ...]:
            geometry = GeometricFactors.of_few(shapes, space.degree, some, coefficients, sides)
            with np.errstate(all="ignore"):  # inverted elements are refused below
                stretches = compute_stretches(geometry)
                coarsest = np.empty((len(some), 0))
                if has_coarsest:
                    coarsest = galerkin_matrices(geometry)
            diagonals, least_masses = geometry.diagonal(), geometry.mass.min(axis=1)
            return diagonals, stretches, coarsest, least_masses

        found: LevelGeometry = space.comm.collective_try(lambda: cls._tabulate(space, compute))
        return found

    @classmethod
    def _tabulate(
        cls, space: FunctionSpace, compute: Callable[[Integers], tuple[Floats, ...]]
    ) -> LevelGeometry:
        nodes = (space.degree + 1) ** AXES
        *data, least_masses = tabulate(compute, len(space.elements), nodes)
        try:
            require_positive(least_masses, space.elements)
        except InputError as error:
            raise InputError(
                f"as polynomials of degree {space.degree}, a level of multigrid, {error}; or "
                "choose another preconditioner"
            ) from error
        return cls(*data)


def galerkin_matrices(geometry: GeometricFactors) -> Floats:
    """P' A P of each element, with P the prolongation from degree 1, (elements, 8, 8)."""
    *of_factors, of_mass = _galerkin_tables(geometry.degree)
    factors = np.moveaxis(geometry.factors, 1, 0)
    parts = [factor @ table for factor, table in zip(factors, of_factors, strict=True)]
    matrices = sum(parts) + geometry.reaction @ of_mass
    return np.asarray(matrices.reshape(-1, 8, 8))


@cache
def _galerkin_tables(degree: int) -> list[Floats]:
    """Contributions to P' A P of each factor of PAIRS, and of the mass, ((N + 1)^3, 64) each."""
    up, d = gll(1).interpolation(gll(degree).points), gll(degree).derivative
    along = [
        np.einsum("tc,sb,ra->tsrcba", *factors).reshape(-1, 8)
        for factors in ((up, up, d @ up), (up, d @ up, up), (d @ up, up, up), (up, up, up))
    ]
    products = {(a, b): along[a][:, :, None] * along[b][:, None] for a, b in (*PAIRS, (AXES, AXES))}
    return [
        (table if a == b else table + table.swapaxes(1, 2)).reshape(-1, 64)
        for (a, b), table in products.items()
    ]
