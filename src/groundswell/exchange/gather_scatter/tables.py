"""Which values an operation takes from where, and which it puts where, worked out once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.routes import Itinerary, Run, plan_route
from groundswell.exchange.gather_scatter.rows import Numbers, Rows
from groundswell.exchange.gather_scatter.sharing import Sharing

Lists = dict[int, Numbers]  # by rank: places in Sharing.ids


@dataclass(frozen=True, eq=False)
class Work:
    """Rows to be reduced, each into the places of a row of another table.

    Args:
        others: places that may be written meanwhile, of work that is done in place.
    """

    source: Rows
    target: Rows
    others: Rows | None = None


@dataclass(frozen=True, eq=False)
class Tables:
    """What an operation does: before messages leave, meanwhile, and when they have come."""

    pack: Work
    local: Work
    unpack: Work


def pattern(sharing: Sharing, rank: int, kind: str) -> tuple[Lists, Lists]:
    """What each other rank is to get of this one, and what comes from it."""
    if kind == "gather-scatter":
        return sharing.sharers, sharing.sharers
    to_owner = {peer: rows[sharing.owner[rows] == peer] for peer, rows in sharing.sharers.items()}
    of_owner = {peer: rows[sharing.owner[rows] == rank] for peer, rows in sharing.sharers.items()}
    theirs, mine = (
        {peer: rows for peer, rows in lists.items() if len(rows)} for lists in (to_owner, of_owner)
    )
    return (theirs, mine) if kind == "gather" else (mine, theirs)


@dataclass(frozen=True, eq=False)
class Mail:
    """What leaves a rank and what comes to it, and the arena's places for both.

    An arena begins with the rank's own parts of all ids that it shares.

    Args:
        runs: places of what leaves.
        path: the way, and the places of what arrives.
    """

    sharing: Sharing
    rank: int
    outgoing: Lists
    incoming: Lists
    runs: dict[int, Run]
    path: Itinerary

    @classmethod
    def plan(
        cls, comm: Communicator, sharing: Sharing, route: str, outgoing: Lists, incoming: Lists
    ) -> Mail:
        """All ranks must call it."""
        first, runs = len(sharing.ids) - sharing.alone, {}
        for peer, rows in outgoing.items():
            runs[peer] = Run(first, len(rows))
            first += len(rows)
        counts = {peer: len(rows) for peer, rows in incoming.items()}
        path = plan_route(comm, route, first, runs, counts)
        return cls(sharing, comm.rank, outgoing, incoming, runs, path)

    @property
    def leaving(self) -> tuple[Numbers, Numbers, Numbers]:
        """Ids, as places in `Sharing.ids`; the rank that each goes to; its place in the arena."""
        return _listed(self.outgoing, self.runs)

    @property
    def arriving(self) -> tuple[Numbers, Numbers, Numbers]:
        """Ids, the rank that each comes from, and its place in the arena."""
        return _listed(self.incoming, self.path.arrivals)

    def kept_and_sent(self, ids: Numbers, kept: Numbers) -> Rows:
        """Places in the arena of each of these ids: where some are kept, and where messages are."""
        first = self.sharing.alone
        sent, _, places = self.leaving
        every = np.concatenate([kept, sent]) - first
        return Rows.grouped(len(ids), every, np.concatenate([kept - first, places]))

    def by_rank(self, ids: Numbers) -> Rows:
        """Places in the arena of all ranks' parts of each of these ids, in the order of ranks."""
        first = self.sharing.alone
        come, ranks, places = self.arriving
        every = np.concatenate([ids, come]) - first
        senders = np.concatenate([np.full(len(ids), self.rank), ranks])
        return Rows.grouped(len(ids), every, np.concatenate([ids - first, places]), senders)


def _listed(lists: Lists, runs: dict[int, Run]) -> tuple[Numbers, Numbers, Numbers]:
    ranks = [np.full(len(rows), peer) for peer, rows in lists.items()]
    places = [runs[peer].first + np.arange(len(rows)) for peer, rows in lists.items()]
    return _joined([*lists.values()]), _joined(ranks), _joined(places)


def _joined(parts: list[Numbers]) -> Numbers:
    return np.concatenate([np.empty(0, np.int64), *parts])


def _gather_scatter(mail: Mail) -> Tables:
    copies, alone = mail.sharing.copies, mail.sharing.alone
    shared = np.arange(alone, len(mail.sharing.ids))
    several = copies.take(np.flatnonzero(copies.sizes[:alone] > 1))
    mine = copies.take(shared)
    return Tables(
        pack=Work(mine, mail.kept_and_sent(shared, shared)),
        local=Work(several, several, others=mine),
        unpack=Work(mail.by_rank(shared), mine),
    )


def _gather(mail: Mail) -> Tables:
    copies, alone, own = mail.sharing.copies, mail.sharing.alone, mail.sharing.own
    shared, owned = np.arange(alone, len(mail.sharing.ids)), np.arange(alone, own)
    return Tables(
        pack=Work(copies.take(shared), mail.kept_and_sent(shared, owned)),
        local=Work(copies.take(np.arange(alone)), Rows.straight(0, alone)),
        unpack=Work(mail.by_rank(owned), Rows.straight(alone, own)),
    )


def _halo(mail: Mail) -> Tables:
    sharing, nothing = mail.sharing, Rows.straight(0, 0)
    return Tables(
        pack=_sent(mail),
        local=Work(nothing, nothing),
        unpack=Work(Rows.single(_arrived(mail)), Rows.straight(sharing.own, len(sharing.ids))),
    )


def _scatter(mail: Mail) -> Tables:
    rows, own = mail.sharing.rows, mail.sharing.own
    here, foreign = np.flatnonzero((rows >= 0) & (rows < own)), np.flatnonzero(rows >= own)
    return Tables(
        pack=_sent(mail),
        local=Work(Rows.single(rows[here]), Rows.single(here)),
        unpack=Work(Rows.single(_arrived(mail)[rows[foreign] - own]), Rows.single(foreign)),
    )


def _sent(mail: Mail) -> Work:
    """Assembled values that others need, into messages."""
    first, own = mail.sharing.alone, mail.sharing.own
    ids, _, places = mail.leaving
    return Work(Rows.straight(first, own), Rows.grouped(own - first, ids - first, places))


def _arrived(mail: Mail) -> Numbers:
    """Places in the arena of the ids that other ranks own, in their order."""
    ids, _, places = mail.arriving
    return places[np.argsort(ids)]


# By operation, what there is to do.
TABLES: dict[str, Callable[[Mail], Tables]] = {
    "gather": _gather,
    "scatter": _scatter,
    "gather-scatter": _gather_scatter,
    "halo": _halo,
}
