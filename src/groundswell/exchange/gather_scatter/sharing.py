"""Which ranks hold copies of the same values, found out without a table of all of them anywhere.

Every id has a home: the rank that is its remainder. Each rank tells the homes which ids it has, and
these answer who else has them: the usual rendezvous of gather-scatter libraries (gslib).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.rows import Rows, by_window, narrow, padded_size

Numbers = NDArray[np.int64]

ALONE, OWN, THEIRS = range(3)  # ids that nobody else has, that are shared, of another rank
NOBODY = -1  # an id of a value that takes part in nothing
MOST_SPREAD = 12  # places of a table for each value: such a table takes no more memory than sorting


@dataclass(frozen=True, eq=False)
class Sharing:
    """The ids of one rank, each once, and who shares them.

    Args:
        ids: first those that this rank owns and nobody else has; then those that it owns and
            shares; then those that another rank owns. Each in the order in which they first occur,
            those with as many copies together within each window (see rows.by_window).
        own, alone: how many this rank owns, and how many of these nobody else has.
        rows: for each value of the rank the place of its id in `ids`; NOBODY where it has none.
        sharers: for each other rank that shares some the places of these, in rising order of id.
        owner: of each id.
    """

    ids: Numbers
    own: int
    alone: int
    rows: Numbers
    sharers: dict[int, Numbers]
    owner: NDArray[np.int32]

    @cached_property
    def copies(self) -> Rows:
        """The places of each id among the rank's values."""
        used = np.flatnonzero(self.rows >= 0)
        rows = self.rows if len(used) == len(self.rows) else self.rows[used]
        return Rows.grouped(len(self.ids), rows, used)

    @cached_property
    def of_several(self) -> Sharing:
        """The same of ids that several ranks have; values of the others take part in nothing."""
        first, rows = self.alone, self.rows - self.alone
        np.maximum(rows, NOBODY, out=rows)
        sharers = {rank: places - first for rank, places in self.sharers.items()}
        owner = self.owner[first:]
        return Sharing(self.ids[first:], self.own - first, 0, rows, sharers, owner)


def find_sharing(comm: Communicator, ids: ArrayLike) -> Sharing:
    """Who shares this rank's ids; all ranks must call it.

    An id's owner is one of its sharers that follows from the id alone, each as often as the others.

    Args:
        ids: (n,), whole numbers of up to 63 bits; NOBODY for values that take part in nothing.

    Raises:
        InputError: numbers that are no ids.
    """
    numbers, different, rising = comm.collective_try(lambda: _numbered(_checked(ids)))
    answers = _meet(comm, different, rising)
    return comm.collective_try(  # type: ignore[no-any-return]
        lambda: _arranged(comm.rank, numbers, different, rising, answers)
    )


def _arranged(
    here: int, numbers: Numbers, different: Numbers, rising: Numbers, answers: dict[int, Numbers]
) -> Sharing:
    """What `_numbered` and `_meet` say to rank `here`."""
    shared, rank, owners = _found(different, rising, answers)
    owner = np.full(len(different), here, np.int32)
    owner[shared] = owners
    group = np.full(len(different), ALONE, np.int8)
    group[shared] = np.where(owners == here, OWN, THEIRS)
    order = _ordered(group, numbers)
    place = np.empty(len(order) + 1, np.int64)
    place[order] = np.arange(len(order))
    place[-1] = NOBODY  # where number NOBODY looks
    return Sharing(
        ids=different[order],
        own=int(np.count_nonzero(group != THEIRS)),
        alone=int(np.count_nonzero(group == ALONE)),
        rows=place[numbers],
        sharers={int(r): place[shared[rank == r]] for r in np.unique(rank)},
        owner=owner[order],
    )


def _checked(ids: ArrayLike) -> Numbers:
    try:
        given = np.asarray(ids)
    except (TypeError, ValueError) as error:
        raise InputError(f"ids are no array of whole numbers on the host: {error}") from error
    if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or not given.size):
        raise InputError(
            f"ids of shape {given.shape} and type {given.dtype}: give one whole number for each "
            "value, in one row"
        )
    if given.dtype == np.uint64 and given.size and given.max() > np.iinfo(np.int64).max:
        raise InputError(f"id {given.max()} takes more than 63 bits; number values from 0 on")
    if given.size and given.min() < NOBODY:
        raise InputError(
            f"id {given.min()} is below zero; number values from 0 on, and give {NOBODY} to those "
            "that take part in nothing"
        )
    return given.astype(np.int64, copy=False)


