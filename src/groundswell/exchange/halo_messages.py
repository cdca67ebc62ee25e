"""The messages of a halo exchange: the ghost layers of fields, by the ranks that own them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.exchange.boxes import WORDS, Copy, Place, steps
from groundswell.exchange.decomposition import Decomposition, Index
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.messages import Message, Segment
from groundswell.exchange.pattern import Ghosts, partners, receives, require_room


class HaloMessages:
    """The messages of a halo exchange, and what else depends on its fields.

    Args:
        rank: whose messages.

    Attributes:
        addresses: of each field's array.
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
        self.addresses = [backend.address(field.array) for field in fields]

    def layout(self) -> list[tuple[object, ...]]:
        """What tables of addresses depend on besides the addresses."""
        return [
            (f.array.shape, steps(f.array), f.origin, address % WORDS[0])
            for f, address in zip(self.fields, self.addresses, strict=True)
        ]

    def messages(self, *, aggregate: bool) -> list[Message]:
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
            Message.of_segments(
                peer, tag, self._segments(group, rank, peer), self._segments(group, peer, rank)
            )
            for tag, group in enumerate(groups)
            for peer in sorted(peers, key=lambda peer: where.shift(rank, peer))
        ]
        return [message for message in planned if message.sends or message.receives]

    def _segments(self, group: Sequence[int], owner: int, receiver: int) -> list[Segment]:
        """The ghosts of one rank that another one owns, where this rank has them."""
        found = []
        for number in group:
            field = self.fields[number]
            for piece in receives(self.decomposition, receiver, field.ghosts):
                if piece.owner == owner:
                    place = self._place(number, piece.there if owner == self.rank else piece.here)
                    found.append(Segment(place, piece.shape, field.dtype, field.wire_dtype))
        return found

    def _place(self, number: int, first: Index) -> Place:
        return replace(self.fields[number].place(self.backend, first), array=number)

    def own_copies(self) -> list[Copy]:
        """Copies of own points to ghosts of the same rank, on periodic axes."""
        return [
            Copy(
                piece.shape,
                self._place(n, piece.there),
                self._place(n, piece.here),
                f.dtype,
                f.dtype,
            )
            for n, f in enumerate(self.fields)
            for piece in receives(self.decomposition, self.rank, f.ghosts)
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
