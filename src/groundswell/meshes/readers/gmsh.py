"""Reads Gmsh's .msh files.

meshio numbers the nodes of elements of orders 1 and 2 as VTK does, and those of higher orders as
Gmsh does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Integers
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
    links = [pairs for dimension, _, _, pairs in source.gmsh_periodic or () if dimension == 2]
    if not links:
        return
    numbers = node_numbers(content)
    order = np.argsort(numbers)
    for pairs in links:
        wanted = np.asarray(pairs, np.int64) + 1  # meshio subtracts 1
        place = np.searchsorted(numbers[order], wanted).clip(max=len(order) - 1)
        found = order[place]
        if not np.array_equal(numbers[found], wanted):
            raise InputError("periodic links refer to nodes that the file lacks; save it again")
        yield found
