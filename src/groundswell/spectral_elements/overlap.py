"""Overlap of work on elements with the exchange of the values that ranks share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from groundswell.arrays import Integers
from groundswell.backends import Backend, Launch
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.linear.operators import Composite
from groundswell.spectral_elements.space import FunctionSpace


def split_elements(space: FunctionSpace) -> tuple[Integers, Integers]:
    """Local numbers of elements that share nodes with other ranks, and of interior elements."""
    is_shared = space.sharing.shared_elements
    return np.flatnonzero(is_shared), np.flatnonzero(~is_shared)


class NodalExchange(Composite):
    """Base class of element operators: gets values of other ranks, and adds up shared results.

    Args:
        gather: sums the results of elements at the nodes that they share.
        halo: copies values from the ranks that own them; None if each rank has copies already.
    """

    def __init__(self, gather: GatherScatter, halo: GatherScatter | None = None) -> None:
        self._gather, self._halo = gather, halo
        self.parts = (gather, halo) if halo else (gather,)

    @property
    def path(self) -> str:
        """The transport in use."""
        return self._gather.path

    def overlap(
        self,
        backend: Backend,
        space: FunctionSpace,
        launches_for: Callable[[Integers], Sequence[Launch]],
    ) -> list[Launch]:
        """The exchange, hidden behind work on interior elements (Chalmers et al. 2023, figure 2).

        A host runs launches one after another, so half of the interior elements overlap with the
        halo and half with the gather. A device starts urgent work as soon as it has room.

        Args:
            launches_for: launches that process the elements with these local numbers.
        """
        shared, interior = split_elements(space)
        if self._halo is None:
            return self._overlap_gather(backend, launches_for(shared), launches_for(interior))
        half = len(interior) // 2 if backend.on_host and len(shared) else len(interior)
        chosen = (interior[:half], shared, interior[half:])
        first, outer, second = (launches_for(elements) for elements in chosen)
        halo, gather = self._halo, self._gather
        if not (halo.start or halo.finish or gather.start or gather.finish):
            return [*first, *outer, *second, *gather.local]
        return [
            *backend.fork(halo.start),
            *first,
            *backend.continue_fork([*halo.finish, *outer, *gather.start]),
            *second,
            *backend.join([]),
            *gather.local,
            *backend.join(gather.finish),
        ]

    def _overlap_gather(
        self, backend: Backend, outer: Sequence[Launch], interior: Sequence[Launch]
    ) -> list[Launch]:
        """The same without a halo."""
        gather = self._gather
        if not (gather.start or gather.finish):
            return [*outer, *interior, *gather.local]
        return [
            *backend.fork([*outer, *gather.start]),
            *interior,
            *backend.join([]),
            *gather.local,
            *backend.join(gather.finish),
        ]
