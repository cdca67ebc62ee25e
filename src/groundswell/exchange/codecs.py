"""Transfers with compressed messages: packing encodes segments, and unpacking decodes them.

The codecs are those of `groundswell.compression`. A transport moves the encoded streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from groundswell.backends import Launch
from groundswell.backends.base import Event
from groundswell.compression import TYPES, coder
from groundswell.compression.base import Coder
from groundswell.compression.strips import StridedValues, strip_sizes, strip_table
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.boxes import AddressTable, CopyLaunch, merged
from groundswell.exchange.messages import Message, Segment, TransferRequest, aligned
from groundswell.exchange.transfer import Binding, Maker, Transfer

SHORT_ROW = 32  # values


@dataclass(frozen=True)
class CodedBinding(Binding):
    """The same with the launches of the codec alone."""

    encode: Sequence[Launch] = ()
    decode: Sequence[Launch] = ()


class CodedTransfer(Transfer):
    """A transfer with one stream per message, in a buffer of the largest possible length.

    Args:
        make: creates the transfer of the streams.

    Attributes:
        messages, encoders: the messages, and the encoder of each; None for an empty message.

    Raises:
        InputError: segments have different types, or a type that the codec does not support.
    """

    def __init__(self, request: TransferRequest, codec: str, make: Maker) -> None:
        self._backend, self.messages = request.backend, request.messages
        self.encoders, self._decoders = request.comm.collective_try(lambda: self._coders(codec))
        ends = zip(request.messages, self.encoders, self._decoders, strict=True)
        streams = [self._stream(*end) for end in ends]
        self._request = replace(request, messages=streams, own=(), fixed_buffers=True)
        self._transfer = made = make(self._request)
        self._parts, self.sent, self.received = [made], made.sent, made.received
        self.path, self.in_graph = f"{codec} over {made.path}", made.in_graph

    def _coders(self, codec: str) -> tuple[list[Coder | None], list[Coder | None]]:
        """For each message, the coders for sending and receiving; None for an empty direction."""
        segments = chain(*(m.sends for m in self.messages), *(m.receives for m in self.messages))
        dtype = common_type((s.dtype, s.wire_dtype) for s in segments) or TYPES[0]

        def of(segments: Sequence[Segment]) -> Coder | None:
            sizes = strip_sizes([segment.shape for segment in segments])
            return coder(codec, self._backend, dtype, sizes) if sizes else None

        return [of(m.sends) for m in self.messages], [of(m.receives) for m in self.messages]

    def _stream(self, message: Message, encoder: Coder | None, decoder: Coder | None) -> Message:
        sent, received = (aligned(code.capacity if code else 0) for code in (encoder, decoder))
        used = encoder.used if encoder else None
        length = 0 if used is None else self._backend.address(used)
        return Message(message.peer, message.tag, sent, received, length)

    def prepare(self, request: TransferRequest) -> Binding:
        moved, own = self._moved, CopyLaunch(request.backend, request.own)
        sent = [self._strips(message.sends) for message in request.messages]
        received = [self._strips(message.receives) for message in request.messages]
        out = zip(self.encoders, sent, self.sent, strict=True)
        back = zip(self._decoders, received, self.received, strict=True)
        encode = [*chain(*(c.encode(strips.on_device, at.address) for c, strips, at in out if c))]
        decode = [*chain(*(c.decode(at.address, strips.on_device) for c, strips, at in back if c))]
        return CodedBinding(
            start=[*moved.open, *encode, *own.launches, *moved.start],
            finish=[*moved.finish, *decode],
            tables=[*own.tables, *sent, *received],
            encode=encode,
            decode=decode,
        )

    @cached_property
    def _moved(self) -> Binding:
        """The launches that move the streams."""
        return self._transfer.prepare(self._request)

    def _strips(self, segments: Sequence[Segment]) -> AddressTable:
        boxes = [_box(segment) for segment in segments]
        arrays = [box._replace(address=s.box.array) for box, s in zip(boxes, segments, strict=True)]
        return AddressTable(self._backend, strip_table(boxes), [0], strip_table(arrays)[:, 0])

    def check(self, after: Event | None = None) -> None:
        super().check(after)
        for message, code in zip(self.messages, self._decoders, strict=True):
            if fault := code.fault(after) if code else "":
                raise RunFailed(
                    f"the message of rank {message.peer} is damaged: its coded stream is {fault}"
                )


def _box(segment: Segment) -> StridedValues:
    """The values of a segment, in an order on which sender and receiver agree.

    Rows follow its last axis or, if that is short, its longest axis, so that the values of a strip
    are mostly neighbours, which compress well.
    """
    axes = list(range(len(segment.shape)))
    if segment.shape[-1] < SHORT_ROW:
        axes.sort(key=lambda axis: segment.shape[axis])
    along = replace(segment.box, strides=tuple(segment.box.strides[axis] for axis in axes))
    shape, strided, _ = merged(tuple(segment.shape[axis] for axis in axes), along, along)
    return StridedValues(strided.address, strided.strides, shape)


def common_type(values: Iterable[tuple[str, str]]) -> str:
    """The type of values to compress together, "" without values.

    Args:
        values: types of values in memory and in messages.

    Raises:
        InputError: such values cannot be compressed together.
    """
    pairs = {*values}
    types = sorted({dtype for dtype, _ in pairs})
    if len(types) > 1:
        raise InputError(
            f"fields of types {', '.join(types)} cannot be compressed together; "
            "use one exchange per type"
        )
    if narrow := next((wire for dtype, wire in pairs if wire != dtype), None):
        raise InputError(
            f"values that are sent as {narrow} cannot also be compressed; choose sent_as or codec"
        )
    if types and types[0] not in TYPES:
        raise InputError(
            f"values of type {types[0]} cannot be compressed; allowed: {', '.join(TYPES)}"
        )
    return types[0] if types else ""
