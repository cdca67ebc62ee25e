"""Transfers pack boxes of values into messages, move the messages, and unpack them.

A transfer is bound to arrays by launches that contain their addresses, see `Transfer.bind`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from groundswell.backends import Backend, Blocks, Launch
from groundswell.backends.launch import KernelArgument
from groundswell.exchange.boxes import (
    THREADS,
    AddressTable,
    Copies,
    Copy,
    CopyLaunch,
    StridedBox,
    compile_kernels,
)
from groundswell.exchange.messages import (
    Buffer,
    Message,
    Operation,
    TransferRequest,
    allocate,
    extent_of,
    pack,
    unpack,
)
from groundswell.exchange.transports import MessageTransport
from groundswell.exchange.transports.peer_memory import Exports, PeerMemory

DIRECT_BYTES = 128  # smallest row for direct stores: shorter rows waste link bandwidth,
SCATTERED_BYTES = 1 << 18  # unless all rows together are at most this: a mailbox costs a round trip


@dataclass(frozen=True)
class Binding:
    """The launches of a transfer for certain arrays.

    Args:
        start, finish, open: see `Operation`.
        tables: the addresses of the segments.
        fused: launches instead of `start` and `finish`, if no other work runs in between.
    """

    start: Sequence[Launch] = ()
    finish: Sequence[Launch] = ()
    tables: Sequence[AddressTable] = ()
    open: Sequence[Launch] = ()
    fused: Sequence[Launch] = ()

    @property
    def launches(self) -> list[Launch]:
        """All launches."""
        return list(self.fused) or [*self.open, *self.start, *self.finish]


class Transfer(Operation):
    """The messages of a request on a transport; `connect` creates and binds it.

    Attributes:
        sent: for each message, the buffer that is sent to the peer. If the caller fills it, this
            must happen after `open` and before `start`.
        received: for each message, the buffer with the data of the peer; valid after `finish`,
            until the next exchange begins.
        bound: the launches for the segments of the present request.
    """

    sent: Sequence[Buffer] = ()
    received: Sequence[Buffer] = ()
    bound = Binding()

    def bind(self, request: TransferRequest) -> None:
        """Create the launches for the segments of a request, without communication.

        After an error, the previous launches remain.

        Args:
            request: a request with the same peers, tags and sizes as the original one.
        """
        self.bound = made = self.prepare(request)
        self.open, self.start, self.finish = made.open, made.start, made.finish

    def prepare(self, request: TransferRequest) -> Binding:
        """The launches for `bind`; has no side effects."""
        raise NotImplementedError

    @property
    def launches(self) -> list[Launch]:
        return self.bound.launches


Maker = Callable[[TransferRequest], Transfer]


class LocalTransfer(Transfer):
    """A single rank: on periodic axes, ghost layers are copies of its own points."""

    path = "copies within one rank"
    in_graph = True

    def __init__(self, request: TransferRequest) -> None:
        self._memory, self.sent = allocate(
            request.backend, [m.send_bytes for m in request.messages]
        )
        self.received = self.sent  # messages to itself

    def prepare(self, request: TransferRequest) -> Binding:
        own = CopyLaunch(request.backend, request.own)
        return Binding(own.launches, tables=own.tables)


class BufferedTransfer(Transfer):
    """Messages packed into buffers of this rank, which a message transport moves.

    Args:
        copies: creates the launches that pack and unpack.
        on_host: whether the buffers are in (pinned) host memory instead of device memory.
    """

    def __init__(
        self,
        request: TransferRequest,
        transport: MessageTransport,
        *,
        copies: Callable[..., CopyLaunch] = CopyLaunch,
        on_host: bool = False,
    ) -> None:
        backend, comm, messages = request.backend, request.comm, request.messages
        self._copies = copies
        sizes = [m.send_bytes for m in messages], [m.receive_bytes for m in messages]
        (self._outgoing, self.sent), (self._incoming, self.received) = comm.collective_try(
            lambda: [allocate(backend, size, on_host=on_host) for size in sizes]
        )
        self._transport = moved = comm.collective_try(
            lambda: transport(request, self.sent, self.received)
        )
        self._parts, self.path, self.in_graph = [moved], moved.path, moved.in_graph

    def prepare(self, request: TransferRequest) -> Binding:
        sent, received = (zip(request.messages, b, strict=True) for b in (self.sent, self.received))
        packed = [copy for m, buffer in sent for copy in pack(m, buffer.address)]
        unpacked = [copy for m, buffer in received for copy in unpack(m, buffer.address)]
        packing = self._copies(request.backend, [*packed, *request.own])
        unpacking = self._copies(request.backend, unpacked)
        return Binding(
            start=[*packing.launches, *self._transport.start],
            finish=[*self._transport.finish, *unpacking.launches],
            tables=[*packing.tables, *unpacking.tables],
        )


class PeerTransfer(Transfer):
    """Kernels store in mailboxes of the receivers, or directly in their arrays.

    Args:
        direct: whether to store directly in the receivers' arrays if a segment has rows of at
            least DIRECT_BYTES, or few bytes, and values keep their type. Other segments use
            mailboxes.

    Raises:
        BackendError: the memory of a peer cannot be mapped.
    """

    in_graph = True

    def __init__(self, request: TransferRequest, *, direct: bool = False) -> None:
        backend, messages = request.backend, request.messages
        self.rebindable = not direct
        self._exports: list[Exports] = request.comm.collective_try(
            lambda: [_exports(backend, m) if direct else {} for m in messages]
        )
        self._memory = memory = PeerMemory(request, exports=self._exports)
        self._parts = [memory]
        self.sent = [Buffer(memory.outbox(m), m.send_bytes) for m in messages]
        self.received = [Buffer(memory.inbox(m), m.receive_bytes) for m in messages]
        where = ", directly into ghost layers" * direct
        self.path = memory.path + (", stored there directly" if request.fixed_buffers else where)

    def prepare(self, request: TransferRequest) -> Binding:
        backend, memory, count = request.backend, self._memory, len(request.messages)
        own = (replace(copy, message=count) for copy in request.own)  # belongs to no message
        sent, received = [*self._sent(request), *own], list(self._received(request))
        outgoing, incoming = (Copies(backend, copies, count) for copies in (sent, received))
        blocks = min(max(outgoing.count, incoming.count, 1), memory.blocks_at_once)
        load, unload = outgoing.arguments("out", blocks), incoming.arguments("in", blocks)
        signals = memory.signals(outgoing.per_message.tolist(), blocks)
        module = compile_kernels(backend)

        def launch(
            name: str,
            tables: Mapping[str, KernelArgument],
            blocks: int = blocks,
            moved: Sequence[Buffer] = self.sent,
        ) -> Launch:
            extent = Blocks(blocks, THREADS, work=extent_of(moved))
            return module.launch(name, extent, **tables, **signals)

        send = launch("send_boxes", load) if sent else launch("signal_messages", {}, blocks=1)
        fused = [memory.require_no_timeout, launch("exchange_boxes", load | unload)]
        return Binding(
            open=memory.permission() if request.fixed_buffers else [],
            start=[memory.require_no_timeout, send],
            finish=[*memory.waits(), launch("receive_boxes", unload, moved=self.received)],
            tables=[outgoing.boxes, incoming.boxes],
            fused=[] if backend.on_host or request.fixed_buffers else fused,
        )

    def _sent(self, request: TransferRequest) -> Iterator[Copy]:
        for number, message in enumerate(request.messages):
            exported = self._memory.exported(message)
            copies = pack(message, self._memory.outbox(message), self._memory.flip, number)
            for n, copy in enumerate(copies):
                yield replace(copy, target=exported.get(n, copy.target))

    def _received(self, request: TransferRequest) -> Iterator[Copy]:
        ends = zip(request.messages, self._exports, strict=True)
        for number, (message, exports) in enumerate(ends):
            copies = unpack(message, self._memory.inbox(message), self._memory.flip, number)
            yield from (copy for n, copy in enumerate(copies) if n not in exports)


def _exports(backend: Backend, message: Message) -> Exports:
    """The received segments that the sender may store directly in the array."""
    found = {}
    for number, segment in enumerate(message.receives):
        itemsize, box = np.dtype(segment.dtype).itemsize, segment.box
        row, whole = segment.shape[-1] * itemsize, prod(segment.shape) * itemsize
        is_plain = box.strides[-1] == itemsize and segment.wire_dtype == segment.dtype
        if is_plain and whole > 0 and (row >= DIRECT_BYTES or whole <= SCATTERED_BYTES):
            handle, offset = backend.export_handle(box.address)
            found[number] = handle, StridedBox(offset, box.strides)
    return found


class HybridTransfer(Transfer):
    """Messages within this host on one transport, and all others on another transport.

    Messages to other hosts start first and finish last.
    """

    def __init__(self, request: TransferRequest, near: Maker, far: Maker) -> None:
        inside, outside = _by_host(request)
        self._near, self._far = parts = near(inside), far(outside)
        self._parts = parts
        self.sent = _merged(request, self._near.sent, self._far.sent)
        self.received = _merged(request, self._near.received, self._far.received)
        self.path = f"{self._near.path} within a host, {self._far.path} between hosts"
        self.in_graph = all(part.in_graph for part in parts)
        self.rebindable = all(part.rebindable for part in parts)

    def prepare(self, request: TransferRequest) -> Binding:
        inside, outside = _by_host(request)
        near, far = self._near.prepare(inside), self._far.prepare(outside)
        return Binding(
            open=[*far.open, *near.open],
            start=[*far.start, *near.start],
            finish=[*near.finish, *far.finish],
            tables=[*near.tables, *far.tables],
            fused=[*far.start, *near.fused, *far.finish] if near.fused else [],
        )


def _by_host(request: TransferRequest) -> tuple[TransferRequest, TransferRequest]:
    """Messages within this host, with the copies of own points, and messages to other hosts."""
    here, messages = set(request.comm.same_host), request.messages
    inside, outside = ([m for m in messages if (m.peer in here) == near] for near in (True, False))
    return replace(request, messages=inside), replace(request, messages=outside, own=())


def _merged(
    request: TransferRequest, near: Sequence[Buffer], far: Sequence[Buffer]
) -> list[Buffer]:
    """The buffers of both parts in the order of the request's messages."""
    same_host, parts = set(request.comm.same_host), (iter(near), iter(far))
    return [next(parts[m.peer not in same_host]) for m in request.messages]
