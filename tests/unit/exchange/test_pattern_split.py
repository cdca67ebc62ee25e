"""Blocks split into what neighbours wait for and what hides the exchange, point by point."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.pattern import open_sides, split

axes = st.integers(1, 3)
flags = st.tuples(st.booleans(), st.booleans())


@st.composite
def splits(draw) -> tuple[tuple[int, ...], list[tuple[bool, bool]], list[int]]:
    n = draw(axes)
    each = [st.lists(values, min_size=n, max_size=n) for values in (st.integers(1, 9), flags)]
    shape, sides = (draw(values) for values in each)
    return tuple(shape), sides, draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))


def counts(shape: tuple[int, ...], boxes: list[Block]) -> np.ndarray:
    """How many of the boxes each point of a block lies in; they must not reach beyond it."""
    found = np.zeros(shape, int)
    for box in boxes:
        assert min(box.shape) >= 1
        part = found[tuple(slice(s, s + n) for s, n in zip(box.start, box.shape, strict=True))]
        assert part.shape == box.shape
        part += 1
    return found


@given(splits())
def test_boundaries_hold_all_that_is_near_open_sides_and_nothing_else(given_split) -> None:
    shape, sides, thickness = given_split
    boundary, interior = split(shape, sides, thickness)
    near = np.zeros(shape, bool)
    for axis, ((low, high), thick) in enumerate(zip(sides, thickness, strict=True)):
        n = np.arange(shape[axis])
        close = (low & (n < thick)) | (high & (n >= shape[axis] - thick))
        near |= close.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    assert (counts(shape, boundary) == near).all()
    assert (counts(shape, interior) == ~near).all()
    assert len(interior) <= 1 and len(boundary) <= 2 * len(shape)


@given(splits())
def test_slabs_of_slow_axes_are_whole(given_split) -> None:
    """So that what they send is contiguous."""
    shape, sides, thickness = given_split
    boundary, _ = split(shape, sides, thickness)
    slabs = sum(sides[0]) if shape[0] > thickness[0] else min(sum(sides[0]), 1)
    assert all(box.shape[1:] == shape[1:] for box in boundary[:slabs])
    assert sum(box.shape[1:] == shape[1:] for box in boundary) >= slabs


def test_a_block_without_neighbours_is_all_interior() -> None:
    alone = [(False, False)] * 3
    assert split((4, 5, 6), alone, (2, 4, 32)) == ([], [Block((0, 0, 0), (4, 5, 6))])


def test_a_block_that_is_no_thicker_than_its_slabs_is_all_boundary() -> None:
    boundary, interior = split((3, 5, 6), [(True, True), (False, False), (True, False)], (2, 4, 3))
    assert interior == []
    assert boundary == [Block((0, 0, 0), (2, 5, 6)), Block((2, 0, 0), (1, 5, 6))]


@given(
    st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=3),
    st.data(),
)
def test_sides_are_open_where_another_point_follows(cut_axes, data) -> None:
    processes, periodic = zip(*cut_axes, strict=True)
    shape = tuple(data.draw(st.integers(n, 3 * n)) for n in processes)
    cut = Decomposition(shape, processes, periodic)
    rank = data.draw(st.integers(0, prod(processes) - 1))
    block = cut.block(rank)
    for axis, (low, high) in enumerate(open_sides(cut, rank)):
        beyond = (block.start[axis] - 1, block.start[axis] + block.shape[axis])
        exists = [periodic[axis] or 0 <= point < shape[axis] for point in beyond]
        assert [low, high] == exists
