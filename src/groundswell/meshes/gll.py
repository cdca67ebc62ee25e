"""Gauss-Legendre-Lobatto (GLL) points on [-1, 1]: quadrature, derivatives and interpolation.

A polynomial of degree N is represented by its values at N + 1 points. Quadrature with the weights
is exact up to degree 2 N - 1.

Canuto, Hussaini, Quarteroni & Zang, Spectral methods, Springer 2006, sections 2.2 and 2.3; Berrut &
Trefethen, Barycentric Lagrange interpolation, SIAM Review 46, 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError

MAX_DEGREE = 64  # beyond, rounding in sums of more terms exceeds that of the points


@dataclass(frozen=True, eq=False)
class Gll:
    """The points of one degree; made by `gll`.

    Args:
        points: in rising order, (N + 1,).
        weights: quadrature weights on [-1, 1], (N + 1,).
    """

    points: Floats
    weights: Floats

    @property
    def degree(self) -> int:
        """The degree N."""
        return len(self.points) - 1

    @cached_property
    def cube_weights(self) -> Floats:
        """Quadrature weights on [-1, 1]^3, ((N + 1)^3,)."""
        w = self.weights
        cube = np.asarray(w[:, None, None] * w[:, None] * w).ravel()
        cube.setflags(write=False)
        return cube

    @cached_property
    def derivative(self) -> Floats:
        """The matrix from values to derivatives at the points, (N + 1, N + 1)."""
        differences = self.points[:, None] - self.points
        np.fill_diagonal(differences, 1.0)
        matrix = self._barycentric / self._barycentric[:, None] / differences
        np.fill_diagonal(matrix, 0.0)
        np.fill_diagonal(matrix, -matrix.sum(axis=1))
        matrix.setflags(write=False)
        return matrix

    def interpolation(self, targets: ArrayLike) -> Floats:
        """The matrix from values at the points to values at `targets`, (targets, N + 1)."""
        differences = np.asarray(targets, float)[:, None] - self.points
        row, column = np.nonzero(differences == 0)
        differences[row] = 1.0
        terms = self._barycentric / differences
        terms[row] = 0.0
        terms[row, column] = 1.0
        return terms / terms.sum(axis=1, keepdims=True)

    @cached_property
    def _barycentric(self) -> Floats:
        differences = self.points[:, None] - self.points
        np.fill_diagonal(differences, 1.0)
        return 1 / (2 * differences).prod(axis=1)  # the factor 2 keeps products near 1


@cache
def interpolation_between(lower: int, degree: int) -> Floats:
    """Interpolation matrix from points of degree `lower` to `degree`, (degree + 1, lower + 1)."""
    matrix = gll(lower).interpolation(gll(degree).points)
    matrix.setflags(write=False)
    return matrix


@cache
def gll(degree: int) -> Gll:
    """The points of a degree from 1 to 64.

    Raises:
        InputError: the degree is out of range.
    """
    if not 1 <= degree <= MAX_DEGREE:
        raise InputError(f"degree = {degree}; allowed: 1 to {MAX_DEGREE}")
    from scipy import special  # takes long to import

    # Interior points are the zeros of the Legendre polynomial's derivative, a Jacobi polynomial.
    inside = special.roots_jacobi(degree - 1, 1, 1)[0] if degree > 1 else np.empty(0)
    points = np.concatenate([[-1.0], (inside - inside[::-1]) / 2, [1.0]])
    weights = 2 / (degree * (degree + 1) * special.eval_legendre(degree, points) ** 2)
    for array in (points, weights):
        array.setflags(write=False)  # the result is cached and shared
    return Gll(points, weights)
