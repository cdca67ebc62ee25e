"""Process grids: what each rank holds, and which grid is chosen."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, decompose, process_grids

Shape = tuple[int, ...]


def grids(ranks: int, axes: int) -> set[Shape]:
    """Every process grid, found by trying all tuples of divisors."""
    divisors = [n for n in range(1, ranks + 1) if ranks % n == 0]
    return {grid for grid in product(divisors, repeat=axes) if prod(grid) == ranks}


def busiest(cut: Decomposition) -> int:
    """Points that the busiest rank updates, and first neighbours of those that others hold."""
    owners = np.full(cut.shape, -1)
    for rank in range(cut.ranks):
        owners[cut.block(rank).slices] = rank
    work = np.bincount(owners.ravel(), minlength=cut.ranks)
    for axis, step in product(range(len(cut.shape)), (-1, 1)):
        beyond = np.roll(owners, -step, axis)
        if not cut.periodic[axis]:
            beyond[(slice(None),) * axis + (-1 if step == 1 else 0,)] = -1
        received = owners[(beyond != owners) & (beyond >= 0)]
        work = work + np.bincount(received, minlength=cut.ranks)
    return int(work.max())


# --- blocks ---------------------------------------------------------------------------------------


@st.composite
def cuttings(draw: st.DrawFn) -> Decomposition:
    axes = draw(st.integers(1, 3))
    processes = draw(st.tuples(*[st.integers(1, 4)] * axes) if axes > 1 else st.tuples(RANKS))
    shape = tuple(draw(st.integers(p, p + 14)) for p in processes)
    periodic = tuple(draw(st.booleans()) for _ in range(axes))
    return Decomposition(shape, processes, periodic)


RANKS = st.integers(1, 64)


@given(cuttings())
def test_blocks_cover_every_point_once(cut: Decomposition) -> None:
    held = np.zeros(cut.shape, int)
    for rank in range(cut.ranks):
        block = cut.block(rank)
        assert all(start >= 0 for start in block.start) and min(block.shape) >= 1
        held[block.slices] += 1
    assert (held == 1).all()


@given(cuttings())
def test_lengths_of_blocks_differ_by_one_at_most(cut: Decomposition) -> None:
    for axis in range(len(cut.shape)):
        lengths = {cut.block(rank).shape[axis] for rank in range(cut.ranks)}
        assert max(lengths) - min(lengths) <= 1


@given(cuttings())
def test_ranks_are_numbered_as_blocks_lie_in_the_array(cut: Decomposition) -> None:
    places = list(product(*(range(n) for n in cut.processes)))  # the last axis runs fastest
    assert [cut.coordinates(rank) for rank in range(cut.ranks)] == places
    assert [cut.rank_at(place) for place in places] == list(range(cut.ranks))
    for axis in range(len(cut.shape)):
        found = [(cut.coordinates(r)[axis], cut.block(r).start[axis]) for r in range(cut.ranks)]
        starts = [start for _, start in sorted(found)]
        assert starts == sorted(starts)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=3), RANKS, st.booleans())
def test_every_number_of_ranks_that_fits_gets_a_grid(
    shape: list[int], ranks: int, periodic: bool
) -> None:
    every = grids(ranks, len(shape))
    if any(all(p <= n for p, n in zip(grid, shape, strict=True)) for grid in every):
        cut = decompose(shape, ranks, periodic)
        assert cut.ranks == prod(cut.processes) == ranks and cut.shape == tuple(shape)
        assert cut.periodic == (periodic,) * len(shape)
    else:
        with pytest.raises(InputError, match=f"cannot be divided among {ranks} ranks"):
            decompose(shape, ranks, periodic)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("ranks", [1, 2, 7, 12, 30])
def test_all_process_grids_are_tried(ranks: int, axes: int) -> None:
    found = list(process_grids(ranks, axes))
    assert len(found) == len(set(found)) and set(found) == grids(ranks, axes)


def test_blocks_of_one_point() -> None:
    cut = decompose((3, 4, 5), 60)
    assert cut.processes == (3, 4, 5)
    assert {cut.block(rank).start for rank in range(60)} == set(np.ndindex(3, 4, 5))
    assert {cut.block(rank).shape for rank in range(60)} == {(1, 1, 1)}


@pytest.mark.parametrize("ranks", [2, 3, 5, 7, 13, 61])
def test_prime_numbers_of_ranks_cut_one_axis(ranks: int) -> None:
    assert sorted(decompose((97, 89, 83), ranks).processes) == [1, 1, ranks]
    assert decompose((1, 89, 2), 61).processes == (1, 61, 1)  # the only axis that is long enough


# --- blocks of given lengths ----------------------------------------------------------------------

LENGTHS = st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=4), min_size=1, max_size=3)


@given(LENGTHS, st.booleans())
def test_blocks_have_the_lengths_that_are_given(blocks: list[list[int]], periodic: bool) -> None:
    shape, counts = tuple(map(sum, blocks)), tuple(map(len, blocks))
    cut = decompose(shape, prod(counts), periodic, blocks=blocks)
    assert (cut.shape, cut.processes) == (shape, counts)
    assert cut.periodic == (periodic,) * len(shape)
    held = np.zeros(shape, int)
    for rank, place in enumerate(np.ndindex(*counts)):
        found = cut.block(rank)
        assert found.shape == tuple(along[n] for along, n in zip(blocks, place, strict=True))
        assert found.start == tuple(sum(along[:n]) for along, n in zip(blocks, place, strict=True))
        held[found.slices] += 1
    assert (held == 1).all()


def test_lengths_may_be_arrays() -> None:
    blocks = (np.array([10, 14]), [np.int64(32)])
    found = decompose((24, 32), 2, blocks=blocks)  # type: ignore[arg-type]
    assert found == decompose((24, 32), 2, blocks=((10, 14), (32,)))


@pytest.mark.parametrize(
    "blocks, words",
    [
        (((10, 15), (32,)), r"blocks of \(10, 15\) points along axis 0 are 25 points.* 24 points"),
        (((24,), (32, 0)), "along axis 1 are 32 points; allowed are lengths above zero"),
        (((24,), ()), "0 blocks along axis 1 of 32 points"),
        (((-1, 25), (32,)), "lengths above zero"),
        (((24,), (32,)), "1 x 1 = 1 block for 2 ranks; one block per rank is n"),
        (((10, 14), (16, 16)), "2 x 2 = 4 blocks for 2 ranks"),
        (((10, 14),), "for each of 2 axes the lengths of its blocks"),
        ((2, 1), "for each of 2 axes"),
        ((10, 14), "for each of 2 axes"),
        (2, "for each of 2 axes"),
        (((10, 14.0), (32,)), "for each of 2 axes"),
        (((10, True), (32,)), "for each of 2 axes"),
    ],
    ids=str,
)
def test_lengths_that_cannot_be(blocks: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        decompose((24, 32), 2, blocks=blocks)


@given(cuttings(), st.data())
def test_neighbours_hold_the_points_beyond_a_corner(
    cut: Decomposition, data: st.DataObject
) -> None:
    """Found in the whole array: the owner of the point one step outside."""
    owners = np.empty(cut.shape, int)
    for other in range(cut.ranks):
        owners[cut.block(other).slices] = other
    rank = data.draw(st.integers(0, cut.ranks - 1))
    direction = data.draw(st.tuples(*[st.integers(-1, 1)] * len(cut.shape)))
    block, point = cut.block(rank), []
    for axis, step in enumerate(direction):
        point.append(block.start[axis] + (step if step < 1 else block.shape[axis]))
    beyond = [
        not wraps and not 0 <= p < n
        for p, n, wraps in zip(point, cut.shape, cut.periodic, strict=True)
    ]
    wrapped = tuple(p % n for p, n in zip(point, cut.shape, strict=True))
    assert cut.neighbour(rank, direction) == (None if any(beyond) else owners[wrapped])


# --- the choice -----------------------------------------------------------------------------------


@st.composite
def even_problems(draw: st.DrawFn) -> tuple[Shape, int, tuple[bool, ...]]:
    """Arrays that at least one process grid divides evenly."""
    ranks = draw(st.sampled_from([2, 3, 4, 6, 8, 12]))
    axes = draw(st.integers(1, 3))
    shape = tuple(draw(st.sampled_from([1, 2, 4, 6, 8, 12])) for _ in range(axes))
    return shape, ranks, tuple(draw(st.booleans()) for _ in range(axes))


@given(even_problems())
@settings(max_examples=60)
def test_no_other_grid_costs_less(problem: tuple[Shape, int, tuple[bool, ...]]) -> None:
    shape, ranks, periodic = problem
    even = [
        grid
        for grid in grids(ranks, len(shape))
        if all(n % p == 0 for n, p in zip(shape, grid, strict=True))
    ]
    assume(even)
    best = min(busiest(Decomposition(shape, grid, periodic)) for grid in even)
    assert busiest(decompose(shape, ranks, periodic)) <= best


def test_no_other_grid_costs_less_where_blocks_differ() -> None:
    """Of 11 x 11 points five ranks hold 2 or 3 rows; the longest block lies at an end."""
    periodic = (True, False)
    others = [busiest(Decomposition((11, 11), grid, periodic)) for grid in grids(5, 2)]
    assert busiest(decompose((11, 11), 5, periodic)) == min(others)


@pytest.mark.parametrize("ranks, processes", [(2, (2, 1, 1)), (4, (2, 2, 1)), (8, (2, 2, 2))])
def test_slow_axes_are_cut_first(ranks: int, processes: Shape) -> None:
    """Which axes of a cube are cut makes no difference to what it costs."""
    assert decompose((256, 256, 256), ranks).processes == processes


def test_among_equal_costs_fewer_neighbours_are_better() -> None:
    """Quarters of a periodic cube: two faces of 256 x 256, or four of 128 x 256."""
    slabs, pencils = (Decomposition((64,) * 3, g, (True,) * 3) for g in ((4, 1, 1), (2, 2, 1)))
    assert busiest(slabs) == busiest(pencils)
    assert decompose((64, 64, 64), 4, True).processes == (4, 1, 1)


def test_both_faces_of_two_halves_are_received_along_a_periodic_axis() -> None:
    assert decompose((8, 8), 2, (True, False)).processes == (1, 2)
    assert decompose((8, 8), 2, (False, True)).processes == (2, 1)


@pytest.mark.parametrize(
    "points, processes",
    [
        ((256, 256, 256), (1, 1, 1)),
        ((256, 256, 512), (1, 1, 2)),
        ((256, 512, 512), (1, 2, 2)),
        ((512, 512, 512), (2, 2, 2)),
        ((512, 512, 1024), (2, 2, 4)),
        ((512, 1024, 1024), (2, 4, 4)),
    ],
)
def test_weak_scaling_keeps_cubes(points: Shape, processes: Shape) -> None:
    """Xue & Roy 2020, table 2, three-dimensional decompositions; Fortran's order of axes."""
    cut = decompose(points[::-1], prod(processes))
    assert cut.processes == processes[::-1]
    assert {cut.block(rank).shape for rank in range(cut.ranks)} == {(256, 256, 256)}
