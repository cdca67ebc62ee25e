"""Partition of a mesh into compact parts of equal size, and connectivity between elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from groundswell.arrays import Integers
from groundswell.errors import InputError, install
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, face_nodes

Parts = NDArray[np.int32]

_STEPS = 2**30  # resolution along an axis; centres that differ only by rounding coincide
_CHUNK = 2**16  # elements whose nodes are in memory at a time


def partition(mesh: Hexahedra, parts: int, method: str = "bisection") -> Parts:
    """Assign each element to a part, 0 to parts - 1, (elements,).

    Parts stay empty if there are fewer elements. The result is deterministic.

    Args:
        method: "bisection" cuts recursively across the longest axis; parts differ by at most one
            element (Berger & Bokhari, IEEE Trans. Comput. C-36, 1987). "metis" minimises the faces
            between parts, which differ by a few per cent (Karypis & Kumar, SIAM J. Sci. Comput. 20,
            1998).

    Raises:
        InputError: no parts, an unknown method, or METIS is not installed.
    """
    if parts < 1:
        raise InputError(f"parts = {parts}; allowed: at least 1")
    if method not in _METHODS:
        raise InputError(f"method = {method!r}; allowed: {', '.join(_METHODS)}")
    return _METHODS[method](mesh, parts)


def face_neighbours(mesh: Hexahedra) -> Integers:
    """Pairs of distinct elements that share a face, (faces, 2)."""
    middles = [face_nodes(2, face)[4] for face in range(2 * AXES)]  # each belongs to one face only
    faces = mesh.ids(2, np.arange(mesh.count))[:, middles].ravel()
    order = np.argsort(faces, kind="stable")
    shared = np.flatnonzero(faces[order][1:] == faces[order][:-1])
    pairs = np.stack([order[shared], order[shared + 1]], axis=1) // (2 * AXES)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def label_bodies(mesh: Hexahedra) -> Integers:
    """The number of each element's body, a set of elements connected by corners, (elements,)."""
    corners, count = mesh.ids(1, np.arange(mesh.count)), mesh.count
    _, number = np.unique(corners, return_inverse=True)
    pairs = (np.repeat(np.arange(count), corners.shape[1]), count + number.ravel())
    size = count + int(number.max()) + 1
    links = sparse.coo_array((np.ones(len(pairs[0]), bool), pairs), shape=(size, size))
    _, labels = connected_components(links, directed=False)
    return np.asarray(labels[:count], np.int64)


# --- bisection ------------------------------------------------------------------------------------


def _bisection(mesh: Hexahedra, parts: int) -> Parts:
    result = np.empty(mesh.count, np.int32)
    ends = [n * mesh.count // parts for n in range(parts + 1)]
    _bisect(_centers(mesh), np.arange(mesh.count), 0, parts, ends, result)
    return result


def _bisect(
    centers: Floats, members: Integers, first: int, last: int, ends: list[int], result: Parts
) -> None:
    """Distribute elements, in rising order, over parts `first` to `last` - 1.

    Args:
        ends: number of elements in all parts before each, (parts + 1,).
    """
    if last - first == 1 or not len(members):
        result[members] = first
        return
    middle = (first + last) // 2
    # A stable sort keeps elements of one plane in the order of their numbers.
    order = members[np.argsort(_along(centers[members]), kind="stable")]
    half = ends[middle] - ends[first]
    _bisect(centers, np.sort(order[:half]), first, middle, ends, result)
    _bisect(centers, np.sort(order[half:]), middle, last, ends, result)


def _along(points: Floats) -> Integers:
    """Positions of points along the longest axis of their bounding box, in steps, (points,)."""
    low = points.min(axis=0)
    extents = points.max(axis=0) - low
    axis = int(np.argmax(extents * (1 + 1 / _STEPS) >= extents.max()))  # the first of equal lengths
    scale = _STEPS / extents[axis] if extents[axis] > 0 else 0.0
    return np.rint((points[:, axis] - low[axis]) * scale).astype(np.int64)


def _centers(mesh: Hexahedra) -> Floats:
    """Centres of elements, (elements, 3)."""
    starts = range(0, mesh.count, _CHUNK)
    chunks = [np.arange(n, min(n + _CHUNK, mesh.count)) for n in starts]
    means = [mesh.geometry_nodes(chunk).mean(axis=1) for chunk in chunks]
    return np.concatenate([np.empty((0, AXES)), *means])


# --- METIS ----------------------------------------------------------------------------------------


def _metis(mesh: Hexahedra, parts: int) -> Parts:
    try:
        from pymetis import CSRAdjacency, part_graph
    except ImportError as error:
        raise InputError(
            f"method = 'metis' needs pymetis 2025.2 or later ({error}); "
            f"{install('metis')}, or use 'bisection'"
        ) from None
    if parts >= mesh.count:  # METIS might leave parts empty
        return np.arange(mesh.count, dtype=np.int32)
    _, part = part_graph(parts, CSRAdjacency(*_adjacency(mesh)))
    return _fill_empty_parts(np.array(part, np.int32), parts)


def _fill_empty_parts(part: Parts, parts: int) -> Parts:
    """Move one element of the largest part to each empty one."""
    counts = np.bincount(part, minlength=parts)
    for empty in np.flatnonzero(counts == 0):
        largest = counts.argmax()
        part[np.flatnonzero(part == largest)[-1]] = empty
        counts[[empty, largest]] += 1, -1
    return part


def _adjacency(mesh: Hexahedra) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The face neighbours of all elements in compressed sparse rows: row starts, and columns."""
    pairs = face_neighbours(mesh)
    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    shape = (mesh.count, mesh.count)
    matrix = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape)  # each neighbour once
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)


_METHODS = {"bisection": _bisection, "metis": _metis}
