"""Rings: which samples a range of steps produces, and that each is read once and in order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.exchange.communicator import SerialCommunicator
from groundswell.outputs.ring_buffer import Output, Ring


class Memory:
    """A backend that is just memory."""

    def zeros(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        return np.zeros(shape, dtype)

    def to_host(self, array: np.ndarray, after: Any = None) -> np.ndarray:
        return np.array(array)


def ring(every: int, capacity: int) -> Ring:
    return Ring(Memory(), (2,), every, capacity, "float64")  # type: ignore[arg-type]


def record(ring: Ring, step: int) -> None:
    """What a recorder's kernel does in a step."""
    if step % ring.every == 0:
        ring.buffer[step // ring.every % ring.slots] = step, -step


@given(st.integers(1, 9), st.integers(0, 100), st.integers(0, 100))
def test_numbers_are_those_of_the_steps_that_record(every: int, begin: int, count: int) -> None:
    found = list(ring(every, 2).numbers(begin, begin + count))
    assert found == [n // every for n in range(begin, begin + count) if n % every == 0]


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(2, 9), st.integers(0, 60), st.data())
def test_batches_of_any_size_give_every_sample_once(
    every: int, capacity: int, begin: int, data: st.DataObject
) -> None:
    """Two batches at a time share the ring, as in the driver."""
    source = ring(every, capacity)
    found: list[np.ndarray] = []
    output = Output(source, None, lambda block, _: found.extend(block), (2,))
    sizes = data.draw(st.lists(st.integers(1, output.most_steps), min_size=1, max_size=12))
    ends = [begin, *(begin + np.cumsum(sizes)).tolist()]
    for n, (first, last) in enumerate(pairwise(ends)):
        for step in range(first, last):
            record(source, step)
        if n:
            output.collect(ends[n - 1], first, None)()
    output.collect(ends[-2], ends[-1], None)()
    expected = [(n, -n) for n in range(begin, ends[-1]) if n % every == 0]
    assert [tuple(sample) for sample in found] == expected


def test_an_empty_range_reads_nothing_and_keeps_the_shape() -> None:
    assert ring(5, 4).read(1, 4, None).shape == (0, 2)


@pytest.mark.parametrize(("every", "capacity"), [(1, 2), (3, 5), (500, 2)])
def test_two_batches_of_the_most_steps_fit(every: int, capacity: int) -> None:
    source = ring(every, capacity)
    most = Output(source, None, lambda *_: None, (2,)).most_steps
    for begin in range(3 * every):
        assert len(source.numbers(begin, begin + 2 * most)) <= capacity


# --- several ranks --------------------------------------------------------------------------------


class Among(SerialCommunicator):
    """One of several ranks whose turn it is: what they gather is there when the last one has been.

    Their turns end with rank 0's.
    """

    def __init__(self, rank: int, said: list[Any]) -> None:
        self.rank, self._said = rank, said

    def gather(self, value: Any) -> list[Any]:
        self._said.append(value)
        return self._said[::-1] if self.first else []


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 6), st.data())
def test_the_parts_of_all_ranks_make_whole_samples(
    ranks: int, every: int, steps: int, data: st.DataObject
) -> None:
    """Each rank has some rows of a sample, in no order, perhaps none."""
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    count = len(range(0, steps, every))
    whole = rng.normal(size=(count, 5, 3))
    owner = rng.integers(0, ranks, 5)
    said: list[Any] = []
    calls: list[tuple[np.ndarray, range]] = []
    for rank in reversed(range(ranks)):
        rows = np.flatnonzero(owner == rank)
        held = Ring(Memory(), (len(rows), 3), every, 8, "float64")  # type: ignore[arg-type]
        held.buffer[:count] = whole[:, rows]
        output = Output(
            held, None, lambda *given: calls.append(given), (5, 3), (rows,), Among(rank, said)
        )
        output.collect(0, steps, None)()
    [(block, numbers)] = calls  # only rank 0 writes
    assert numbers == range(count)
    np.testing.assert_array_equal(block, whole)
