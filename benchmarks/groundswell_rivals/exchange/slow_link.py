"""Emulates slower links between ranks that store into each other's memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, Module, Source
from groundswell.exchange.boxes import SOURCE
from groundswell.exchange.gather_scatter.transfers import peer_rows_source

HERE = Path(__file__).parent
SLOW = {
    SOURCE: HERE / "slow_exchange.h",
    peer_rows_source("float64", "sum").path: HERE / "slow_peer_rows.h",
}


@dataclass(frozen=True)
class Link:
    """A link between ranks, which carries one message of a rank at a time.

    Args:
        bandwidth: bytes per second.
        latency: seconds until the first byte arrives.
        gap: seconds that each message occupies the link, whatever its length.
    """

    bandwidth: float
    latency: float = 0.0
    gap: float = 0.0


class LinkedBackend:
    """A backend whose ranks exchange over a slower link.

    Exchanges through peer memory use other kernels; all else is that of the backend. A link
    applies to exchanges created after it is set, and replaces the previous link.
    """

    def __init__(self, backend: Backend, link: Link | None = None) -> None:
        self._backend, self._link = backend, link

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def set_link(self, link: Link | None) -> None:
        """Use this link for new exchanges; None for the machine's own."""
        self._link = link

    def compile(self, source: Source) -> Module:
        """Replace signalling kernels by those of the link; compile all others unchanged."""
        if self._link is None or source.path not in SLOW:
            return self._backend.compile(source)
        module = self._backend.compile(replace(source, path=SLOW[source.path]))
        link = self._link
        numbers = np.array([1e9 / link.bandwidth, 1e9 * link.latency, 1e9 * link.gap])
        module.launch("set_link", Blocks(1, 1), self._backend.to_device(numbers))()
        return module
