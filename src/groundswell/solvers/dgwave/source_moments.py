"""Values at the nodes of elements with nearly the moments of a delta function.

See `source_loads`.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.polynomial.hermite_e import hermevander
from numpy.polynomial.legendre import legvander

from groundswell.arrays import Floats, Integers
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, interpolate
from groundswell.solvers.dgwave.source_reach import WIDEST

SHARPNESS = 12  # exponent of the window
NEGLIGIBLE = 1e-12  # weights of nodes, over the largest, that a load leaves out
MOMENTS = 6  # highest order of the moments that a load has
# Weights of the Legendre polynomials of degrees N and N - 1 along each axis of an element. The
# derivative of the first vanishes at the inner nodes, so it would neither propagate nor decay;
# stresses of the second relax slowly by the Riemann flux.
WEIGHTS = (0.0, 0.5)
EXACT = (0.0, 1e-12)  # slack of the orders 0 and 1; a load in one element may lack order 1


def moment_polynomials(places: Floats, degree: int, is_curved: bool) -> Floats:
    """The polynomials whose moments a load has, without its highest polynomials in elements.

    Args:
        places: of the nodes, relative to the source and in units of the window, (elements, nodes,
            3). In bricks each coordinate depends on the position along its own axis only.

    Returns:
        (moments, elements, nodes).
    """
    smooth, count = smoothing(degree), len(places)
    if is_curved:
        tests = np.moveaxis(_products(*_lines(np.moveaxis(places, -1, 0))), 0, -1)
        return np.moveaxis(interpolate(tests, smooth), -1, 0)
    cube = places.reshape(count, degree + 1, degree + 1, degree + 1, AXES)
    lines = np.stack([cube[:, 0, 0, :, 0], cube[:, 0, :, 0, 1], cube[:, :, 0, 0, 2]])
    x, y, z = _lines(lines) @ smooth.T
    products = _products(x[:, :, None, None, :], y[:, :, None, :, None], z[:, :, :, None, None])
    return products.reshape(len(products), count, -1)


def moment_matched(tests: Floats, weighted: Floats, slack: Floats, degree: int) -> Floats:
    """Values times Jacobians of a load with nearly the moments of a delta function at the origin.

    Of all loads without the highest polynomials, it is the best by `least_squares`.

    Args:
        tests: see `moment_polynomials`.
        weighted: window times Jacobian, (elements, nodes).
        slack: see `least_squares`.
    """
    weights, root = gll(degree).cube_weights, np.sqrt(weighted / gll(degree).cube_weights)
    heavy = weighted > NEGLIGIBLE * weighted.max()
    found = np.zeros_like(root)
    found[heavy] = least_squares(tests[:, heavy] * (root * weights)[heavy], slack)
    return np.asarray(interpolate((found * root)[..., None], smoothing(degree))[..., 0])


def least_squares(tests: Floats, slack: Floats) -> Floats:
    """The vector v that minimises |v|^2 + sum over a of (t_a v - w_a)^2 / (slack_a |t_0|^2).

    w are the moments of the delta function. Where elements are too few for all moments, in a thin
    layer for example, an exact solution would be large, mostly of waves that they do not resolve.

    Args:
        tests: the vectors t, whose products with v are the moments, (moments, n).
        slack: (moments,); moments without slack are exact.
    """
    from scipy.linalg import cho_solve  # takes long to import

    # QR has the square root of the condition number of tests @ tests.T, so it rounds less.
    wanted, slack = _products(*_lines(np.zeros((AXES, 1))))[:, 0], slack * (tests[0] @ tests[0])
    rows = np.concatenate([tests, np.diag(np.sqrt(slack))], axis=1)
    triangle = np.linalg.qr(rows.T, mode="r")
    found = cho_solve((triangle, False), wanted)
    error = wanted - tests @ (found @ tests) - slack * found
    return np.asarray((found + cho_solve((triangle, False), error)) @ tests)


@cache
def slack_of(degree: int) -> Floats:
    """Slack of the moments, see `least_squares`, (moments,).

    It grows with their order, since waves that elements resolve vary slowly in the window. These
    powers of ten are the best of those tried for waves in a full space, in one layer of elements
    and at a free surface.

    Args:
        degree: that of the elements for moments in a solid, whose waves need more slack if it is
            low; WIDEST for other sources.
    """
    orders = _powers(MOMENTS).sum(axis=1)
    slack = 10.0 ** (2 * orders - 3 * min(degree, WIDEST) + 4)
    exact = orders < len(EXACT)
    slack[exact] = np.array(EXACT)[orders[exact]]
    return np.asarray(slack)


def _lines(places: Floats) -> Floats:
    """Hermite polynomials of ascending degree, of scaled offsets from a source.

    Args:
        places: along x, y and z, (3, ...).

    Returns:
        (3, degrees, ...). Products along the axes are nearly orthonormal in a whole window, which
        is nearly a Gaussian function.
    """
    degrees = np.arange(MOMENTS + 1)
    scale = 1 / np.sqrt(np.cumprod(np.maximum(degrees, 1.0)))
    values = hermevander(places * np.sqrt(2 * SHARPNESS + AXES + 2), MOMENTS) * scale
    return np.ascontiguousarray(np.moveaxis(values, -1, 1))


def _products(x: Floats, y: Floats, z: Floats) -> Floats:
    """Products of polynomials of x, y and z, of ascending order, (products, ...)."""
    powers = _powers(MOMENTS).tolist()
    of_two = {(i, j): x[i] * y[j] for i, j, k in powers if k == 0}
    found = np.empty((len(powers), *np.broadcast_shapes(x.shape[1:], y.shape[1:], z.shape[1:])))
    for row, (i, j, k) in zip(found, powers, strict=True):
        np.multiply(of_two[i, j], z[k], out=row)
    return found


@cache
def smoothing(degree: int) -> Floats:
    """The matrix that applies WEIGHTS to nodal values on a line, (N + 1, N + 1)."""
    weights = np.ones(degree + 1)
    highest = WEIGHTS[: max(1, degree - 1)]  # polynomials of degree 0, or 1, remain
    weights[degree + 1 - len(highest) :] = highest[::-1]
    modes = legvander(gll(degree).points, degree)
    return np.asarray((modes * weights) @ np.linalg.inv(modes))


@cache
def _powers(order: int) -> Integers:
    """Exponents of the monomials of x, y, z up to an order, ascending, (monomials, 3)."""
    found = [p for p in product(range(order + 1), repeat=AXES) if sum(p) <= order]
    return np.array(sorted(found, key=lambda p: (sum(p), p)))
