"""Slower links than the machine's, imposed on ranks that store into each other's memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, Module, Source
from groundswell.exchange.assembly import mailed
from groundswell.exchange.boxes import SOURCE

HERE = Path(__file__).parent
SLOW = {SOURCE: HERE / "slow_exchange.h", mailed.SOURCE: HERE / "slow_mailed.h"}


@dataclass(frozen=True)
class Link:
    """A link between ranks, which carries one message of a rank at a time.

    Args:
        bandwidth: bytes a second.
        latency: seconds that the first byte needs.
        gap: seconds that each message takes of the link, however short it is.
    """

    bandwidth: float
    latency: float = 0.0
    gap: float = 0.0


class LinkedBackend:
    """A backend whose ranks exchange over a slower link.

    Exchanges through each other's memory compile other kernels on it; all else is the backend's. A
    link holds for the exchanges that are made after it is set, and replaces the one before.
    """

    def __init__(self, backend: Backend, link: Link | None = None) -> None:
        self._backend, self._link = backend, link

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def set_link(self, link: Link | None) -> None:
        """Exchange over this link from now on; None for the machine's own."""
        self._link = link

    def compile(self, source: Source) -> Module:
        """The kernels that tell of messages in those of the link, all others as they are."""
        if self._link is None or source.path not in SLOW:
            return self._backend.compile(source)
        module = self._backend.compile(replace(source, path=SLOW[source.path]))
        link = self._link
        numbers = np.array([1e9 / link.bandwidth, 1e9 * link.latency, 1e9 * link.gap])
        module.launch("set_link", Blocks(1, 1), self._backend.to_device(numbers))()
        return module
