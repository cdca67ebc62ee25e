"""Forests of octrees: leaves fill the box, points are found in them, and ranges weigh the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_forests import small_forest

from groundswell.errors import InputError
from groundswell.meshes.morton import decode, encode
from groundswell.meshes.octree import Forest, partition_curve, uniform_forest

SEEDS = st.integers(0, 2**32)
PERIODIC = st.tuples(*[st.booleans()] * 3)
UNIT = [[0.0, 1.0]] * 3
few = settings(max_examples=40)


# --- Morton order ---------------------------------------------------------------------------------


@given(st.tuples(*[st.integers(0, 2**20 - 1)] * 3))
def test_keys_interleave_bits(cell: tuple[int, int, int]) -> None:
    x, y, z = (f"{n:020b}" for n in cell)
    key = int("".join(c + b + a for a, b, c in zip(x, y, z, strict=True)), 2)
    assert encode(np.array(cell)) == key
    assert decode(np.array(key)).tolist() == [*cell]


def test_keys_of_many_cells_keep_their_shape() -> None:
    cells = np.random.default_rng(0).integers(0, 2**20, (3, 4, 3))
    assert encode(cells).shape == (3, 4)
    assert np.array_equal(decode(encode(cells)), cells)


# --- leaves ---------------------------------------------------------------------------------------


@few
@given(seed=SEEDS)
def test_leaves_fill_the_box_without_overlap(seed: int) -> None:
    forest = small_forest(seed)
    unit = 1 << forest.max_level - 5  # cells of the deepest level
    covered = np.zeros(np.array(forest.roots) << 5, int)
    for low, size in zip(forest.anchors() // unit, forest.sizes() // unit, strict=True):
        assert (low % size == 0).all()
        covered[tuple(slice(n, n + size) for n in low)] += 1
    assert (covered == 1).all()


@few
@given(seed=SEEDS)
def test_leaves_divide_their_roots_evenly(seed: int) -> None:
    forest = small_forest(seed)
    lower, upper = forest.boxes()
    starts = forest.anchors() / 2**forest.max_level
    for axis, line in enumerate(forest.edges):
        roots = np.arange(len(line))
        assert np.allclose(lower[:, axis], np.interp(starts[:, axis], roots, line), atol=1e-14)
        ends = starts[:, axis] + 0.5**forest.levels
        assert np.allclose(upper[:, axis], np.interp(ends, roots, line), atol=1e-14)
        # Faces of neighbours and of the box lie in exactly one place.
        assert lower[:, axis].min() == line[0] and upper[:, axis].max() == line[-1]
        assert {*upper[:, axis]} - {line[-1]} == {*lower[:, axis]} - {line[0]}


@few
@given(seed=SEEDS)
def test_trees_are_numbered_along_x_first(seed: int) -> None:
    forest = small_forest(seed)
    lower, upper = forest.boxes()
    places = [
        np.searchsorted(line, middle) - 1
        for line, middle in zip(forest.edges, (lower + upper).T / 2, strict=True)
    ]
    assert np.array_equal(forest.trees(), np.ravel_multi_index(places[::-1], forest.roots[::-1]))
    some = [forest.count - 1, 0]
    assert np.array_equal(forest.trees(some), forest.trees()[some])
    assert np.array_equal(forest.boxes(some)[0], lower[some])


@pytest.mark.parametrize("level", [0, 1, 3])
def test_uniform_forests(level: int) -> None:
    forest = uniform_forest([[0, 1, 3], [0, 1], [-2, -1, 0, 5]], level)
    assert forest.roots == (2, 1, 3) and forest.count == 6 * 8**level
    assert (forest.levels == level).all()
    lower, upper = forest.boxes()
    assert np.isclose(np.prod(upper - lower, axis=1).sum(), 21.0)


def test_leaves_lie_along_the_curve() -> None:
    forest = uniform_forest([[0, 1, 2, 3], [0, 1, 2], [0, 1]])
    assert forest.boxes()[0][:, :2].tolist() == [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [2, 1]]
    assert forest.trees().tolist() == [0, 1, 3, 4, 2, 5]


@pytest.mark.parametrize(("roots", "deepest"), [(1, 20), (2, 19), (3, 18), (100, 13), (2**13, 7)])
def test_the_deepest_level_depends_on_the_roots(roots: int, deepest: int) -> None:
    edges = [np.arange(roots + 1.0), [0, 1], [0, 1]]
    assert uniform_forest(edges).max_level == deepest
    with pytest.raises(InputError, match=f"level = {deepest + 1}; allowed: 0 to {deepest}"):
        uniform_forest(edges, deepest + 1)


# --- points ---------------------------------------------------------------------------------------


@few
@given(seed=SEEDS, periodic=PERIODIC)
def test_points_are_in_the_first_leaf_that_contains_them(seed: int, periodic: Any) -> None:
    forest = small_forest(seed, periodic)
    rng = np.random.default_rng(seed)
    lower, upper = forest.boxes()
    both = np.concatenate([lower, upper])
    apart = [rng.choice(both[:, axis], 200) for axis in range(3)]
    anywhere = rng.uniform(both.min(axis=0) - 0.3, both.max(axis=0) + 0.3, (200, 3))
    on_planes = np.where(rng.random((200, 3)) < 0.5, np.stack(apart, axis=-1), anywhere)
    close = np.nextafter(np.stack(apart, axis=-1), rng.choice([-np.inf, np.inf], (200, 3)))
    points = np.concatenate([both[::3], on_planes, close, anywhere])
    holds = ((points[:, None] >= lower) & (points[:, None] <= upper)).all(axis=-1)
    expected = np.where(holds.any(axis=1), holds.argmax(axis=1), -1)
    assert np.array_equal(forest.locate(points), expected)


def test_points_in_the_smallest_leaves_far_from_the_origin() -> None:
    """Where positions are rounded to a thousandth of a leaf."""
    edges = [5e6 + np.array([0.0, 1.0, 3.1]), [0.0, 1.0], [-1e5, 0.0]]
    forest = Forest(edges, *_corner_leaves(edges))  # type: ignore[arg-type]
    lower, upper = forest.boxes()
    assert (upper > lower).all()
    holds = ((lower[:, None] >= lower) & (lower[:, None] <= upper)).all(axis=-1)
    assert np.array_equal(forest.locate(lower), holds.argmax(axis=1))
    assert np.array_equal(forest.locate((lower + upper) / 2), np.arange(forest.count))


def _corner_leaves(edges: Any) -> tuple[Any, Any]:
    """Keys and levels of leaves that get smaller towards the lowest corner, down to one cell."""
    forest = uniform_forest(edges)
    sizes = 8 ** np.arange(forest.max_level)
    small = (sizes[:, None] * np.arange(1, 8)).ravel()
    levels = np.repeat(forest.max_level - np.arange(forest.max_level), 7)
    keys = np.concatenate([[0], small, forest.keys[1:]])
    return keys, np.concatenate([[forest.max_level], levels, forest.levels[1:]])


def test_points_that_are_nowhere() -> None:
    forest = uniform_forest(UNIT, 1, (True, True, True))
    points = [[np.nan, 0.5, 0.5], [1.1, 0.5, 0.5], [0.5, -np.inf, 0.5], [0.0, 0.0, 0.0]]
    assert forest.locate(points).tolist() == [-1, -1, -1, 0]
    assert forest.locate(np.empty((0, 3))).shape == (0,)


def test_cells_are_wrapped_along_periodic_axes() -> None:
    forest = uniform_forest(UNIT, 1, (True, False, False))
    half = 1 << forest.max_level - 1
    cells = [[-1, 0, 0], [2 * half, 0, 0], [0, -1, 0], [0, 0, 2 * half], [3 * half, half, 0]]
    assert forest.find(np.array(cells)).tolist() == [1, 0, -1, -1, 3]


# --- partition ------------------------------------------------------------------------------------


@given(
    weights=st.lists(st.one_of(st.just(1.0), st.floats(1e-3, 1e3)), max_size=60),
    parts=st.integers(1, 20),
)
def test_ranges_weigh_the_same_but_for_one_leaf(weights: list[float], parts: int) -> None:
    starts = partition_curve(weights, parts)
    assert starts.dtype == np.int64 and starts.shape == (parts + 1,)
    assert starts[0] == 0 and starts[-1] == len(weights)
    counts = np.diff(starts)
    assert counts.min() >= (len(weights) >= parts)
    if len(weights) < parts:
        assert counts.tolist() == [1] * len(weights) + [0] * (parts - len(weights))
    sums = [sum(weights[a:b]) for a, b in pairwise(starts)]
    share, heaviest = sum(weights) / parts, max(weights, default=0.0)
    assert np.abs(np.array(sums) - share).max() <= heaviest * (1 + 1e-9)


def test_ranges_of_equal_leaves() -> None:
    assert partition_curve(np.ones(10), 4).tolist() == [0, 2, 5, 7, 10]
    assert partition_curve([1, 1, 1, 100, 1], 3).tolist() == [0, 3, 4, 5]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: uniform_forest(UNIT, -1), "level = -1; allowed: 0 to 20"),
        (lambda: uniform_forest([[0.0], [0, 1], [0, 1]]), "edges along x of shape"),
        (lambda: uniform_forest([[0, 1], [0, 1, 1], [0, 1]]), "edges along y = .* incr"),
        (lambda: uniform_forest([[0, 1], [0, 1], [0, np.inf]]), "edges along z"),
        (lambda: uniform_forest([[0, 1], [1e9, 1e9 + 1], [0, 1]]), "of the largest coordinate"),
        (lambda: uniform_forest([np.arange(2**20 + 2), [0, 1], [0, 1]]), "allowed: 1 to 2"),
        (lambda: partition_curve([1.0], 0), "parts = 0; allowed: at least 1"),
        (lambda: partition_curve([1.0, 0.0], 1), "finite and above 0"),
        (lambda: partition_curve([1.0, np.nan], 1), "finite and above 0"),
        (lambda: partition_curve([[1.0]], 1), "one for each leaf"),
    ],
)
def test_what_is_refused(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize(
    ("keys", "levels", "words"),
    [
        ([], [], "0 leaves do not fill"),
        ([0], [1], "do not fill"),
        ([0, 0], [0, 0], "do not fill"),
        ([8 * 8**17], [0], "do not fill"),
        ([-(8**20)], [0], "do not fill"),
        ([2**63 - 8**20], [0], "do not fill"),
        ([7 * 8**19 - n * 8**19 for n in range(8)], [1] * 8, "do not fill"),
        ([n * 8**19 + (n == 3) for n in range(8)], [1] * 8, "do not fill"),
        ([0, 1], [0], "give one of each per leaf"),
        ([0], [21], "level = 21"),
        ([0], [256], "level = 256"),
        ([0], [-1], "level = -1"),
    ],
)
def test_leaves_that_do_not_fill_the_box(keys: Any, levels: Any, words: str) -> None:
    edges = tuple(np.array(line) for line in UNIT)
    with pytest.raises(InputError, match=words):
        Forest(edges, np.array(keys, np.int64), np.array(levels))  # type: ignore[arg-type]
