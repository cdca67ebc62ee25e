"""Hexahedra: nodes have one id exactly where they lie in one place; faces know their side."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import ROTATIONS, shuffled
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import INSIDE, Hexahedra, face_nodes, positions, refine
from groundswell.meshes.mesh import Mesh, pack

CUBE = Box((1, 1, 1)).geometry_nodes([0])

COUNTS = st.tuples(*[st.integers(1, 4)] * 3)
# Near each other, so that rows are alike, or so far apart that products of spreads overflow.
VERTICES = st.integers(0, 3) | st.integers(0, 2**62)
few = settings(max_examples=25)


def require_same_places(mesh: Hexahedra, degree: int, expected: int, wrap: Any = None) -> None:
    """Ids and places are in one-to-one correspondence, and there are as many as expected."""
    everyone = np.arange(mesh.count)
    ids = mesh.ids(degree, everyone).ravel()
    where = positions(mesh, degree, everyone).reshape(-1, 3)
    where = where if wrap is None else wrap(where)
    _, place = np.unique(np.round(where, 9) + 0.0, axis=0, return_inverse=True)
    pairs = np.unique(np.stack([ids, place.ravel()], axis=1), axis=0)
    assert len(pairs) == len(np.unique(ids)) == place.max() + 1 == expected


@few
@given(counts=COUNTS, degree=st.integers(1, 6), periodic=st.tuples(*[st.booleans()] * 3))
def test_nodes_of_a_box(counts: Any, degree: int, periodic: Any) -> None:
    high = (1.0, 2.0, 3.0)
    box = Box(counts, high=high, periodic=periodic)
    lattice = [degree * n + (not p) for n, p in zip(counts, periodic, strict=True)]

    def wrap(where: NDArray[Any]) -> NDArray[Any]:
        at_end = np.isclose(where, high) & np.array(periodic)
        return np.where(at_end, 0.0, where)

    # Where a periodic axis has one element of degree 1, both its ends are one node.
    require_same_places(box, degree, int(np.prod(lattice)), wrap)


def test_there_are_as_many_rotations_as_a_cube_has() -> None:
    assert len(ROTATIONS) == 24


@few
@given(counts=COUNTS, degree=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_nodes_of_a_mesh_whose_elements_are_turned(counts: Any, degree: int, seed: int) -> None:
    mesh = shuffled(Box(counts, high=(1.0, 2.0, 3.0)), np.random.default_rng(seed))
    require_same_places(mesh, degree, int(np.prod([degree * n + 1 for n in counts])))


@few
@given(
    rows=st.integers(1, 4).flatmap(
        lambda m: st.lists(st.tuples(*[VERTICES] * m), min_size=1, max_size=30)
    )
)
def test_packed_rows_have_the_order_of_rows(rows: Any) -> None:
    table = np.array(rows, np.int64)
    unique, number = np.unique(table, axis=0, return_inverse=True)
    packed = pack(table)
    assert np.array_equal(np.unique(packed, return_inverse=True)[1], number.ravel())
    assert len(np.unique(packed)) == len(unique)


def test_some_elements_know_what_all_do() -> None:
    mesh = shuffled(Box((3, 4, 2)), np.random.default_rng(1))
    some = np.array([7, 3, 19])
    for degree in (1, 2, 5):
        assert np.array_equal(mesh.ids(degree, some), mesh.ids(degree, np.arange(24))[some])
    assert np.array_equal(mesh.tags(some), mesh.tags(np.arange(24))[some])


@pytest.mark.parametrize(
    "mesh", [Box((2, 1, 1)), shuffled(Box((2, 1, 1)), np.random.default_rng(2))]
)
@pytest.mark.parametrize("degree", [1, 3])
def test_no_elements(mesh: Hexahedra, degree: int) -> None:
    """As ranks have that are left over."""
    none = np.empty(0, np.int64)
    assert mesh.ids(degree, none).shape == (0, (degree + 1) ** 3)
    assert positions(mesh, degree, none).shape == (0, (degree + 1) ** 3, 3)
    assert mesh.tags(none).shape == (0, 6)


# --- sides ----------------------------------------------------------------------------------------


def test_sides_of_a_box() -> None:
    box = Box((3, 2, 1), periodic=(False, True, False))
    tags, where = box.tags(np.arange(6)), positions(box, 2, np.arange(6))
    for element, face in product(range(6), range(6)):
        axis, upper = divmod(face, 2)
        outside = np.allclose(where[element, face_nodes(2, face), axis], upper) and axis != 1
        assert tags[element, face] == (face + 1 if outside else INSIDE)


def test_sides_of_a_mesh() -> None:
    mesh = shuffled(Box((3, 2, 2)), np.random.default_rng(3))
    everyone = np.arange(mesh.count)
    tags, where = mesh.tags(everyone), positions(mesh, 2, everyone)
    for element, face in product(everyone, range(6)):
        points = where[element, face_nodes(2, face)]
        flat = [axis for axis in range(3) if np.ptp(points[:, axis]) < 1e-12]
        outside = any(np.isclose(points[0, axis], side) for axis in flat for side in (0, 1))
        assert tags[element, face] == int(outside)


def test_named_sides_of_a_mesh() -> None:
    box = Box((2, 1, 1))
    corners, nodes = box.ids(1, [0, 1]), box.geometry_nodes([0, 1])
    side = corners[1, face_nodes(1, 1)]
    mesh = Mesh(corners, nodes, sides=side[None, ::-1], side_tags=np.array([7]))
    assert mesh.tags([0, 1]).tolist() == [[1, 0, 1, 1, 1, 1], [0, 7, 1, 1, 1, 1]]
    wrong = Mesh(corners, nodes, sides=np.array([[0, 1, 2, 99]]), side_tags=np.array([7]))
    with pytest.raises(InputError, match="1 side not among the faces"):
        wrong.tags([0])


# --- shapes ---------------------------------------------------------------------------------------


def test_positions_are_those_of_the_maps() -> None:
    """Of a degree-3 map all polynomials of degree 3 are right at nodes of any degree."""
    box = Box((2, 3, 2), deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=3)
    plain = Box((2, 3, 2))
    for degree in (1, 4, 7):
        straight = positions(plain, degree, np.arange(12))
        expected = straight + 0.1 * straight[..., ::-1] ** 2
        assert np.allclose(positions(box, degree, np.arange(12)), expected, atol=1e-14)


def test_values_at_other_nodes() -> None:
    rng = np.random.default_rng(4)
    values = rng.standard_normal((2, 27, 1))
    assert np.allclose(refine(refine(values, 2, 5), 5, 2), values, atol=1e-13)
    x = gll(5).points
    fine = refine(np.tile(gll(2).points, 9)[None, :, None], 2, 5)
    assert np.allclose(fine.reshape(6, 6, 6), x, atol=1e-14)


@pytest.mark.parametrize("smoothness", [0, 1, 2])
def test_kershaws_box(smoothness: int) -> None:
    points = np.random.default_rng(5).random((99, 3))
    assert np.allclose(kershaw(1, 1, smoothness)(points), points)
    box = Box((12, 6, 4), deform=kershaw(0.3, 0.3, smoothness), order=5)
    where = positions(box, 5, np.arange(box.count))
    assert where.min() == 0 and where.max() == 1
    require_same_places(box, 5, 61 * 31 * 21)
    # Next to the corner at 0, cells shrink to 0.3 of their size; at the other end they grow.
    heights = [np.ptp(where[n, :, 1]) for n in (0, 12 * 5)]
    assert np.allclose(heights, [0.3 / 6, 1.7 / 6])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Box((0, 1, 1)), "at least 1 along each axis"),
        (lambda: Box((1, 1, 1), high=(1.0, 0.0, 1.0)), "give low below high"),
        (lambda: Box((1, 1, 1), periodic=(True, False, False), deform=kershaw(1, 1)), "meet"),
        (lambda: Box((1, 1, 1), deform=kershaw(1, 1)), "needs the order"),
        (lambda: Box((1, 1, 1), order=-1), "degree = -1"),
        (lambda: Box((2**22, 2**22, 2**22)).ids(3, [0]), "too many to number"),
        (lambda: kershaw(0, 1), "allowed: above 0"),
        (lambda: Mesh(np.zeros((1, 4), int), np.zeros((1, 8, 3))), r"give \(elements, 8\)"),
        (lambda: Mesh(np.arange(8)[None], np.zeros((1, 27, 3))), "degree 1"),
        (
            lambda: Mesh(np.arange(8)[None, ::-1], CUBE[:, ::-1]),
            "inverted",
        ),
        (
            lambda: Mesh(np.tile(np.arange(8), (3, 1)), np.tile(CUBE, (3, 1, 1))),
            "three",
        ),
    ],
)
def test_what_is_refused(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()
