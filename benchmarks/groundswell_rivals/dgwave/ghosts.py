"""Ghost elements: neighbouring elements of other ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Integers
from groundswell.solvers.dgwave.mesh.elements import OUTSIDE, RankElements

LOCAL, GHOST, NONE = range(3)  # see kernels/neighbours.h


@dataclass(frozen=True, eq=False)
class Ghosts:
    """The elements of other ranks that share faces with a rank's elements.

    Args:
        kinds: LOCAL or GHOST, the kind of neighbour beyond each face, (elements, 6).
        numbers: the ghost beyond each face of kind GHOST, (elements, 6).
        sends: the elements that each other rank needs, in the order of the message, by rank.
        receives: number of ghosts from each other rank, by rank. Ghosts are numbered by rank, then
            in the order of the message.
    """

    kinds: NDArray[np.int8]
    numbers: Integers
    sends: Mapping[int, Integers]
    receives: Mapping[int, int]

    @classmethod
    def of(cls, elements: RankElements) -> Ghosts:
        """The ghosts of a rank's elements; messages are ordered by leaf."""
        beyond = elements.neighbours
        owners = np.searchsorted(elements.starts, beyond, side="right") - 1
        remote = (beyond != OUTSIDE) & (owners != elements.rank)
        numbers = np.zeros(beyond.shape, np.int64)
        sends: dict[int, Integers] = {}
        receives: dict[int, int] = {}
        for peer in np.unique(owners[remote]).tolist():
            shared = remote & (owners == peer)
            outer = np.flatnonzero(shared.any(axis=1))
            sends[peer] = outer[np.argsort(elements.numbers[outer])]
            leaves, places = np.unique(beyond[shared], return_inverse=True)
            numbers[shared] = sum(receives.values()) + places.ravel()
            receives[peer] = len(leaves)
        return cls(np.where(remote, GHOST, LOCAL).astype(np.int8), numbers, sends, receives)

    @property
    def count(self) -> int:
        """Number of ghosts."""
        return sum(self.receives.values())
