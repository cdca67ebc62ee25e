"""Which ranks share which ids, on ranks that are threads of this process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from assembly_program import check_sharing
from hypothesis import given, settings
from hypothesis import strategies as st
from thread_ranks import run_on_threads

from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.gather_scatter.sharing import NO_ID, Sharing, find_sharing

IDS = st.integers(NO_ID, 12) | st.integers(0, 2**63 - 1)


def sharings(ids: list[list[int]]) -> list[Sharing]:
    def act(job: Communicator) -> Sharing:
        return find_sharing(job, np.array(ids[job.rank], np.int64))

    found = run_on_threads(len(ids), act)
    assert all(isinstance(sharing, Sharing) for sharing in found), found
    return found


@given(st.lists(st.lists(IDS, max_size=30), min_size=1, max_size=8))
@settings(max_examples=60)
def test_any_ids(ids: list[list[int]]) -> None:
    found = sharings(ids)
    given_ids = [np.array(part, np.int64) for part in ids]
    said = [(g, s.ids, s.own, s.owner) for g, s in zip(given_ids, found, strict=True)]
    for rank, sharing in enumerate(found):
        check_sharing(sharing, given_ids[rank], said, rank)


def test_the_order_of_ids() -> None:
    """Unshared, fewer copies first; then owned and shared; then ghosts; in order of occurrence."""
    shared = list(range(100, 140))
    mine = [7, 139, 3, *shared[:-1], 7, NO_ID, 5]
    first, second = sharings([mine, shared])
    assert first.ids[: first.unshared].tolist() == [3, 5, 7]
    places = {i: n for n, i in reversed(list(enumerate(mine)))}
    for part in (first.ids[first.unshared : first.own], first.ids[first.own :]):
        order = [places[i] for i in part.tolist()]
        assert order == sorted(order) and order
    assert second.own == 40 - (first.own - 3) and second.unshared == 0


@pytest.mark.parametrize("nobody", [0, 1])
def test_ids_that_lie_far_apart(nobody: int) -> None:
    """They are sorted instead of looked up in a table, which is not to be seen."""
    rng = np.random.default_rng(1)
    parts = [rng.integers(-nobody, 300, 500) for _ in range(3)]
    near = sharings([part.tolist() for part in parts])
    far = sharings([np.where(part < 0, NO_ID, 3 * 10**6 * part).tolist() for part in parts])
    for one, other, part in zip(near, far, parts, strict=True):
        assert np.array_equal(one.ids[one.indices[part >= 0]], part[part >= 0])
        unshared, far_ids = one.ids[: one.unshared], other.ids[: other.unshared]
        assert np.array_equal(3 * 10**6 * unshared, far_ids)


def test_owners_take_turns() -> None:
    everything = [list(range(3000))] * 3
    assert all(800 < sharing.own < 1200 for sharing in sharings(everything))


def test_owners_follow_from_the_ids_alone() -> None:
    """Whatever else a rank has, and in whatever order."""
    one = sharings([[1, 2, 3, 50], [3, 2, 1]])
    other = sharings([[3, 9, 1, 2, 2], [1, 60, 2, 3]])
    owners = [
        {i: o for i, o in zip(s[0].ids, s[0].owner, strict=True) if i < 4} for s in (one, other)
    ]
    assert owners[0] == owners[1]


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (np.zeros((2, 2), np.int64), "one-dimensional array"),
        (np.zeros(3), "whole number"),
        (np.array([0, -2]), "below zero"),
        (np.array([2**63], np.uint64), "63 bits"),
    ],
)
def test_what_is_no_id(ids: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        find_sharing(SerialCommunicator(), ids)


def test_one_rank_s_mistake_is_told_to_all() -> None:
    found = run_on_threads(
        3, lambda job: find_sharing(job, np.array([0.5] if job.rank == 1 else [1]))
    )
    assert all(isinstance(error, InputError) and "whole number" in str(error) for error in found)


def test_no_ids_at_all() -> None:
    for sharing in sharings([[], [], [NO_ID]]):
        assert not len(sharing.ids) and not sharing.shared_with
