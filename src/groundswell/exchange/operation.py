"""Operations: communication in two parts, launches that start it and launches that finish it.

Transports, halo exchanges, gather-scatters and all-reduces are operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from groundswell.backends import Launch
from groundswell.backends.base import Event


class Operation:
    """Communication with other ranks. All ranks must make, run and close it together.

    Attributes:
        path: how data really travel, in words.
        reason: why this transport was chosen.
        peers: the ranks that this one sends to or receives from.
        bytes: that this rank sends each time, unless a codec makes them fewer.
        in_graph: whether the device does it alone, so that a graph of launches can hold it.
        open: launches before kernels that store values where `start` sends them from.
        start: launches that send.
        finish: launches that wait for the other ranks, and store what they have sent.
    """

    path: str
    reason = ""
    peers: Sequence[int] = ()
    bytes = 0
    in_graph = False
    open: Sequence[Launch] = ()
    start: Sequence[Launch] = ()
    finish: Sequence[Launch] = ()

    @property
    def launches(self) -> list[Launch]:
        """All of it, without other work in between."""
        return [*self.open, *self.start, *self.finish]

    def __repr__(self) -> str:
        ranks = ", ".join(map(str, self.peers)) or "none"
        chosen = f"; {self.reason}" if self.reason else ""
        name, size = type(self).__name__, f"{self.bytes:,} bytes"
        return f"<{name}: {size} to ranks {ranks} by {self.path}{chosen}>"

    def check(self, after: Event | None = None) -> None:
        """Check that no wait of the device timed out before `after` (default: until now).

        Raises:
            RunFailed: one did; names the rank.
        """

    def release(self) -> None:
        """Stop keeping the arrays alive, if it can: from now on the caller does."""

    def close(self) -> None:
        """Release memory and handles of other ranks."""
