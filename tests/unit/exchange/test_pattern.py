"""Which ghost points a rank needs and who owns them, against look-ups of single points."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.ghost_field import require_room
from groundswell.exchange.ghosts import Ghosts, uniform
from groundswell.exchange.pattern import partners, receives

Index = tuple[int, ...]
Point = tuple[Index, int, Index]  # a ghost: local index here, its owner, local index there


@st.composite
def problems(draw: st.DrawFn, within: bool = False) -> tuple[Decomposition, Ghosts]:
    """Short blocks and wide layers, so that some reach beyond the next block, or around an axis."""
    axes = draw(st.integers(1, 3))
    processes = tuple(draw(st.integers(1, 3)) for _ in range(axes))
    shape = tuple(draw(st.integers(p, p + 4)) for p in processes)
    periodic = tuple(draw(st.booleans()) for _ in range(axes))
    low, high = (tuple(draw(st.integers(0, 6 - axes)) for _ in range(axes)) for _ in range(2))
    parts = tuple(draw(ranges(n)) for n in shape) if within else ()
    return Decomposition(shape, processes, periodic), Ghosts(low, high, draw(st.booleans()), parts)


def ranges(points: int) -> st.SearchStrategy[tuple[int, int] | None]:
    """Part of an axis, or all of it and a little more, or None."""
    ends = st.tuples(st.integers(-2, points), st.integers(0, points + 2))
    return st.none() | ends.map(lambda pair: (min(pair), max(pair)))


def listed(cut: Decomposition, rank: int, ghosts: Ghosts, sweep: int | None = None) -> list[Point]:
    """Every point of every box."""
    return [
        (
            tuple(np.add(box.here, step).tolist()),
            box.owner,
            tuple(np.add(box.there, step).tolist()),
        )
        for box in receives(cut, rank, ghosts, sweep)
        for step in np.ndindex(box.shape)
    ]


def holders(cut: Decomposition) -> dict[Index, int]:
    """The rank that has each point of the whole array."""
    return {
        point: owner
        for owner in range(cut.ranks)
        for point in product(*(range(s.start, s.stop) for s in cut.block(owner).slices))
    }


def looked_up(cut: Decomposition, rank: int, ghosts: Ghosts) -> list[Point]:
    """Every point around a block in turn: is it a ghost, and who has it?"""
    owners, block, reach = holders(cut), cut.block(rank), 2 + max((*ghosts.low, *ghosts.high))
    axes = [
        [(i, k) for i in range(-reach, n + reach) if (k := kind(cut, rank, ghosts, axis, i))]
        for axis, n in enumerate(block.shape)
    ]
    found = []
    for point in product(*axes):
        here, kinds = zip(*point, strict=True)
        if not 1 <= kinds.count("ghost") <= (len(here) if ghosts.corners else 1):
            continue
        # The same owner has the ghosts beside all points of a face, so those beside its first
        # point tell it, which is in the array even where `within` reaches beyond.
        near = [i if k == "ghost" else 0 for i, k in point]
        inside = tuple(np.mod(np.add(block.start, near), cut.shape).tolist())
        owner = owners[inside]
        along = np.subtract(here, near)
        there = np.add(np.subtract(inside, cut.block(owner).start), along)
        found.append((here, owner, tuple(there.tolist())))
    return found


def kind(cut: Decomposition, rank: int, ghosts: Ghosts, axis: int, i: int) -> str | None:
    """Whether a local index is among those beside ghosts ("own"), a ghost, or neither."""
    n, start = cut.block(rank).shape[axis], cut.block(rank).start[axis]
    place, points, wraps = start + i, cut.shape[axis], cut.periodic[axis]
    asked = ghosts.within[axis] if ghosts.within else None
    beyond = not wraps and not 0 <= place < points
    ends_here = start == 0 if place < 0 else start + n == points
    if 0 <= i < n or (beyond and asked and ends_here):
        return "own" if asked is None or asked[0] <= place < asked[1] else None
    near = -ghosts.low[axis] <= i < n + ghosts.high[axis]
    return "ghost" if near and not beyond else None


@given(problems())
def test_every_ghost_comes_once_from_its_owner(problem: tuple[Decomposition, Ghosts]) -> None:
    cut, ghosts = problem
    for rank in range(cut.ranks):
        found = listed(cut, rank, ghosts)
        assert max(Counter(here for here, _, _ in found).values(), default=1) == 1
        assert sorted(found) == looked_up(cut, rank, ghosts)


@given(problems(within=True))
def test_ghosts_along_parts_of_the_faces(problem: tuple[Decomposition, Ghosts]) -> None:
    cut, ghosts = problem
    for rank in range(cut.ranks):
        assert sorted(listed(cut, rank, ghosts)) == looked_up(cut, rank, ghosts)


@given(problems())
def test_ghosts_are_other_points_of_the_whole_array(problem: tuple[Decomposition, Ghosts]) -> None:
    """The same global point at both ends, modulo the length of a periodic axis."""
    cut, ghosts = problem
    for rank in range(cut.ranks):
        block = cut.block(rank)
        for here, owner, there in listed(cut, rank, ghosts):
            mine, other = np.add(block.start, here), np.add(cut.block(owner).start, there)
            assert ((mine - other) % cut.shape == 0).all()
            assert ((np.array(there) >= 0) & (there < np.array(cut.block(owner).shape))).all()
            for axis, wraps in enumerate(cut.periodic):
                assert wraps or mine[axis] == other[axis]  # nothing from outside an open end


@given(problems())
def test_faces_have_no_edges_or_corners(problem: tuple[Decomposition, Ghosts]) -> None:
    cut, ghosts = problem
    for rank in range(cut.ranks):
        shape = cut.block(rank).shape
        outside = [
            sum(not 0 <= i < n for i, n in zip(here, shape, strict=True))
            for here, _, _ in listed(cut, rank, ghosts)
        ]
        assert all(1 <= n <= (3 if ghosts.corners else 1) for n in outside)


@given(problems(), st.data())
def test_partners_know_each_other(
    problem: tuple[Decomposition, Ghosts], data: st.DataObject
) -> None:
    cut, ghosts = problem
    if data.draw(st.booleans()):
        ghosts = replace(ghosts, within=tuple(data.draw(ranges(n)) for n in cut.shape))
    known = [partners(cut, rank, ghosts) for rank in range(cut.ranks)]
    for rank in range(cut.ranks):
        assert known[rank] == sorted(set(known[rank]))
        assert all(rank in known[other] for other in known[rank])
        for box in receives(cut, rank, ghosts):
            assert box.owner in known[rank] and rank in known[box.owner]


@given(problems())
def test_sweeps_fill_the_same_ghosts(problem: tuple[Decomposition, Ghosts]) -> None:
    """A box of ghosts takes what its owner has: own points, or ghosts of earlier sweeps."""
    cut, ghosts = problem
    known: list[dict[Index, tuple[int, Index]]] = [{} for _ in range(cut.ranks)]
    for axis in range(len(cut.shape)):
        before = [dict(points) for points in known]
        for rank, points in enumerate(known):
            for here, owner, there in listed(cut, rank, ghosts, axis):
                assert here not in points
                points[here] = before[owner].get(there, (owner, there))
    for rank, points in enumerate(known):
        assert points == {here: (o, there) for here, o, there in listed(cut, rank, ghosts)}


@given(problems())
@settings(max_examples=30)
def test_no_piece_is_empty_and_none_lies_across_two_owners(
    problem: tuple[Decomposition, Ghosts],
) -> None:
    cut, ghosts = problem
    for rank in range(cut.ranks):
        for box in receives(cut, rank, ghosts):
            block = cut.block(box.owner).shape
            assert min(box.shape) > 0
            ends = np.add(box.there, box.shape)
            assert min(box.there) >= 0 and (ends <= block).all()


# --- examples worked out by hand ------------------------------------------------------------------


def test_two_ranks_on_a_periodic_axis() -> None:
    """West and east have the same owner, and are two boxes."""
    cut = decompose((8,), 2, True)
    west, east = receives(cut, 0, Ghosts((1,), (2,)))
    assert (west.owner, west.here, west.there, west.shape) == (1, (-1,), (3,), (1,))
    assert (east.owner, east.here, east.there, east.shape) == (1, (4,), (0,), (2,))


def test_a_rank_is_its_own_neighbour() -> None:
    """Layers of 5 around a periodic axis of 2 points."""
    cut = decompose((2,), 1, True)
    found = {here[0]: there[0] for here, owner, there in listed(cut, 0, uniform(5, 1))}
    assert found == {i: i % 2 for i in (*range(-5, 0), *range(2, 7))}
    assert partners(cut, 0, uniform(5, 1)) == [0]


def test_nobody_needs_anything() -> None:
    cut = decompose((4, 4, 4), 8)
    assert receives(cut, 3, uniform(0)) == () and partners(cut, 3, uniform(0)) == []
    assert receives(decompose((4, 4), 1), 0, uniform(2, 2, corners=True)) == ()


def test_sweeps_need_two_neighbours_along_each_axis() -> None:
    cut = decompose((6, 6, 6), 27)
    found = [receives(cut, 13, uniform(1, corners=True), axis) for axis in range(3)]
    assert [len(boxes) for boxes in found] == [2, 2, 2]
    assert [box.shape for boxes in found for box in boxes[:1]] == [
        (1, 2, 2),
        (4, 1, 2),
        (4, 4, 1),
    ]


@pytest.mark.parametrize("corners, neighbours, points", [(False, 6, 6 * 4), (True, 26, 4**3 - 8)])
def test_neighbours_in_the_middle_of_27(corners: bool, neighbours: int, points: int) -> None:
    cut = decompose((6, 6, 6), 27)
    boxes = receives(cut, 13, uniform(1, corners=corners))
    assert len({box.owner for box in boxes}) == len(boxes) == neighbours
    assert sum(int(np.prod(p.shape)) for p in boxes) == points


# --- room and refusals ----------------------------------------------------------------------------


@given(st.data())
def test_room_is_there_or_refused(data: st.DataObject) -> None:
    """A box that begins before the array, or ends behind it, does not fit."""
    axes = data.draw(st.integers(1, 3))

    def some(least: int, most: int) -> Index:
        return tuple(data.draw(st.integers(least, most)) for _ in range(axes))

    shape, origin, block = some(1, 8), some(0, 4), some(1, 4)
    ghosts = Ghosts(some(0, 3), some(0, 3))
    # Amid many blocks alike, so that there are ghosts on all sides.
    cut = Decomposition(tuple(7 * n for n in block), (7,) * axes, (False,) * axes)
    boxes = receives(cut, cut.rank_at((3,) * axes), ghosts)
    sides = zip(shape, origin, block, ghosts.low, ghosts.high, strict=True)
    if all(
        set(range(o - low, o + n + high)) <= set(range(room)) for room, o, n, low, high in sides
    ):
        require_room(shape, origin, block, boxes)
    else:
        with pytest.raises(InputError, match="no room for") as caught:
            require_room(shape, origin, block, boxes)
        assert str(shape) in str(caught.value) and "allocate a larger array" in str(caught.value)


@pytest.mark.parametrize("low, high", [((1, 1), (1,)), ((-1,), (1,)), ((1, 1), (1, -2))])
def test_wrong_widths_are_refused(low: Index, high: Index) -> None:
    with pytest.raises(InputError, match="ghost layers") as caught:
        Ghosts(low, high)
    assert str(low) in str(caught.value) and str(high) in str(caught.value)
