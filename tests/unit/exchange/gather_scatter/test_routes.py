"""Routes: everything arrives where it is wanted, in as few stages as the route promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from thread_ranks import run_on_threads

from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.pattern import Route, plan_route

OWN = 3  # positions of a buffer that are in use before


def routes(route: str, counts: NDArray[np.int64]) -> list[Route]:
    """Of each rank, where counts[a, b] values go from a to b."""

    def act(job: Communicator) -> Route:
        incoming = {r: int(n) for r, n in enumerate(counts[:, job.rank]) if n}
        return plan_route(job, route, *outgoing(counts, job.rank), incoming)

    found = run_on_threads(len(counts), act)
    assert all(isinstance(plan, Route) for plan in found), found
    return found


def outgoing(counts: NDArray[np.int64], rank: int) -> tuple[int, dict[int, range]]:
    """Positions in use before, and by rank those of the values for it."""
    ends = OWN + np.cumsum(counts[rank])
    runs = {
        r: range(int(end - n), int(end))
        for r, (end, n) in enumerate(zip(ends, counts[rank], strict=True))
        if n
    }
    return int(ends[-1]), runs


def run(plans: list[Route], counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Run all stages; returns the buffers, whose values encode sender and receiver."""
    buffers = [np.full(plan.size, -1) for plan in plans]
    for rank, buffer in enumerate(buffers):
        for peer, out in outgoing(counts, rank)[1].items():
            buffer[out.start : out.stop] = 10**6 * rank + 10**3 * peer + np.arange(len(out))
    for n in range(len(plans[0].stages)):
        sent = {}
        for rank, plan in enumerate(plans):
            for peer, ranges in plan.stages[n].items():
                runs = [buffers[rank][r.start : r.stop] for r in ranges.sends]
                sent[rank, peer] = np.concatenate([np.empty(0, np.int64), *runs])
        for rank, plan in enumerate(plans):
            for peer, ranges in plan.stages[n].items():
                values = sent[peer, rank]  # whoever receives is known to the sender
                assert len(values) == sum(len(r) for r in ranges.receives)
                for r in ranges.receives:
                    buffers[rank][r.start : r.stop], values = np.split(values, [len(r)])
    return buffers


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
    plans = routes(route, counts)
    buffers = run(plans, counts)
    for rank, (plan, buffer) in enumerate(zip(plans, buffers, strict=True)):
        assert set(plan.received) == set(np.flatnonzero(counts[:, rank]).tolist())
        for sender, where in plan.received.items():
            expected = 10**6 * sender + 10**3 * rank + np.arange(counts[sender, rank])
            assert np.array_equal(buffer[where.start : where.stop], expected)


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8, 13, 16])
def test_a_crystal_router_sends_few_messages(ranks: int) -> None:
    counts = 1 - np.eye(ranks, dtype=np.int64)
    plans = routes("crystal", counts)
    stages = int(np.ceil(np.log2(ranks)))
    for plan in plans:
        assert len(plan.stages) == stages
        assert all(sum(bool(ranges.sends) for ranges in s.values()) <= 1 for s in plan.stages)
    assert all(len(plan.stages[0]) == ranks - 1 for plan in routes("pairwise", counts))
