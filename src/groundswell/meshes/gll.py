"""Gauss-Legendre-Lobatto points of [-1, 1], where elements hold values, and what follows from them.

A polynomial of degree N is its values at N + 1 points. Integrals of polynomials up to degree
2 N - 1 are weighted sums of these, derivatives and values elsewhere are products with matrices.

Canuto, Hussaini, Quarteroni & Zang, Spectral methods, Springer 2006, sections 2.2 and 2.3; Berrut &
Trefethen, Barycentric Lagrange interpolation, SIAM Review 46, 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from groundswell.errors import InputError

Floats = NDArray[np.float64]
MOST = 64  # degree: beyond, sums of as many terms lose the digits that the points have


@dataclass(frozen=True, eq=False)
class Gll:
    """The points of one degree; made by `gll`.

    Args:
        points: in rising order, (N + 1,).
        weights: of integrals over [-1, 1], (N + 1,).
    """

    points: Floats
    weights: Floats

    @property
    def degree(self) -> int:
        """N."""
        return len(self.points) - 1

    @property
    def weights_of_cubes(self) -> Floats:
        """Weights of integrals over [-1, 1]^3, ((N + 1)^3,)."""
        w = self.weights
        return np.asarray(w[:, None, None] * w[:, None] * w).ravel()

    @property
    def derivative(self) -> Floats:
        """Values to derivatives at the points, (N + 1, N + 1); rows sum to zero."""
        apart = self.points[:, None] - self.points
        np.fill_diagonal(apart, 1.0)
        matrix = self._barycentric / self._barycentric[:, None] / apart
        np.fill_diagonal(matrix, 0.0)
        np.fill_diagonal(matrix, -matrix.sum(axis=1))
        return matrix

    def interpolation(self, places: ArrayLike) -> Floats:
        """Values at the points to values at `places`, (places, N + 1)."""
        apart = np.asarray(places, float)[:, None] - self.points
        row, column = np.nonzero(apart == 0)
        apart[row] = 1.0
        terms = self._barycentric / apart
        terms[row] = 0.0
        terms[row, column] = 1.0
        return terms / terms.sum(axis=1, keepdims=True)

    @property
    def _barycentric(self) -> Floats:
        apart = self.points[:, None] - self.points
        np.fill_diagonal(apart, 1.0)
        return 1 / (2 * apart).prod(axis=1)  # twice: all stay near 1


@cache
def gll(degree: int) -> Gll:
    """The points of degree 1 to 64.

    Raises:
        InputError: another degree.
    """
    if not 1 <= degree <= MOST:
        raise InputError(f"degree = {degree}; allowed: 1 to {MOST}")
    # Inside they are the zeros of a derivative of Legendre's polynomial, which is Jacobi's.
    inside = special.roots_jacobi(degree - 1, 1, 1)[0] if degree > 1 else np.empty(0)
    points = np.concatenate([[-1.0], (inside - inside[::-1]) / 2, [1.0]])
    weights = 2 / (degree * (degree + 1) * special.eval_legendre(degree, points) ** 2)
    for array in (points, weights):
        array.setflags(write=False)  # they are everybody's
    return Gll(points, weights)
