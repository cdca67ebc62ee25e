"""The elements of a rank: their order, their neighbours, and the faces shared with other ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.meshes.octree import Forest
from groundswell.meshes.octree_faces import find_faces

FACES = 2 * AXES
OPPOSITE = np.array([1, 0, 3, 2, 5, 4])  # the face of the other side
OUTSIDE = -1


@dataclass(frozen=True, eq=False)
class SharedFaces:
    """Faces between this rank and another one.

    Args:
        sends: the faces (element, face) whose traces the peer needs, (n, 2), in the order of the
            message; elements are numbered within the rank.
        receives: the faces that need the traces that the peer sends, (n, 2), in that order.
    """

    sends: Numbers
    receives: Numbers


@dataclass(frozen=True, eq=False)
class RankElements:
    """The elements of one rank: a range of the leaves of a conforming forest.

    Args:
        starts: the first leaf of each rank, and the number of leaves, (ranks + 1,).
    """

    forest: Forest
    starts: Numbers
    rank: int

    @property
    def count(self) -> int:
        """Number of elements."""
        return int(self.starts[self.rank + 1] - self.starts[self.rank])

    @cached_property
    def numbers(self) -> Numbers:
        """The leaf of each element: first those that share faces with other ranks."""
        return self._first + np.argsort(~self._remote.any(axis=1), kind="stable")

    @cached_property
    def outer(self) -> int:
        """How many elements share faces with other ranks; they are the first ones."""
        return int(self._remote.any(axis=1).sum())

    @cached_property
    def neighbours(self) -> Numbers:
        """The leaf beyond each face, or OUTSIDE, (elements, 6)."""
        return self._leaf_neighbours[self.numbers - self._first]

    @cached_property
    def local(self) -> Numbers:
        """The neighbour beyond each face if it is an element of this rank, else OUTSIDE."""
        places = np.empty(self.count, np.int64)
        places[self.numbers - self._first] = np.arange(self.count)
        mine = self._owners(self.neighbours) == self.rank
        found = np.where(mine, self.neighbours - self._first, 0)
        return np.where(mine, places[found], OUTSIDE)

    @cached_property
    def shared(self) -> Mapping[int, SharedFaces]:
        """The faces shared with each other rank, by rank."""
        owners = self._owners(self.neighbours)
        peers = np.setdiff1d(owners, [OUTSIDE, self.rank])
        return {int(peer): self._shared_with(owners == peer) for peer in peers}

    @property
    def edges(self) -> NDArray[np.float64]:
        """Edge lengths of the elements along x, y, z, (elements, 3), m."""
        lower, upper = self.forest.boxes(self.numbers)
        return upper - lower

    def _shared_with(self, wanted: NDArray[np.bool_]) -> SharedFaces:
        """Both sides order a message by the leaf and face that send it."""
        element, face = np.nonzero(wanted)
        sends = np.lexsort((face, self.numbers[element]))
        receives = np.lexsort((OPPOSITE[face], self.neighbours[element, face]))
        pairs = np.stack([element, face], axis=1)
        return SharedFaces(pairs[sends], pairs[receives])

    @property
    def _first(self) -> int:
        return int(self.starts[self.rank])

    @cached_property
    def _leaf_neighbours(self) -> Numbers:
        leaves = np.arange(self._first, self._first + self.count)
        return find_faces(self.forest, leaves).neighbours[:, :, 0]

    @cached_property
    def _remote(self) -> NDArray[np.bool_]:
        """Which faces of the leaves, in their own order, other ranks share."""
        owners = self._owners(self._leaf_neighbours)
        return (owners != self.rank) & (owners != OUTSIDE)

    def _owners(self, leaves: Numbers) -> Numbers:
        """The rank that has each leaf; OUTSIDE beyond the mesh."""
        owners = np.searchsorted(self.starts, leaves, side="right") - 1
        return np.where(leaves < 0, OUTSIDE, owners)
