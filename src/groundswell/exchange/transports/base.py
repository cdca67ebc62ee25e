"""Messages of plain buffers, and the interface of the transports that move them.

A transport moves bytes from address to address, by tag. It knows no field, ghost layer or codec.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.operation import Operation


@dataclass(frozen=True)
class Buffer:
    """Bytes in memory.

    Args:
        address: of the first byte.
        size: bytes.
    """

    address: int
    size: int


class SizedMessage(Protocol):
    """A message before it has buffers.

    Attributes:
        peer: the other rank.
        tag: tells messages between the same ranks apart; the same on both sides.
        send_bytes, receive_bytes: largest size in each direction; one may be empty.
        length: address of the number of bytes to send, on the device; 0 to send all.
    """

    @property
    def peer(self) -> int: ...
    @property
    def tag(self) -> int: ...
    @property
    def send_bytes(self) -> int: ...
    @property
    def receive_bytes(self) -> int: ...
    @property
    def length(self) -> int: ...


@dataclass(frozen=True)
class MessageSize:
    """The numbers of a `SizedMessage`, and nothing else."""

    peer: int
    tag: int
    send_bytes: int
    receive_bytes: int
    length: int = 0

    @classmethod
    def of(cls, message: SizedMessage) -> MessageSize:
        """Those of a message."""
        sizes = (message.send_bytes, message.receive_bytes)
        return cls(message.peer, message.tag, *sizes, message.length)


@dataclass(frozen=True)
class Message:
    """What two ranks send each other at once, and where it lies; see `SizedMessage`."""

    peer: int
    tag: int
    sent: Buffer
    received: Buffer
    length: int = 0


Transport = Callable[[Backend, Communicator, Sequence[Message]], Operation]


def offsets_of(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Offsets of consecutive parts, and the size of all of them."""
    *offsets, end = accumulate(sizes, initial=0)
    return offsets, end


def peers_of(messages: Sequence[SizedMessage] | Sequence[Message]) -> list[int]:
    """The ranks that messages come from."""
    return sorted({message.peer for message in messages})
