"""Metric terms with which uniform fields stay uniform in curved elements: the curl form.

The contravariant vectors times the Jacobian, J a^d, are curls, whose discrete divergence vanishes:
Kopriva, Metric identities and the discontinuous spectral element method on curvilinear meshes, J.
Sci. Comput. 26:301, 2006; here the form that does not depend on the orientation of the axes. Both
elements at a face find the same vectors there, to rounding.

Results have the same bits whichever elements are computed together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Hexahedra
from groundswell.spectral_elements.geometry import chunks

SMALLEST = 1e-6  # determinant over its mean in the element


def element_nodes(mesh: Hexahedra, degree: int, elements: ArrayLike) -> Floats:
    """Positions of the GLL nodes of a degree, (elements, (degree + 1)^3, 3), m."""
    nodes = mesh.geometry_nodes(elements)
    if mesh.order == degree:
        return nodes
    matrix, columns = gll(mesh.order).interpolation(gll(degree).points), []
    for cube in _cubes(nodes, mesh.order):
        for axis in range(AXES):
            cube = _apply(matrix, cube, axis)
        columns.append(cube.reshape(len(nodes), -1))
    return np.stack(columns, axis=-1)


def curl_form(nodes: Floats, degree: int) -> Floats:
    """J a^d at the nodes of elements, (elements, 9, nodes): row 3 d + b is component b of axis d.

    Args:
        nodes: positions of the GLL nodes of a degree, (elements, (degree + 1)^3, 3), m.
    """
    found = np.empty((len(nodes), AXES * AXES, nodes.shape[1]))
    for part in chunks(len(nodes), nodes.shape[1]):
        found[part] = _curl_form(nodes[part], degree)
    return found


def jacobians(metrics: Floats) -> Floats:
    """J at the nodes, (elements, nodes), from `curl_form`: the determinant of J a^d is J^2."""
    return np.asarray(np.sqrt(_determinants(metrics)))


def _determinants(metrics: Floats) -> Floats:
    m = np.moveaxis(metrics, 1, 0)
    minors = (m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6])
    return np.asarray(m[0] * minors[0] + m[1] * minors[1] + m[2] * minors[2])


def gradient_norms(metrics: Floats, determinants: Floats) -> Floats:
    """|a^r| + |a^s| + |a^t| at the nodes, (elements, nodes), from `curl_form` and J, 1/m.

    The edges of a brick are 2 / |a^d|.
    """
    squares = np.square(metrics.reshape(len(metrics), AXES, AXES, -1)).sum(axis=2)
    return np.asarray(np.sqrt(squares).sum(axis=1) / determinants)


def longest_edges(nodes: Floats, degree: int) -> Floats:
    """The longest line through the nodes of each element along an axis, (elements,), m.

    Args:
        nodes: see `curl_form`.
    """
    cubes, w = _cubes(nodes, degree), gll(degree).weights
    found = np.zeros(len(nodes))
    for axis in range(AXES):
        speeds = np.sqrt(sum(_derivative(x, axis) ** 2 for x in cubes))
        lengths = (np.moveaxis(speeds, AXES - axis, -1) * w).sum(axis=-1)
        found = np.maximum(found, lengths.reshape(len(found), -1).max(axis=1))
    return found


def require_valid(nodes: Floats, degree: int, numbers: NDArray[np.integer]) -> None:
    """Check the Jacobian at all nodes.

    Args:
        nodes: see `curl_form`.
        numbers: of the elements, for the message.

    Raises:
        InputError: it is not positive, or almost vanishes; the message says where.
    """
    for part in chunks(len(nodes), nodes.shape[1]):
        cubes = _cubes(nodes[part], degree)
        r, s, t = (np.stack([_derivative(x, axis) for x in cubes], -1) for axis in range(AXES))
        found = np.einsum("...x,...x->...", r, np.cross(s, t)).reshape(len(r), -1)
        require_positive(found, nodes[part], numbers[part])


def positive_jacobians(metrics: Floats, nodes: Floats, numbers: NDArray[np.integer]) -> Floats:
    """See `jacobians`, after a check: they differ from the map's where an element is strongly bent.

    Args:
        metrics: see `curl_form`.
        nodes, numbers: see `require_valid`.

    Raises:
        InputError: one is not positive, or almost vanishes; the message says where.
    """
    squares = _determinants(metrics)
    found = np.sign(squares) * np.sqrt(np.abs(squares))
    require_positive(found, nodes, numbers)
    return found


def require_positive(found: Floats, nodes: Floats, numbers: NDArray[np.integer]) -> None:
    """The same for Jacobians, (elements, nodes); see `require_valid`."""
    sound = are_positive(found)
    if sound.all():
        return
    element, node = np.argwhere(~sound)[0]
    x, y, z = nodes[element, node]
    raise InputError(
        f"element {numbers[element]} is inverted, flat or not finite at x = {x:.6g} m, y = {y:.6g} "
        f"m, z = {z:.6g} m: its Jacobian there is {found[element, node]:.3g} m^3; use a smoother "
        "mesh or topography, or larger elements"
    )


def are_positive(found: Floats) -> Mask:
    """Whether Jacobians, (elements, nodes), are positive, and do not almost vanish."""
    return np.asarray(found > SMALLEST * np.abs(found).mean(axis=1, keepdims=True))  # false if NaN


def _curl_form(nodes: Floats, degree: int) -> Floats:
    middle = (nodes[:, :1] + nodes[:, -1:]) / 2
    x = _cubes(nodes - middle, degree)  # small numbers, for accuracy
    slopes = [[_derivative(along, axis) for axis in range(AXES)] for along in x]
    found = np.empty((AXES, AXES, *x.shape[1:]))
    for b in range(AXES):
        m, n = (b + 1) % AXES, (b + 2) % AXES
        potential = [x[m] * slopes[n][d] - x[n] * slopes[m][d] for d in range(AXES)]
        for d in range(AXES):
            e, f = (d + 1) % AXES, (d + 2) % AXES
            found[d, b] = (_derivative(potential[f], e) - _derivative(potential[e], f)) / 2
    return np.moveaxis(found.reshape(AXES * AXES, len(nodes), -1), 0, 1)


def _cubes(nodes: Floats, degree: int) -> Floats:
    """Coordinates of nodes, (3, elements, n, n, n), axes t, s, r."""
    return np.moveaxis(nodes, -1, 0).reshape(AXES, len(nodes), *(degree + 1,) * AXES)


def _derivative(values: Floats, axis: int) -> Floats:
    """Derivatives of (elements, n, n, n) along r, s or t."""
    return _apply(gll(values.shape[-1] - 1).derivative, values, axis)


def _apply(matrix: Floats, values: Floats, axis: int) -> Floats:
    """Multiply (elements, n, n, n) by a matrix along r, s or t.

    Each element has products of its own, so that its bits do not depend on other elements.
    """
    elements, t, s, r = values.shape
    if axis == 0:
        rows = values.reshape(elements, t * s, r) @ matrix.T
        return np.asarray(rows.reshape(elements, t, s, len(matrix)))
    if axis == 1:
        return np.asarray(matrix @ values)
    layers = matrix @ values.reshape(elements, t, s * r)
    return np.asarray(layers.reshape(elements, len(matrix), s, r))
