"""Process grids that users or Cartesian communicators ask for."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, decompose, decompose_for

Shape = tuple[int, ...]


def grids(ranks: int, axes: int) -> set[Shape]:
    """Every process grid, found by trying all tuples of divisors."""
    divisors = [n for n in range(1, ranks + 1) if ranks % n == 0]
    return {grid for grid in product(divisors, repeat=axes) if prod(grid) == ranks}


# --- what the user asks for -----------------------------------------------------------------------


@pytest.mark.parametrize("asked", [(1, 1, 12), (12, 1, 1), (2, 3, 2), (3, 1, 4)])
def test_a_given_process_grid_is_used(asked: Shape) -> None:
    assert decompose((24, 24, 24), 12, processes=asked).processes == asked


@pytest.mark.parametrize("asked", [(0, 0, 4), (1, 0, 0), (0, 3, 0), (0, 0, 0)])
def test_zero_leaves_an_axis_open(asked: Shape) -> None:
    found = decompose((24, 25, 26), 12, processes=asked).processes
    assert prod(found) == 12 and all(a in (0, f) for a, f in zip(asked, found, strict=True))
    open_ones = [
        grid for grid in grids(12, 3) if all(a in (0, g) for a, g in zip(asked, grid, strict=True))
    ]
    assert found in open_ones


@pytest.mark.parametrize(
    "shape, ranks, asked, words",
    [
        ((3, 3), 10, None, ["10 ranks", "(3, 3)", "change the number of ranks"]),
        ((1, 4), 5, None, ["5 ranks", "(1, 4)", "at least (1, 1) points"]),
        ((8, 8), 4, (3, 0), ["4 ranks", "(8, 8)", "(3, 0)"]),
        ((8, 8), 6, (4, 1), ["6 ranks", "4 x 1 = 4 blocks", "change processes"]),
        ((), 1, None, ["shape = ()", "one to 3 whole numbers"]),
        ((10.7, 10), 2, None, ["(10.7, 10)", "whole numbers"]),
        ((8, 8), 4, (4, 4), ["4 ranks", "4 x 4 = 16 blocks"]),
        ((8, 2), 4, (1, 4), ["4 ranks", "(8, 2)", "(1, 4)"]),
        ((8, 8), 4, (4,), ["processes = (4,)", "for each of 2 axes"]),
        ((8, 8), 4, (-1, -1), ["processes = (-1, -1)", "0 or more"]),
        ((8, 8, 8), 0, None, ["0 ranks"]),
        ((8, 0), 1, None, ["shape = (8, 0)", "above zero"]),
    ],
)
def test_impossible_wishes_are_refused(
    shape: Shape, ranks: int, asked: Shape | None, words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        decompose(shape, ranks, processes=asked)
    assert all(word in str(caught.value) for word in words), caught.value


def test_more_blocks_than_points_are_refused() -> None:
    with pytest.raises(InputError, match="5 blocks along axis 1 of 4 points; allowed are 1 to 4"):
        Decomposition((8, 4), (1, 5), (False, False))
    with pytest.raises(InputError, match="0 blocks along axis 0"):
        Decomposition((8, 4), (0, 1), (False, False))
    with pytest.raises(InputError, match="one entry per axis"):
        Decomposition((8, 4), (2, 1), (False,))
    for lengths in (((8,), (4,)), ((3, 5),)):
        with pytest.raises(InputError, match=r"are not \(2, 1\) blocks"):
            Decomposition((8, 4), (2, 1), (False, False), lengths)
    with pytest.raises(InputError, match=r"\(3, 4\) points along axis 0 are 7 points; .* the 8 p"):
        Decomposition((8, 4), (2, 1), (False, False), ((3, 4), (4,)))


def test_ends_are_open_or_not_for_each_axis() -> None:
    assert decompose((8, 8), 4, np.True_).periodic == (True, True)
    with pytest.raises(InputError, match="one for each of 2 axes"):
        decompose((8, 8), 4, (True,))


# --- who decides: the user, a Cartesian communicator, or the cost ---------------------------------

NO_TOPOLOGY = (None, False)
CARTESIAN = ([2, 3], [True, False])
SIX_BLOCKS = ((1, 8), (2, 3, 4))  # of 9 x 9 points on 2 x 3 ranks


def test_the_best_grid_is_taken_where_nobody_decides() -> None:
    found = decompose_for((9, 90), 3, NO_TOPOLOGY)
    assert found.processes == (1, 3) and found.periodic == (False, False)
    assert decompose_for((9, 90), 3, NO_TOPOLOGY, (True, False), (0, 1)).processes == (3, 1)


@pytest.mark.parametrize(
    "processes, blocks",
    [(None, None), ((2, 3), None), ((0, 0), None), ((2, 0), None), (None, SIX_BLOCKS)],
)
def test_a_cartesian_communicator_decides(processes: Any, blocks: Any) -> None:
    found = decompose_for((9, 9), 6, CARTESIAN, None, processes, blocks)
    assert found.processes == (2, 3) and found.periodic == (True, False)
    assert found.block(5).shape == ((8, 4) if blocks else (5, 3))


def test_periodic_is_taken_as_given() -> None:
    assert decompose_for((9, 9), 6, CARTESIAN, False).periodic == (False, False)
    assert decompose_for((9, 9), 6, CARTESIAN, (False, True)).periodic == (False, True)


@pytest.mark.parametrize(
    "processes, blocks",
    [((3, 2), None), ((6, 1), None), (None, SIX_BLOCKS[::-1]), (None, ((9,), (1, 1, 1, 1, 1, 4)))],
)
def test_other_blocks_than_the_communicators_are_refused(processes: Any, blocks: Any) -> None:
    words = r"contradict comm, .* dims \(2, 3\).* comm\.Split\(\)"
    with pytest.raises(InputError, match=words):
        decompose_for((9, 9), 6, CARTESIAN, None, processes, blocks)


@pytest.mark.parametrize("processes", [(2, 1, 3), (1, 2, 3), (2, 3, 1), (2, 0, 3)])
def test_an_array_may_have_more_axes_than_the_communicator(processes: Any) -> None:
    found = decompose_for((4, 4, 4), 6, CARTESIAN, False, processes)
    assert [n for n in found.processes if n > 1] == [2, 3]


def test_axes_that_cannot_be_matched_are_refused() -> None:
    for options in ((), (True,), (None, (2, 1, 3))):
        with pytest.raises(InputError, match=r"Cartesian communicator of 2 axes.* give periodic"):
            decompose_for((4, 4, 4), 6, CARTESIAN, *options)
    with pytest.raises(InputError, match="contradict comm"):
        decompose_for((4, 4, 4), 6, CARTESIAN, True, (3, 1, 2))
    with pytest.raises(InputError, match="contradict comm"):
        decompose_for((8,), 6, CARTESIAN, True, (6,))
    assert decompose_for((8,), 2, ([1, 2], [True, False]), True, (2,)).processes == (2,)


@pytest.mark.parametrize("topology", [NO_TOPOLOGY, CARTESIAN])
def test_either_processes_or_blocks_are_given(topology: Any) -> None:
    with pytest.raises(InputError, match=r"processes = \(2, 3\) and blocks = .* only one of them"):
        decompose_for((9, 9), 6, topology, None, (2, 3), SIX_BLOCKS)


@pytest.mark.parametrize("processes", [(2,), "ab", (2.0, 3), (True, 6)])
def test_processes_that_are_no_numbers_for_each_axis(processes: Any) -> None:
    for topology in (NO_TOPOLOGY, CARTESIAN):
        with pytest.raises(InputError, match=r"processes = .* whole number for each of 2 axes"):
            decompose_for((9, 9), 6, topology, None, processes)
