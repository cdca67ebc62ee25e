"""Finds the ranks with copies of the same values by a rendezvous, without a global table.

The directory of ids is distributed: id i belongs to directory rank i mod ranks. Each rank sends its
ids to their directory ranks, which answer with the other ranks that have them (as in gslib and
Trilinos).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import Integers, Mask
from groundswell.backends.host_threads import take
from groundswell.backends.sliced_ellpack import (
    WINDOW,
    IndexRows,
    SparseRows,
    index_type,
    padded_size,
    sort_in_windows,
)
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator

UNSHARED, OWNED, GHOST = range(3)  # ids of this rank only; shared and owned; of another rank
NO_ID = -1  # the id of values that are ignored
MAX_SPREAD = 12  # largest range of ids per value for which a table needs less memory than sorting


@dataclass(frozen=True, eq=False)
class Sharing:
    """The distinct ids of one rank, and the ranks that share them.

    Args:
        comm: the ranks.
        ids: distinct ids: first those that no other rank has; then those that this rank owns and
            shares; then those that another rank owns. Each part is in order of first occurrence,
            but sorted by number of copies within windows, see `sort_in_windows`.
        own, unshared: number of ids that this rank owns, and that no other rank has.
        indices: for each value of the rank, the index of its id in `ids`; NO_ID if it has none.
        shared_with: for each other rank, the indices of the ids that it shares, ascending by id.
        owner: the rank that owns each id.
    """

    comm: Communicator
    ids: Integers
    own: int
    unshared: int
    indices: Integers
    shared_with: dict[int, Integers]
    owner: NDArray[np.int32]

    @property
    def shared(self) -> Integers:
        """The indices of the ids that this rank shares."""
        return np.arange(self.unshared, len(self.ids))

    @property
    def owned(self) -> Integers:
        """The indices of the ids that this rank shares and owns."""
        return np.arange(self.unshared, self.own)

    @cached_property
    def copies(self) -> SparseRows:
        """For each id, the indices of its copies among the rank's values."""
        used = np.flatnonzero(self.indices >= 0)
        rows = self.indices if len(used) == len(self.indices) else self.indices[used]
        return SparseRows.from_pairs(len(self.ids), rows, used)

    @cached_property
    def unshared_copies(self) -> IndexRows:
        """The copies of each id that no other rank has."""
        return self.copies.head(self.unshared)

    @cached_property
    def shared_copies(self) -> SparseRows:
        """The copies of each id that this rank shares."""
        count = len(self.ids) - self.unshared
        used = np.flatnonzero(self.indices >= self.unshared) if count else np.empty(0, np.int64)
        return SparseRows.from_pairs(count, self.indices[used] - self.unshared, used)

    def any_rank(self, flags: Mask) -> Mask:
        """Which ids any rank has flagged, (ids,); collective."""
        found, sent = flags.copy(), {}
        for rank, shared in self.shared_with.items():
            if len(flagged := np.flatnonzero(flags[shared])):
                sent[rank] = flagged  # positions in a list that is the same on both ranks
        for rank, flagged in self.comm.alltoallv(sent).items():
            found[self.shared_with[rank][flagged]] = True
        return found

    @cached_property
    def shared_part(self) -> Sharing:
        """The same for shared ids only; other values are ignored."""
        first, indices = self.unshared, self.indices - self.unshared
        return Sharing(
            self.comm,
            ids=self.ids[first:],
            own=self.own - first,
            unshared=0,
            indices=np.maximum(indices, NO_ID, out=indices),
            shared_with={rank: shared - first for rank, shared in self.shared_with.items()},
            owner=self.owner[first:],
        )


def find_sharing(comm: Communicator, ids: ArrayLike) -> Sharing:
    """Find the ranks that share this rank's ids; collective.

    A hash of the id chooses its owner among the ranks that have it.

    Args:
        ids: (n,), integers of up to 63 bits; NO_ID for values to ignore.

    Raises:
        InputError: the ids are invalid.
    """
    return look_up(comm, ids).arrange()


