"""Write cylinder.msh: a solid cylinder of radius 1 m and height 2 m, of curved hexahedra.

    python make_cylinder.py

A core with a square section lies in four blocks that lead to the wall (an O-grid). Elements have 27
nodes, those at the wall lie on it. Physical surfaces are "wall", "bottom" and "top". Gmsh opens it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.node_orders import tensor_order

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

RADIUS, HEIGHT = 1.0, 2.0  # m
CORE, BULGE = 0.5, 0.4  # half the core's width (m), and how round it is: 0 a square, 1 a disc
ACROSS, OUT, UP = 4, 3, 5  # elements across the core, from it to the wall, and along z
SURFACES = {"wall": 1, "bottom": 2, "top": 3}
INSIDE = 4  # the physical volume
QUAD = [0, 2, 8, 6, 1, 5, 7, 3, 4]  # places of meshio's nodes of a face among ours


def core(points: Array) -> Array:
    """Points of the square [-1, 1]^2 at any height to the core."""
    u, v, z = np.moveaxis(points, -1, 0)
    x, y = (a * (1 - BULGE + BULGE * np.sqrt(1 - b**2 / 2)) for a, b in ((u, v), (v, u)))
    return np.stack([CORE * x, CORE * y, z], axis=-1)


def around(points: Array, quarter: int) -> Array:
    """Points (out, along) of [0, 1] x [-1, 1] at any height to the block at one of four sides."""
    out, along, z = np.moveaxis(points, -1, 0)
    edge = core(np.stack([np.ones_like(along), along, z], axis=-1))
    angle = np.pi / 4 * along
    x = (1 - out) * edge[..., 0] + out * RADIUS * np.cos(angle)
    y = (1 - out) * edge[..., 1] + out * RADIUS * np.sin(angle)
    cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarter]
    return np.stack([cos * x - sin * y, sin * x + cos * y, z], axis=-1)


def elements() -> Array:
    """Nodes of all elements (m), in the order of Groundswell, (elements, 27, 3)."""
    inner = Box((ACROSS, ACROSS, UP), (-1, -1, 0), (1, 1, HEIGHT), deform=core, order=2)
    outer = [
        Box((OUT, ACROSS, UP), (0, -1, 0), (1, 1, HEIGHT), deform=to_side, order=2)
        for to_side in (partial(around, quarter=n) for n in range(4))
    ]
    return np.concatenate([box.geometry_nodes(np.arange(box.count)) for box in (inner, *outer)])


def merged(nodes: Array) -> tuple[Array, Numbers]:
    """Every point once, and for each element the numbers of its nodes."""
    points = nodes.reshape(-1, 3) + 0.0  # no -0
    places = points.round(9) + 0.0
    _, first, number = np.unique(places, axis=0, return_index=True, return_inverse=True)
    return points[first], number.reshape(nodes.shape[:2])


def surfaces(points: Array, numbers: Numbers) -> dict[str, Numbers]:
    """Nodes of the faces of each surface, (faces, 9)."""
    x, y, z = points.T
    on = {"wall": np.isclose(np.hypot(x, y), RADIUS), "bottom": z == 0, "top": z == HEIGHT}
    faces = np.concatenate([numbers[:, face_nodes(2, face)] for face in range(6)])
    return {name: faces[where[faces].all(axis=1)][:, QUAD] for name, where in on.items()}


def build() -> meshio.Mesh:
    """The mesh with its physical groups."""
    points, numbers = merged(elements())
    cells = [("hexahedron27", numbers[:, np.argsort(tensor_order(27))])]
    cells += [("quad9", faces) for faces in surfaces(points, numbers).values()]
    groups = [INSIDE, *SURFACES.values()]
    tags = [np.full(len(nodes), group) for group, (_, nodes) in zip(groups, cells, strict=True)]
    names = {name: np.array([group, 2]) for name, group in SURFACES.items()}
    names["inside"] = np.array([INSIDE, 3])
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    return meshio.Mesh(points, cells, cell_data=data, field_data=names)


if __name__ == "__main__":
    target = Path(__file__).with_name("cylinder.msh")
    mesh = build()
    meshio.gmsh.write(target, mesh, "2.2", binary=False, float_fmt=".12g")
    size = target.stat().st_size / 1e3
    print(f"{target.name}: {len(mesh.cells[0])} elements, {len(mesh.points)} nodes, {size:.0f} kB")
