"""Periodic links: two sides of a mesh become one, and the elements on them neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, counted
from groundswell.meshes.mesh import Mesh

_CONGRUENT = 1e-6  # difference of distances in linked faces, over the distances


def join_links(
    mesh: Mesh, points: Floats, links: Iterable[Integers], sides: Mapping[str, int]
) -> tuple[Mesh, tuple[str, ...]]:
    """The mesh whose linked vertices are one, and the names of sides that it no longer has.

    Args:
        points: positions of the vertices, (vertices, 3).
        links: pairs of vertices of each link, (pairs, 2); -1 for nodes that are not vertices.
        sides: tags of the sides by name.

    Raises:
        InputError: linked vertices are not those of congruent boundary faces, or fewer than three
            elements lie between linked sides.
    """
    maps = [_image(link, len(points)) for link in links if len(link)]
    for image in maps:
        _require_congruent_faces(mesh, points, image)
    joined = _classes(len(points), [_pairs(image) for image in maps])
    _require_distinct(mesh, maps, joined)
    found = replace(
        mesh,
        corners=joined[mesh.corners],
        sides=np.sort(joined[mesh.sides], axis=1),
        unlinked=mesh.corners,
    )
    found = _without_joined_sides(found)
    there = set(np.unique(found.tags(np.arange(found.count))).tolist())
    return found, tuple(name for name, tag in sides.items() if tag not in there)


def _image(link: Integers, vertices: int) -> Integers:
    """For each vertex the one that it is linked to, or -1, (vertices,)."""
    image = np.full(vertices, -1)
    chosen = link[(link >= 0).all(axis=1)]
    image[chosen[:, 0]] = chosen[:, 1]
    return image


def _pairs(image: Integers) -> Integers:
    """Linked vertices, (pairs, 2)."""
    linked = np.flatnonzero(image >= 0)
    return np.column_stack([linked, image[linked]])


def _linked_rows(rows: Integers, image: Integers) -> tuple[Integers, Integers]:
    """Numbers of the rows of vertices, (rows, n), that are linked, and of the rows they become.

    Rows are in rising order, as those of `Mesh.faces` are; -1 where the image is no row.
    """
    linked = np.flatnonzero((image[rows] >= 0).all(axis=1))
    images = np.sort(image[rows[linked]], axis=1)
    both = np.concatenate([rows, images])
    _, number = np.unique(both, axis=0, return_inverse=True)
    number = number.ravel()
    row_of = np.full(number.max(initial=-1) + 1, -1)
    row_of[number[: len(rows)]] = np.arange(len(rows))
    return linked, row_of[number[len(rows) :]]


def _require_congruent_faces(mesh: Mesh, points: Floats, image: Integers) -> None:
    """Refuse a link of other vertices than those of boundary faces of one shape."""
    keys, number = mesh.faces
    outside = keys[np.bincount(number.ravel(), minlength=len(keys)) == 1]
    own, others = _linked_rows(outside, image)
    if not len(own):
        raise InputError("a periodic link joins no faces of elements; link two sides of the mesh")
    if (lost := int((others < 0).sum())) or (lost := _unlike(outside[own], points, image)):
        raise InputError(
            f"{counted(lost, 'face')} of periodic links without a face of the same shape on the "
            "other side; mesh both sides alike, in Gmsh with Periodic Surface"
        )


def _unlike(faces: Integers, points: Floats, image: Integers) -> int:
    """How many faces differ in shape from those that they are linked to."""
    corners, linked = points[faces], points[image[faces]]
    differs = np.zeros(len(faces), bool)
    for a, b in combinations(range(faces.shape[1]), 2):
        one, two = (np.linalg.norm(p[:, a] - p[:, b], axis=1) for p in (corners, linked))
        differs |= np.abs(one - two) > _CONGRUENT * one
    return int(differs.sum())


def _classes(count: int, pairs: Iterable[Integers]) -> Integers:
    """The number of the class of each of `count` things, of which pairs are the same, (count,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = np.concatenate([np.empty((0, 2), np.int64), *pairs]).T
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1]).astype(np.int64)


def _require_distinct(mesh: Mesh, maps: list[Integers], joined: Integers) -> None:
    """Refuse edges and faces that get the same vertices though no link joins them."""
    for rows in (mesh.edges, mesh.faces[0]):
        links = [np.column_stack(_linked_rows(rows, image)) for image in maps]
        classes = _classes(len(rows), [link[link[:, 1] >= 0] for link in links])
        keys = np.unique(np.sort(joined[rows], axis=1), axis=0)
        if len(keys) != classes.max() + 1 or (np.diff(keys, axis=1) == 0).any():
            raise InputError(
                "fewer than three elements between sides that a periodic link joins; use three or "
                "more, or a periodic box"
            )


def _without_joined_sides(mesh: Mesh) -> Mesh:
    """The mesh without tags of faces that have become interior ones."""
    keys, number = mesh.faces
    counts = np.bincount(number.ravel(), minlength=len(keys))
    outside = counts[mesh.find_faces(mesh.sides)] == 1 if len(mesh.sides) else slice(0)
    return replace(mesh, sides=mesh.sides[outside], side_tags=mesh.side_tags[outside])