@dataclass(frozen=True, eq=False)
class RankIds:
    """The ids of one rank, and the ranks that share them; made by `look_up`.

    Args:
        numbers: of each value's id among the distinct ones, (values,); NO_ID if it has none.
        distinct: the distinct ids, in order of first occurrence.
        by_id: the order that sorts them.
        answers: of the directory, see `_answer_queries`.
    """

    comm: Communicator
    numbers: Integers
    distinct: Integers
    by_id: Integers
    answers: dict[int, Integers]

    def arrange(self, window: int = WINDOW) -> Sharing:
        """Arrange the ids in the order of `Sharing.ids`; collective.

        Args:
            window: number of ids that are sorted by number of copies together.
        """
        arranged: Sharing = self.comm.collective_try(lambda: _arrange(self, window))
        return arranged


def look_up(comm: Communicator, ids: ArrayLike) -> RankIds:
    """Look up the ranks that share this rank's ids; collective. See `find_sharing`."""
    found = comm.collective_try(lambda: _number(_checked(ids)))
    return RankIds(comm, *found, _query_directory(comm, *found[1:]))


def _checked(ids: ArrayLike) -> Integers:
    try:
        given = np.asarray(ids)
    except (TypeError, ValueError) as error:
        raise InputError(f"ids are not an array of whole numbers on the host: {error}") from error
    if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or not given.size):
        raise InputError(
            f"ids of shape {given.shape} and type {given.dtype}: give a one-dimensional "
            "array with one whole number per value"
        )
    if given.dtype == np.uint64 and given.size and given.max() > np.iinfo(np.int64).max:
        raise InputError(f"id {given.max()} takes more than 63 bits; number values from 0 on")
    if given.size and given.min() < NO_ID:
        raise InputError(
            f"id {given.min()} is below zero; number values from 0 on, and give {NO_ID} to "
            "values to ignore"
        )
    return given.astype(np.int64, copy=False)


def number_by_first_use(ids: Integers) -> tuple[Integers, Integers]:
    """Number the distinct ids in order of first occurrence.

    Returns:
        The number of each value, (values,), or NO_ID; the index of the first value with each
        number, (numbers,).
    """
    numbers, firsts, _ = _number_in_table(ids)
    return numbers, firsts


def _number(ids: Integers) -> tuple[Integers, Integers, Integers]:
    """Each value's number by first use; the distinct ids; the order that sorts these."""
    numbers, firsts, table = _number_in_table(ids)
    return numbers, ids[firsts], table[(table >= 0) & (table < len(ids))]


def _number_in_table(ids: Integers) -> tuple[Integers, Integers, Integers]:
    """Each value's number by first use; the first index of each number; the number of each key."""
    keys, count = _keys(ids), len(ids)
    places = np.arange(count, dtype=index_type(count))
    table = np.full(keys.max(initial=-1) + 1, count, places.dtype)
    np.minimum.at(table, keys, places)
    if ids.min(initial=0) == NO_ID:
        table[keys.min()] = NO_ID
    firsts = np.flatnonzero(take(table, keys) == places)
    table[keys[firsts]] = places[: len(firsts)]
    return take(table, keys), firsts, table


def _keys(ids: Integers) -> Integers:
    """Small numbers in the order of ids, to index a table."""
    low, high = int(ids.min(initial=2**63 - 1)), int(ids.max(initial=NO_ID))
    if high - low < MAX_SPREAD * len(ids):
        return ids - low if low else ids
    return np.unique(ids, return_inverse=True)[1]


