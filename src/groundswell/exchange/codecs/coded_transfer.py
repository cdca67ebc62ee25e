"""Coded transfers: segments are encoded as they are packed, and decoded as they are unpacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundswell.backends import Launch
from groundswell.backends.base import Event
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.boxes import CopyLaunch
from groundswell.exchange.codecs import WORDS, Coder, coder, strip_sizes, strips
from groundswell.exchange.messages import Message, Segment, TransferRequest, aligned
from groundswell.exchange.transfer import Binding, Maker, Transfer


class CodedTransfer(Transfer):
    """One stream of a codec a message, in a buffer for the longest that it can become.

    Args:
        codec: see codecs.coder.
        make: connects the streams.

    Attributes:
        encode, decode: launches of the codec alone.

    Raises:
        InputError: segments of several types, or of one that the codec does not support.
    """

    rebindable = False
    encode: Sequence[Launch] = ()
    decode: Sequence[Launch] = ()

    def __init__(self, request: TransferRequest, codec: str, make: Maker) -> None:
        self._backend, self._messages = request.backend, request.messages
        self._encoders, self._decoders = request.comm.collective_try(lambda: self._coders(codec))
        ends = zip(request.messages, self._encoders, self._decoders, strict=True)
        streams = [self._stream(*end) for end in ends]
        self._request = replace(request, messages=streams, own=(), fixed_buffers=True)
        self._transfer = made = make(self._request)
        self._parts, self.sent, self.received = [made], made.sent, made.received
        self.path, self.in_graph = f"{codec} over {made.path}", made.in_graph

    def _coders(self, codec: str) -> tuple[list[Coder | None], list[Coder | None]]:
        """For each message the coders of what is sent and received; None for what is empty."""
        dtype = common_type(self._messages)

        def of(segments: Sequence[Segment]) -> Coder | None:
            sizes = strip_sizes([segment.shape for segment in segments])
            return coder(codec, self._backend, dtype, sizes) if sizes else None

        return [of(m.sends) for m in self._messages], [of(m.receives) for m in self._messages]

    def _stream(self, message: Message, encoder: Coder | None, decoder: Coder | None) -> Message:
        used = encoder.used if encoder else None
        return Message(
            message.peer,
            message.tag,
            aligned(encoder.capacity if encoder else 0),
            aligned(decoder.capacity if decoder else 0),
            length=0 if used is None else self._backend.address(used),
        )

    def prepare(self, request: TransferRequest) -> Binding:
        moved = self._transfer.prepare(self._request)
        own = CopyLaunch(request.backend, request.own).launches
        self.encode, self.decode = self._encode(request.messages), self._decode(request.messages)
        return Binding(
            start=[*moved.open, *self.encode, *own, *moved.start],
            finish=[*moved.finish, *self.decode],
        )

    def _encode(self, messages: Sequence[Message]) -> list[Launch]:
        launches: list[Launch] = []
        for message, code, buffer in zip(messages, self._encoders, self.sent, strict=True):
            if code is not None:
                table = self._backend.to_device(strips(message.sends))
                launches += code.encode(table, buffer.address)
        return launches

    def _decode(self, messages: Sequence[Message]) -> list[Launch]:
        launches: list[Launch] = []
        for message, code, buffer in zip(messages, self._decoders, self.received, strict=True):
            if code is not None:
                table = self._backend.to_device(strips(message.receives))
                launches += code.decode(buffer.address, table)
        return launches

    def lengths(self) -> dict[int, tuple[int, int]]:
        """Bytes by tag of the messages: not coded, and of the streams that were coded last."""
        found: dict[int, tuple[int, int]] = {}
        for message, code in zip(self._messages, self._encoders, strict=True):
            plain, coded = found.get(message.tag, (0, 0))
            sent = sum(segment.bytes for segment in message.sends)
            found[message.tag] = plain + sent, coded + self._length(code)
        return found

    def _length(self, code: Coder | None) -> int:
        if code is None:
            return 0
        return code.capacity if code.used is None else int(self._backend.to_host(code.used)[0])

    def check(self, after: Event | None = None) -> None:
        super().check(after)
        for message, code in zip(self._messages, self._decoders, strict=True):
            if fault := code.fault(after) if code else "":
                raise RunFailed(
                    f"the coded message of rank {message.peer} is damaged: its stream is {fault}"
                )


def common_type(messages: Sequence[Message]) -> str:
    """The type of values that are coded together; raises InputError if they cannot be."""
    segments = [s for m in messages for s in (*m.sends, *m.receives)]
    types = sorted({segment.dtype for segment in segments})
    if len(types) > 1:
        raise InputError(
            f"fields of types {', '.join(types)} cannot be coded together: exchange apart"
        )
    if narrow := next((s.wire_dtype for s in segments if s.wire_dtype != s.dtype), None):
        raise InputError(f"values that are sent as {narrow} cannot be coded: choose one of the two")
    if types and types[0] not in WORDS:
        raise InputError(f"values of type {types[0]} cannot be coded; allowed: {', '.join(WORDS)}")
    return types[0] if types else "float32"
