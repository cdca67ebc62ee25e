"""Which values travel between which ranks: pieces of ghost layers gathered into messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from groundswell.backends import Backend
from groundswell.backends.array_interop import is_supported_dtype
from groundswell.backends.base import Array
from groundswell.errors import InputError
from groundswell.exchange.boxes import AXES, CONVERSIONS, ITEMSIZE, RAW, Copy, Place
from groundswell.exchange.decomposition import Decomposition, Index
from groundswell.exchange.pattern import Ghosts, Piece, partners, receives, require_room

ALIGNMENT = 128  # bytes: where pieces begin in a message


@dataclass(frozen=True, eq=False)
class GhostField:
    """An array, where its rank's own points are in it, and which ghosts it needs.

    Args:
        array: of a backend, up to three axes.
        origin: index of the first own point.
        ghosts: layers that are needed.
        sent_as: a narrower type to send values in ("float32", "float16", "bfloat16"), or None.

    Raises:
        InputError: values of unusual size, a type that they cannot be sent in, or axes that differ.
    """

    array: Array
    origin: Index
    ghosts: Ghosts
    sent_as: str | None = None

    def __post_init__(self) -> None:
        axes = len(self.ghosts.low)
        if not is_supported_dtype(self.array.dtype):
            raise InputError(
                f"values of type {self.dtype} take {self.array.dtype.itemsize} bytes; exchanged "
                f"can be plain numbers of {', '.join(map(str, RAW))} bytes: split them into fields"
            )
        if not axes == len(self.origin) == self.array.ndim <= AXES:
            raise InputError(
                f"an array of {self.array.ndim} axes, its origin {self.origin} and its ghosts "
                f"{self.ghosts.low} must have the same number of axes, {AXES} at most; views of "
                "single components do"
            )
        allowed = [
            to for wide, to in CONVERSIONS if wide == self.dtype and ITEMSIZE[to] < ITEMSIZE[wide]
        ]
        if self.sent_as is not None and self.sent_as not in allowed:
            raise InputError(
                f"{self.dtype} cannot be sent as {self.sent_as!r}; allowed: "
                f"{', '.join(allowed) or 'nothing narrower'}"
            )

    @property
    def dtype(self) -> str:
        """NumPy's name of the array's type."""
        return str(self.array.dtype)

    @property
    def wire(self) -> str:
        """The type that values are sent in."""
        return self.sent_as or self.dtype

    @property
    def wire_size(self) -> int:
        """Bytes of a value on its way."""
        return ITEMSIZE.get(self.wire) or np.dtype(self.wire).itemsize

    def place(self, backend: Backend, first: Index) -> Place:
        """Where the box of points that begins at a local index lies in memory."""
        return Place.in_array(backend, self.array, self.origin, first)


@dataclass(frozen=True)
class Parcel:
    """A piece of a field in a message.

    Args:
        field: its number.
        piece: what is sent.
        offset: bytes from the beginning of the message.
    """

    field: int
    piece: Piece
    offset: int


@dataclass(frozen=True)
class Message:
    """What two ranks send each other at once: one direction may be empty.

    Args:
        peer: the other rank.
        key: tells messages between the same ranks apart; the same on both sides.
        sends, receives: the parcels each way.
        send_bytes, receive_bytes: size each way.
        limit: where the device has the number of bytes that are really to be sent; 0 for all.
    """

    peer: int
    key: int
    sends: tuple[Parcel, ...]
    receives: tuple[Parcel, ...]
    send_bytes: int
    receive_bytes: int
    limit: int = 0


def plan_messages(
    cut: Decomposition, rank: int, fields: Sequence[GhostField], *, aggregate: bool
) -> list[Message]:
    """The messages of one rank, by key and then by peer.

    Peers are ordered by how far away they are in the grid of processes. So all ranks send in the
    same direction at the same time, and no two of them to the same rank.

    Args:
        aggregate: one message a peer; otherwise one a peer and field.
    """
    peers = {p for f in fields for p in partners(cut, rank, f.ghosts)} - {rank}
    groups = [range(len(fields))] if aggregate else [range(n, n + 1) for n in range(len(fields))]
    planned = [
        _message(cut, rank, peer, key, fields, group)
        for key, group in enumerate(groups)
        for peer in sorted(peers, key=lambda peer: cut.shift(rank, peer))
    ]
    return [message for message in planned if message.sends or message.receives]


def _message(
    cut: Decomposition,
    rank: int,
    peer: int,
    key: int,
    fields: Sequence[GhostField],
    group: Sequence[int],
) -> Message:
    sends, send_bytes = _parcels(cut, rank, peer, fields, group)
    gets, receive_bytes = _parcels(cut, peer, rank, fields, group)
    return Message(peer, key, sends, gets, send_bytes, receive_bytes)


def _parcels(
    cut: Decomposition,
    sender: int,
    receiver: int,
    fields: Sequence[GhostField],
    group: Sequence[int],
) -> tuple[tuple[Parcel, ...], int]:
    """What one rank sends another; both work it out alike."""
    parcels, offset = [], 0
    for n in group:
        for piece in receives(cut, receiver, fields[n].ghosts):
            if piece.owner == sender:
                parcels.append(Parcel(n, piece, offset))
                size = prod(piece.shape) * fields[n].wire_size
                offset += -(-size // ALIGNMENT) * ALIGNMENT
    return tuple(parcels), offset


@dataclass(frozen=True)
class Buffer:
    """Where a packed message lies.

    Args:
        address: of its first byte.
        flip: bytes by which it moves in odd epochs.
        number: of the message, in the tables of copy.h.
    """

    address: int
    flip: int = 0
    number: int = 0

    def place(self, field: GhostField, parcel: Parcel) -> Place:
        """Where a parcel of the message lies."""
        address = self.address + parcel.offset
        return Place.packed(address, parcel.piece.shape, field.wire_size, self.flip)


def pack(
    backend: Backend, fields: Sequence[GhostField], message: Message, buffer: Buffer
) -> Iterator[Copy]:
    """Copies from the fields into a buffer."""
    for parcel in message.sends:
        field, piece = fields[parcel.field], parcel.piece
        source, target = field.place(backend, piece.there), buffer.place(field, parcel)
        common = (field.dtype, field.wire, buffer.number, message.limit)
        yield Copy(piece.shape, source, target, *common)


def unpack(
    backend: Backend, fields: Sequence[GhostField], message: Message, buffer: Buffer
) -> Iterator[Copy]:
    """Copies from a buffer into the ghost layers of the fields."""
    for parcel in message.receives:
        field, piece = fields[parcel.field], parcel.piece
        source, target = buffer.place(field, parcel), field.place(backend, piece.here)
        yield Copy(piece.shape, source, target, field.wire, field.dtype, buffer.number)


def own_parcels(cut: Decomposition, rank: int, fields: Sequence[GhostField]) -> list[Parcel]:
    """The ghost points that a rank owns itself, on periodic axes."""
    return [
        Parcel(n, piece, 0)
        for n, field in enumerate(fields)
        for piece in receives(cut, rank, field.ghosts)
        if piece.owner == rank
    ]


def own_copies(
    backend: Backend, fields: Sequence[GhostField], own: Iterable[Parcel], number: int = 0
) -> Iterator[Copy]:
    """Copies of such points to their places around the block.

    Args:
        number: of their message, in the tables of copy.h.
    """
    for parcel in own:
        field, piece = fields[parcel.field], parcel.piece
        source, target = (field.place(backend, at) for at in (piece.there, piece.here))
        yield Copy(piece.shape, source, target, field.dtype, field.dtype, number)


def ghost_boxes(
    cut: Decomposition, rank: int, fields: Sequence[GhostField]
) -> Iterator[tuple[GhostField, Piece]]:
    """Every box of ghost points of every field.

    Raises:
        InputError: an array has no room for them, or other axes than the decomposition.
    """
    block = cut.block(rank).shape
    for field in fields:
        if len(field.origin) != len(block):
            raise InputError(
                f"an array of {len(field.origin)} axes in a decomposition of {len(block)}; they "
                "must have the same"
            )
        pieces = receives(cut, rank, field.ghosts)
        require_room(field.array.shape, field.origin, block, pieces)
        yield from ((field, piece) for piece in pieces)


def foreign_boxes(
    cut: Decomposition, rank: int, fields: Sequence[GhostField]
) -> Iterator[tuple[GhostField, Piece]]:
    """Every box around the block, as far as the arrays reach, whose points some block owns."""
    block = cut.block(rank).shape
    for field in fields:
        ends = zip(field.array.shape, field.origin, block, strict=True)
        around = Ghosts(field.origin, tuple(n - o - b for n, o, b in ends), corners=True)
        yield from ((field, piece) for piece in receives(cut, rank, around))
