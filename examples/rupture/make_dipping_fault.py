"""Write dipping_fault.msh: a block of rock with a fault that dips by 60 degrees, for tpv10.toml.

    python make_dipping_fault.py [PARTS]

The fault strikes along x, dips towards smaller y and reaches the surface; z points down. Elements
are 1.5 km long at the fault, or 1.5 km / PARTS, and longer farther away. Around the fault they are
sheared by its dip, alike on both sides. Farther away, and below it, their sides become upright.

Physical surfaces are "fault", "top" and "rest", and the physical volume is "rock". Gmsh opens it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.box import Box
from groundswell.meshes.gmsh import ORDERS
from groundswell.meshes.hexahedra import face_nodes

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

DIP = np.radians(60.0)
LENGTH, WIDTH = 30e3, 15e3  # of the fault along strike and down dip, m
NEAR = 6e3  # distance from the fault's trace up to which elements are sheared by its dip, m
FARTHER = [2e3, 3e3, 4e3]  # lengths of the elements beyond, outwards, m
ACROSS = [*FARTHER, 5e3, 6e3]
SURFACES = {"top": 1, "rest": 2, "fault": 3}
ROCK = 4  # the physical volume
QUAD = [0, 1, 3, 2]  # meshio's order of the corners of a face


def ends(last: float, count: int, beyond: list[float], parts: int) -> Array:
    """Ends of elements from 0 on, m: of `count` even ones up to `last`, then of longer ones."""
    near = np.linspace(0, last, count * parts + 1)
    return np.concatenate([near, last + np.cumsum(np.repeat(np.array(beyond) / parts, parts))])


def mirrored(places: Array) -> Array:
    """Places on both sides of 0."""
    return np.concatenate([-places[:0:-1], places])


def sheared(y: Array, z: Array) -> Array:
    """Where elements at y of the surface lie at a depth."""
    shift = np.minimum(z / np.tan(DIP), WIDTH * np.cos(DIP))
    weight = np.clip((np.abs(y).max() - np.abs(y)) / (np.abs(y).max() - NEAR), 0, 1)
    return y - shift * weight


def surfaces(points: Array, numbers: Numbers) -> dict[str, Numbers]:
    """Nodes of the faces of each surface, (faces, 4); `points` before they are sheared."""
    faces = [numbers[:, face_nodes(1, face)][:, QUAD] for face in range(6)]
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
    cells = [("hexahedron", numbers[:, np.argsort(ORDERS["hexahedron"])])]
    cells += [("quad", on[name]) for name in SURFACES]
    groups = [ROCK, *SURFACES.values()]
    tags = [np.full(len(nodes), group) for group, (_, nodes) in zip(groups, cells, strict=True)]
    names = {name: np.array([group, 2]) for name, group in SURFACES.items()}
    names["rock"] = np.array([ROCK, 3])
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    return meshio.Mesh(points, cells, cell_data=data, field_data=names)


if __name__ == "__main__":
    target = Path(__file__).with_name("dipping_fault.msh")
    mesh = build(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    meshio.gmsh.write(target, mesh, "2.2", binary=True)
    size = target.stat().st_size / 1e3
    print(f"{target.name}: {len(mesh.cells[0])} elements, {len(mesh.points)} nodes, {size:.0f} kB")
