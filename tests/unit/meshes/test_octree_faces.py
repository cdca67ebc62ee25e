"""What lies beyond faces of leaves: as comparing all pairs finds, and from both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_forests import small_forest, touching

from groundswell.errors import InputError
from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_faces import FaceKind, find_faces
from groundswell.meshes.octree_refinement import balance, refine

SEEDS = st.integers(0, 2**32)
PERIODIC = st.tuples(*[st.booleans()] * 3)
few = settings(max_examples=settings.default.max_examples // 4)


def quarter(forest: Forest, large: int, small: int, axis: int) -> int:
    """Where a smaller leaf lies on the face of a larger one, first tangential axis first."""
    first, second = (a for a in range(3) if a != axis)
    upper = forest.anchors()[small] - forest.anchors()[large] > 0
    return int(upper[first]) + 2 * int(upper[second])


def searched(forest: Forest) -> dict[tuple[int, int], Any]:
    """Kind, neighbours and quarter of each face that is not on the boundary."""
    found: dict[tuple[int, int], Any] = {}
    for leaf, other, *sides in touching(forest):
        if np.abs(sides).sum() != 1:
            continue
        axis = int(np.argmax(np.abs(sides)))
        key = int(leaf), 2 * axis + (sides[axis] > 0)
        deeper = forest.levels[other] - forest.levels[leaf]
        if deeper == 0:
            found[key] = (FaceKind.SAME, [other, -1, -1, -1], -1)
        elif deeper < 0:
            of_other = quarter(forest, other, leaf, axis)
            found[key] = (FaceKind.COARSER, [other, -1, -1, -1], of_other)
        else:
            kind = found.setdefault(key, (FaceKind.FINER, [-1] * 4, -1))
            kind[1][quarter(forest, leaf, other, axis)] = other
    return found


@few
@given(seed=SEEDS, periodic=PERIODIC)
def test_faces_are_those_of_leaves_that_touch(seed: int, periodic: Any) -> None:
    forest = balance(small_forest(seed, periodic, most=2))
    faces, expected = find_faces(forest), searched(forest)
    boundary = (FaceKind.BOUNDARY, [-1] * 4, -1)
    for leaf, face in np.ndindex(forest.count, 6):
        kind, neighbours, of_other = expected.get((leaf, face), boundary)
        assert faces.kinds[leaf, face] == kind
        assert faces.neighbours[leaf, face].tolist() == neighbours
        assert faces.quarters[leaf, face] == of_other


@few
@given(seed=SEEDS, periodic=PERIODIC)
def test_both_sides_of_a_face_know_of_each_other(seed: int, periodic: Any) -> None:
    forest = balance(small_forest(seed, periodic))
    faces = find_faces(forest)
    opposite = np.arange(6) ^ 1
    leaf, face = np.nonzero(faces.kinds == FaceKind.SAME)
    other = faces.neighbours[leaf, face, 0]
    assert np.array_equal(faces.neighbours[other, opposite[face], 0], leaf)
    leaf, face = np.nonzero(faces.kinds == FaceKind.COARSER)
    other = faces.neighbours[leaf, face, 0]
    assert (faces.kinds[other, opposite[face]] == FaceKind.FINER).all()
    back = faces.neighbours[other, opposite[face], faces.quarters[leaf, face]]
    assert np.array_equal(back, leaf)
    assert np.sum(faces.kinds == FaceKind.FINER) * 4 == len(leaf)


def test_faces_and_quarters_are_ordered_as_nodes_are() -> None:
    """The corners of a coarse face are those of its quarters, in the order of nodes."""
    forest = refine(uniform_forest([[0, 1, 2, 3]] * 3), middle, 1)
    faces = find_faces(forest)
    for face in range(6):
        (coarse,) = np.flatnonzero(faces.kinds[:, face ^ 1] == FaceKind.FINER)
        lower, upper = forest.boxes([coarse, *faces.neighbours[coarse, face ^ 1]])
        corners = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1)
        ends = corners.reshape(-1, 3)[face_nodes(1, face ^ 1), ::-1]
        where = [np.where(ends, upper[n], lower[n]) for n in range(5)]
        for n in range(4):
            other = np.delete(np.arange(3), face // 2)
            assert np.array_equal(where[0][n, other], where[n + 1][n, other])
    assert forest.count == 26 + 8


def middle(lower: Any, upper: Any) -> Any:
    """The middle root of 27."""
    return ((lower >= 1) & (upper <= 2)).all(axis=1)


def test_a_leaf_that_spans_a_periodic_axis_is_its_own_neighbour() -> None:
    faces = find_faces(uniform_forest([[0, 1]] * 3, 0, (True, False, True)))
    assert faces.neighbours[0, :, 0].tolist() == [0, 0, -1, -1, 0, 0]
    assert faces.kinds[0].tolist() == [1, 1, 0, 0, 1, 1]
    assert (faces.neighbours[..., 1:] == -1).all() and (faces.quarters == -1).all()


def test_arrays_are_compact() -> None:
    faces = find_faces(uniform_forest([[0, 1]] * 3, 1))
    assert faces.kinds.dtype == faces.quarters.dtype == np.int8
    assert faces.neighbours.dtype == np.int64 and faces.neighbours.shape == (8, 6, 4)


def test_some_leaves_know_what_all_do() -> None:
    forest = balance(small_forest(3))
    all_, some = find_faces(forest), np.array([5, 0, 2])
    part, none = find_faces(forest, some), find_faces(forest, [])
    assert np.array_equal(part.kinds, all_.kinds[some])
    assert np.array_equal(part.neighbours, all_.neighbours[some])
    assert np.array_equal(part.quarters, all_.quarters[some])
    assert none.neighbours.shape == (0, 6, 4)


@pytest.mark.parametrize("start", [0.0, 1.0])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_levels_that_differ_by_two_are_refused(axis: int, start: float) -> None:
    """From the fine side, and from the coarse side alone; the root at `start` is divided."""

    edges: list[Any] = [[0, 1]] * 3
    edges[axis] = [0, 1, 2]
    forest = refine(uniform_forest(edges), lambda low, high: low[:, axis] == start, 1)
    forest = refine(forest, lambda low, high: at_middle(low, high, axis), 2)
    coarse = np.flatnonzero(forest.levels == 0)
    for leaves in (None, coarse, np.flatnonzero(forest.levels == 2)):
        with pytest.raises(InputError, match="differ by more than one; balance the forest"):
            find_faces(forest, leaves)
    find_faces(balance(forest))


def at_middle(lower: Any, upper: Any, axis: int) -> Any:
    """Parts of roots that touch the plane between the two."""
    return ((upper - lower)[:, axis] < 1) & ((lower[:, axis] == 1) | (upper[:, axis] == 1))
