"""What elements rest on: values that other ranks own, and sums that ranks make together."""

from __future__ import annotations

from collections.abc import Sequence

from groundswell.backends import Backend, Launch
from groundswell.exchange.assembly.operation import Operation

Work = Sequence[Launch]


def hidden(
    backend: Backend, halo: Operation, gather: Operation, first: Work, outer: Work, second: Work
) -> list[Launch]:
    """An operator, whose messages travel behind its elements (Chalmers et al. 2023, figure 2).

    Args:
        first, second: work on elements inside, in two halves: a host that has to wait for messages
            does so when a device has the first, and before it gets the second.
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
