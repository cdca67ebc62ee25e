"""Face traces: what an element shows to its neighbours, on this rank and on others.

A kernel stores each trace where the neighbour reads it: in the rank's own memory, or in a buffer
that is exchanged, which may lie in the memory of the other rank.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from groundswell.backends import Array, Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.messages import Buffer, Message, TransferRequest
from groundswell.exchange.transfer import Transfer
from groundswell.meshes.hexahedra import Numbers
from groundswell.solvers.dgwave.elements import FACES, OPPOSITE, OUTSIDE, RankElements

BUFFERS = 3  # through which the traces of other ranks pass in turn, see kernels/scheme.h
LOCAL = 1  # added to addresses in the rank's own traces, see kernels/elements.h


class Traces:
    """The traces of a rank's elements, and their exchange.

    Args:
        shape: of a trace, (values, nodes).
        transport: see `connect`.

    Attributes:
        neighbours, targets: the tables of kernels/elements.h, (3, elements, 6) int64.
        exchanges: one for each buffer; none on one rank.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        elements: RankElements,
        shape: tuple[int, int],
        dtype: DTypeLike,
        transport: str = "auto",
    ) -> None:
        self._backend, self._comm, self._elements = backend, comm, elements
        self._memory: Array = backend.zeros((2, elements.count * FACES, *shape), dtype)
        self._size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        self.exchanges: Sequence[Transfer] = ()
        if comm.size > 1:
            self.exchanges = self._connect(transport)
        tables = [self._local_tables() for _ in range(BUFFERS)]
        for table, exchange in zip(tables, self.exchanges, strict=False):
            self._add_shared(*table, exchange)
        neighbours, targets = (np.stack(each) for each in zip(*tables, strict=True))
        self.neighbours, self.targets = backend.to_device(neighbours), backend.to_device(targets)

    def _connect(self, transport: str) -> list[Transfer]:
        messages = [
            Message(peer, 0, len(faces.sends) * self._size, len(faces.receives) * self._size)
            for peer, faces in self._elements.shared.items()
        ]
        request = TransferRequest(self._backend, self._comm, messages, fixed_buffers=True)
        return [connect(request, transport) for _ in range(BUFFERS)]

    def _local_tables(self) -> tuple[Numbers, Numbers]:
        """Neighbours and targets, with those of this rank alone, (elements, 6)."""
        local = self._elements.local
        first = self._backend.address(self._memory) + LOCAL
        inside = local != OUTSIDE
        beyond = first + (local * FACES + OPPOSITE) * self._size
        own = first + np.arange(local.size).reshape(local.shape) * self._size
        return np.where(inside, beyond, 0), np.where(inside, own, 0)

    def _add_shared(self, neighbours: Numbers, targets: Numbers, exchange: Transfer) -> None:
        """Add the faces of other ranks."""
        ends = zip(self._elements.shared.values(), exchange.sent, exchange.received, strict=True)
        for faces, sent, received in ends:
            targets[tuple(faces.sends.T)] = self._places(sent, len(faces.sends))
            neighbours[tuple(faces.receives.T)] = self._places(received, len(faces.receives))

    def _places(self, buffer: Buffer, count: int) -> Numbers:
        return buffer.address + self._size * np.arange(count)

    def overlap(
        self, stage: int, stages: int, *, outer: Sequence[Launch], inner: Sequence[Launch]
    ) -> list[Launch]:
        """Launches of a stage in which the inner elements hide the exchange of the outer ones.

        Args:
            outer: advance the elements that share faces with other ranks.
            inner: advance the others.
        """
        if not self.exchanges:
            return [*outer, *inner]
        following = (stage + 1) % stages
        buffer = BUFFERS - 1 if following == stages - 1 else following % 2
        exchange, fork, join = self.exchanges[buffer], self._backend.fork, self._backend.join
        return [*exchange.open, *outer, *fork(exchange.start), *inner, *join(exchange.finish)]

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches can hold the exchange."""
        return all(exchange.in_graph for exchange in self.exchanges)

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends in a stage."""
        return sum(len(faces.sends) for faces in self._elements.shared.values()) * self._size

    def check(self, after: Event | None = None) -> None:
        """Raise RunFailed if a wait for another rank timed out."""
        for exchange in self.exchanges:
            exchange.check(after)

    def close(self) -> None:
        """Release memory that ranks share; all ranks must call it."""
        for exchange in self.exchanges:
            exchange.close()
