"""Values that kernels store twice: the table that tells them where, and points that stay inside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundswell.backends import open_backend
from groundswell.exchange.boxes import in_turns
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.messages import GhostField, own_parcels, plan_messages
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.puts import Put, put_arguments

Widths = st.tuples(*[st.integers(0, 3)] * 3)


def test_without_puts_a_kernel_is_given_nothing() -> None:
    assert put_arguments(open_backend("cpu"), [], (4, 4, 4)) == []


def test_rows_have_the_fastest_axis_first() -> None:
    rows, count, *inner = put_arguments(
        open_backend("cpu"), [Put(2, (0, 3, 5), (1, 6, 7), -64)], (9, 10, 12)
    )
    assert count == 1 and rows.tolist() == [[2, 5, 3, 0, 7, 6, 1, -64]]
    assert inner == [0, 0, 1, 12, 10, 8]  # all but the lowest plane


def test_missing_axes_have_one_point() -> None:
    rows, _, *inner = put_arguments(open_backend("cpu"), [Put(0, (7,), (1,), 8)], (8,))
    assert rows.tolist() == [[0, 7, 0, 0, 1, 1, 1, 8]]
    assert inner == [0, 0, 0, 7, 1, 1]


@given(
    shape=st.tuples(*[st.integers(8, 20)] * 3),
    low=Widths,
    high=Widths,
    corners=st.booleans(),
    periodic=st.tuples(*[st.booleans()] * 3),
    ranks=st.integers(1, 8),
)
def test_nothing_that_is_wanted_lies_inside(
    shape: tuple[int, ...],
    low: tuple[int, ...],
    high: tuple[int, ...],
    corners: bool,
    periodic: tuple[bool, ...],
    ranks: int,
) -> None:
    backend, cut = open_backend("cpu"), decompose(shape, ranks, periodic)
    field = GhostField(np.zeros([n + 6 for n in shape]), (3, 3, 3), Ghosts(low, high, corners))
    for rank in range(ranks):
        block = cut.block(rank).shape
        sent = [m.sends for m in plan_messages(cut, rank, [field], aggregate=True)]
        parcels = [*sum(sent, ()), *own_parcels(cut, rank, [field])]
        puts = [Put(0, p.piece.there, p.piece.shape, 0) for p in parcels]
        if not puts:
            continue
        wanted = np.zeros(block, bool)
        for put in puts:
            wanted[tuple(slice(f, f + n) for f, n in zip(put.first, put.shape, strict=True))] = True
        i, j, k, ni, nj, nk = put_arguments(backend, puts, block)[2:]
        inner = wanted[k : k + nk, j : j + nj, i : i + ni]
        assert not inner.any()
        if min(block) > 6 and not corners:  # most points of a block of some size are inside
            assert inner.size >= np.prod([n - 6 for n in block])


@given(
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    blocks=st.integers(1, 9),
    own=st.integers(0, 40),
)
def test_blocks_open_each_message_once_and_know_their_shares(
    counts: list[int], blocks: int, own: int
) -> None:
    messages = len(counts)
    numbers = np.repeat(np.arange(messages + 1), [*counts, own])
    chunks = np.stack([np.arange(len(numbers))] * 3 + [numbers], axis=1).astype(np.int64)
    table, shares = in_turns(chunks, blocks, messages)
    assert sorted(table[:, 0]) == list(range(len(numbers)))
    assert shares.shape == (blocks, messages) and shares.sum(axis=0).tolist() == counts
    for b in range(blocks):
        taken = table[b::blocks, 3]
        assert taken[taken < messages].tolist() == sorted(taken[taken < messages])
        for message in range(messages + 1):
            opens = table[b::blocks, 4][taken == message]
            assert opens.tolist() == [1, *[0] * (len(opens) - 1)][: len(opens)]
            assert message == messages or shares[b, message] == len(opens)


@pytest.mark.parametrize(("sent", "own"), [(30, 10), (10, 30), (24, 24)])
def test_what_a_rank_copies_for_itself_is_spread(sent: int, own: int) -> None:
    numbers = np.repeat([0, 1], [sent, own])
    chunks = np.stack([numbers] * 4, axis=1).astype(np.int64)
    order = in_turns(chunks, 2, 1)[0][:, 3]
    first, last = order[: len(order) // 2].sum(), order[len(order) // 2 :].sum()
    assert abs(int(first) - int(last)) <= 4
