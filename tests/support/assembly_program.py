"""A program for several ranks: gather, scatter, gather-scatter and halo of random ids.

    mpiexec -n 4 python assembly_program.py BACKEND TRANSPORT ROUTE SEED CASES [CODEC]

Rank 0's view is the oracle's: all ids and values in one place, assembled in plain NumPy.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from halo_program import device_of
from numpy.typing import NDArray

from groundswell.arrays import HostArray
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter.sharing import NO_ID, Sharing, find_sharing
from groundswell.exchange.gather_scatter.transfers import Connection
from groundswell.exchange.mpi_communicator import get_communicator

POISON = 77
REDUCERS: dict[str, Any] = {"sum": np.add, "multiply": np.multiply, "min": np.minimum}
REDUCERS["max"] = np.maximum


@dataclass
class Case:
    """Random ids, each with one to eight copies, dealt out to the ranks; some get none."""

    job: Communicator
    backend: Backend
    connection: Connection
    rng: np.random.Generator  # the same on all ranks
    own: np.random.Generator  # another one on each

    def deal(self) -> NDArray[np.int64]:
        """This rank's ids."""
        count = int(self.rng.integers(1, 60))
        numbers = self.rng.choice(2**62 if self.rng.integers(2) else 3 * count, count, False)
        ids = np.repeat(numbers, self.rng.integers(1, 9, count))
        ids = np.append(ids, np.full(int(self.rng.integers(0, 4)), NO_ID))
        busy = self.rng.choice(self.job.size, int(self.rng.integers(1, self.job.size + 1)), False)
        ranks = self.rng.choice(busy, len(ids))
        mine = ids[ranks == self.job.rank].astype(np.int64)
        return self.own.permutation(mine)

    def values(self, dtype: str, components: int, count: int, reduction: str) -> HostArray:
        """Random values; integers whose products are exact for "multiply"."""
        if reduction == "multiply":
            return self.own.choice([1, 2, -1], (components, count)).astype(dtype)
        scale = 2**20 * (dtype.startswith("int")) + 1
        return (self.own.standard_normal((components, count)) * scale).astype(dtype)

    def run(
        self, sharing: Sharing, kind: str, reduction: str, old: HostArray, new: HostArray
    ) -> HostArray:
        """The operation, twice in the same arrays, then in others; what was stored."""
        in_place = kind in ("gather-scatter", "halo")
        source = self.backend.to_device(old)
        target = source if in_place else self.backend.to_device(new)
        operation = GatherScatter(
            self.backend,
            sharing,
            kind,
            (source, target),
            reduction=reduction,
            connection=self.connection,
        )
        results = []
        for turn in range(4):
            if turn > 1:
                source = self.elsewhere(source, gap=turn == 3)
                target = source if in_place else self.elsewhere(target, gap=turn == 3)
                operation.bind(source, target)
            self.backend.assign(source, old)
            if not in_place:
                self.backend.assign(target, new)
            in_order(operation.launches)()
            self.backend.synchronize()
            operation.check()
            results.append(self.backend.to_host(target))
        assert len({result.tobytes() for result in results}) == 1, "runs differ"
        operation.close()
        return results[0]

    def elsewhere(self, array: Any, *, gap: bool) -> Any:
        """A new array of the same shape, with or without gaps between components."""
        components, count = array.shape
        room = self.backend.zeros((components, count + 3 * gap), array.dtype)
        return room[:, :count]

    # --- checks -----------------------------------------------------------------------------------

    def check(self) -> None:
        """One random case of everything."""
        ids = self.deal()
        sharing = find_sharing(self.job, ids)
        everyone = self.job.allgather((ids, sharing.ids, sharing.own, sharing.owner))
        check_sharing(sharing, ids, everyone, self.job.rank)
        types = ["float32", "float64", *["int32", "int64"] * (self.connection.codec == "none")]
        dtype = str(self.rng.choice(types))
        reduction = str(self.rng.choice([*REDUCERS]))
        components = int(self.rng.integers(1, 4))
        local = self.values(dtype, components, len(ids), reduction)
        whole = assembled(self.job.allgather((ids, local)), REDUCERS[reduction])
        bound = 1e-5 if dtype == "float32" else 1e-13
        exact = dtype.startswith("int") or reduction != "sum"
        empty = np.full((components, len(sharing.ids)), POISON, dtype)

        found = self.run(sharing, "gather-scatter", reduction, local, local)
        expected = np.where(ids == NO_ID, local, spread(whole, ids, local))
        self.compare(found, expected, exact, bound)
        alike(self.job.allgather((ids, found)))

        found = self.run(sharing, "gather", reduction, local, empty)[:, : sharing.own]
        self.compare(found, spread(whole, sharing.ids[: sharing.own], found), exact, bound)

        copies = self.run(sharing, "gather-all", reduction, local, empty)
        self.compare(copies, spread(whole, sharing.ids, copies), exact, bound)
        own, ids_of_all = slice(None, sharing.own), self.job.allgather((sharing.ids, copies))
        alike(ids_of_all)
        assert np.array_equal(copies[:, own], found), "the owners' sums differ"

        owned = np.where(
            np.arange(len(sharing.ids)) < sharing.own, spread(whole, sharing.ids, empty), POISON
        )
        halo = self.run(sharing, "halo", "sum", owned.astype(dtype), empty)
        self.compare(halo, spread(whole, sharing.ids, halo), True, 0)
        copies = self.run(
            sharing, "scatter", "sum", owned.astype(dtype), np.full_like(local, POISON)
        )
        self.compare(copies, np.where(ids == NO_ID, POISON, spread(whole, ids, local)), True, 0)

    def compare(self, found: HostArray, expected: HostArray, exact: bool, bound: float) -> None:
        """To rounding, or bit for bit."""
        if exact:
            assert np.array_equal(found, expected), (self.job.rank, found, expected)
        else:
            assert np.allclose(found, expected, rtol=bound, atol=bound * 20), (found, expected)


