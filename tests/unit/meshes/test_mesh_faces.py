"""Faces of unstructured meshes: how they are numbered, found, tagged and kept by changed copies."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from groundswell.arrays import Integers
from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.mesh import FACES, Mesh, pack, reverse_r
from groundswell.meshes.mesh_faces import TURNS, find_mesh_faces, find_turns, turned

COUNTS = (3, 2, 2)


def scrambled(seed: int, spread: int = 1) -> Mesh:
    """A box whose vertices have random numbers up to `spread` times their count."""
    rng = np.random.default_rng(seed)
    box = Box(COUNTS, order=1)
    everyone = np.arange(box.count)
    numbers = rng.choice(spread * box.count_nodes(1), box.count_nodes(1), replace=False)
    corners = numbers[box.ids(1, everyone)]
    mesh = Mesh(corners, box.geometry_nodes(everyone))
    sides = np.sort(corners[:, FACES].reshape(-1, 4)[box.tags(everyone).ravel() > 0], axis=1)
    return replace(mesh, sides=sides, side_tags=rng.integers(1, 9, len(sides)))


def fresh(mesh: Mesh) -> Mesh:
    """The same mesh without what it has kept."""
    return Mesh(**{f.name: getattr(mesh, f.name) for f in fields(mesh)})


@pytest.mark.parametrize("spread", [1, 10**9])
def test_rows_are_numbered_in_lexicographic_order(spread: int) -> None:
    rng = np.random.default_rng(1)
    rows = spread * rng.integers(-3, 3, (200, 4))
    _, expected = np.unique(rows, axis=0, return_inverse=True)
    _, found = np.unique(pack(rows), return_inverse=True)
    assert (found == expected.ravel()).all()
    assert pack(rows[:0]).shape == (0,)


@pytest.mark.parametrize("spread", [1, 10**6])
def test_faces_are_found_by_their_vertices(spread: int) -> None:
    mesh, rng = scrambled(2, spread), np.random.default_rng(3)
    keys, number = mesh.faces
    own = mesh.corners[:, FACES].reshape(-1, 4)
    assert (mesh.find_faces(rng.permuted(own, axis=1)) == number.ravel()).all()
    strange = [[-1, *keys[0, 1:]], keys[0] + spread * 10**3, [*keys[-1, :3], keys[-1, 3] + 1]]
    assert (mesh.find_faces(np.array(strange)) == -1).all()
    with pytest.raises(InputError, match="2 sides not among the faces of elements"):
        replace(mesh, sides=np.array(strange[:2]), side_tags=np.array([1, 2])).tags([0])


def copies() -> list[Mesh]:
    mesh = scrambled(4)
    order = np.random.default_rng(5).permutation(mesh.count)
    fewer = mesh.with_sides(mesh.sides[::2], mesh.side_tags[::2])
    return [mesh.reordered(order), mesh.mirrored(2), fewer, fewer.reordered(order).mirrored(0)]


@pytest.mark.parametrize("copy", copies())
def test_changed_copies_are_those_that_are_built_anew(copy: Mesh) -> None:
    expected, everyone = fresh(copy), np.arange(copy.count)
    for found, wanted in zip(copy.faces, expected.faces, strict=True):
        assert (found == wanted).all()
    assert (copy.tags(everyone) == expected.tags(everyone)).all()
    assert (copy.ids(3, everyone) == expected.ids(3, everyone)).all()
    assert (copy.edges == expected.edges).all()


def test_copies_have_the_elements_that_their_names_say() -> None:
    mesh = scrambled(6)
    assert (mesh.reordered(np.arange(mesh.count)[::-1]).corners == mesh.corners[::-1]).all()
    assert (mesh.mirrored(1).corners == reverse_r(mesh.corners, 1)).all()
    assert mesh.with_sides(mesh.sides[:1], mesh.side_tags[:1]).tags([0]).max() >= 1


def brute_force(mesh: Mesh) -> dict[tuple[int, int], tuple[int, int]]:
    """The element and face beyond each element and face."""
    found: dict[frozenset[int], list[tuple[int, int]]] = {}
    for element, corners in enumerate(mesh.corners):
        for face, nodes in enumerate(FACES):
            found.setdefault(frozenset(corners[nodes].tolist()), []).append((element, face))
    pairs = [each for each in found.values() if len(each) == 2]
    return dict(pairs) | {b: a for a, b in pairs}


def corners_of(mesh: Mesh, element: int, face: int) -> Integers:
    return mesh.corners[element, FACES[face]]


@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_those_with_the_same_corners(seed: int) -> None:
    """Elements with r reversed have turned faces."""
    mesh, rng = scrambled(seed), np.random.default_rng(seed)
    flipped = rng.integers(0, 2, mesh.count) > 0
    corners, nodes = mesh.corners.copy(), mesh.nodes.copy()
    for values in (corners, nodes):  # half a turn around t: r and s reversed
        cubes = values[flipped].reshape(-1, 2, 2, 2, *values.shape[2:])
        values[flipped] = cubes[:, :, ::-1, ::-1].reshape(-1, *values.shape[1:])
    mesh = Mesh(corners, nodes)
    found, expected = find_mesh_faces(mesh), brute_force(mesh)
    inside = found.neighbours >= 0
    assert inside.sum() == len(expected) and len(set(found.turns[inside])) > 2
    for (element, face), (other, beyond) in expected.items():
        assert (found.neighbours[element, face], found.faces[element, face]) == (other, beyond)
        order = turned(found.turns[element, face], 2)
        there = corners_of(mesh, other, beyond)[order]
        assert (corners_of(mesh, element, face) == there).all()
    assert not found.faces[~inside].any() and not found.turns[~inside].any()


def test_turns_are_found_from_corners() -> None:
    rng = np.random.default_rng(7)
    for turn in range(TURNS):
        other = rng.permuted(np.tile([3, 8, 11, 20], (6, 1)), axis=1)
        assert (find_turns(other[:, turned(turn, 2)], other) == turn).all()
