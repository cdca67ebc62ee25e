"""Packing: boxes of values become messages of bytes, and messages become boxes again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from math import prod

import numpy as np

from groundswell.backends import Array, Backend
from groundswell.exchange.boxes import ITEMSIZE, Copy, Place
from groundswell.exchange.communicator import Communicator

ALIGNMENT = 128  # bytes between the beginnings of segments in a message


@dataclass(frozen=True, eq=False)
class Segment:
    """A box of values that travels in a message.

    Args:
        array: that contains the box.
        place: of the box.
        shape: points along each axis.
        wire_dtype: the type that values are sent in; by default the array's.
        offset: bytes from the beginning of the message.
    """

    array: Array
    place: Place
    shape: tuple[int, ...]
    wire_dtype: str = ""
    offset: int = 0

    @property
    def dtype(self) -> str:
        """NumPy's name of the array's type."""
        return str(self.array.dtype)

    @property
    def wire(self) -> str:
        """The type of values in the message."""
        return self.wire_dtype or self.dtype

    @property
    def bytes(self) -> int:
        """Size in the message."""
        size = ITEMSIZE.get(self.wire) or np.dtype(self.wire).itemsize
        return prod(self.shape) * size

    def packed(self, address: int, flip: int = 0) -> Place:
        """Its place in a message that begins at this address."""
        itemsize = self.bytes // max(prod(self.shape), 1)
        return Place.packed(address + self.offset, self.shape, itemsize, flip)


@dataclass(frozen=True, eq=False)
class PackedMessage:
    """The segments that two ranks send each other at once; one direction may be empty.

    Args:
        peer: the other rank.
        tag: tells messages between the same ranks apart; the same on both sides.
        sends, receives: segments in each direction.
    """

    peer: int
    tag: int
    sends: tuple[Segment, ...]
    receives: tuple[Segment, ...]
    length = 0  # of a `SizedMessage`: all bytes are sent

    @classmethod
    def of(
        cls, peer: int, tag: int, sends: Sequence[Segment], receives: Sequence[Segment]
    ) -> PackedMessage:
        """A message of these segments, one behind the other. Both ranks lay it out alike."""
        return cls(peer, tag, _laid_out(sends), _laid_out(receives))

    @property
    def send_bytes(self) -> int:
        """Size of what is sent."""
        return _end(self.sends)

    @property
    def receive_bytes(self) -> int:
        """Size of what is received."""
        return _end(self.receives)


def _laid_out(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    placed: list[Segment] = []
    for segment in segments:
        placed.append(replace(segment, offset=_end(placed)))
    return tuple(placed)


def _end(segments: Sequence[Segment]) -> int:
    """Where the next segment begins."""
    if not segments:
        return 0
    last = segments[-1]
    return last.offset + -(-last.bytes // ALIGNMENT) * ALIGNMENT


def pack(message: PackedMessage, address: int, flip: int = 0, number: int = 0) -> Iterator[Copy]:
    """Copies of the segments that are sent into a buffer.

    Args:
        address: of the buffer.
        flip: bytes by which the buffer moves in odd epochs.
        number: of the message, in the tables of copy.h.
    """
    for s in message.sends:
        target = s.packed(address, flip)
        yield Copy(s.shape, s.place, target, s.dtype, s.wire, number)


def unpack(message: PackedMessage, address: int, flip: int = 0, number: int = 0) -> Iterator[Copy]:
    """Copies of a buffer to the segments that are received; arguments as of `pack`."""
    for s in message.receives:
        source = s.packed(address, flip)
        yield Copy(s.shape, source, s.place, s.wire, s.dtype, number)


@dataclass(frozen=True, eq=False)
class TransferRequest:
    """The messages of one exchange, before a transport is chosen.

    Args:
        messages: of this rank.
        own: copies between this rank's own points, made along with the messages.
    """

    backend: Backend
    comm: Communicator
    messages: Sequence[PackedMessage]
    _: KW_ONLY
    own: Sequence[Copy] = ()

    def of(self, messages: Sequence[PackedMessage], own: Sequence[Copy] = ()) -> TransferRequest:
        """The same for some of the messages."""
        return replace(self, messages=messages, own=own)
