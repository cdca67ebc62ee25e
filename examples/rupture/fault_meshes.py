"""Graded element lengths and Gmsh files, for the scripts that write meshes with faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.node_orders import tensor_order

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

QUAD = [0, 1, 3, 2]  # meshio's order of the corners of a face
ROCK = "rock"  # the physical volume


def ends(last: float, count: int, beyond: Sequence[float], parts: int) -> Array:
    """Ends of elements from 0 on, m: of `count` even ones up to `last`, then of longer ones."""
    near = np.linspace(0, last, count * parts + 1)
    return np.concatenate([near, last + np.cumsum(np.repeat(np.array(beyond) / parts, parts))])


def with_groups(points: Array, numbers: Numbers, surfaces: Mapping[str, Numbers]) -> meshio.Mesh:
    """The mesh of elements with physical surfaces and the volume "rock".

    Args:
        points: (nodes, 3), m.
        numbers: corners of elements, x fastest, (elements, 8).
        surfaces: corners of the faces of each surface, (faces, 4).
    """
    cells = [("hexahedron", numbers[:, np.argsort(tensor_order(8))])]
    cells += [("quad", nodes[:, QUAD]) for nodes in surfaces.values()]
    groups = [*range(1, len(cells) + 1)]
    tags = [np.full(len(nodes), n) for n, (_, nodes) in zip(groups, cells, strict=True)]
    kinds = [(ROCK, 3), *((name, 2) for name in surfaces)]
    names = {name: np.array([n, kind]) for n, (name, kind) in zip(groups, kinds, strict=True)}
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    return meshio.Mesh(points, cells, cell_data=data, field_data=names)


def write(mesh: meshio.Mesh, target: Path) -> None:
    """Write the file, and print the size of the mesh."""
    meshio.gmsh.write(target, mesh, "2.2", binary=True)
    size = target.stat().st_size / 1e3
    print(f"{target.name}: {len(mesh.cells[0])} elements, {len(mesh.points)} nodes, {size:.0f} kB")
