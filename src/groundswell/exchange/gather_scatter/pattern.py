"""The values that ranks send and receive, the route of messages, and the rows to reduce.

An `ExchangePattern` lists the ids that ranks send to each other, and the positions of their values
in a buffer, an array (components, positions). A `Route` lists the messages:

- "pairwise": each message goes directly to its receiver.
- "alltoall": all messages go in one MPI call, which the library can optimise for the network.
- "crystal": the crystal router (Fox et al. 1988, Solving problems on concurrent processors, ch.
  22). It halves the set of ranks repeatedly. In each stage, a rank sends all values for the other
  half to one partner there. A rank thus sends at most log2(ranks) messages, which are longer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np

from groundswell.arrays import Integers
from groundswell.backends.sliced_ellpack import IndexRows, SparseRows
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.sharing import Sharing

ROUTES = ("pairwise", "alltoall", "crystal")
NONE = np.empty(0, np.int64)

Lists = dict[int, Integers]  # by rank: indices in Sharing.ids
Ranges = Mapping[int, range]  # by rank: positions in the buffer


# --- routes ---------------------------------------------------------------------------------------


@dataclass
class PeerRanges:
    """Positions in the buffer that a rank sends to and receives from another rank in a stage."""

    sends: list[range] = field(default_factory=list)
    receives: list[range] = field(default_factory=list)


Stage = dict[int, PeerRanges]  # by rank, in the order in which messages are sent


@dataclass(frozen=True)
class Route:
    """The messages of one rank, in consecutive stages.

    Args:
        size: number of positions of the buffer.
        received: by rank, the final positions of its values.
    """

    size: int
    stages: list[Stage]
    received: Ranges

    @property
    def sent(self) -> int:
        """Number of values that this rank sends."""
        return sum(len(r) for stage in self.stages for peer in stage.values() for r in peer.sends)


def plan_route(
    comm: Communicator, name: str, size: int, sends: Ranges, counts: Mapping[int, int]
) -> Route:
    """Plan a route; collective.

    Args:
        name: one of ROUTES.
        size: number of positions of the buffer, without those for received values.
        sends: by rank, the positions of the values for it.
        counts: by rank, the number of values from it.
    """
    if name == "crystal" and comm.size > 1:
        return _plan_crystal(comm, size, sends)
    received = _consecutive(size, counts)
    # The nearest higher rank first, so that not all ranks send to the same rank at once.
    peers = sorted({*sends, *counts}, key=lambda peer: (peer - comm.rank) % comm.size)
    stage = {
        peer: PeerRanges(*([of[peer]] if peer in of else [] for of in (sends, received)))
        for peer in peers
    }
    return Route(size + sum(counts.values()), [stage], received)


def _consecutive(begin: int, counts: Mapping[int, int]) -> dict[int, range]:
    """Consecutive ranges of these lengths."""
    ends = pairwise(accumulate(counts.values(), initial=begin))
    return {key: range(*bounds) for key, bounds in zip(counts, ends, strict=True)}


def _plan_crystal(comm: Communicator, size: int, sends: Ranges) -> Route:
    held = {(comm.rank, peer): positions for peer, positions in sends.items()}  # sender, receiver
    group, stages = range(comm.size), list[Stage]()
    for _ in range((comm.size - 1).bit_length()):
        middle = (len(group) + 1) // 2  # the lower half is the larger one
        mine, other = group[:middle], group[middle:]
        if comm.rank in other:
            mine, other = other, mine
        leaving = {pair: held.pop(pair) for pair in [*held] if pair[1] in other}
        stage, rows = defaultdict[int, PeerRanges](PeerRanges), dict[int, Integers]()
        if leaving:  # the last rank of a smaller half has two partners
            partner = other[min(mine.index(comm.rank), len(other) - 1)]
            stage[partner].sends.extend(leaving.values())
            rows[partner] = np.array([(*pair, len(r)) for pair, r in leaving.items()]).ravel()
        for peer, table in sorted(comm.alltoallv(rows).items()):
            for sender, receiver, count in table.reshape(-1, 3).tolist():
                held[sender, receiver] = range(size, size + count)
                stage[peer].receives.append(held[sender, receiver])
                size += count
        stages.append(stage)
        group = mine
    return Route(size, stages, {sender: positions for (sender, _), positions in held.items()})


# --- what is sent and received --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExchangePattern:
    """The values that a rank sends and receives, and their positions in the buffer.

    The buffer begins with the rank's own contribution to each id that it shares.

    Args:
        send, receive: ids by rank.
        send_ranges: by rank, the positions of the values sent to it.
        route: the route of the messages, with the positions of received values.
    """

    sharing: Sharing
    send: Lists
    receive: Lists
    send_ranges: Ranges
    route: Route

    @classmethod
    def plan(cls, sharing: Sharing, kind: str, route: str) -> ExchangePattern:
        """The pattern of a kind in PHASES; collective."""
        send, receive = _lists(sharing, kind)
        sizes, counts = ({p: len(ids) for p, ids in lists.items()} for lists in (send, receive))
        own = len(sharing.ids) - sharing.unshared
        ranges = _consecutive(own, sizes)
        planned = plan_route(sharing.comm, route, own + sum(sizes.values()), ranges, counts)
        return cls(sharing, send, receive, ranges, planned)

    def own_and_sent(self, ids: Integers, own: Integers) -> SparseRows:
        """Positions of each of the ids: in messages and, for those in `own`, of the own part."""
        return self._positions(ids, own, self.send, self.send_ranges)

    def by_rank(self, ids: Integers) -> SparseRows:
        """Positions of all ranks' contributions to each of the ids, in the order of ranks."""
        senders = _joined(np.full(len(received), p) for p, received in self.receive.items())
        ranks = np.append(np.full(len(ids), self.sharing.comm.rank), senders)
        return self._positions(ids, ids, self.receive, self.route.received, ranks)

    @property
    def ghosts(self) -> Integers:
        """Positions of the values that other ranks own, in the order of their ids."""
        positions = _joined_ranges(self.receive, self.route.received)
        return positions[np.argsort(_joined(self.receive.values()))]

    def _positions(
        self,
        ids: Integers,
        own: Integers,
        lists: Lists,
        ranges: Ranges,
        order: Integers | None = None,
    ) -> SparseRows:
        """Positions of each of the ids, in the own part of the buffer and in messages."""
        first = self.sharing.unshared
        rows = np.concatenate([own, *lists.values()]) - first
        positions = np.append(own - first, _joined_ranges(lists, ranges))
        return SparseRows.from_pairs(len(ids), rows, positions, order)


