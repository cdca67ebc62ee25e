"""Refinement of forests: where it is wanted, and the least that balances the levels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from small_forests import small_forest, touching

from groundswell.errors import InputError
from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_refinement import balance, refine, resolve_wavelength

SEEDS = st.integers(0, 2**32)
PERIODIC = st.tuples(*[st.booleans()] * 3)
ACROSS = {"faces": 1, "edges": 2, "corners": 3}
few = settings(max_examples=settings.default.max_examples // 4)


def ball(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[np.bool_]:
    """Boxes that the sphere of radius 1.1 cuts."""
    nearest = np.clip(0.0, lower, upper)
    farthest = np.maximum(np.abs(lower), np.abs(upper))
    near, far = (np.linalg.norm(points, axis=1) for points in (nearest, farthest))
    return (near < 1.1) & (far > 1.1)


def leaf_boxes(lower: NDArray[Any], upper: NDArray[Any], levels: int) -> list[Any]:
    """Leaves of the octree of one root, one box at a time and in Morton order."""
    if levels == 0 or not ball(lower[None], upper[None])[0]:
        return [(*lower, *upper)]
    found, half = [], (upper - lower) / 2
    for z, y, x in np.ndindex(2, 2, 2):
        corner = lower + half * (x, y, z)
        found += leaf_boxes(corner, corner + half, levels - 1)
    return found


@pytest.mark.parametrize("max_level", [0, 1, 4])
def test_leaves_are_divided_where_wanted(max_level: int) -> None:
    forest = refine(uniform_forest([[-1, 0, 2], [-1, 1], [0, 1]]), ball, max_level)
    expected = [
        box
        for x in ((-1.0, 0.0), (0.0, 2.0))
        for box in leaf_boxes(np.array([x[0], -1.0, 0.0]), np.array([x[1], 1.0, 1.0]), max_level)
    ]
    assert np.array_equal(np.concatenate(forest.boxes(), axis=1), expected)


def test_refinement_keeps_what_is_fine() -> None:
    fine = uniform_forest([[0, 1]] * 3, 3)
    assert np.array_equal(refine(fine, lambda lower, upper: lower[:, 0] < 2, 2).keys, fine.keys)
    twice = refine(refine(uniform_forest([[-2, 2]] * 3), ball, 2), ball, 4)
    assert np.array_equal(twice.keys, refine(uniform_forest([[-2, 2]] * 3), ball, 4).keys)


def layered(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """Wavelengths that grow with depth, 0.05 to 1 m: those of the boxes' tops."""
    return np.asarray(0.05 + 0.95 * lower[:, 2])


def test_leaves_resolve_the_wavelength_and_are_no_smaller() -> None:
    x = np.linspace(0, 2, 3)
    forest = refine(uniform_forest([x, x, [0, 0.3, 1]]), resolve_wavelength(layered, 0.7), 7)
    lower, upper = forest.boxes()
    assert ((upper - lower).max(axis=1) <= 0.7 * layered(lower, upper)).all()
    assert forest.levels.max() < 7
    volumes = 8 * forest.sizes() ** 3
    divided = forest.levels > 0
    parents = (forest.keys // volumes * volumes)[divided], (forest.levels - np.int8(1))[divided]
    lower, upper = forest.boxes_of(*parents)
    assert ((upper - lower).max(axis=1) > 0.7 * layered(lower, upper)).all()


# --- balance --------------------------------------------------------------------------------------


def unbalanced(forest: Forest, axes: int) -> NDArray[Any]:
    """Leaves with a neighbour more than one level deeper, by comparing all pairs."""
    leaf, other, *sides = touching(forest).T
    counts = np.abs(sides).sum(axis=0) <= axes
    deeper = forest.levels[other] > forest.levels[leaf] + 1
    return np.unique(leaf[counts & deeper])


def divide(forest: Forest, leaves: NDArray[Any]) -> Forest:
    """Divide some leaves into eight."""
    starts = forest.sizes(leaves)[:, None] ** 3 // 8 * np.arange(8)
    children = (forest.keys[leaves, None] + starts).ravel()
    keys = np.concatenate([np.delete(forest.keys, leaves), children])
    levels = np.delete(forest.levels, leaves), np.repeat(forest.levels[leaves] + 1, 8)
    order = np.argsort(keys)
    return replace(forest, keys=keys[order], levels=np.concatenate(levels)[order])


@few
@given(seed=SEEDS, periodic=PERIODIC, across=st.sampled_from([*ACROSS]))
def test_the_balanced_forest_is_the_smallest(seed: int, periodic: Any, across: str) -> None:
    """A leaf with a neighbour two levels deeper must be divided, until there is none."""
    forest = small_forest(seed, periodic, most=2)
    found = balance(forest, across)
    expected = forest
    while len(leaves := unbalanced(expected, ACROSS[across])):
        expected = divide(expected, leaves)
    assert np.array_equal(found.keys, expected.keys)
    assert np.array_equal(found.levels, expected.levels)
    assert found.periodic == periodic and found.levels.max() == forest.levels.max()


def test_balance_of_more_axes_needs_more_leaves() -> None:
    forest = refine(uniform_forest([[-2, 0, 2]] * 3), ball, 6)
    counts = [balance(forest, across).count for across in ACROSS]
    assert forest.count < counts[0] < counts[1] < counts[2]
    assert balance(uniform_forest([[0, 1]] * 3, 2)).count == 64


def test_periodic_axes_are_balanced_across_their_ends() -> None:
    """Along one root, too."""

    def low_end(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(lower[:, 0] == 0)

    edges = [[0, 1]] * 3
    closed = balance(refine(uniform_forest(edges), low_end, 3))
    wrapped = balance(refine(uniform_forest(edges, 0, (True, False, False)), low_end, 3))
    at_end = [forest.boxes()[1][:, 0] == 1 for forest in (closed, wrapped)]
    assert (closed.levels[at_end[0]] == 1).all() and (wrapped.levels[at_end[1]] == 2).all()


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda f: refine(f, ball, 21), "level = 21; allowed: 0 to 20"),
        (lambda f: refine(f, ball, -1), "level = -1"),
        (
            lambda f: refine(f, lambda low, high: True, 1),
            r"shape \(\); return bool of shape \(1,\)",
        ),
        (lambda f: refine(f, lambda low, high: low[:, 0], 1), "returned float64"),
        (lambda f: resolve_wavelength(layered, 0.0), "factor = 0.0; allowed: above 0"),
        (
            lambda f: refine(f, resolve_wavelength(lambda low, high: low[:, 0] * np.nan, 1), 1),
            "a smallest wavelength of nan m; allowed: above 0",
        ),
        (lambda f: balance(f, "sides"), "across = 'sides'; allowed: faces, edges or corners"),
    ],
)
def test_what_is_refused(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make(uniform_forest([[0, 1]] * 3))
