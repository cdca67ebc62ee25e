"""Messages made shorter on their way: coded as they are packed, decoded as they are unpacked."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from groundswell.backends import Launch
from groundswell.backends.base import Array, Event
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.boxes import copy_launch
from groundswell.exchange.codecs.coder import Coder, coder
from groundswell.exchange.codecs.mpc import WORDS
from groundswell.exchange.codecs.strips import strip_sizes, strips
from groundswell.exchange.messages import (
    ALIGNMENT,
    Buffer,
    GhostField,
    Message,
    Parcel,
    own_copies,
    pack,
    unpack,
)
from groundswell.exchange.pattern import Ghosts, Piece
from groundswell.exchange.transports.base import Job, Maker, Transfer


class CodedTransfer(Transfer):
    """Streams of a codec, one a message, on a transport that takes them for bytes.

    They lie in an array of bytes, where each has room for the longest that it can become. Where
    the transport lets kernels store straight into the other ranks' arrays, streams do not even
    begin in this rank's own.

    Args:
        codec: see codecs.coder.
        make: makes the transport.

    Attributes:
        encode, decode: launches of the codec alone.

    Raises:
        InputError: fields of several types, or of one that the codec does not know.
    """

    def __init__(self, job: Job, codec: str, make: Maker) -> None:
        self._job, backend = job, job.backend
        sent, received = job.comm.collective_try(lambda: self._coders(codec))
        sizes = [c.capacity if c else 0 for c in (*sent, *received)]
        offsets = np.cumsum([0, *(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)]).tolist()
        self._bytes = backend.zeros((max(offsets[-1], 1),), np.uint8)
        outs, backs = offsets[: len(sent)], offsets[len(sent) : -1]
        messages = [
            _coded(message, out, back, backend.address)
            for message, out, back in zip(
                job.messages,
                zip(sent, outs, strict=True),
                zip(received, backs, strict=True),
                strict=True,
            )
        ]
        field = GhostField(self._bytes, (0,), Ghosts((0,), (0,)))
        inner = Job(backend, job.comm, [field], messages, stored={0: 0})
        self._inner = make(inner)
        shifts = {put.first[0]: put.shift for put in self._inner.puts}
        self.encode, self.decode = list[Launch](), list[Launch]()
        self._streams: list[tuple[int, Coder]] = []
        for n, message in enumerate(job.messages):
            self.encode += self._encode(sent[n], message, outs[n], shifts.get(outs[n], 0))
            self.decode += self._decode(received[n], message, backs[n])
        own = copy_launch(backend, list(own_copies(backend, job.fields, job.own)))
        self.path = f"{codec} over {self._inner.path}"
        self.in_graph = self._inner.in_graph and all(c.in_graph for c in (*sent, *received) if c)
        ahead = [*self._inner.open, *self.encode, *own]
        self.start = [*ahead, *self._inner.start]
        self.finish = [*self._inner.finish, *self.decode]
        self.launches = [*ahead, *self._inner.launches, *self.decode]
        self._sent = sent

    def _coders(self, codec: str) -> tuple[list[Coder | None], list[Coder | None]]:
        """Of what is sent, and of what is received, one a message; none of empty ones."""
        dtype = common_type(self._job.fields)

        def of(parcels: Sequence[Parcel]) -> Coder | None:
            sizes = strip_sizes([parcel.piece.shape for parcel in parcels])
            return coder(codec, self._job.backend, dtype, sizes) if sizes else None

        messages = self._job.messages
        return [of(m.sends) for m in messages], [of(m.receives) for m in messages]

    def _encode(
        self, code: Coder | None, message: Message, offset: int, shift: int
    ) -> list[Launch]:
        """Launches that pack and code; `shift` bytes behind the stream's place if that is said."""
        if code is None:
            return []
        copies = list(pack(self._job.backend, self._job.fields, message, Buffer(0)))
        table = self._job.backend.to_device(strips(copies, of_target=False))
        here = self._stream(code, offset)
        return code.encode(table, self._job.backend.address(here) + shift if shift else here)

    def _decode(self, code: Coder | None, message: Message, offset: int) -> list[Launch]:
        if code is None:
            return []
        copies = list(unpack(self._job.backend, self._job.fields, message, Buffer(0)))
        table = self._job.backend.to_device(strips(copies, of_target=True))
        self._streams.append((message.peer, code))
        return code.decode(self._stream(code, offset), table)

    def _stream(self, code: Coder, offset: int) -> Array:
        return self._bytes[offset : offset + code.capacity]

    def lengths(self) -> dict[int, tuple[int, int]]:
        """Bytes by key of the messages: not coded, and of the streams that were coded last."""
        found: dict[int, tuple[int, int]] = {}
        for message, code in zip(self._job.messages, self._sent, strict=True):
            plain, coded = found.get(message.key, (0, 0))
            sent = sum(self._size(parcel) for parcel in message.sends)
            found[message.key] = plain + sent, coded + self._length(code)
        return found

    def _size(self, parcel: Parcel) -> int:
        return prod(parcel.piece.shape) * self._job.fields[parcel.field].wire_size

    def _length(self, code: Coder | None) -> int:
        if code is None:
            return 0
        return code.capacity if code.used is None else int(self._job.backend.to_host(code.used)[0])

    def check(self, after: Event | None = None) -> None:
        self._inner.check(after)
        for peer, code in self._streams:
            if fault := code.fault(after):
                raise RunFailed(
                    f"the coded message of rank {peer} is damaged: its stream is {fault}"
                )

    def close(self) -> None:
        self._inner.close()


def _coded(
    message: Message, sent: tuple[Coder | None, int], received: tuple[Coder | None, int], at: Any
) -> Message:
    """The message as bytes."""
    (out, here), (back, there) = sent, received
    sends, send_bytes = _run(message.peer, out, here)
    receives, receive_bytes = _run(message.peer, back, there)
    limit = at(out.used) if out and out.used is not None else 0
    return Message(message.peer, message.key, sends, receives, send_bytes, receive_bytes, limit)


def _run(peer: int, code: Coder | None, offset: int) -> tuple[tuple[Parcel, ...], int]:
    if code is None:
        return (), 0
    return (Parcel(0, Piece(peer, (offset,), (offset,), (code.capacity,)), 0),), code.capacity


def common_type(fields: Sequence[GhostField]) -> str:
    """The type of fields that are coded together; raises InputError if they cannot be."""
    types = sorted({field.dtype for field in fields})
    if len(types) > 1:
        raise InputError(
            f"fields of types {', '.join(types)} cannot be coded together: exchange apart"
        )
    if narrow := next((field.sent_as for field in fields if field.sent_as), None):
        raise InputError(f"values that are sent as {narrow} cannot be coded: choose one of the two")
    if types and types[0] not in WORDS:
        raise InputError(f"values of type {types[0]} cannot be coded; allowed: {', '.join(WORDS)}")
    return types[0] if types else "float32"
