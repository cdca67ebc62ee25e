"""Metric terms of elements with straight edges: cross products of their tangents.

These have degree 2 along each axis, so from this degree of the nodes on they are those of the curl
form (Kopriva 2006, see `curl_form`), without its rounding. Each value depends on its own element
only, by the same operations on every machine.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES

LEAST_DEGREE = 2  # of the nodes


def trilinear_metrics(corners: Floats, degree: int) -> tuple[Floats, Floats]:
    """J a^d at the nodes of elements, (elements, 9, nodes), see `curl_form`; J, (elements, nodes).

    In memory, elements are the last axis, along which NumPy's loops are long.

    Args:
        corners: of the elements, (elements, 8, 3), m.
        degree: of the GLL nodes, at least LEAST_DEGREE.
    """
    count, shape = len(corners), (degree + 1,) * AXES
    along = [_tangent(_cubes(corners), axis, degree) for axis in range(AXES)]
    terms, scratch = np.empty((AXES, AXES, *shape, count)), np.empty((*shape, count))
    for d in range(AXES):
        _cross(along[(d + 1) % AXES], along[(d + 2) % AXES], terms[d], scratch)
    jacobians = np.zeros_like(scratch)
    for x in range(AXES):
        jacobians += np.multiply(along[0][x], terms[0, x], out=scratch)
    metrics = np.moveaxis(terms.reshape(AXES * AXES, -1, count), -1, 0)
    return metrics, jacobians.reshape(-1, count).T


def longest_straight_edges(corners: Floats) -> Floats:
    """The longest edge of each element, which no line of its nodes exceeds, (elements,), m.

    Args:
        corners: see `trilinear_metrics`.
    """
    cubes = _cubes(corners)
    edges = [np.diff(cubes, axis=AXES - axis).reshape(AXES, -1) for axis in range(AXES)]
    squares = np.square(edges).sum(axis=1)  # of 3 x 4 edges
    return np.asarray(np.sqrt(squares.reshape(-1, len(corners)).max(axis=0)))


def _cubes(corners: Floats) -> Floats:
    """Coordinates of corners, (3, 2, 2, 2, elements), axes t, s, r."""
    return np.ascontiguousarray(corners.T).reshape(AXES, 2, 2, 2, -1)


def _tangent(cubes: Floats, axis: int, degree: int) -> Floats:
    """Derivatives of positions along an axis, (3, n, n, n, elements) but length 1 along it.

    Args:
        cubes: see `_cubes`.
    """
    found = np.diff(cubes, axis=AXES - axis) / 2
    for other in range(AXES):
        if other != axis:
            found = _interpolated(found, AXES - other, degree)
    return found


def _interpolated(values: Floats, axis: int, degree: int) -> Floats:
    """Values at the nodes along an axis of an array, from those at its two ends."""
    low, high = np.split(values, 2, axis=axis)
    points = gll(degree).points.reshape(-1, *(1,) * (values.ndim - 1 - axis))
    found = (1 - points) / 2 * low
    found += (1 + points) / 2 * high
    return np.asarray(found)


def _cross(a: Floats, b: Floats, into: Floats, scratch: Floats) -> None:
    """Store cross products of vectors, (3, n, n, n, elements); `scratch` is for one component."""
    for x in range(AXES):
        y, z = (x + 1) % AXES, (x + 2) % AXES
        np.multiply(a[y], b[z], out=into[x])
        into[x] -= np.multiply(a[z], b[y], out=scratch)