def _arrange(given: RankIds, window: int) -> Sharing:
    comm, numbers, distinct, by_id = given.comm, given.numbers, given.distinct, given.by_id
    table = np.concatenate([np.empty(0, np.int64), *given.answers.values()]).reshape(-1, 3)
    ids, rank, owners = table[np.lexsort((table[:, 0], table[:, 1]))].T
    shared = by_id[np.searchsorted(distinct, ids, sorter=by_id)]
    owner = np.full(len(distinct), comm.rank, np.int32)
    owner[shared] = owners
    group = np.full(len(distinct), UNSHARED, np.int8)
    group[shared] = np.where(owners == comm.rank, OWNED, GHOST)
    used = numbers if numbers.min(initial=0) >= 0 else numbers[numbers >= 0]
    order = _order(group, np.bincount(used, minlength=len(group)), window)
    index = np.empty(len(order) + 1, index_type(len(order)))
    index[order] = np.arange(len(order))
    index[-1] = NO_ID  # the last element is the one that number NO_ID selects
    return Sharing(
        comm,
        ids=distinct[order],
        own=int((group != GHOST).sum()),
        unshared=int((group == UNSHARED).sum()),
        indices=take(index, numbers),
        shared_with={int(r): index[shared[rank == r]].astype(np.int64) for r in np.unique(rank)},
        owner=owner[order],
    )


def _order(group: NDArray[np.int8], copies: Integers, window: int) -> Integers:
    """The order of ids by group and, within windows, by number of copies."""
    sizes = padded_size(copies)
    parts = [np.flatnonzero(group == which) for which in (UNSHARED, OWNED, GHOST)]
    return np.concatenate([part[sort_in_windows(sizes[part], window)] for part in parts])


# --- the directory --------------------------------------------------------------------------------


def _query_directory(comm: Communicator, ids: Integers, by_id: Integers) -> dict[int, Integers]:
    """The answers of all directory ranks, see `_answer_queries`."""
    if comm.size == 1:
        return {}
    # Ranks agree on errors before each exchange; otherwise other ranks would wait forever.
    queries = comm.collective_try(lambda: _split_by_rank(ids[by_id], ids[by_id] % comm.size))
    received = comm.alltoallv(queries)
    return comm.alltoallv(comm.collective_try(lambda: _answer_queries(received)))


def _answer_queries(queries: dict[int, Integers]) -> dict[int, Integers]:
    """By rank, the rows (id, another rank that has it, owner), flattened.

    Args:
        queries: by rank, its distinct ids, sorted.
    """
    ids = np.concatenate([np.empty(0, np.int64), *queries.values()])
    ranks = np.repeat(np.array([*queries], np.int64), [len(part) for part in queries.values()])
    order = np.argsort(ids, kind="stable")  # fast for sorted parts; keeps the order of ranks
    ids, ranks = ids[order], ranks[order]
    repeated, shared = ids[1:] == ids[:-1], np.zeros(len(ids), bool)
    shared[1:] |= repeated
    shared[:-1] |= repeated
    ids, ranks = ids[shared], ranks[shared]
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    counts = np.diff(starts, append=len(ids))
    hashes = hash_ids(ids[starts]) >> np.uint64(33)  # so owners depend on ids only
    owners = ranks[starts + (hashes % counts.astype(np.uint64)).astype(np.int64)]
    # Pair each rank that has an id with each other rank that has it.
    group = np.repeat(np.arange(len(starts)), counts)
    row = np.repeat(np.arange(len(ids)), counts[group])
    others = np.cumsum(counts[group]) - counts[group]  # where a rank's pairs begin
    other = starts[group][row] + np.arange(len(row)) - others[row]
    row, other = row[row != other], other[row != other]
    return _split_by_rank(
        np.stack([ids[row], ranks[other], owners[group[row]]], axis=1), ranks[row]
    )


def _split_by_rank(rows: Integers, ranks: Integers) -> dict[int, Integers]:
    """By rank, its rows, flattened, in the given order."""
    small = ranks.max(initial=0) <= np.iinfo(np.uint16).max  # NumPy sorts these in linear time
    order = np.argsort(ranks.astype(np.uint16) if small else ranks, kind="stable")
    begins = np.flatnonzero(np.diff(ranks[order], prepend=-1))
    parts = np.split(rows[order], begins[1:])
    return {int(ranks[order[b]]): p.reshape(-1) for b, p in zip(begins, parts, strict=False)}


def hash_ids(ids: Integers) -> NDArray[np.uint64]:
    """The Fibonacci hash of each id: the id times 2^64 over the golden ratio."""
    return ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
