"""Boxes as files, for problems on meshes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from groundswell.arrays import Integers
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import AXES, face_nodes

SIDES = ("west", "east", "south", "north", "top", "bottom")
HEXAHEDRON, QUAD = [0, 1, 3, 2, 4, 5, 7, 6], [0, 1, 3, 2]  # corners in the order of MED
ROUNDING = 1e-6  # of the edge of a box

Ends = tuple[tuple[float, float], ...]  # the ends of a block along x, y and z, m


def write_mesh(path: Path, box: Box, surfaces: Mapping[str, Ends] | None = None) -> None:
    """Write a box with elements of order 1 as a MED file; its sides are the surfaces SIDES.

    Args:
        path: ends in .med, a format that meshio reads and writes without loops over elements.
        surfaces: more of them, inside, by name: rectangles of the box before it is deformed, whose
            ends along one axis are the same.
    """
    import meshio

    corners, points = box.ids(1, np.arange(box.count)), np.empty((box.count_nodes(1), 3))
    points[corners] = box.geometry_nodes(np.arange(box.count))
    faces = dict(_sides(box, corners)) | {
        name: _inside(box, corners, ends) for name, ends in (surfaces or {}).items()
    }
    families = -np.arange(1, len(faces) + 1)
    quads = np.concatenate([*faces.values()])[:, QUAD]
    of_quads = np.repeat(families, [len(of_surface) for of_surface in faces.values()])
    mesh = meshio.Mesh(
        points,
        [("hexahedron", corners[:, HEXAHEDRON]), ("quad", quads)],
        cell_data={"cell_tags": [np.zeros(box.count, np.int64), of_quads]},
    )
    mesh.cell_tags = {n: [name] for n, name in zip(families.tolist(), faces, strict=True)}
    meshio.med.write(path, mesh)


def _sides(box: Box, corners: Integers) -> Iterator[tuple[str, Integers]]:
    """Yield the name of each side and the corners of its faces, (faces, 4)."""
    tags = box.tags(np.arange(box.count))
    for side, name in enumerate(SIDES):
        yield name, corners[tags[:, side] > 0][:, face_nodes(1, side)]


def _inside(box: Box, corners: Integers, ends: Ends) -> Integers:
    """The corners of the faces on a rectangle inside a box, (faces, 4)."""
    low, high = np.array(ends).T
    (axis,) = np.flatnonzero(low == high)
    nodes = face_nodes(1, 2 * int(axis) + 1)
    places = replace(box, deform=None).geometry_nodes(np.arange(box.count))[:, nodes]
    rounding = ROUNDING * (np.array(box.high) - box.low)
    found = ((places >= low - rounding) & (places <= high + rounding)).reshape(-1, 4 * AXES)
    return corners[found.all(axis=-1)][:, nodes]
