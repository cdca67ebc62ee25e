"""Peer transfers: kernels store segments straight in the receivers' memory, without buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from groundswell.backends import Backend, Blocks, Launch
from groundswell.backends.base import Event
from groundswell.exchange.boxes import (
    THREADS,
    Copies,
    Copy,
    Place,
    compile_kernels,
    count_chunks,
)
from groundswell.exchange.communicator import all_or_nothing
from groundswell.exchange.packing import PackedMessage, Segment, TransferRequest, pack, unpack
from groundswell.exchange.transfer import Transfer
from groundswell.exchange.transports.peer_memory import Export, Exports, PeerMemory

DIRECT_BYTES = 128  # of a row: shorter ones waste most of what a link carries,
SCATTERED_BYTES = 1 << 18  # unless all of them are no more than this: a mailbox costs a round trip


class PeerTransfer(Transfer):
    """Stores in mailboxes of the receivers, or straight in their arrays.

    Args:
        direct: store straight in the receivers' arrays, where a segment has rows of at least
            DIRECT_BYTES, or few bytes, and values keep their type; otherwise in mailboxes.

    Raises:
        BackendError: the memory of a peer cannot be mapped.
    """

    in_graph = True

    def __init__(self, request: TransferRequest, *, direct: bool = False) -> None:
        comm, messages = request.comm, request.messages
        self.rebindable = not direct
        self._exports: list[Exports] = comm.collective_try(
            lambda: [_exports(request.backend, m) if direct else {} for m in messages]
        )
        with all_or_nothing():
            self._memory = PeerMemory(request.backend, comm, messages, exports=self._exports)
            comm.collective_try(lambda: self.bind(request))
        self.path = self._memory.path + ", straight into ghost layers" * direct

    def bind(self, request: TransferRequest) -> None:
        backend, memory, count = request.backend, self._memory, len(request.messages)
        own = (replace(copy, message=count) for copy in request.own)  # of no message
        sent, received = [*self._sent(request), *own], list(self._received(request))
        most = max(count_chunks(sent), count_chunks(received), 1)
        blocks = min(most, memory.blocks_at_once)
        outgoing, incoming = (Copies(backend, copies, blocks, count) for copies in (sent, received))
        self.tables = [outgoing.boxes, incoming.boxes]
        signals = memory.signals(outgoing.per_message.tolist(), blocks)
        module = compile_kernels(backend)

        def launch(name: str, *tables: Copies) -> Launch:
            loads = [argument for table in tables for argument in table.arguments]
            extent = Blocks(blocks if tables else 1, THREADS)
            return module.launch(name, extent, *loads, *signals)

        send = launch("send_boxes", outgoing) if sent else launch("signal_messages")
        self.start = [memory.require_no_timeout, send]
        self.finish = [*memory.waits(), launch("receive_boxes", incoming)]
        both = [memory.require_no_timeout, launch("exchange_boxes", outgoing, incoming)]
        self._at_once = [*self.start, *self.finish] if backend.on_host else both

    @property
    def launches(self) -> list[Launch]:
        return self._at_once

    def _sent(self, request: TransferRequest) -> Iterator[Copy]:
        for number, message in enumerate(request.messages):
            exported = self._memory.exported(message)
            copies = pack(message, self._memory.outbox(message), self._memory.flip, number)
            for n, copy in enumerate(copies):
                if n in exported:
                    yield replace(copy, target=Place(*exported[n]))
                else:
                    yield copy

    def _received(self, request: TransferRequest) -> Iterator[Copy]:
        ends = zip(request.messages, self._exports, strict=True)
        for number, (message, exports) in enumerate(ends):
            copies = unpack(message, self._memory.inbox(message), self._memory.flip, number)
            yield from (copy for n, copy in enumerate(copies) if n not in exports)

    def check(self, after: Event | None = None) -> None:
        self._memory.check(after)

    def close(self) -> None:
        self._memory.close()


def _exports(backend: Backend, message: PackedMessage) -> Exports:
    """The received segments that the sender may store straight in the array."""
    return {
        n: _export(backend, segment)
        for n, segment in enumerate(message.receives)
        if _is_worth_storing_directly(segment)
    }


def _is_worth_storing_directly(segment: Segment) -> bool:
    itemsize = segment.array.dtype.itemsize
    row, whole = segment.shape[-1] * itemsize, prod(segment.shape) * itemsize
    contiguous = segment.array.strides[-1] == itemsize and segment.wire == segment.dtype
    return contiguous and (row >= DIRECT_BYTES or whole <= SCATTERED_BYTES)


def _export(backend: Backend, segment: Segment) -> Export:
    handle, offset = backend.export_handle(segment.array)
    begin = segment.place.address - backend.address(segment.array)
    return Export(handle, offset + begin, segment.place.strides)