def _lists(sharing: Sharing, kind: str) -> tuple[Lists, Lists]:
    """The ids that a rank sends to each other rank, and those that it receives."""
    shared, owner = sharing.shared_with, sharing.owner
    if kind in ("gather-scatter", "gather-all"):
        return shared, shared
    theirs = {p: ids[owner[ids] == p] for p, ids in shared.items()}
    mine = {p: ids[owner[ids] == sharing.comm.rank] for p, ids in shared.items()}
    ghosts, owned = ({p: ids for p, ids in x.items() if len(ids)} for x in (theirs, mine))
    return (ghosts, owned) if kind == "gather" else (owned, ghosts)


def _joined(parts: Iterable[Integers]) -> Integers:
    return np.concatenate([NONE, *parts])


def _joined_ranges(order: Iterable[int], ranges: Ranges) -> Integers:
    return _joined(np.arange(ranges[peer].start, ranges[peer].stop) for peer in order)


# --- operations on the values ---------------------------------------------------------------------


# Rows that are reduced, and rows of indices to store the results at.
RowPair = tuple[SparseRows, SparseRows]


@dataclass(frozen=True, eq=False)
class ReductionPhases:
    """The rows to reduce before messages are sent, during communication, and afterwards."""

    pack: RowPair
    local: tuple[IndexRows, SparseRows]
    unpack: RowPair


def _gather_scatter(pattern: ExchangePattern) -> ReductionPhases:
    copies, ids = pattern.sharing.copies, pattern.sharing.shared
    shared = copies.take(ids)
    several = copies.take(np.flatnonzero(copies.sizes[: pattern.sharing.unshared] > 1))
    return ReductionPhases(
        pack=(shared, pattern.own_and_sent(ids, ids)),
        local=(several, several),
        unpack=(pattern.by_rank(ids), shared),
    )


def _gather(pattern: ExchangePattern) -> ReductionPhases:
    sharing = pattern.sharing
    return ReductionPhases(
        pack=(sharing.shared_copies, pattern.own_and_sent(sharing.shared, sharing.owned)),
        local=(sharing.unshared_copies, SparseRows.contiguous(0, sharing.unshared)),
        unpack=(pattern.by_rank(sharing.owned), SparseRows.single(sharing.owned)),
    )


def _gather_all(pattern: ExchangePattern) -> ReductionPhases:
    sharing, ids = pattern.sharing, pattern.sharing.shared
    return ReductionPhases(
        pack=(sharing.shared_copies, pattern.own_and_sent(ids, ids)),
        local=(sharing.unshared_copies, SparseRows.contiguous(0, sharing.unshared)),
        unpack=(pattern.by_rank(ids), SparseRows.single(ids)),
    )


def _halo(pattern: ExchangePattern) -> ReductionPhases:
    sharing = pattern.sharing
    return ReductionPhases(
        pack=(SparseRows.single(sharing.owned), pattern.own_and_sent(sharing.owned, NONE)),
        local=(SparseRows.contiguous(0, 0), SparseRows.contiguous(0, 0)),
        unpack=(
            SparseRows.single(pattern.ghosts),
            SparseRows.contiguous(sharing.own, len(sharing.ids)),
        ),
    )


def _scatter(pattern: ExchangePattern) -> ReductionPhases:
    indices, own, sent = pattern.sharing.indices, pattern.sharing.own, pattern.sharing.owned
    owned, ghosts = np.flatnonzero((indices >= 0) & (indices < own)), np.flatnonzero(indices >= own)
    received = pattern.ghosts[indices[ghosts] - own]
    return ReductionPhases(
        pack=(SparseRows.single(sent), pattern.own_and_sent(sent, NONE)),
        local=(SparseRows.single(indices[owned]), SparseRows.single(owned)),
        unpack=(SparseRows.single(received), SparseRows.single(ghosts)),
    )


PHASES: dict[str, Callable[[ExchangePattern], ReductionPhases]] = {
    "gather": _gather,
    "gather-all": _gather_all,
    "scatter": _scatter,
    "gather-scatter": _gather_scatter,
    "halo": _halo,
}
