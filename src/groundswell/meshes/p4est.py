"""Reads forests of octrees from files written by `p8est_save`, without the p4est library.

p4est: Burstedde, Wilcox & Ghattas, SIAM J. Sci. Comput. 33, 2011. The layout of the files, which we
found by comparing files of small forests; all integers are little-endian:

- "p8est" in 8 bytes; the version in 24 bytes.
- Ten 64-bit integers: format; size of an index in bytes; numbers of vertices, trees, edges, trees
  at edges, corners and trees at corners; size of the attributes of a tree in bytes; and 0.
- Positions of vertices; if there are edges, 12 edge indices for each tree; 8 vertices of each tree;
  further data on its neighbours.
- Aligned to 32 bytes, 64-bit integers: format; sizes in bytes of a coordinate, of a leaf in memory
  and of the user data of a leaf; whether the file contains user data; number of ranks; then the
  ends of ranks and the ends of trees in the list of leaves.
- Aligned to 32 bytes, the leaves of each tree: x, y, z and level, 32 bits each, and user data.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import Floats, HostArray, Integers
from groundswell.errors import InputError, reason_of
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.morton import encode
from groundswell.meshes.octree import Edges, Forest, count_roots, deepest_level

_FORMAT = 0x3000009  # of p4est 2.0 and later
_ALIGNMENT = 32  # bytes
_CHILDREN = 8
_COINCIDENT = 1e-6  # distance of planes that count as equal, over the size of the box


@dataclass(frozen=True, eq=False)
class SavedForest:
    """The trees and leaves of a file, in the order of the file.

    Args:
        corners: corners of the trees, x fastest, (trees, 8, 3).
        trees: the tree of each leaf, ascending, (leaves,).
        anchors: lowest corners of leaves in their trees, in units of p4est, (leaves, 3).
        levels: levels of leaves, (leaves,).
    """

    corners: Floats
    trees: Integers
    anchors: Integers
    levels: Integers

    def place(self) -> tuple[Edges, Integers]:
        """Edges of the roots, see `Forest`, and the lattice key of each leaf, (leaves,).

        Raises:
            InputError: the trees are not bricks that fill a box, or leaves are too small.
        """
        x, y, z = (_planes(self.corners[..., axis]) for axis in range(AXES))
        edges = (x, y, z)
        roots, top = _root_cells(self.corners, edges), deepest_level(count_roots(edges))
        for level in (int(self.levels.min()), int(self.levels.max())):
            if not 0 <= level <= top:
                raise InputError(
                    f"has leaves of level {level}; allowed: 0 to {top} for {len(roots)} trees"
                )
        # The units per tree depend on the version of p4est. The last leaf of a tree shows them.
        divided = self.levels > 0
        shares = 1 - 0.5 ** self.levels[divided]
        length = (self.anchors[divided].max(axis=1) / shares).max(initial=1.0)
        cells = np.rint(self.anchors * (2.0**top / length)).astype(np.int64)
        if not ((cells >= 0) & (cells < 2**top)).all():
            raise InputError("has leaves outside their trees; save the forest again")
        return edges, encode((roots[self.trees] << top) + cells)


def read_p4est(path: Path | str) -> Forest:
    """Read the forest of a `p8est_save` file; its trees must be bricks that fill a box.

    Raises:
        InputError: the file is missing, truncated or of another format; or see `SavedForest.place`.
    """
    try:
        saved = read_saved(Path(path).read_bytes())
        edges, keys = saved.place()
        order = np.argsort(keys, kind="stable")
        return Forest(edges, keys[order], saved.levels[order].astype(np.int8))
    except (OSError, InputError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else error
        raise InputError(f"{path}: {reason}") from None


def read_saved(content: bytes) -> SavedForest:
    """Read the content of a `p8est_save` file.

    Raises:
        InputError: the content has another format or is truncated.
    """
    stream = _Stream(content)
    corners = _read_trees(stream)
    counts, leaves = _read_leaves(stream, len(corners))
    trees = np.repeat(np.arange(len(corners)), counts)
    anchors, levels = leaves["place"].astype(np.int64), leaves["level"].astype(np.int64)
    return SavedForest(corners, trees, anchors, levels)


def _read_trees(stream: _Stream) -> Floats:
    """Read the first part of a file: corners of the trees, (trees, 8, 3)."""
    if (name := stream.take("S8", 1)[0]) != b"p8est":
        kind = "a forest of quadtrees, in two dimensions" if name == b"p4est" else "no forest"
        raise InputError(f"contains {kind}; give a file written by p8est_save")
    stream.take("S24", 1)
    stream.require_format()
    counts = [int(n) for n in stream.take("<u8", 9)]
    index, vertices, trees, edges, at_edges, corners, at_corners, attributes, _ = counts
    if index != 4 or not vertices or not trees:
        raise InputError("lacks the vertices of trees, or has indices of 64 bits")
    positions = stream.take("<f8", AXES * vertices).reshape(-1, AXES)
    stream.take("<i4", 12 * trees if edges else 0)
    numbers = stream.take("<i4", _CHILDREN * trees).reshape(-1, _CHILDREN)
    if numbers.min() < 0 or numbers.max() >= vertices:
        raise InputError(f"has trees with vertices beyond its {vertices}")
    stream.take("<i4", _CHILDREN * trees if corners else 0)
    stream.take("V1", trees * (2 * AXES * (4 + 1) + attributes))
    for count, listed in ((edges, at_edges), (corners, at_corners)):
        stream.take("V1", (4 * (count + 1) + (4 + 1) * listed) if count else 0)
    return np.asarray(positions[numbers])


def _read_leaves(stream: _Stream, trees: int) -> tuple[Integers, HostArray]:
    """Read the second part of a file: the number of leaves of each tree, and the leaves."""
    stream.align()
    stream.require_format()
    _, _, data, has_data, ranks = (int(n) for n in stream.take("<u8", 5))
    stream.take("<u8", ranks)
    ends = stream.take("<u8", trees).astype(np.int64)
    stream.align()
    counts = np.diff(ends, prepend=0)
    if counts.min() < 1:
        raise InputError("has trees without leaves; save the forest again")
    leaf = np.dtype([("place", "<i4", AXES), ("level", "<i4"), ("data", f"V{data * has_data}")])
    return counts, stream.take(leaf, int(ends[-1]))


class _Stream:
    """Reads arrays one after another from the content of a file."""

    def __init__(self, content: bytes) -> None:
        self._content, self._position = content, 0

    def take(self, dtype: DTypeLike, count: int) -> HostArray:
        """The next `count` values."""
        size = np.dtype(dtype).itemsize * count
        end = self._position + size
        if size < 0 or end > len(self._content):
            raise InputError("is truncated or damaged; save the forest again")
        found = np.frombuffer(self._content, dtype, count, self._position) if count else None
        self._position = end
        return np.empty(0, dtype) if found is None else found

    def align(self) -> None:
        """Advance to the next multiple of 32 bytes."""
        self._position += -self._position % _ALIGNMENT

    def require_format(self) -> None:
        """Read the format and check that it is supported."""
        if (found := int(self.take("<u8", 1)[0])) != _FORMAT:
            raise InputError(
                f"has the format {found:#x}; allowed: {_FORMAT:#x}, of p4est 2.0 and later"
            )


def _planes(coordinates: Floats) -> Floats:
    """Distinct coordinates, ascending."""
    values = np.unique(coordinates)
    apart = np.diff(values) > _COINCIDENT * (values[-1] - values[0])
    return values[np.append(True, apart)]


def _root_cells(corners: Floats, edges: Edges) -> Integers:
    """Indices along x, y and z of the root of each tree, (trees, 3)."""
    places = np.stack(
        [
            np.searchsorted((line[1:] + line[:-1]) / 2, corners[..., axis])
            for axis, line in enumerate(edges)
        ],
        axis=-1,
    )
    first, shape = places[:, 0], count_roots(edges)
    ends = np.arange(_CHILDREN)[:, None] >> np.arange(AXES) & 1
    are_bricks = np.array_equal(places, first[:, None] + ends)
    if not are_bricks or not len(np.unique(first, axis=0)) == len(first) == prod(shape):
        raise InputError(
            "has trees that are not axis-aligned bricks that fill a box; create the forest from "
            "p8est_connectivity_new_brick"
        )
    return np.asarray(first)
