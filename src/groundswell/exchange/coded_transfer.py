"""Coded transfers: segments are encoded as they are packed, and decoded as they are unpacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundswell.backends import Launch
from groundswell.backends.base import Event
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.boxes import CopyLaunch
from groundswell.exchange.buffers import BufferExchange
from groundswell.exchange.codecs.coder import WORDS, Coder, coder, strip_sizes, strips
from groundswell.exchange.packing import ALIGNMENT, PackedMessage, Segment, TransferRequest
from groundswell.exchange.transfer import Transfer
from groundswell.exchange.transports.base import Buffer, MessageSize

Coders = list[Coder | None]  # one a message; None for an empty one


class CodedTransfer(Transfer):
    """One stream of a codec a message, in a buffer for the longest that it can become.

    Args:
        codec: see codecs.coder.
        connect: connects the buffers.

    Attributes:
        encode, decode: launches of the codec alone.

    Raises:
        InputError: segments of several types, or of one that the codec does not support.
    """

    rebindable = False

    def __init__(
        self,
        request: TransferRequest,
        codec: str,
        connect: Callable[[Sequence[MessageSize]], BufferExchange],
    ) -> None:
        self._request, backend = request, request.backend
        self._sent, self._received = request.comm.collective_try(lambda: self._coders(codec))
        ends = zip(request.messages, self._sent, self._received, strict=True)
        self._buffers = buffers = connect([self._sizes(*end) for end in ends])
        self.encode, self.decode = self._encode(buffers.sent), self._decode(buffers.received)
        own = CopyLaunch(backend, request.own).launches
        self.path = f"{codec} over {buffers.path}"
        self.in_graph = buffers.in_graph
        self.start = [*buffers.open, *self.encode, *own, *buffers.start]
        self.finish = [*buffers.finish, *self.decode]

    def _coders(self, codec: str) -> tuple[Coders, Coders]:
        """The coders of what is sent and of what is received."""
        messages, backend = self._request.messages, self._request.backend
        dtype = common_type([s for m in messages for s in (*m.sends, *m.receives)])

        def of(segments: Sequence[Segment]) -> Coder | None:
            sizes = strip_sizes([segment.shape for segment in segments])
            return coder(codec, backend, dtype, sizes) if sizes else None

        return [of(m.sends) for m in messages], [of(m.receives) for m in messages]

    def _sizes(
        self, message: PackedMessage, sent: Coder | None, received: Coder | None
    ) -> MessageSize:
        return MessageSize(
            message.peer,
            message.tag,
            _aligned(sent.capacity if sent else 0),
            _aligned(received.capacity if received else 0),
            self._request.backend.address(sent.used) if sent and sent.used is not None else 0,
        )

    def _encode(self, buffers: Sequence[Buffer]) -> list[Launch]:
        to_device, launches = self._request.backend.to_device, list[Launch]()
        ends = zip(self._request.messages, self._sent, buffers, strict=True)
        for message, code, buffer in ends:
            if code is not None:
                table = to_device(strips(message.sends))
                launches += code.encode(table, buffer.address)
        return launches

    def _decode(self, buffers: Sequence[Buffer]) -> list[Launch]:
        to_device, launches = self._request.backend.to_device, list[Launch]()
        ends = zip(self._request.messages, self._received, buffers, strict=True)
        for message, code, buffer in ends:
            if code is not None:
                table = to_device(strips(message.receives))
                launches += code.decode(buffer.address, table)
        return launches

    def lengths(self) -> dict[int, tuple[int, int]]:
        """Bytes by tag of the messages: not coded, and of the streams that were coded last."""
        found: dict[int, tuple[int, int]] = {}
        for message, code in zip(self._request.messages, self._sent, strict=True):
            plain, coded = found.get(message.tag, (0, 0))
            sent = sum(segment.bytes for segment in message.sends)
            found[message.tag] = plain + sent, coded + self._length(code)
        return found

    def _length(self, code: Coder | None) -> int:
        if code is None:
            return 0
        used = code.used
        return code.capacity if used is None else int(self._request.backend.to_host(used)[0])

    def check(self, after: Event | None = None) -> None:
        self._buffers.check(after)
        for message, code in zip(self._request.messages, self._received, strict=True):
            if fault := code.fault(after) if code else "":
                raise RunFailed(
                    f"the coded message of rank {message.peer} is damaged: its stream is {fault}"
                )

    def close(self) -> None:
        self._buffers.close()


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def common_type(segments: Sequence[Segment]) -> str:
    """The type of segments that are coded together; raises InputError if they cannot be."""
    types = sorted({segment.dtype for segment in segments})
    if len(types) > 1:
        raise InputError(
            f"fields of types {', '.join(types)} cannot be coded together: exchange apart"
        )
    if narrow := next((s.wire for s in segments if s.wire != s.dtype), None):
        raise InputError(f"values that are sent as {narrow} cannot be coded: choose one of the two")
    if types and types[0] not in WORDS:
        raise InputError(f"values of type {types[0]} cannot be coded; allowed: {', '.join(WORDS)}")
    return types[0] if types else "float32"
