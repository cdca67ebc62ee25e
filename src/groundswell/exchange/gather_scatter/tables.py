"""What an operation sends and receives, and which rows it reduces before, meanwhile and after.

An `ExchangePattern` says what a rank sends and receives; `Phases` are the row operations that fill
messages, do what needs no other rank, and read messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from groundswell.exchange.gather_scatter.routes import Route, plan_route
from groundswell.exchange.gather_scatter.rows import Numbers, Rows
from groundswell.exchange.gather_scatter.sharing import Sharing

Lists = dict[int, Numbers]  # by rank: indices in Sharing.ids


@dataclass(frozen=True, eq=False)
class RowOperation:
    """Rows to be reduced, and the rows of indices where the results are stored.

    Args:
        others: of an operation in place, indices that other kernels may write to meanwhile.
    """

    source: Rows
    target: Rows
    others: Rows | None = None


@dataclass(frozen=True, eq=False)
class Phases:
    """What an operation does before messages are sent, meanwhile, and once they are received."""

    pack: RowOperation
    local: RowOperation
    unpack: RowOperation


@dataclass(frozen=True, eq=False)
class ExchangePattern:
    """What a rank sends and receives, and where it lies in the buffer.

    The buffer begins with the rank's own contribution to each id that it shares.

    Args:
        send, receive: by rank the ids.
        send_ranges: by rank the positions of what is sent to it.
        route: of the messages, with the positions of what is received.
    """

    sharing: Sharing
    send: Lists
    receive: Lists
    send_ranges: dict[int, range]
    route: Route

    @classmethod
    def plan(cls, sharing: Sharing, kind: str, route: str) -> ExchangePattern:
        """The pattern of a kind in PHASES; all ranks must call it."""
        send, receive = _lists(sharing, kind)
        end, ranges = len(sharing.ids) - sharing.unshared, {}
        for peer, ids in send.items():
            ranges[peer] = range(end, end + len(ids))
            end += len(ids)
        counts = {peer: len(ids) for peer, ids in receive.items()}
        planned = plan_route(sharing.comm, route, end, ranges, counts)
        return cls(sharing, send, receive, ranges, planned)

    @property
    def sent(self) -> tuple[Numbers, Numbers]:
        """The id and position of each value that is sent."""
        ids = _concatenate(self.send.values())
        return ids, len(self.sharing.ids) - self.sharing.unshared + np.arange(len(ids))

    @property
    def received(self) -> tuple[Numbers, Numbers, Numbers]:
        """The id, sender and position of each value that is received."""
        senders = _concatenate(np.full(len(ids), peer) for peer, ids in self.receive.items())
        ranges = [self.route.received[peer] for peer in self.receive]
        positions = _concatenate(np.arange(r.start, r.stop) for r in ranges)
        return _concatenate(self.receive.values()), senders, positions

    def own_and_sent(self, ids: Numbers, own: Numbers) -> Rows:
        """Positions of each of the ids: in messages and, for those in `own`, of the own part."""
        first = self.sharing.unshared
        sent, positions = self.sent
        rows = np.concatenate([own, sent]) - first
        return Rows.from_pairs(len(ids), rows, np.concatenate([own - first, positions]))

    def by_rank(self, ids: Numbers) -> Rows:
        """Positions of all ranks' contributions to each of the ids, in the order of ranks."""
        first = self.sharing.unshared
        received, senders, positions = self.received
        rows = np.concatenate([ids, received]) - first
        ranks = np.concatenate([np.full(len(ids), self.sharing.comm.rank), senders])
        return Rows.from_pairs(len(ids), rows, np.concatenate([ids - first, positions]), ranks)

    @property
    def ghosts(self) -> Numbers:
        """Positions of the values that other ranks own, in the order of their ids."""
        ids, _, positions = self.received
        return positions[np.argsort(ids)]


def _lists(sharing: Sharing, kind: str) -> tuple[Lists, Lists]:
    """What a rank sends to each other one, and what it receives."""
    shared, owner = sharing.shared_with, sharing.owner
    if kind == "gather-scatter":
        return shared, shared
    theirs = {peer: ids[owner[ids] == peer] for peer, ids in shared.items()}
    mine = {peer: ids[owner[ids] == sharing.comm.rank] for peer, ids in shared.items()}
    ghosts, owned = (
        {peer: ids for peer, ids in lists.items() if len(ids)} for lists in (theirs, mine)
    )
    return (ghosts, owned) if kind == "gather" else (owned, ghosts)


def _concatenate(parts: Iterable[Numbers]) -> Numbers:
    return np.concatenate([np.empty(0, np.int64), *parts])


# --- by kind --------------------------------------------------------------------------------------


def _gather_scatter(pattern: ExchangePattern) -> Phases:
    copies, unshared = pattern.sharing.copies, pattern.sharing.unshared
    ids = np.arange(unshared, len(pattern.sharing.ids))
    several = copies.take(np.flatnonzero(copies.sizes[:unshared] > 1))
    shared = copies.take(ids)
    return Phases(
        pack=RowOperation(shared, pattern.own_and_sent(ids, ids)),
        local=RowOperation(several, several, others=shared),
        unpack=RowOperation(pattern.by_rank(ids), shared),
    )


def _gather(pattern: ExchangePattern) -> Phases:
    sharing = pattern.sharing
    copies, unshared, own = sharing.copies, sharing.unshared, sharing.own
    shared, owned = np.arange(unshared, len(sharing.ids)), np.arange(unshared, own)
    return Phases(
        pack=RowOperation(copies.take(shared), pattern.own_and_sent(shared, owned)),
        local=RowOperation(copies.take(np.arange(unshared)), Rows.contiguous(0, unshared)),
        unpack=RowOperation(pattern.by_rank(owned), Rows.contiguous(unshared, own)),
    )


def _halo(pattern: ExchangePattern) -> Phases:
    own, count, nothing = pattern.sharing.own, len(pattern.sharing.ids), Rows.contiguous(0, 0)
    return Phases(
        pack=_pack_owned(pattern),
        local=RowOperation(nothing, nothing),
        unpack=RowOperation(Rows.single(pattern.ghosts), Rows.contiguous(own, count)),
    )


def _scatter(pattern: ExchangePattern) -> Phases:
    indices, own = pattern.sharing.indices, pattern.sharing.own
    owned, ghosts = np.flatnonzero((indices >= 0) & (indices < own)), np.flatnonzero(indices >= own)
    received = pattern.ghosts[indices[ghosts] - own]
    return Phases(
        pack=_pack_owned(pattern),
        local=RowOperation(Rows.single(indices[owned]), Rows.single(owned)),
        unpack=RowOperation(Rows.single(received), Rows.single(ghosts)),
    )


def _pack_owned(pattern: ExchangePattern) -> RowOperation:
    """Store assembled values that other ranks need in messages."""
    first, own = pattern.sharing.unshared, pattern.sharing.own
    ids, positions = pattern.sent
    rows = Rows.from_pairs(own - first, ids - first, positions)
    return RowOperation(Rows.contiguous(first, own), rows)


PHASES: dict[str, Callable[[ExchangePattern], Phases]] = {
    "gather": _gather,
    "scatter": _scatter,
    "gather-scatter": _gather_scatter,
    "halo": _halo,
}
