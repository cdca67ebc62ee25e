"""Write anchor.msh: a steel anchor through a layer of insulation, of curved hexahedra.

    python make_anchor.py

The layer is 16 cm thick, and 30 cm wide. The anchor is a round bar of 4 cm that ends flush with the
layer in the room and stands out by 12 cm on the other side. Elements have 27 nodes. Physical
volumes are "steel" and "insulation"; physical surfaces are "room", "air" and "around". Gmsh opens
it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import meshio
import numpy as np
from make_cylinder import QUAD, Array, Numbers, around, core, merged

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.node_orders import tensor_order

RADIUS, HALF, LAYER, LENGTH = 0.02, 0.15, 0.16, 0.28  # m: bar, half the width, both along z
ACROSS, OUT, GRADING = 2, 4, 2.0  # elements across the bar, and from it to the sides
IN_LAYER, BEYOND = 4, 3  # elements along z
VOLUMES = {"steel": 1, "insulation": 2}
SURFACES = {"room": 1, "air": 2, "around": 3}


def outwards(points: Array, quarter: int) -> Array:
    """Points (out, along, z) of [0, 1] x [-1, 1] to a quarter of the layer around the bar."""
    out, along, z = np.moveaxis(points, -1, 0)
    angle, share = np.pi / 4 * along, np.expm1(GRADING * out) / np.expm1(GRADING)
    x = (1 - share) * RADIUS * np.cos(angle) + share * HALF
    y = (1 - share) * RADIUS * np.sin(angle) + share * HALF * along
    cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarter]
    return np.stack([cos * x - sin * y, sin * x + cos * y, z], axis=-1)


def to_bar(points: Array, quarter: int | None = None) -> Array:
    """Points of a unit cylinder's blocks to those of the bar: its core, or one of four around."""
    unit = core(points) if quarter is None else around(points, quarter)
    return unit * np.array([RADIUS, RADIUS, 1.0])


def elements() -> dict[str, Array]:
    """Nodes of the elements of each volume (m), in the order of Groundswell, (elements, 27, 3)."""
    found: dict[str, list[Box]] = {"steel": [], "insulation": []}
    for low, high, up in ((0.0, LAYER, IN_LAYER), (LAYER, LENGTH, BEYOND)):
        ends = (-1, -1, low), (1, 1, high)
        found["steel"].append(Box((ACROSS, ACROSS, up), *ends, deform=to_bar, order=2))
        for n in range(4):
            ring = partial(to_bar, quarter=n)
            ends = (0, -1, low), (1, 1, high)
            found["steel"].append(Box((1, ACROSS, up), *ends, deform=ring, order=2))
    for n in range(4):
        sector = partial(outwards, quarter=n)
        ends = (0, -1, 0.0), (1, 1, LAYER)
        found["insulation"].append(Box((OUT, ACROSS, IN_LAYER), *ends, deform=sector, order=2))
    return {
        name: np.concatenate([box.geometry_nodes(np.arange(box.count)) for box in boxes])
        for name, boxes in found.items()
    }


def outer_faces(numbers: Numbers) -> Numbers:
    """Nodes of the faces that one element has, (faces, 9)."""
    faces = np.concatenate([numbers[:, face_nodes(2, face)] for face in range(6)])
    _, first, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
    )
    return faces[np.sort(first[count == 1])]


def build() -> meshio.Mesh:
    """The mesh with its physical groups."""
    parts = elements()
    points, numbers = merged(np.concatenate([*parts.values()]))
    faces = outer_faces(numbers)
    middle = points[faces[:, 4]]
    at_side = np.abs(middle[:, :2]).max(axis=1) > HALF - 1e-9
    kind = np.where(at_side, SURFACES["around"], SURFACES["air"])
    kind[np.isclose(middle[:, 2], 0)] = SURFACES["room"]
    sizes = [len(part) for part in parts.values()]
    volumes = np.split(numbers, np.cumsum(sizes)[:-1])
    cells = [("hexahedron27", each[:, np.argsort(tensor_order(27))]) for each in volumes]
    cells += [("quad9", faces[kind == tag][:, QUAD]) for tag in SURFACES.values()]
    groups = [*VOLUMES.values(), *SURFACES.values()]
    tags = [np.full(len(nodes), group) for group, (_, nodes) in zip(groups, cells, strict=True)]
    names = {name: np.array([tag, 2]) for name, tag in SURFACES.items()}
    names |= {name: np.array([tag, 3]) for name, tag in VOLUMES.items()}
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    return meshio.Mesh(points, cells, cell_data=data, field_data=names)


if __name__ == "__main__":
    target = Path(__file__).with_name("anchor.msh")
    mesh = build()
    meshio.gmsh.write(target, mesh, "2.2", binary=False, float_fmt=".12g")
    count = sum(len(block) for block in mesh.cells if block.dim == 3)
    size = target.stat().st_size / 1e3
    print(f"{target.name}: {count} elements, {len(mesh.points)} nodes, {size:.0f} kB")
