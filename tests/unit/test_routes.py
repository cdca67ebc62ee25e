"""Routes: everything arrives where it is wanted, over no more hops than a route may take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from thread_ranks import run_on_threads

from groundswell.backends import open_backend
from groundswell.errors import BackendError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.gather_scatter.routes import Itinerary, Run, plan_route, travel

OWN = 3  # places of an arena that are taken before


def itineraries(route: str, counts: NDArray[np.int64]) -> list[Itinerary]:
    """Of each rank, where counts[a, b] values go from a to b."""

    def act(job: Communicator) -> Itinerary:
        incoming = {r: int(n) for r, n in enumerate(counts[:, job.rank]) if n}
        return plan_route(job, route, *outgoing(counts, job.rank), incoming)

    found = run_on_threads(len(counts), act)
    assert all(isinstance(plan, Itinerary) for plan in found), found
    return found


def outgoing(counts: NDArray[np.int64], rank: int) -> tuple[int, dict[int, Run]]:
    """Places of an arena that are taken, and which of these are for whom."""
    ends = OWN + np.cumsum(counts[rank])
    runs = {
        r: Run(int(end - n), int(n))
        for r, (end, n) in enumerate(zip(ends, counts[rank], strict=True))
        if n
    }
    return int(ends[-1]), runs


def run(plans: list[Itinerary], counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """All stages; returns the arenas, in which values tell whence and whither they go."""
    arenas = [np.full(plan.size, -1) for plan in plans]
    for rank, arena in enumerate(arenas):
        for peer, out in outgoing(counts, rank)[1].items():
            arena[out.first : out.first + out.count] = (
                10**6 * rank + 10**3 * peer + np.arange(out.count)
            )
    for n in range(len(plans[0].stages)):
        sent = {}
        for rank, plan in enumerate(plans):
            for peer, hop in plan.stages[n].items():
                runs = [arenas[rank][r.first : r.first + r.count] for r in hop.sends]
                sent[rank, peer] = np.concatenate([np.empty(0, np.int64), *runs])
        for rank, plan in enumerate(plans):
            for peer, hop in plan.stages[n].items():
                values = sent[peer, rank]  # whoever receives is known to the sender
                assert len(values) == sum(r.count for r in hop.receives)
                for r in hop.receives:
                    arenas[rank][r.first : r.first + r.count], values = np.split(values, [r.count])
    return arenas


TABLES = st.integers(1, 11).flatmap(
    lambda ranks: st.lists(
        st.integers(0, 4) | st.just(0), min_size=ranks * ranks, max_size=ranks * ranks
    ).map(lambda found: np.array(found, np.int64).reshape(ranks, ranks))
)


@pytest.mark.parametrize("route", ["pairwise", "alltoall", "crystal"])
@given(TABLES)
@settings(max_examples=40)
def test_everything_arrives(route: str, counts: NDArray[np.int64]) -> None:
    np.fill_diagonal(counts, 0)
    plans = itineraries(route, counts)
    arenas = run(plans, counts)
    for rank, (plan, arena) in enumerate(zip(plans, arenas, strict=True)):
        assert set(plan.arrivals) == set(np.flatnonzero(counts[:, rank]).tolist())
        for sender, where in plan.arrivals.items():
            expected = 10**6 * sender + 10**3 * rank + np.arange(counts[sender, rank])
            assert np.array_equal(arena[where.first : where.first + where.count], expected)


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8, 13, 16])
def test_a_crystal_router_sends_few_messages(ranks: int) -> None:
    counts = 1 - np.eye(ranks, dtype=np.int64)
    plans = itineraries("crystal", counts)
    stages = int(np.ceil(np.log2(ranks)))
    for plan in plans:
        assert len(plan.stages) == stages
        assert all(sum(bool(hop.sends) for hop in s.values()) <= 1 for s in plan.stages)
    assert all(len(plan.stages[0]) == ranks - 1 for plan in itineraries("pairwise", counts))


def test_an_unknown_route() -> None:
    backend = open_backend("cpu")
    with pytest.raises(BackendError, match="'ring' does not exist; allowed: pairwise"):
        travel(
            backend, SerialCommunicator(), backend.zeros((1, 1), "float32"), [{}], "auto", "ring"
        )
