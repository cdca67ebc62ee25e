"""An exchange: whose ghost layers, on which transport, and when.

halo = Exchange(backend, comm, cut, fields)
halo()                                                             # all at once, or
step = halo.overlap_with(boundary=[boundary], interior=[interior])  # during interior work
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event, debugging
from groundswell.errors import InputError
from groundswell.exchange.boxes import Copy, Place, copy_launch
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.messages import (
    GhostField,
    foreign_boxes,
    ghost_boxes,
    own_parcels,
    plan_messages,
)
from groundswell.exchange.puts import put_arguments
from groundswell.exchange.transports.base import Job, Maker
from groundswell.exchange.transports.coded import CodedTransfer


class Exchange:
    """Fills the ghost layers of some fields from the ranks that own those points.

    Every rank makes it with the same arguments, its own arrays apart, and every rank must run it.

    Args:
        cut: who holds which points.
        fields: arrays and the ghosts that they need.
        transport: see `connect`.
        aggregate: whether all fields share one message a neighbour.
        poison: before each exchange fill with NaN whatever lies around the block in the arrays and
            belongs to some block, to find what is read without having been asked for. By default
            if the environment has GROUNDSWELL_DEBUG=1.
        stored: see `Job`.
        codec: what messages are coded with, see `connect`.

    Attributes:
        puts: what the kernels that compute the `stored` fields are given in addition; see puts.py.
            Empty if this transport, or the arrays, do not allow it.

    Raises:
        InputError: no such transport, or an array without room for its ghosts.
        BackendError: the transport does not work here.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        cut: Decomposition,
        fields: Sequence[GhostField],
        *,
        transport: str | Maker = "auto",
        aggregate: bool = True,
        poison: bool | None = None,
        stored: Mapping[int, int] | None = None,
        codec: str = "none",
    ) -> None:
        if cut.ranks != comm.size:
            raise InputError(f"{cut.ranks} blocks for {comm.size} ranks; one each is needed")
        self._closed = False
        self._backend, self._fields = backend, list(fields)
        comm.collective_try(lambda: list(ghost_boxes(cut, comm.rank, self._fields)))
        self._messages = plan_messages(cut, comm.rank, self._fields, aggregate=aggregate)
        own = own_parcels(cut, comm.rank, self._fields)
        job = Job(
            backend,
            comm,
            self._fields,
            self._messages,
            own=own,
            stored=stored or {},
        )
        poison = debugging() if poison is None else poison
        around = list(foreign_boxes(cut, comm.rank, self._fields)) if poison else []
        self._before = copy_launch(backend, self._poison(around))
        self._transfer = connect(job, transport, codec)
        self.puts = put_arguments(backend, self._transfer.puts, cut.block(comm.rank).shape)

    @property
    def open(self) -> list[Launch]:
        """Launches that must come before kernels that are given `puts`; none without such."""
        return self._kept([*self._before, *self._transfer.open]) if self.puts else []

    @property
    def start(self) -> list[Launch]:
        """Launches that read values from the fields and send them."""
        return self._kept([*([] if self.puts else self._before), *self._transfer.start])

    @property
    def finish(self) -> list[Launch]:
        """Launches that wait for the values of other ranks and write them to the ghost layers.

        Between `start` and `finish`, no launch may write points that are sent, or read ghosts.
        """
        return self._kept(self._transfer.finish)

    @property
    def launches(self) -> list[Launch]:
        """The whole exchange, except the values that kernels with `puts` have stored."""
        return self._kept([*([] if self.puts else self._before), *self._transfer.launches])

    @property
    def parts(self) -> tuple[list[Launch], list[Launch]]:
        """`start` and `finish`; launches between them run during the exchange."""
        return self._backend.fork(self.start), self._backend.join(self.finish)

    @property
    def closed(self) -> bool:
        """Whether it has given back what it needs."""
        return self._closed

    def _kept(self, launches: Sequence[Launch]) -> list[Launch]:
        """Launches that keep the exchange, and with it arrays and buffers, as long as they live."""
        return [partial(_call, launch, self) for launch in launches]

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches may hold it."""
        return self._transfer.in_graph

    @property
    def path(self) -> str:
        """The way that messages really take."""
        return self._transfer.path

    @property
    def bytes(self) -> int:
        """Bytes that this rank sends to others each time, unless a codec makes them fewer."""
        return sum(
            prod(parcel.piece.shape) * self._fields[parcel.field].wire_size
            for message in self._messages
            for parcel in message.sends
        )

    @property
    def coded(self) -> CodedTransfer | None:
        """What codes the messages, if anything does."""
        return self._transfer if isinstance(self._transfer, CodedTransfer) else None

    def overlap_with(
        self, *, boundary: Sequence[Launch], interior: Sequence[Launch]
    ) -> list[Launch]:
        """Launches of a step whose interior work overlaps with the exchange.

        Args:
            boundary: work on the points that are sent, which comes first. If it is empty, the
                exchange follows the interior work.
            interior: work on all other points.
        """
        if not boundary:
            return [*self.open, *interior, *self.launches]
        fork, join = self.parts
        return [*self.open, *boundary, *fork, *interior, *join]

    def __call__(self) -> None:
        """Enqueue the whole exchange.

        Raises:
            InputError: kernels have to store some of the values, with `open` before them.
        """
        if self.puts:
            raise InputError("some ghosts are stored by kernels; give these `puts`, after `open`")
        for launch in self.launches:
            launch()

    def check(self, after: Event | None = None) -> None:
        """See that no wait was in vain.

        Raises:
            RunFailed: one was; names the rank.
        """
        self._transfer.check(after)

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends.

        Raises:
            RunFailed: some rank's wait was in vain, so that what it left is stale.
        """
        if not self._closed:
            self._closed = True
            self._backend.synchronize()
            self._transfer.close()

    def _poison(self, boxes: Sequence[tuple[GhostField, Any]]) -> list[Copy]:
        """Copies of one NaN into every ghost point of floating-point fields."""
        types = {f.dtype for f, _ in boxes if np.issubdtype(f.array.dtype, np.inexact)}
        self._nan = {t: self._backend.to_device(np.full((1,), np.nan, t)) for t in sorted(types)}
        return [
            Copy(
                piece.shape,
                Place(self._backend.address(self._nan[field.dtype]), (0,) * len(piece.shape)),
                field.place(self._backend, piece.here),
                field.dtype,
                field.dtype,
            )
            for field, piece in boxes
            if field.dtype in self._nan
        ]


def _call(launch: Launch, exchange: Exchange) -> None:
    if exchange.closed:
        raise InputError("this exchange is closed; make a new one")
    launch()
