"""Parts of meshes: every element is in one, they are of one size, compact, and always the same."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.meshes.partition import _adjacency, partition

COUNTS = st.tuples(*[st.integers(1, 6)] * 3)
few = settings(max_examples=60)
SIZE = (3.0, 2.0, 1.0)


def cut(mesh: Hexahedra, parts: NDArray[Any]) -> int:
    """Pairs of elements that share a face and not the part."""
    starts, neighbors = _adjacency(mesh)
    own = np.repeat(parts, np.diff(starts))
    return int(np.sum(own != parts[neighbors])) // 2


def centers(mesh: Hexahedra) -> NDArray[Any]:
    return mesh.geometry_nodes(np.arange(mesh.count)).mean(axis=1)


# --- bisection ------------------------------------------------------------------------------------


@few
@given(counts=COUNTS, parts=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_every_element_is_in_one_part_of_equal_size(counts: Any, parts: int, seed: int) -> None:
    mesh = shuffled(Box(counts, high=SIZE), np.random.default_rng(seed))
    found = partition(mesh, parts)
    assert found.dtype == np.int32 and found.shape == (mesh.count,)
    sizes = np.bincount(found, minlength=parts)
    assert len(sizes) == parts and np.ptp(sizes) <= 1
    assert np.array_equal(found, partition(mesh, parts))


@few
@given(counts=COUNTS, parts=st.integers(2, 12))
def test_halves_lie_on_two_sides_of_the_longest_axis(counts: Any, parts: int) -> None:
    box = Box(counts, high=SIZE)
    where, found = centers(box), partition(box, parts)
    lower = found < parts // 2
    if lower.any() and not lower.all():
        axis = np.argmax(np.ptp(where, axis=0).round(9))
        assert where[lower, axis].max() <= where[~lower, axis].min() + 1e-12


def test_a_plane_is_cut_by_the_numbers_of_elements() -> None:
    """Whose centres are not exactly equal there."""
    rng = np.random.default_rng(2)
    box = Box(
        (1, 9, 7), high=(0.1, 1.0, 2.0), deform=lambda p: p + 1e-13 * rng.random(p.shape), order=1
    )
    in_middle = partition(box, 2).reshape(7, 9)[3]
    assert partition(box, 2).reshape(7, 9)[:3].max() == 0
    assert in_middle.tolist() == sorted(in_middle)


def test_blocks_of_a_cube() -> None:
    """Equal axes are cut in their order, and a cube into cubes."""
    box = Box((4, 4, 4))
    found = partition(box, 8)
    x, y, z = (centers(box) > 0.5).T.astype(int)
    assert np.array_equal(found, 4 * x + 2 * y + z)
    assert cut(box, found) == 3 * 16


def test_parts_that_stay_empty() -> None:
    found = partition(Box((3, 1, 1)), 8)
    assert len(set(found.tolist())) == 3 and found.max() < 8


def test_elements_in_one_place() -> None:
    box = Box((2, 2, 2), deform=np.zeros_like, order=1)
    assert partition(box, 4).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_million_elements_are_not_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of a portion are, whose size does not change the parts."""
    mesh = shuffled(Box((5, 6, 7), high=SIZE), np.random.default_rng(1))
    expected = partition(mesh, 7)
    monkeypatch.setattr("groundswell.meshes.partition._CHUNK", 11)
    assert np.array_equal(partition(mesh, 7), expected)


# --- METIS ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("periodic", [(False, False, False), (True, True, False)])
@pytest.mark.parametrize("counts", [(4, 3, 2), (1, 2, 5), (2, 1, 1), (3, 1, 4)])
def test_adjacency_are_those_at_faces(counts: Any, periodic: Any) -> None:
    box = Box(counts, periodic=periodic)
    steps = np.concatenate([np.eye(3, dtype=int), -np.eye(3, dtype=int)])
    starts, neighbors = _adjacency(box)
    for n, place in enumerate(np.ndindex(counts[::-1])):
        beside = {wrapped(np.array(place[::-1]) + step, counts, periodic) for step in steps}
        of_n = neighbors[starts[n] : starts[n + 1]].tolist()
        assert len(of_n) == len(set(of_n)) and set(of_n) == beside - {None, n}


def wrapped(place: NDArray[Any], counts: Any, periodic: Any) -> int | None:
    """Number of the element there, None if it lies outside."""
    place = np.where(periodic, place % counts, place)
    if (place < 0).any() or (place >= counts).any():
        return None
    return int(place[0] + counts[0] * (place[1] + counts[1] * place[2]))


@pytest.mark.parametrize("parts", [1, 2, 5, 12])
def test_metis(parts: int) -> None:
    pytest.importorskip("pymetis")
    mesh = shuffled(Box((8, 6, 6), high=SIZE), np.random.default_rng(4))
    found = partition(mesh, parts, "metis")
    assert found.dtype == np.int32 and found.shape == (288,)
    sizes = np.bincount(found, minlength=parts)
    assert len(sizes) == parts and sizes.max() <= 1.1 * 288 / parts
    assert np.array_equal(found, partition(mesh, parts, "metis"))
    random = np.random.default_rng(4).permutation(found)
    assert parts == 1 or cut(mesh, found) < 0.5 * cut(mesh, random)


@pytest.mark.parametrize(("counts", "parts"), [((4, 4, 4), 18), ((5, 5, 5), 33), ((2, 2, 3), 9)])
def test_no_part_of_metis_is_empty(counts: Any, parts: int) -> None:
    """METIS itself leaves some of these empty."""
    pytest.importorskip("pymetis")
    assert np.bincount(partition(Box(counts), parts, "metis"), minlength=parts).min() >= 1


@pytest.mark.parametrize("counts", [(1, 1, 1), (2, 1, 1), (2, 2, 2)])
def test_metis_with_few_elements(counts: Any) -> None:
    pytest.importorskip("pymetis")
    box = Box(counts)
    for parts in (1, box.count, box.count + 3):
        found = partition(box, parts, "metis")
        assert len(set(found.tolist())) == min(parts, box.count) and found.max() < parts


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "method", "words"),
    [
        (0, "bisection", "parts = 0; allowed: at least 1"),
        (-3, "metis", "parts = -3"),
        (2, "scotch", "method = 'scotch'; allowed: bisection, metis"),
    ],
)
def test_what_is_refused(parts: int, method: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        partition(Box((2, 2, 2)), parts, method)


def test_metis_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(InputError, match=r"pip install -e '\.\[metis\]'"):
        partition(Box((2, 2, 2)), 2, "metis")
