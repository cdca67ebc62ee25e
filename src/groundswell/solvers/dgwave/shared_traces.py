"""Traces shared between ranks: their buffers and their exchange.

If the transport maps the memory of the other rank, a kernel stores a trace there directly.
Otherwise it stores the trace in the buffer of a message. Only traces that are narrowed or
compressed have separate memory on both sides. If they are rounded, a face combines its own exact
trace with a rounded one, which perturbs the scheme; docs/methods/dgwave.md lists the errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundswell.backends import Backend
from groundswell.exchange.boxes import ITEMSIZE, StridedBox
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.gather_scatter.transfers import Connection
from groundswell.exchange.messages import (
    Buffer,
    Message,
    Operation,
    Segment,
    TransferRequest,
    allocate,
)


@dataclass(frozen=True)
class TraceFormat:
    """Format of a trace, (values, nodes), in memory and in messages.

    Args:
        values: number of values per node.
        nodes: number of nodes of a face.
        dtype: floating-point type.
        sent_as: type of values in messages; None for `dtype`.
    """

    values: int
    nodes: int
    dtype: str
    sent_as: str | None = None

    @property
    def bytes(self) -> int:
        """Size in memory, bytes."""
        return self.values * self._row

    @property
    def sent_bytes(self) -> int:
        """Size in messages, unless a codec makes it smaller."""
        return self.values * self.nodes * ITEMSIZE[self.sent_as or self.dtype]

    def segments(self, buffer: Buffer) -> list[Segment]:
        """The traces of a buffer; one segment per value, so that codecs compress similar values."""
        shape, strides = (buffer.size // self.bytes, self.nodes), (self.bytes, self._itemsize)
        wire = self.sent_as or self.dtype
        return [
            Segment(StridedBox(buffer.address + n * self._row, strides), shape, self.dtype, wire)
            for n in range(self.values)
        ]

    @property
    def _row(self) -> int:
        return self.nodes * self._itemsize

    @property
    def _itemsize(self) -> int:
        return ITEMSIZE[self.dtype]


class SharedTraces(Operation):
    """The exchange of traces on the faces between ranks; collective.

    Args:
        counts: number of traces that this rank sends to, and receives from, each other rank.
        choice: transport and codec.

    Attributes:
        sent: for each of these ranks, the buffer in which kernels store traces, after `open`.
        received: for each of them, the buffer from which kernels read traces, after `finish`.

    Raises:
        InputError: there is no such transport or codec.
        BackendError: the transport does not work here.
    """

    sent: Sequence[Buffer]
    received: Sequence[Buffer]

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        counts: Mapping[int, int],
        form: TraceFormat,
        choice: Connection,
    ) -> None:
        sizes = {peer: count * form.bytes for peer, count in counts.items()}
        is_exact = form.sent_as is None and choice.codec == "none"
        messages = [Message(peer, 0, size, size) for peer, size in sizes.items()]
        self.bytes, self.peers = sum(sizes.values()), list(sizes)
        if not is_exact:
            messages = comm.collective_try(lambda: self._stage(backend, sizes, form))
            self.bytes = sum(segment.bytes for m in messages for segment in m.sends)
        request = TransferRequest(backend, comm, messages, fixed_buffers=is_exact)
        made = connect(request, choice.transport, choice.codec)
        self._parts, self.path, self.in_graph = [made], made.path, made.in_graph
        self.open, self.start, self.finish = made.open, made.start, made.finish
        if is_exact:
            self.sent, self.received = made.sent, made.received
        self.reason = made.reason

    def _stage(
        self, backend: Backend, sizes: Mapping[int, int], form: TraceFormat
    ) -> list[Message]:
        """Allocate memory for the traces on this rank; return messages that are packed from it."""
        whole = list(sizes.values())
        self._memory, buffers = allocate(backend, [*whole, *whole])
        self.sent, self.received = buffers[: len(whole)], buffers[len(whole) :]
        ends = zip(sizes, self.sent, self.received, strict=True)
        return [
            Message.of_segments(peer, 0, form.segments(sent), form.segments(received))
            for peer, sent, received in ends
        ]
