"""An exchange: whose ghost layers, on which transport, and when.

halo = Exchange(backend, world, cut, fields)
halo()                                # all at once, or
step = [boundary, *halo.around(interior)]   # while the interior is computed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from groundswell.backends import Backend, Launch
from groundswell.errors import BackendError, InputError
from groundswell.exchange.boxes import Copy, Place, copy_launch
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.messages import GhostField, ghost_boxes, own_copies, plan_messages
from groundswell.exchange.transports.base import Job, Transfer
from groundswell.exchange.transports.mpi import MpiTransfer, StagedTransfer
from groundswell.exchange.transports.nccl import NcclTransfer
from groundswell.exchange.transports.peer import PeerTransfer
from groundswell.exchange.world import World

Maker = Callable[[Job], Transfer]

# By backend, the fastest as a rule first; the keys are what users write.
TRANSPORTS: dict[str, dict[str, Maker]] = {
    "cuda": {
        "direct": lambda job: PeerTransfer(job, direct=True),
        "peer": PeerTransfer,
        "nccl": NcclTransfer,
        "mpi-gpu": MpiTransfer,
        "mpi": StagedTransfer,
    },
    "cpu": {
        "peer": PeerTransfer,
        "mpi": MpiTransfer,
        "mpi-thread": lambda job: MpiTransfer(job, threaded=True),
    },
}


class Exchange:
    """Fills the ghost layers of some fields from the ranks that own those points.

    Every rank makes it with the same arguments, its own arrays apart, and every rank must run it.

    Args:
        cut: who holds which points.
        fields: arrays and the ghosts that they need.
        transport: a name in TRANSPORTS.
        aggregate: whether all fields share one message a neighbour.
        poison: fill the ghosts with NaN before each exchange, to find what it does not reach.

    Attributes:
        send, receive: launches of its two halves; between them nothing may write the points that
            are sent, or read ghosts.

    Raises:
        InputError: no such transport, or an array without room for its ghosts.
        BackendError: the transport does not work here.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        cut: Decomposition,
        fields: Sequence[GhostField],
        *,
        transport: str = "peer",
        aggregate: bool = True,
        poison: bool = False,
    ) -> None:
        if cut.ranks != world.size:
            raise InputError(f"{cut.ranks} blocks for {world.size} ranks; one each is needed")
        self._backend, self._fields = backend, list(fields)
        boxes = list(ghost_boxes(cut, world.rank, self._fields))
        messages = plan_messages(cut, world.rank, self._fields, aggregate=aggregate)
        job = Job(backend, world, self._fields, messages)
        self._transfer = _maker(backend, transport)(job) if world.size > 1 else None
        self._messages = messages
        own = copy_launch(backend, list(own_copies(backend, cut, world.rank, self._fields)))
        poisoned = copy_launch(backend, self._poison(boxes)) if poison else []
        self.send: list[Launch] = [
            *poisoned,
            *own,
            *(self._transfer.send if self._transfer else []),
        ]
        self.receive: list[Launch] = self._transfer.receive if self._transfer else []

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches may hold it."""
        return self._transfer is None or self._transfer.in_graph

    @property
    def path(self) -> str:
        """The way that messages really take."""
        return self._transfer.path if self._transfer else "none: one rank"

    @property
    def bytes(self) -> int:
        """Bytes that this rank sends to others each time."""
        return sum(message.send_bytes for message in self._messages)

    @property
    def launches(self) -> list[Launch]:
        """The whole exchange, in order."""
        return [*self.send, *self.receive]

    def around(self, *meanwhile: Launch) -> list[Launch]:
        """The exchange with other work under way between its halves."""
        if not self.receive:
            return [*self.send, *meanwhile]
        aside, rejoin = self._backend.aside(self.send), self._backend.rejoin(self.receive)
        return [*aside, *meanwhile, *rejoin]

    def __call__(self) -> None:
        """Enqueue the whole exchange."""
        for launch in self.launches:
            launch()

    def check(self) -> None:
        """See that no wait was in vain.

        Raises:
            RunFailed: one was; names the rank.
        """
        if self._transfer:
            self._transfer.check()

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        if self._transfer:
            self._backend.synchronize()
            self._transfer.close()
        self._transfer = None

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


def _maker(backend: Backend, transport: str) -> Maker:
    here = TRANSPORTS[backend.name]
    if transport not in here:
        raise BackendError(
            f"transport {transport!r} does not exist for backend {backend.name!r}; allowed: "
            f"{', '.join(here)}"
        )
    return here[transport]
