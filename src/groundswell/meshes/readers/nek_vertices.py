"""Connectivity of Nek5000's elements, found from the places of their corners."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.meshes.mesh import CORNERS
from groundswell.meshes.node_orders import VTK

_SAME = 0.02  # distance of corners that are one, over the shortest edge of the mesh
_SAME_SHIFT = 1e-3  # difference of the shifts of one periodic link, over the largest one


def merge(corners: Floats) -> tuple[Floats, Integers]:
    """The distinct corners, (points, 3), and the number of each element's, (elements, 8).

    Args:
        corners: of elements, in VTK's order, (elements, 8, 3).

    Raises:
        InputError: corners are not finite, or edges have no length.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    points = corners.reshape(-1, 3)
    shortest = _shortest_edge(corners)
    pairs = cKDTree(points).query_pairs(_SAME * shortest, output_type="ndarray")
    ones = np.ones(len(pairs), np.int8)
    graph = coo_array((ones, tuple(pairs.T)), shape=(len(points), len(points)))
    count, number = connected_components(graph, directed=False)
    sums = [np.bincount(number, points[:, axis], count) for axis in range(3)]
    return np.stack(sums, axis=1) / np.bincount(number)[:, None], number.reshape(-1, CORNERS)


def _shortest_edge(corners: Floats) -> float:
    if not len(corners) or not (np.abs(corners) < 1e100).all():
        raise InputError("has no elements, or corners that are not finite; write it again")
    near = [(a, b) for a in range(8) for b in range(a) if np.abs(VTK[a] - VTK[b]).sum() == 2]
    one, other = np.array(near).T
    shortest = float(np.linalg.norm(corners[:, one] - corners[:, other], axis=2).min())
    if not shortest > 0:
        raise InputError("has elements with edges without a length; mesh it again")
    return shortest


def periodic_links(own: Integers, others: Integers, points: Floats) -> Iterator[Integers]:
    """Yield the linked vertices of all faces that are shifted alike, (pairs, 2).

    Args:
        own: vertices of periodic faces, (faces, 4).
        others: those of the faces that they are linked to, in any order, (faces, 4).

    Raises:
        InputError: faces are not shifted against each other.
    """
    if not len(own):
        return
    shifts = points[others].mean(axis=1) - points[own].mean(axis=1)
    moved = points[own] + shifts[:, None]
    distances = np.linalg.norm(moved[:, :, None] - points[others][:, None], axis=3)
    nearest = distances.argmin(axis=2)
    if not (np.sort(nearest, axis=1) == np.arange(4)).all():
        raise InputError("has periodic sides that are not copies of each other, shifted")
    linked = np.take_along_axis(others, nearest, axis=1)
    size = np.abs(shifts).max()
    steps = np.round(shifts / max(_SAME_SHIFT * size, np.finfo(float).tiny)).astype(np.int64)
    for step in np.unique(steps, axis=0):
        if tuple(step) > (0, 0, 0):  # each link is there in both directions
            here = (np.abs(steps - step) <= 1).all(axis=1)
            yield np.unique(np.stack([own[here].ravel(), linked[here].ravel()], axis=1), axis=0)
