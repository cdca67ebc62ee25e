"""The messages of a halo exchange: the ghost layers of fields, by the ranks that own them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.exchange.boxes import WORDS, Copy, Place, steps
from groundswell.exchange.decomposition import Decomposition, Index
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.packing import PackedMessage, Segment
from groundswell.exchange.pattern import Ghosts, Piece, partners, receives, require_room


class HaloMessages:
    """The messages of a halo exchange: ghost layers of fields, by owner.

    Args:
        rank: whose messages.
    """

    def __init__(
        self,
        backend: Backend,
        decomposition: Decomposition,
        rank: int,
        fields: Sequence[GhostField],
    ) -> None:
        self.backend, self.decomposition, self.rank = backend, decomposition, rank
        self.fields = fields

    def addresses(self) -> list[int]:
        """The address of each field's array."""
        return [self.backend.address(field.array) for field in self.fields]

    def layout(self) -> list[tuple[object, ...]]:
        """What tables of addresses depend on besides the addresses."""
        return [
            (f.array.shape, steps(f.array), f.origin, self.backend.address(f.array) % WORDS[0])
            for f in self.fields
        ]

    def messages(self, *, aggregate: bool) -> list[PackedMessage]:
        """The messages by tag and then by peer.

        Peers are ordered by their distance in the process grid. So all ranks send in the same
        direction at the same time, and no two of them to the same rank.

        Args:
            aggregate: one message a peer; otherwise one a peer and field.
        """
        where, rank = self.decomposition, self.rank
        peers = {p for f in self.fields for p in partners(where, rank, f.ghosts)} - {rank}
        every = range(len(self.fields))
        groups = [every] if aggregate else [range(n, n + 1) for n in every]
        planned = [
            PackedMessage.of(peer, tag, self._sends(peer, group), self._receives(peer, group))
            for tag, group in enumerate(groups)
            for peer in sorted(peers, key=lambda peer: where.shift(rank, peer))
        ]
        return [message for message in planned if message.sends or message.receives]

    def _sends(self, peer: int, group: Sequence[int]) -> list[Segment]:
        """The points of this rank that are ghosts of a peer."""
        return [
            self._segment(n, piece.there, piece)
            for n in group
            for piece in receives(self.decomposition, peer, self.fields[n].ghosts)
            if piece.owner == self.rank
        ]

    def _receives(self, peer: int, group: Sequence[int]) -> list[Segment]:
        """The ghosts of this rank that a peer owns."""
        return [
            self._segment(n, piece.here, piece)
            for n in group
            for piece in receives(self.decomposition, self.rank, self.fields[n].ghosts)
            if piece.owner == peer
        ]

    def _segment(self, number: int, first: Sequence[int], piece: Piece) -> Segment:
        field = self.fields[number]
        return Segment(field.array, self._place(number, first), piece.shape, field.wire_dtype)

    def _place(self, number: int, first: Sequence[int]) -> Place:
        return replace(self.fields[number].place(self.backend, tuple(first)), array=number)

    def own_copies(self) -> list[Copy]:
        """Copies of own points to ghosts of the same rank, on periodic axes."""
        return [
            Copy(
                piece.shape,
                self._place(n, piece.there),
                self._place(n, piece.here),
                field.dtype,
                field.dtype,
            )
            for n, field in enumerate(self.fields)
            for piece in receives(self.decomposition, self.rank, field.ghosts)
            if piece.owner == self.rank
        ]

    def require_room(self) -> None:
        """Raise InputError if an array has no room for its ghosts, or other axes."""
        block = self.decomposition.block(self.rank).shape
        for field in self.fields:
            if len(field.origin) != len(block):
                raise InputError(
                    f"an array of {len(field.origin)} axes in a decomposition of {len(block)}; "
                    "they must have the same"
                )
            pieces = receives(self.decomposition, self.rank, field.ghosts)
            require_room(field.array.shape, field.origin, block, pieces)

    def surroundings(self) -> Iterator[tuple[GhostField, Place, Index]]:
        """Every box around the block, as far as the arrays reach, whose points some block owns."""
        block = self.decomposition.block(self.rank).shape
        for n, field in enumerate(self.fields):
            ends = zip(field.array.shape, field.origin, block, strict=True)
            high = tuple(size - first - points for size, first, points in ends)
            around = Ghosts(field.origin, high, corners=True)
            for piece in receives(self.decomposition, self.rank, around):
                yield field, self._place(n, piece.here), piece.shape
