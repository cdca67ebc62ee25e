"""A rank's arrays, whose ghost layers are exchanged and compared with the whole array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from halo_oracle import after, before, numbered

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange

MARGIN = 3  # points around each part, more than any ghost layers


class ExchangeSetup:
    """A rank, its device, and the transport of its messages."""

    def __init__(self, backend: Backend, job: Communicator, transport: str) -> None:
        self.backend, self.job, self.transport = backend, job, transport

    def exchange(
        self, cut: Decomposition, parts: list[CheckedArray], **options: Any
    ) -> HaloExchange:
        fields = [part.field for part in parts]
        options = {"transport": self.transport, **options}
        return HaloExchange(self.backend, self.job, cut, fields, **options)

    def part(self, cut: Decomposition, dtype: str, ghosts: Ghosts, number: int = 0) -> CheckedArray:
        return CheckedArray(self, cut, numbered(cut.shape, dtype, number), ghosts)


class CheckedArray:
    """This rank's part of a whole array, and what it must be after an exchange."""

    def __init__(self, at: ExchangeSetup, cut: Decomposition, whole: Any, ghosts: Ghosts) -> None:
        self.cut, self.rank, self.whole, self.ghosts = cut, at.job.rank, whole, ghosts
        self.array = at.backend.to_device(self.before)
        self.field = GhostField(self.array, (MARGIN,) * whole.ndim, ghosts)

    @property
    def before(self) -> Any:
        return before(self.whole, self.cut, self.rank, MARGIN)

    @property
    def after(self) -> Any:
        return after(self.whole, self.cut, self.rank, self.ghosts, MARGIN)

    def renew(self) -> None:
        """Other values, and ghosts as before any exchange."""
        self.whole = self.whole * 3 + 1
        if self.whole.dtype.kind == "f":
            self.whole %= 1000
        self.array[...] = self.before

    def check(self) -> None:
        same = np.array_equal(self.array, self.after, equal_nan=True)
        assert same, f"found\n{self.array}\ninstead of\n{self.after}"


def repeat(act: Callable[[], None], parts: list[CheckedArray], times: int) -> None:
    """Exchange again and again, each time other values."""
    for _ in range(times):
        act()
        for part in parts:
            part.check()
            part.renew()


def run(launches: list[Any]) -> None:
    for launch in launches:
        launch()
