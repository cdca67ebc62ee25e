"""Which elements go together to a rank: compact parts of one size, with few faces between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from groundswell.errors import InputError
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, Numbers, face_nodes

Parts = NDArray[np.int32]

_STEPS = 2**30  # along an axis: centres that differ by less, as by rounding, lie in one plane
_PORTION = 2**16  # elements whose nodes are held at a time


def partition(mesh: Hexahedra, parts: int, method: str = "bisection") -> Parts:
    """The part of each element, 0 to parts - 1, (elements,).

    Some parts stay empty if there are fewer elements. The same mesh gets the same parts.

    Args:
        method: "bisection" cuts across the longest axis, again and again; parts differ by one
            element at most (Berger & Bokhari, IEEE Trans. Comput. C-36, 1987). "metis" finds parts
            with few faces between them, which differ by a few per cent (Karypis & Kumar, SIAM J.
            Sci. Comput. 20, 1998).

    Raises:
        InputError: no parts, another method, or METIS is not installed.
    """
    if parts < 1:
        raise InputError(f"parts = {parts}; allowed: at least 1")
    if method not in _METHODS:
        raise InputError(f"method = {method!r}; allowed: {', '.join(_METHODS)}")
    return _METHODS[method](mesh, parts)


def neighbours(mesh: Hexahedra) -> Numbers:
    """Two elements each that share a face, (faces, 2), but none with itself."""
    middles = [face_nodes(2, face)[4] for face in range(2 * AXES)]  # nodes that belong to one face
    faces = mesh.ids(2, np.arange(mesh.count))[:, middles].ravel()
    order = np.argsort(faces, kind="stable")
    shared = np.flatnonzero(faces[order][1:] == faces[order][:-1])
    pairs = np.stack([order[shared], order[shared + 1]], axis=1) // (2 * AXES)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def bodies(mesh: Hexahedra) -> Numbers:
    """Of each element the number of what it hangs together with by common corners, (elements,)."""
    corners, count = mesh.ids(1, np.arange(mesh.count)), mesh.count
    _, number = np.unique(corners, return_inverse=True)
    pairs = (np.repeat(np.arange(count), corners.shape[1]), count + number.ravel())
    size = count + int(number.max()) + 1
    links = sparse.coo_array((np.ones(len(pairs[0]), bool), pairs), shape=(size, size))
    _, found = connected_components(links, directed=False)
    return np.asarray(found[:count], np.int64)


# --- bisection ------------------------------------------------------------------------------------


def _bisection(mesh: Hexahedra, parts: int) -> Parts:
    result = np.empty(mesh.count, np.int32)
    ends = [n * mesh.count // parts for n in range(parts + 1)]
    _bisect(_centers(mesh), np.arange(mesh.count), 0, parts, ends, result)
    return result


def _bisect(
    centers: Floats, members: Numbers, first: int, last: int, ends: list[int], result: Parts
) -> None:
    """Deal out elements, in rising order, to parts `first` to `last` - 1, each in one half.

    Args:
        ends: elements in all parts before each, (parts + 1,).
    """
    if last - first == 1 or not len(members):
        result[members] = first
        return
    middle = (first + last) // 2
    # A stable sort leaves elements of one plane in the order of their numbers.
    order = members[np.argsort(_along(centers[members]), kind="stable")]
    half = ends[middle] - ends[first]
    _bisect(centers, np.sort(order[:half]), first, middle, ends, result)
    _bisect(centers, np.sort(order[half:]), middle, last, ends, result)


def _along(points: Floats) -> Numbers:
    """Places of points on the longest axis of their extent, in whole steps, (points,)."""
    low = points.min(axis=0)
    extents = points.max(axis=0) - low
    axis = int(np.argmax(extents * (1 + 1 / _STEPS) >= extents.max()))  # the first of equal ones
    scale = _STEPS / extents[axis] if extents[axis] > 0 else 0.0
    return np.rint((points[:, axis] - low[axis]) * scale).astype(np.int64)


def _centers(mesh: Hexahedra) -> Floats:
    """Means of elements' nodes, (elements, 3)."""
    starts = range(0, mesh.count, _PORTION)
    portions = [np.arange(n, min(n + _PORTION, mesh.count)) for n in starts]
    means = [mesh.shapes(portion).mean(axis=1) for portion in portions]
    return np.concatenate([np.empty((0, AXES)), *means])


# --- METIS ----------------------------------------------------------------------------------------


def _metis(mesh: Hexahedra, parts: int) -> Parts:
    try:
        from pymetis import CSRAdjacency, part_graph
    except ImportError as error:
        raise InputError(
            f"method = 'metis' needs pymetis 2025.2 or later ({error}); "
            "`pip install 'groundswell[metis]'`, or take 'bisection'"
        ) from None
    if parts >= mesh.count:  # METIS may put several elements together even so
        return np.arange(mesh.count, dtype=np.int32)
    _, found = part_graph(parts, CSRAdjacency(*_neighbors(mesh)))
    return _none_empty(np.array(found, np.int32), parts)


def _none_empty(found: Parts, parts: int) -> Parts:
    """Parts that got nothing, as small ones may, get an element of the largest."""
    counts = np.bincount(found, minlength=parts)
    for part in np.flatnonzero(counts == 0):
        largest = counts.argmax()
        found[np.flatnonzero(found == largest)[-1]] = part
        counts[[part, largest]] += 1, -1
    return found


def _neighbors(mesh: Hexahedra) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Of each element those that share its faces, one after the other, and where each starts."""
    from scipy.sparse import csr_array

    pairs = neighbours(mesh)
    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    shape = (mesh.count, mesh.count)
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape)  # each neighbor once
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)


_METHODS = {"bisection": _bisection, "metis": _metis}
