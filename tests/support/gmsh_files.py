"""Meshes as Gmsh's files, with the numberings of the manuals of VTK and of Gmsh."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import meshio
import numpy as np
from dense_spectral_elements import shuffled
from numpy.typing import NDArray

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra, face_nodes
from groundswell.meshes.mesh import Mesh

# Steps (r, s, t) of each node, 0 to 2: corners, then edges, faces and the centre.
VTK = """000 200 220 020 002 202 222 022 100 210 120 010 102 212 122 012 001 201 221 021
         011 211 101 121 110 112 111""".split()
GMSH = """000 200 220 020 002 202 222 022 100 010 001 210 201 120 221 021 102 012 212 122
          110 101 011 211 121 112 111""".split()


def places(steps: list[str], n: int) -> list[int]:
    """Of nodes, counted by `steps`, places in our order of n^3."""
    return [sum(int(d) * (n - 1) // 2 * n**a for a, d in enumerate(step)) for step in steps]


VTK_8, VTK_27 = places(VTK[:8], 2), places(VTK, 3)
QUADS = {4: [0, 1, 3, 2], 9: [0, 2, 8, 6, 1, 5, 7, 3, 4]}


def numbered(mesh: Hexahedra) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points in any order, and each element's numbers of them, in our order."""
    everyone = np.arange(mesh.count)
    unique, numbers = np.unique(mesh.ids(mesh.order, everyone), return_inverse=True)
    points, rename = np.empty((len(unique), 3)), np.random.default_rng(3).permutation(len(unique))
    numbers = rename[numbers.reshape(mesh.count, -1)]
    points[numbers] = mesh.geometry_nodes(everyone)
    return points, numbers


def cells_of(
    numbers: NDArray[Any], tags: NDArray[Any], volumes: NDArray[Any] | int = 1
) -> list[tuple[str, Any, Any]]:
    """Kind, nodes and tags of cells: hexahedra by volume, and faces of each tag above 0."""
    order = {8: 1, 27: 2}[numbers.shape[1]]
    kind, places, quad = (("hexahedron", VTK_8, 4), ("hexahedron27", VTK_27, 9))[order - 1]
    of_volume = np.broadcast_to(volumes, len(numbers))
    cells = [
        (kind, numbers[of_volume == tag][:, places], np.full((of_volume == tag).sum(), tag))
        for tag in np.unique(of_volume)
    ]
    faces = np.stack([numbers[:, face_nodes(order, face)] for face in range(6)], axis=1)
    for tag in np.unique(tags[tags > 0]):
        of_tag = faces[tags == tag][:, QUADS[quad]]
        cells.append(({4: "quad", 9: "quad9"}[quad], of_tag, np.full(len(of_tag), tag)))
    return cells


def save(
    path: Path,
    points: Any,
    cells: Any,
    names: Any = None,
    version: str = "2.2",
    binary: bool = True,
) -> Path:
    """Cells (kind, nodes, tags) as a file; names are {name: (tag, dimension)}."""
    tags = [np.asarray(tag) for *_, tag in cells]
    mesh = meshio.Mesh(
        points,
        [(kind, np.asarray(nodes)) for kind, nodes, _ in cells],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": [abs(tag) for tag in tags]},
        field_data={name: np.array(of) for name, of in (names or {}).items()},
    )
    if version == "4.1":  # which tells tags of geometry, and that of points
        geometry = [(block.dim, tag[0]) for block, tag in zip(mesh.cells, tags, strict=True)]
        entities = np.array([*geometry, *geometry[:1] * len(points)][: len(points)])
        mesh.point_data["gmsh:dim_tags"] = entities
    meshio.gmsh.write(path, mesh, version, binary=binary)
    return path


def save_mesh(path: Path, mesh: Mesh, tags: NDArray[Any], names: Any = None, **kwargs: Any) -> Path:
    points, numbers = numbered(mesh)
    return save(path, points, cells_of(numbers, tags), names, **kwargs)


ENDS = ("west", "east", "south", "north", "top", "bottom")


def save_box(
    path: Path,
    box: Box,
    bend: Callable[[NDArray[Any]], NDArray[Any]] = lambda points: points,
    volumes: tuple[str, ...] = ("all",),
    volume_of: Callable[[NDArray[Any]], NDArray[Any]] = lambda middles: np.ones(len(middles)),
) -> Path:
    """The elements of a box in any order and orientation; z points down, each end is a surface.

    Args:
        bend: maps positions of nodes.
        volumes: names of physical volumes, from tag 1 on.
        volume_of: tags of the volumes of elements with these middles, (elements, 3).
    """
    mesh = shuffled(box, np.random.default_rng(2))
    faces = np.stack([mesh.nodes[:, face_nodes(box.order, f)] for f in range(6)], axis=1)
    tags = np.zeros(faces.shape[:2], int)
    for end in range(len(ENDS)):
        at = (box.low, box.high)[end % 2][end // 2]
        tags[(faces[..., end // 2] == at).all(axis=2)] = end + 1
    of_elements = volume_of(mesh.nodes.mean(axis=1)).astype(int)
    points, numbers = numbered(Mesh(mesh.corners, bend(mesh.nodes), box.order))
    names = {name: (n, 2) for n, name in enumerate(ENDS, 1)}
    names |= {name: (n, 3) for n, name in enumerate(volumes, 1)}
    return save(path, points, cells_of(numbers, tags, of_elements), names)
