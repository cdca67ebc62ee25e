"""Messages between ranks: segments, buffers, and operations that move them.

Transports move buffers of messages by peer and tag. They are independent of fields, ghost layers
and codecs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.boxes import Copy, StridedBox, itemsize_of
from groundswell.exchange.communicator import Communicator

ALIGNMENT = 128  # bytes between the beginnings of segments in a message


class Operation:
    """Communication with other ranks, in two parts; creating, running and closing it is collective.

    Transports, halo exchanges, gather-scatters and all-reduces are operations.

    Attributes:
        path: description of the transport in use.
        reason: the reason for the choice of this transport.
        peers: the ranks that this rank sends to or receives from.
        bytes: bytes that this rank sends per run, before compression.
        in_graph: whether the device needs no help of the host, so that a graph can contain it.
        rebindable: whether its arrays can be replaced by others without communication.
        sends_in_finish: whether `finish` sends as well, so that its order matters on all ranks.
        open: launches before kernels that store values in the buffers that `start` sends.
        start: launches that send.
        finish: launches that wait for the other ranks, and store the values that these sent.
    """

    path: str
    reason = ""
    peers: Sequence[int] = ()
    bytes = 0
    in_graph = False
    rebindable = True
    sends_in_finish = False
    open: Sequence[Launch] = ()
    start: Sequence[Launch] = ()
    finish: Sequence[Launch] = ()
    _parts: Sequence[Any] = ()  # its operations and peer memory

    @property
    def launches(self) -> list[Launch]:
        """The launches of the whole operation."""
        return [*self.open, *self.start, *self.finish]

    def __repr__(self) -> str:
        ranks, chosen = ", ".join(map(str, self.peers)), f"; {self.reason}" if self.reason else ""
        sent = (
            f"{self.bytes:,} bytes to rank{'s' * (len(self.peers) > 1)} {ranks} by"
            if ranks
            else "no messages;"
        )
        return f"<{type(self).__name__}: {sent} {self.path}{chosen}>"

    def check(self, after: Event | None = None) -> None:
        """Check that no wait of the device timed out before `after` (default: until now).

        Raises:
            RunFailed: one did; names the rank.
        """
        for part in self._parts:
            part.check(after)

    def release(self) -> None:
        """Stop keeping the arrays alive, if possible; the caller must then keep them."""

    def close(self) -> None:
        """Release memory and handles of other ranks; collective, before MPI ends.

        Raises:
            RunFailed: a wait of some rank timed out, so results are invalid.
        """
        with ExitStack() as rest:  # closes all parts, even if one raises
            for part in reversed(self._parts):
                rest.callback(part.close)


class Buffer(NamedTuple):
    """A number of bytes in memory, from an address on."""

    address: int
    size: int


def extent_of(buffers: Sequence[Buffer]) -> str:
    """The size of buffers, as text."""
    return f"{sum(buffer.size for buffer in buffers):,} bytes"


@dataclass(frozen=True)
class Segment:
    """A box of values in a message.

    Args:
        shape: number of points along each axis.
        dtype, wire_dtype: type of the values in memory and in the message.
        offset: offset in the message, bytes.
    """

    box: StridedBox
    shape: tuple[int, ...]
    dtype: str
    wire_dtype: str
    offset: int = 0

    @property
    def bytes(self) -> int:
        """Size in the message."""
        return prod(self.shape) * itemsize_of(self.wire_dtype)

    def packed(self, address: int, flip: int = 0) -> StridedBox:
        """Its location in a message that begins at this address."""
        size = itemsize_of(self.wire_dtype)
        return StridedBox.packed(address + self.offset, self.shape, size, flip)


@dataclass(frozen=True)
class Message:
    """A message between two ranks, in both directions; one direction may be empty.

    Args:
        peer: the other rank.
        tag: distinguishes messages between the same ranks; the same on both sides.
        send_bytes, receive_bytes: largest size in each direction.
        length: address of the number of bytes to send, int64, on the device; 0 to send all.
        sends, receives: segments of the message in each direction; none if kernels of the caller
            fill and read its buffers.
    """

    peer: int
    tag: int
    send_bytes: int
    receive_bytes: int
    length: int = 0
    sends: tuple[Segment, ...] = ()
    receives: tuple[Segment, ...] = ()

    @classmethod
    def of_segments(
        cls, peer: int, tag: int, sends: Sequence[Segment], receives: Sequence[Segment]
    ) -> Message:
        """A message of consecutive segments. Both ranks use the same layout."""
        (outgoing, send_bytes), (incoming, receive_bytes) = _laid_out(sends), _laid_out(receives)
        return cls(peer, tag, send_bytes, receive_bytes, sends=outgoing, receives=incoming)


def _laid_out(segments: Sequence[Segment]) -> tuple[tuple[Segment, ...], int]:
    offsets, size = offsets_of([aligned(segment.bytes) for segment in segments])
    placed = zip(segments, offsets, strict=True)
    return tuple(replace(segment, offset=offset) for segment, offset in placed), size


@dataclass(frozen=True)
class TransferRequest:
    """The messages of one exchange, before a transport is chosen.

    Args:
        messages: the messages of this rank.
        own: copies between this rank's own points, done together with the messages.
        fixed_buffers: whether buffers keep their addresses, for kernels of the caller that fill and
            read them; must agree on all ranks.
    """

    backend: Backend
    comm: Communicator
    messages: Sequence[Message]
    own: Sequence[Copy] = ()
    fixed_buffers: bool = False


def aligned(size: int) -> int:
    """The next multiple of ALIGNMENT."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def offsets_of(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Offsets of consecutive parts, and their total size."""
    *offsets, end = accumulate(sizes, initial=0)
    return offsets, end


def allocate(
    backend: Backend, sizes: Sequence[int], *, on_host: bool = False
) -> tuple[DeviceArray, list[Buffer]]:
    """Allocate consecutive buffers of these sizes in bytes; return the memory and the buffers."""
    offsets, total = offsets_of(sizes)
    size = max(total, 1)
    memory = backend.pinned_bytes(size) if on_host else backend.zeros((size,), np.uint8)
    first = int(memory.ctypes.data) if on_host else backend.address(memory)
    return memory, [Buffer(first + o, n) for o, n in zip(offsets, sizes, strict=True)]


def peers_of(messages: Sequence[Message]) -> list[int]:
    """The ranks that messages come from."""
    return sorted({message.peer for message in messages})


def pack(message: Message, address: int, flip: int = 0, number: int = 0) -> Iterator[Copy]:
    """Copies of the sent segments to a buffer.

    Args:
        address: address of the buffer.
        flip: offset of the buffer in odd epochs, bytes.
        number: index of the message in the tables of exchange.h.
    """
    for s in message.sends:
        target = s.packed(address, flip)
        yield Copy(s.shape, s.box, target, s.dtype, s.wire_dtype, number)


def unpack(message: Message, address: int, flip: int = 0, number: int = 0) -> Iterator[Copy]:
    """Copies of a buffer to the received segments; arguments as for `pack`."""
    for s in message.receives:
        source = s.packed(address, flip)
        yield Copy(s.shape, source, s.box, s.wire_dtype, s.dtype, number)