def _numbered(ids: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Numbers of different ids, which count these as they first occur.

    Returns each value's, NOBODY where it has no id; ids by number; numbers in rising order of ids.
    """
    keys, count = _keys(ids), len(ids)
    places = np.arange(count, dtype=narrow(count))
    table = np.full(keys.max(initial=-1) + 1, count, places.dtype)
    np.minimum.at(table, keys, places)
    if ids.min(initial=0) == NOBODY:
        table[keys.min()] = NOBODY
    firsts = np.flatnonzero(table[keys] == places)
    table[keys[firsts]] = places[: len(firsts)]
    return table[keys], ids[firsts], table[(table >= 0) & (table < count)]


def _keys(ids: Numbers) -> Numbers:
    """Numbers in the order of ids, small enough for a table of them."""
    low, high = int(ids.min(initial=2**63 - 1)), int(ids.max(initial=NOBODY))
    if high - low < MOST_SPREAD * len(ids):
        return ids - low if low else ids
    return np.unique(ids, return_inverse=True)[1]


def _ordered(group: NDArray[np.int8], numbers: Numbers) -> Numbers:
    """Numbers of ids in the order of `Sharing.ids`, by their groups and the values' numbers."""
    sizes = padded_size(np.bincount(numbers[numbers >= 0], minlength=len(group)))
    parts = [np.flatnonzero(group == which) for which in (ALONE, OWN, THEIRS)]
    return np.concatenate([part[by_window(sizes[part])] for part in parts])


def _meet(comm: Communicator, ids: Numbers, rising: Numbers) -> dict[int, Numbers]:
    """What the homes answer, see `_introduce`, of ids that get into rising order this way."""
    if comm.size == 1:
        return {}
    # What may fail is agreed on before each swap, in which the others would wait in vain.
    asked = comm.collective_try(lambda: _by_home(ids[rising], comm.size))
    return comm.alltoallv(comm.collective_try(partial(_introduce, comm.alltoallv(asked))))


def _by_home(ids: Numbers, ranks: int) -> dict[int, Numbers]:
    """Ids by the rank that is home to them, each part in their order."""
    homes = ids % ranks
    order = _by_small(homes)
    ends = np.searchsorted(homes[order], np.arange(ranks + 1))
    return {r: ids[order[a:b]] for r, (a, b) in enumerate(pairwise(ends))}


def _found(
    ids: Numbers, rising: Numbers, answers: dict[int, Numbers]
) -> tuple[Numbers, Numbers, Numbers]:
    """For each of these ids and each other rank that has it: its number, rank and owner.

    By rank, and then by id.
    """
    if not answers:
        return (np.empty(0, np.int64),) * 3
    table = np.concatenate([*answers.values()]).reshape(-1, 3)
    table = table[np.lexsort((table[:, 0], table[:, 1]))]
    return rising[np.searchsorted(ids, table[:, 0], sorter=rising)], table[:, 1], table[:, 2]


def _introduce(guests: dict[int, Numbers]) -> dict[int, Numbers]:
    """What a home tells each rank: rows (id, another rank that has it, owner), one after the other.

    Args:
        guests: the ids that each rank has, each once.
    """
    ids = np.concatenate([np.empty(0, np.int64), *guests.values()])
    ranks = np.repeat(np.array([*guests], np.int64), [len(part) for part in guests.values()])
    order = np.argsort(ids, kind="stable")  # quick for parts in order, and of ranks in theirs
    ids, ranks = ids[order], ranks[order]
    same = ids[1:] == ids[:-1]
    several = np.zeros(len(ids), bool)
    several[1:] |= same
    several[:-1] |= same
    ids, ranks = ids[several], ranks[several]
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    counts = np.diff(starts, append=len(ids))
    owners = ranks[starts + _fair(ids[starts], counts)]
    group = np.repeat(np.arange(len(starts)), counts)
    # Every member of a group meets all members, itself too, which is left out.
    told, other = _pairs(starts[group], counts[group])
    apart = told != other
    told, other = told[apart], other[apart]
    table = np.stack([ids[told], ranks[other], owners[group[told]]], axis=1)
    order = np.argsort(ranks[told], kind="stable")
    receivers, table = ranks[told][order], table[order]
    who, begins = np.unique(receivers, return_index=True)
    return {
        int(r): part.reshape(-1)
        for r, part in zip(who, np.split(table, begins[1:]) if len(who) else [], strict=True)
    }


def _by_small(numbers: Numbers) -> Numbers:
    """The stable order of numbers: for small ones, as ranks are, NumPy has a quick way."""
    small = numbers.max(initial=0) <= np.iinfo(np.uint16).max
    return np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")


def _pairs(first: Numbers, count: Numbers) -> tuple[Numbers, Numbers]:
    """Numbers n of these rows and, for each, first[n] to first[n] + count[n] - 1."""
    rows = np.repeat(np.arange(len(count)), count)
    begins = np.cumsum(count) - count
    return rows, first[rows] + np.arange(len(rows)) - begins[rows]


def _fair(ids: Numbers, counts: Numbers) -> Numbers:
    """A number below each count that follows from the id: neighbouring ids take turns at random."""
    number = scattered(ids) >> np.uint64(33)
    return (number % np.maximum(counts, 1).astype(np.uint64)).astype(np.int64)


def scattered(ids: Numbers) -> NDArray[np.uint64]:
    """A number for each id, of which neighbours know nothing: times 2^64 over the golden ratio."""
    return ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
