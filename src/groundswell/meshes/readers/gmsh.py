"""Reads Gmsh's .msh files.

meshio numbers the nodes of elements of orders 1 and 2 as VTK does, and those of higher orders as
Gmsh does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.meshes.content import CellBlock, MeshContent
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.node_orders import DEGREES, vtk_among_gmsh
from groundswell.meshes.readers.gmsh_file import (
    group_names,
    node_numbers,
    read_bytes,
    read_meshio,
)

_SAME_PLACE = 1e-6  # distance of linked points, over the size of their surface


def read_content(path: Path) -> MeshContent:
    """The content of a file of version 2.2 or 4.1; its groups are physical surfaces and volumes.

    Raises:
        InputError: the file is missing or unreadable.
    """
    content = read_bytes(path)
    source = read_meshio(path, content)
    blocks = list(_blocks(source))
    surfaces, volumes = (group_names(content, dimension) for dimension in (2, AXES))
    return MeshContent(source.points, blocks, surfaces, volumes, tuple(_links(source, content)))


def _blocks(source: Any) -> Iterator[CellBlock]:
    tags = source.cell_data.get("gmsh:physical")
    for n, block in enumerate(source.cells):
        cells = CellBlock.untagged(block.type, _ordered(block))
        if tags is None:
            yield cells
            continue
        of_cells = np.abs(tags[n]).astype(np.int64)  # negative where a surface is reversed
        if block.dim == 2 and block.type.startswith("quad"):
            _require_one_group(source.cell_sets, n)
        yield CellBlock(block.type, cells.nodes, of_cells)


def _ordered(block: Any) -> Integers:
    """The points of cells in VTK's order."""
    nodes = np.asarray(block.data)
    degree = DEGREES.get(nodes.shape[1], 0) if block.dim == AXES else 0
    is_high = degree > 2 and block.type.startswith("hexahedron")
    return nodes[:, vtk_among_gmsh(degree)] if is_high else nodes


def _require_one_group(groups: dict[str, Any], block: int) -> None:
    """Refuse faces in several groups; version 4.1 lists all of them, meshio takes the first."""
    members_of = [
        name
        for name, members in groups.items()
        if name != "gmsh:bounding_entities" and len(members[block])
    ]
    if len(members_of) > 1:
        raise InputError(f"physical surfaces {members_of} share faces; put each face in only one")


def _links(source: Any, content: bytes) -> Iterator[Integers]:
    """Points of each periodic link of surfaces, with those that they are linked to, (pairs, 2)."""
    links = [link for link in source.gmsh_periodic or () if link[0] == 2]
    numbers = node_numbers(content) if links else np.empty(0, np.int64)
    for _, surfaces, affine, pairs in links:
        found = _points(np.asarray(pairs, np.int64) + 1, numbers)  # meshio subtracts 1
        is_whole = np.isin(_points_on(source, surfaces[0]), found[:, 0]).all()
        if not is_whole and affine is not None and len(affine) == 16:
            # Gmsh does not list the nodes of surfaces that it has extruded.
            yield _matched(source, surfaces, np.reshape(affine, (4, 4)))
        else:
            yield found


def _points(wanted: Integers, numbers: Integers) -> Integers:
    """Indices of the points with these numbers."""
    if not wanted.size:
        return np.empty((0, 2), np.int64)
    order = np.argsort(numbers)
    found = order[np.searchsorted(numbers[order], wanted).clip(max=len(order) - 1)]
    if not np.array_equal(numbers[found], wanted):
        raise InputError("periodic links refer to nodes that the file lacks; save it again")
    return found


def _matched(source: Any, surfaces: tuple[int, int], affine: Floats) -> Integers:
    """Points of a surface with those of another that an affine map takes to them, (pairs, 2)."""
    from scipy.spatial import cKDTree

    own, other = (_points_on(source, surface) for surface in surfaces)
    mapped = source.points[other] @ affine[:3, :3].T + affine[:3, 3]
    places = source.points[own]
    if not (len(own) == len(other) > 0 and np.isfinite([mapped, places]).all()):
        raise InputError(
            f"surfaces {surfaces[0]} and {surfaces[1]} of a periodic link lack cells; "
            "put both in physical surfaces, and mesh them with Periodic Surface"
        )
    distance, nearest = cKDTree(mapped).query(places)
    if not distance.max() < _SAME_PLACE * np.ptp(places, axis=0).max():
        raise InputError("points of a periodic link have none on the other side; mesh them alike")
    return np.column_stack([own, other[nearest]])


def _points_on(source: Any, surface: int) -> Integers:
    """Indices of the corners of the cells of a surface of the geometry."""
    tags = source.cell_data.get("gmsh:geometrical", [])
    parts = [
        block.data[tag == surface][:, :4].ravel()
        for block, tag in zip(source.cells, tags, strict=False)
        if block.type.startswith("quad")
    ]
    return np.unique(np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64))
