"""Two transports for one exchange: one within a host, one between hosts."""

from __future__ import annotations

from dataclasses import replace

from groundswell.backends.base import Event
from groundswell.errors import known_to_all
from groundswell.exchange.transports.base import Job, Maker, Transfer


class HybridTransfer(Transfer):
    """Messages to ranks of this host on one transport, all others on another.

    What goes far is sent first and awaited last.
    """

    def __init__(self, job: Job, near: Maker, far: Maker) -> None:
        beside = set(job.comm.same_host)
        close = [m for m in job.messages if m.peer in beside]
        distant = [m for m in job.messages if m.peer not in beside]
        self._near = near(replace(job, messages=close))
        try:
            self._far = far(replace(job, messages=distant, own=()))
        except Exception as error:
            if known_to_all(error):
                self._near.close()
            raise
        self.path = f"{self._near.path} within a host, {self._far.path} between hosts"
        self.in_graph = self._near.in_graph and self._far.in_graph
        self.puts, self.open = self._near.puts, self._near.open
        self.start = [*self._far.start, *self._near.start]
        self.finish = [*self._near.finish, *self._far.finish]
        self.launches = [*self._far.start, *self._near.launches, *self._far.finish]

    def check(self, after: Event | None = None) -> None:
        """See that no wait of the device was in vain."""
        self._near.check(after)
        self._far.check(after)

    def close(self) -> None:
        """Give back memory and handles; every rank must call it."""
        try:
            self._near.close()
        finally:
            self._far.close()
