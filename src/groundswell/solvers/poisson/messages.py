"""What elements rest on: values that other ranks own, and sums that ranks make together."""

from __future__ import annotations

from groundswell.exchange.assembly.operation import Operation


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