def assembled(everyone: list[tuple[HostArray, HostArray]], reduce: Any) -> dict[int, HostArray]:
    """The reduction of all copies by id, one after another."""
    whole: dict[int, HostArray] = {}
    with np.errstate(over="ignore"):
        for ids, values in everyone:
            for id_, value in zip(ids.tolist(), values.T, strict=True):
                whole[id_] = reduce(whole[id_], value) if id_ in whole else value
    return whole


def spread(whole: dict[int, HostArray], ids: HostArray, like: HostArray) -> HostArray:
    """The same for each of these ids."""
    columns = [whole[id_] for id_ in ids.tolist()]
    return np.stack(columns, axis=1) if columns else np.empty_like(like)


def alike(everyone: list[tuple[HostArray, HostArray]]) -> None:
    """All copies of an id are the same bits."""
    seen: dict[int, bytes] = {}
    for ids, values in everyone:
        for id_, value in zip(ids.tolist(), values.T, strict=True):
            if id_ != NO_ID:
                assert seen.setdefault(id_, value.tobytes()) == value.tobytes(), "copies differ"


def check_sharing(sharing: Sharing, ids: HostArray, everyone: list[Any], rank: int) -> None:
    """Every id has one owner, which all agree on, and `indices` lead to it."""
    used = ids != NO_ID
    assert np.array_equal(sharing.ids[sharing.indices[used]], ids[used])
    assert (sharing.indices[~used] == NO_ID).all()
    owned = np.concatenate([theirs[:own] for _, theirs, own, _ in everyone])
    assert len(np.unique(owned)) == len(owned)
    every = np.unique(np.concatenate([theirs for _, theirs, _, _ in everyone]))
    assert np.array_equal(np.sort(owned), every)
    owner = {i: r for r, (_, theirs, own, _) in enumerate(everyone) for i in theirs[:own].tolist()}
    assert sharing.owner.tolist() == [owner[i] for i in sharing.ids.tolist()]
    for other, (given, _, _, _) in enumerate(everyone):
        common = np.intersect1d(given[given != NO_ID], sharing.ids)
        if other != rank:
            shared = sharing.shared_with.get(other, np.empty(0, np.int64))
            assert np.array_equal(sharing.ids[shared], common)
    unshared = sharing.ids[: sharing.unshared]
    assert not any(
        np.isin(unshared, other[1]).any() for r, other in enumerate(everyone) if r != rank
    )


def main() -> None:
    """Run the cases that the command line asks for."""
    name, transport, route, seed, cases, *codec = sys.argv[1:]
    job = get_communicator()
    backend = open_backend(name, device_of(job.rank) if name == "cuda" else None)
    rng, own = np.random.default_rng(int(seed)), np.random.default_rng([int(seed), job.rank])
    case = Case(job, backend, Connection(transport, route, *codec), rng, own)
    for _ in range(int(cases)):
        case.check()
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
