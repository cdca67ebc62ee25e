"""A few numbers that ranks of a host add up in the kernel that wants their sums; see total.h."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.backends import Backend, Launch
from groundswell.exchange.boxes import compile_kernels
from groundswell.exchange.messages import ALIGNMENT, Message
from groundswell.exchange.transports.base import Job
from groundswell.exchange.transports.mailboxes import Mailboxes
from groundswell.exchange.world import World

SIZE = np.dtype(np.float64).itemsize


class Total(Mailboxes):
    """Room for every rank's numbers at every other one. All ranks must make and use it together.

    Args:
        count: of numbers, float64.

    Attributes:
        arguments: what kernels with TOTAL_ARGUMENTS are given.
        waits: launches between the kernel that tells others and the one that adds up; where there
            are none, one kernel may do both.

    Raises:
        BackendError: some rank's memory cannot be mapped.
    """

    awaited = "sums"

    def __init__(self, backend: Backend, world: World, count: int) -> None:
        size = -(-count * SIZE // ALIGNMENT) * ALIGNMENT
        others = [rank for rank in range(world.size) if rank != world.rank]
        messages = [Message(rank, 0, (), (), size, size) for rank in others]
        super().__init__(Job(backend, world, [], messages))
        desks = [self._desk(n, m) for n, m in enumerate(messages)]
        desks.insert(world.rank, [0, 0, -1])  # all add up in the order of ranks
        post = self._post([1] * len(others), 1)
        table = backend.to_device(np.array(desks, np.int64))
        self.arguments: tuple[Any, ...] = (table, world.size, self._flip, *post)
        self.waits: list[Launch] = self._waits(compile_kernels(backend))

    def _desk(self, number: int, message: Message) -> list[int]:
        """Where numbers go, and where the other rank's come; the letter, see total.h."""
        return [self._outbox(number, message).address, self._inbox(number, message).address, number]
