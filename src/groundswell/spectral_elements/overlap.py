"""What elements rest on: values that other ranks own, and sums that ranks make together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.backends import Backend, Launch
from groundswell.exchange.assembly.operation import Operation
from groundswell.meshes.hexahedra import Numbers
from groundswell.spectral_elements.space import Space

Work = Sequence[Launch]


def apart(space: Space) -> tuple[Numbers, Numbers]:
    """Elements, from 0 on this rank, that share nodes with other ranks, and those inside."""
    outer = space.places.max(axis=1) >= space.sharing.alone
    return np.flatnonzero(outer), np.flatnonzero(~outer)


def turns(backend: Backend, space: Space) -> tuple[Numbers, Numbers, Numbers]:
    """Elements for `hidden`: some inside, those at other ranks, the rest inside.

    A host does one thing after another, so it has half of those inside to do while values travel,
    and half while sums do. A device begins with what is urgent whenever it has room.
    """
    outer, inside = apart(space)
    half = len(inside) // 2 if backend.on_host and len(outer) else len(inside)
    return inside[:half], outer, inside[half:]


def hidden(
    backend: Backend, halo: Operation, gather: Operation, first: Work, outer: Work, second: Work
) -> list[Launch]:
    """An operator, whose messages travel behind its elements (Chalmers et al. 2023, figure 2).

    Args:
        first, second: work on elements inside, see `turns`.
        outer: on those that want other ranks' values, and whose sums these want.
    """
    if not (halo.send or halo.receive or gather.send or gather.receive):
        return [*first, *outer, *second, *gather.local]
    return [
        *backend.aside(halo.send),
        *first,
        *backend.further_aside([*halo.receive, *outer, *gather.send]),
        *second,
        *backend.rejoin([]),
        *gather.local,
        *backend.rejoin(gather.receive),
    ]


class Messages:
    """Both, for what applies something to a space's elements."""

    _halo: Operation
    _gather: Operation

    @property
    def path(self) -> str:
        """The way that messages really take."""
        return self._halo.path

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches may hold them."""
        return self._halo.in_graph and self._gather.in_graph

    def check(self) -> None:
        """See that no wait was in vain; raises RunFailed."""
        self._halo.check()
        self._gather.check()

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        self._halo.close()
        self._gather.close()
