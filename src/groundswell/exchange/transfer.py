"""Transfers: segments of arrays sent from rank to rank, on one transport or on two.

A transfer packs segments into messages, moves them, and unpacks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundswell.backends import Launch
from groundswell.backends.base import Event
from groundswell.errors import known_to_all
from groundswell.exchange.boxes import AddressTable, CopyLaunch
from groundswell.exchange.buffers import MessageBuffers
from groundswell.exchange.operation import Operation
from groundswell.exchange.packing import TransferRequest, pack, unpack
from groundswell.exchange.transports.base import Transport


class Transfer(Operation):
    """The messages of a request on some transport.

    Attributes:
        tables: the addresses of the segments.
        movable: whether the arrays can be replaced by others of the same layout.
    """

    tables: Sequence[AddressTable] = ()
    movable = True

    def move(self, shifts: Sequence[int]) -> None:
        """Replace the arrays by others of the same layout; see `AddressTable.move`."""
        for table in self.tables:
            table.move(shifts)


class LocalTransfer(Transfer):
    """One rank alone: on periodic axes, ghost layers take its own points."""

    path = "none: one rank"
    in_graph = True

    def __init__(self, request: TransferRequest) -> None:
        own = CopyLaunch(request.backend, request.own)
        self.start, self.tables = own.launches, own.tables


class BufferedTransfer(Transfer):
    """Messages packed into buffers, which a message transport moves.

    Args:
        copies: makes the launches that pack and unpack.
        on_host: see `MessageBuffers`.
    """

    def __init__(
        self,
        request: TransferRequest,
        transport: Transport,
        *,
        copies: Callable[..., CopyLaunch] = CopyLaunch,
        on_host: bool = False,
    ) -> None:
        backend, messages = request.backend, request.messages
        self._buffers = buffers = MessageBuffers(
            backend, request.comm, messages, transport, on_host=on_host
        )
        ends = list(zip(messages, buffers.sent, buffers.received, strict=True))
        packed = [copy for m, sent, _ in ends for copy in pack(m, sent.address)]
        unpacked = [copy for m, _, received in ends for copy in unpack(m, received.address)]
        packing, unpacking = copies(backend, [*packed, *request.own]), copies(backend, unpacked)
        self.tables = [*packing.tables, *unpacking.tables]
        self.path, self.in_graph = buffers.path, buffers.in_graph
        self.start: list[Launch] = [*packing.launches, *buffers.start]
        self.finish: list[Launch] = [*buffers.finish, *unpacking.launches]

    def check(self, after: Event | None = None) -> None:
        self._buffers.check(after)

    def close(self) -> None:
        self._buffers.close()


Maker = Callable[[TransferRequest], Transfer]


class HybridTransfer(Transfer):
    """Messages to ranks of this host on one transport, all others on another.

    Messages to other hosts start first and finish last.
    """

    def __init__(self, request: TransferRequest, near: Maker, far: Maker) -> None:
        same_host = set(request.comm.same_host)
        here = [m for m in request.messages if m.peer in same_host]
        elsewhere = [m for m in request.messages if m.peer not in same_host]
        self._near = near(request.of(here, request.own))
        try:
            self._far = far(request.of(elsewhere))
        except Exception as error:
            if known_to_all(error):
                self._near.close()
            raise
        self.path = f"{self._near.path} within a host, {self._far.path} between hosts"
        self.in_graph = self._near.in_graph and self._far.in_graph
        self.movable = self._near.movable and self._far.movable
        self.tables = [*self._near.tables, *self._far.tables]
        self.start = [*self._far.start, *self._near.start]
        self.finish = [*self._near.finish, *self._far.finish]

    @property
    def launches(self) -> list[Launch]:
        return [*self._far.start, *self._near.launches, *self._far.finish]

    def check(self, after: Event | None = None) -> None:
        self._near.check(after)
        self._far.check(after)

    def close(self) -> None:
        try:
            self._near.close()
        finally:
            self._far.close()
