"""Point sources of dg_scheme.py: what they add to the rates of the fields, per unit of s(t).

A source lies in one element, at reference coordinates in [-1, 1]. On a shared face it belongs to
one of the elements that meet there.
"""

from __future__ import annotations

import numpy as np
from dg_scheme import Scheme
from numpy.typing import ArrayLike
from scipy.special import eval_legendre

from groundswell.arrays import Floats
from groundswell.meshes.gll import gll


def delta(scheme: Scheme, element: int, place: ArrayLike, below: ArrayLike = 1) -> Floats:
    """Nodal values of a delta function in its element, 1/m^3, (n, n, n).

    Args:
        below: the projection is on polynomials of degree N - `below`; one for all axes, or three.
    """
    axes = zip(np.asarray(place), np.broadcast_to(below, 3).tolist(), strict=True)
    along = [projection(scheme.degree, xi, n) for xi, n in axes]
    return np.einsum("i,j,k->kji", *along) / scheme.jacobians[element]


def projection(degree: int, place: float, below: int) -> Floats:
    """Nodal values of a polynomial p with integral(p q) = q(place) for all q of its degree.

    The degree is N - below, or 1. The sum over Legendre's polynomials has a closed form
    (Christoffel and Darboux).
    """
    n, x = max(degree - below, 1), gll(degree).points
    high, low = (lambda y, k=k: eval_legendre(k, y) for k in (n + 1, n))
    near = np.abs(x - place) < 1e-4  # where the closed form cancels
    apart = np.where(near, 1.0, x - place)
    closed = (high(x) * low(place) - low(x) * high(place)) * (n + 1) / 2 / apart
    terms = [(k + 0.5) * eval_legendre(k, x) * eval_legendre(k, place) for k in range(n + 1)]
    return np.where(near, np.sum(terms, axis=0), closed)


def injection(scheme: Scheme, element: int, fields: ArrayLike, values: Floats) -> Floats:
    """Rates of a state that are zero but in one element: the fields there times these values."""
    fields = np.asarray(fields, float)
    rates = np.zeros((scheme.count, len(fields), *values.shape))
    rates[element] = fields[:, None, None, None] * values
    return rates


def pressure_source(scheme: Scheme, element: int, place: ArrayLike) -> Floats:
    """Rates of p, vx, vy, vz by 1 m^3/s of volume: dp/dt = lam delta."""
    values = scheme.lam[element] * delta(scheme, element, place)
    return injection(scheme, element, (1, 0, 0, 0), values)


def force_source(scheme: Scheme, element: int, place: ArrayLike, force: ArrayLike) -> Floats:
    """Rates of nine fields by a force (x, y, z), N: dv/dt = force delta / rho."""
    values = delta(scheme, element, place) / scheme.rho[element]
    return injection(scheme, element, np.append(np.zeros(6), force), values)


def moment_source(scheme: Scheme, element: int, place: ArrayLike, moment: ArrayLike) -> Floats:
    """Rates of nine fields by a moment rate (xx, yy, zz, yz, xz, xy), N m/s: dS/dt = -M delta.

    In a fluid it must be isotropic.
    """
    fields = np.append(-np.asarray(moment, float), np.zeros(3))
    return injection(scheme, element, fields, delta(scheme, element, place))
