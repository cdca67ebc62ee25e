"""Write dipping_fault.msh: a block of rock with a fault that dips by 60 degrees, for tpv10.toml.

    python make_dipping_fault.py [PARTS]

The fault strikes along x, dips towards smaller y and reaches the surface; z points down. Elements
are 1.5 km long at the fault, or 1.5 km / PARTS, and longer farther away. Around the fault, they are
sheared parallel to it, equally on both sides. Farther away and below, their sides become upright.

Physical surfaces are "fault", "top" and "rest", and the physical volume is "rock". Gmsh opens it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import meshio
import numpy as np
from fault_meshes import Array, Numbers, ends, with_groups, write

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes

DIP = np.radians(60.0)
LENGTH, WIDTH = 30e3, 15e3  # of the fault along strike and down dip, m
NEAR = 6e3  # distance from the fault's trace up to which elements are sheared by its dip, m
FARTHER = [2e3, 3e3, 4e3]  # lengths of the elements beyond, outwards, m
ACROSS = [*FARTHER, 5e3, 6e3]


def mirrored(places: Array) -> Array:
    """Places on both sides of 0."""
    return np.concatenate([-places[:0:-1], places])


def sheared(y: Array, z: Array) -> Array:
    """The y of nodes at the depth z, m, that lie at y at the surface."""
    shift = np.minimum(z / np.tan(DIP), WIDTH * np.cos(DIP))
    weight = np.clip((np.abs(y).max() - np.abs(y)) / (np.abs(y).max() - NEAR), 0, 1)
    return y - shift * weight


def surfaces(points: Array, numbers: Numbers) -> dict[str, Numbers]:
    """Nodes of the faces of each surface, (faces, 4); `points` before they are sheared."""
    faces = [numbers[:, face_nodes(1, face)] for face in range(6)]
    outside = []
    for face, nodes in enumerate(faces):
        along = points[:, face // 2]
        end = along.max() if face % 2 else along.min()
        outside.append(nodes[(along[nodes] == end).all(axis=1)])
    x, y, z = np.moveaxis(points[faces[3]], -1, 0)  # towards larger y
    inside = (np.abs(x) <= LENGTH / 2) & (y == 0) & (z <= WIDTH * np.sin(DIP))
    fault = faces[3][inside.all(axis=1)]
    *sides, top, bottom = outside
    return {"top": top, "rest": np.concatenate([*sides, bottom]), "fault": fault}


def build(parts: int = 1) -> meshio.Mesh:
    """The mesh with its physical groups."""
    x = mirrored(ends(LENGTH / 2, 10, FARTHER, parts))
    y = mirrored(ends(NEAR, 4, ACROSS, parts))
    z = ends(WIDTH * np.sin(DIP), 10, FARTHER, parts)
    counts = len(x) - 1, len(y) - 1, len(z) - 1
    numbers = Box(counts).ids(1, np.arange(np.prod(counts)))
    points = np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1).reshape(-1, 3)
    on = surfaces(points, numbers)
    points[:, 1] = sheared(points[:, 1], points[:, 2])
    return with_groups(points, numbers, on)


if __name__ == "__main__":
    found = build(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    write(found, Path(__file__).with_name("dipping_fault.msh"))
