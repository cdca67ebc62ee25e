"""Transfers: segments of arrays sent from rank to rank, on one transport or on two.

A transfer packs segments into messages, moves them, and unpacks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundswell.backends import Launch
from groundswell.backends.base import Event
from groundswell.exchange.boxes import AddressTable, CopyLaunch
from groundswell.exchange.buffers import MessageBuffers
from groundswell.exchange.communicator import all_or_nothing
from groundswell.exchange.operation import Operation
from groundswell.exchange.packing import TransferRequest, pack, unpack
from groundswell.exchange.transports.base import Transport


class Transfer(Operation):
    """The messages of a request on some transport.

    Attributes:
        tables: the addresses of the segments.
        rebindable: whether the arrays can be replaced by others.
    """

    tables: Sequence[AddressTable] = ()
    rebindable = True

    def bind(self, request: TransferRequest) -> None:
        """Set up the launches for the segments of a request, without any communication.

        Args:
            request: with messages of the same peers, tags and sizes as the transfer was made for.
        """
        raise NotImplementedError

    def move(self, shifts: Sequence[int]) -> None:
        """Replace the arrays by others of the same layout; see `AddressTable.move`."""
        for table in self.tables:
            table.move(shifts)


class LocalTransfer(Transfer):
    """One rank alone: on periodic axes, ghost layers take its own points."""

    path = "none: one rank"
    in_graph = True

    def __init__(self, request: TransferRequest) -> None:
        self.bind(request)

    def bind(self, request: TransferRequest) -> None:
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
        self._copies, backend = copies, request.backend
        self._buffers = MessageBuffers(
            backend, request.comm, request.messages, transport, on_host=on_host
        )
        self.path, self.in_graph = self._buffers.path, self._buffers.in_graph
        self.bind(request)

    def bind(self, request: TransferRequest) -> None:
        backend, buffers = request.backend, self._buffers
        ends = list(zip(request.messages, buffers.sent, buffers.received, strict=True))
        packed = [copy for m, sent, _ in ends for copy in pack(m, sent.address)]
        unpacked = [copy for m, _, received in ends for copy in unpack(m, received.address)]
        packing = self._copies(backend, [*packed, *request.own])
        unpacking = self._copies(backend, unpacked)
        self.tables = [*packing.tables, *unpacking.tables]
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
        inside, outside = _by_host(request)
        with all_or_nothing():
            self._near, self._far = near(inside), far(outside)
        self.path = f"{self._near.path} within a host, {self._far.path} between hosts"
        self.in_graph = self._near.in_graph and self._far.in_graph
        self.rebindable = self._near.rebindable and self._far.rebindable
        self._join()

    def _join(self) -> None:
        self.tables = [*self._near.tables, *self._far.tables]
        self.start = [*self._far.start, *self._near.start]
        self.finish = [*self._near.finish, *self._far.finish]

    def bind(self, request: TransferRequest) -> None:
        for part, messages in zip((self._near, self._far), _by_host(request), strict=True):
            part.bind(messages)
        self._join()

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


def _by_host(request: TransferRequest) -> tuple[TransferRequest, TransferRequest]:
    """Messages within this host, with the copies of own points, and messages to other hosts."""
    same_host = set(request.comm.same_host)
    inside = [m for m in request.messages if m.peer in same_host]
    outside = [m for m in request.messages if m.peer not in same_host]
    return request.of(inside, request.own), request.of(outside)
