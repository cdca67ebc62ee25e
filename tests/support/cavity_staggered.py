"""The lid-driven square on a staggered grid (Harlow & Welch 1965): an oracle with other unknowns.

Velocities lie on the faces of cells and pressure at their centres, so that neither damping nor a
boundary condition of pressure is needed, and each cell balances mass. A sparse direct solver finds
the steady flow in Picard iterations. Arrays are (z, x), flat with x fastest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.interpolate import CubicSpline
from scipy.sparse.linalg import spsolve

from groundswell.arrays import Floats


def extremes(reynolds: float, cells: int) -> Floats:
    """Smallest u on the vertical middle line, largest and smallest w on the horizontal one."""
    u, w = steady_flow(reynolds, cells)
    middle = cells // 2 - 1  # the face at one half; the number of cells is even
    return np.array([*spline_range(u[:, middle])[:1], *spline_range(w[middle])[::-1]])


def spline_range(inside: Floats) -> tuple[float, float]:
    """Least and largest value of a spline through values at the centres of cells."""
    fine = CubicSpline(np.arange(inside.size), inside)(np.linspace(0, inside.size - 1, 20001))
    return float(fine.min()), float(fine.max())


def steady_flow(reynolds: float, cells: int) -> tuple[Floats, Floats]:
    """u on inner vertical faces, (cells, cells - 1), and w on inner horizontal faces."""
    n, shapes = cells, ((cells, cells - 1), (cells - 1, cells))
    u, w = (np.zeros(shape) for shape in shapes)
    for _ in range(60):
        before = u
        solution = spsolve(*_linear_system(reynolds, n, u, w))
        u, w = (part.reshape(s) for part, s in zip(_split(solution, n), shapes, strict=True))
        if abs(u - before).max() < 1e-10:
            return u, w
    raise AssertionError("the Picard iteration does not converge")


def _split(solution: Floats, n: int) -> tuple[Floats, Floats]:
    size = n * (n - 1)
    return solution[:size], solution[size : 2 * size]


def _linear_system(reynolds: float, n: int, u: Floats, w: Floats) -> tuple[Any, Floats]:
    """The equations of the next flow, which the present one carries; pressure 0 in one cell."""
    one, inner = sparse.identity(n), sparse.identity(n - 1)
    difference = n * sparse.diags([-1.0, 1.0], [0, 1], shape=(n - 1, n))  # from centres to faces
    mean = sparse.diags([0.5, 0.5], [0, 1], shape=(n - 1, n))
    normal = n**2 * sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n - 1, n - 1))
    along = sparse.lil_matrix(n**2 * sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)))
    along[0, 0] = along[-1, -1] = -3.0 * n**2  # walls lie half a cell beyond the first point
    x, z = sparse.kron(one, difference), sparse.kron(difference, one)
    u_x, u_z = sparse.kron(one, mean.T), sparse.kron(mean, inner)  # means of u: at centres, corners
    w_x, w_z = sparse.kron(inner, mean), sparse.kron(mean.T, one)  # of w: at corners, centres
    at_centres = [sparse.diags(m @ f.ravel()) for m, f in ((u_x, u), (w_z, w))]
    u_corner, w_corner = (sparse.diags(m @ f.ravel()) for m, f in ((u_z, u), (w_x, w)))
    spread_u = (sparse.kron(one, normal) + sparse.kron(along, inner)) / reynolds
    spread_w = (sparse.kron(inner, along) + sparse.kron(normal, one)) / reynolds
    carried_u = x @ at_centres[0] @ u_x - sparse.kron(difference.T, inner) @ w_corner @ u_z
    carried_w = z @ at_centres[1] @ w_z - sparse.kron(inner, difference.T) @ u_corner @ w_x
    blocks = [
        [carried_u - spread_u, None, x],
        [None, carried_w - spread_w, z],
        [x.T, z.T, None],
    ]
    matrix = sparse.bmat(blocks).tolil()
    right = np.zeros(matrix.shape[0])
    right[(n - 1) ** 2 : n * (n - 1)] = 2 * n**2 / reynolds  # the lid drives the top row of u
    matrix[-1] = 0
    matrix[-1, -1] = 1
    return matrix.tocsc(), right
