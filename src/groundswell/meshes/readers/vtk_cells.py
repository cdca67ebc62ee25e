"""Cells of VTK's files with whole numbers as data, which number surfaces and volumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from groundswell.arrays import Floats, HostArray, Integers
from groundswell.errors import InputError
from groundswell.meshes.content import CellBlock, MeshContent
from groundswell.meshes.node_orders import DEGREES, KINDS

# Kinds of cells by VTK's number (vtkCellType.h); cells of more nodes have those in their names.
_TYPES = {5: "triangle", 22: "triangle6", 69: "triangle", 8: "pixel", 9: "quad", 23: "quad8"}
_TYPES |= {28: "quad9", 70: "quad", 10: "tetra", 24: "tetra10", 71: "tetra", 11: "hexahedron"}
_TYPES |= {12: "hexahedron", 25: "hexahedron20", 29: "hexahedron27", 72: "hexahedron"}
_TYPES |= {13: "wedge", 26: "wedge15", 32: "wedge18", 73: "wedge", 14: "pyramid", 27: "pyramid13"}
_TYPES |= {74: "pyramid", 33: "hexahedron24", 42: "polyhedron", 7: "polygon"}
_SIZES = {5: 3, 8: 4, 9: 4, 11: 8, 12: 8, 22: 6, 23: 8, 25: 20, 28: 9, 29: 27}
VOXEL, PIXEL, LAGRANGE = 11, 8, (69, 70, 71, 72, 73, 74)

# Names of arrays that number surfaces and volumes in files of Gmsh, meshio, Salome and others.
_NAMES = ("gmsh:physical", "CellEntityIds", "medit:ref", "cell_tags", "MaterialIds", "PhysicalIds")

Data = Mapping[str, HostArray]  # values of cells by name


def content_of(
    points: Floats, connectivity: Integers, offsets: Integers, types: Integers, data: Data
) -> MeshContent:
    """The content of a file.

    Args:
        points: their positions, (points, 3).
        connectivity: points of all cells.
        offsets: where those of each cell end, (cells,).
        types: of the cells, (cells,).

    Raises:
        InputError: the arrays do not fit.
    """
    sizes = np.diff(offsets, prepend=0)
    fits = len(offsets) == len(types) and all(len(values) == len(types) for values in data.values())
    if not fits or (sizes < 0).any() or (len(offsets) and offsets[-1] > len(connectivity)):
        raise InputError("has arrays of cells that do not fit; it is damaged: save it again")
    tags, warnings = _tags(data, len(types))
    blocks = list(_blocks(points, connectivity, (offsets, sizes, types), tags))
    return MeshContent(points, blocks, warnings=warnings)


def _blocks(
    points: Floats, connectivity: Integers, cells: Sequence[Integers], tags: Integers
) -> Iterator[CellBlock]:
    offsets, sizes, types = cells
    for number, size in np.unique(np.column_stack([types, sizes]), axis=0).tolist():
        here = np.flatnonzero((types == number) & (sizes == size))
        kind = _kind(number, size)
        if kind is None:  # points and lines
            continue
        if size != _SIZES.get(number, size):
            raise InputError(f"has cells {kind} of {size} points; it is damaged: save it again")
        nodes = connectivity[offsets[here, None] - size + np.arange(size)]
        if number in (VOXEL, PIXEL):
            nodes = nodes[:, [0, 1, 3, 2, 4, 5, 7, 6][:size]]
        if number == LAGRANGE[3] and size in DEGREES:
            nodes = _with_upright_edges(nodes, points)
        yield CellBlock(kind, nodes, tags[here])


def _kind(number: int, size: int) -> str | None:
    found = _TYPES.get(number)
    if number in LAGRANGE and found == "hexahedron":
        return KINDS.get(size, f"hexahedron{size}")
    return "quad" if number == PIXEL else found


def _with_upright_edges(nodes: Integers, points: Floats) -> Integers:
    """Lagrange hexahedra in the order of VTK 9.1.

    Before, the edges at the third and fourth corner were exchanged. The order of a file is the one
    in which their nodes lie closer to the straight edges.
    """
    size = nodes.shape[1]
    degree = DEGREES[size]
    if nodes.min(initial=0) < 0 or nodes.max(initial=0) >= len(points):
        return nodes  # which is refused later
    first = 8 + 10 * (degree - 1)
    third = first + np.arange(degree - 1)
    exchanged = nodes.copy()
    exchanged[:, third], exchanged[:, third + degree - 1] = (
        nodes[:, third + degree - 1],
        nodes[:, third],
    )
    distances = [_distance(order, points, third) for order in (nodes, exchanged)]
    return exchanged if distances[1] < distances[0] else nodes


def _distance(nodes: Integers, points: Floats, edge: Integers) -> float:
    """Sum of the distances of nodes of the third upright edge from even steps along it."""
    shares = np.arange(1, len(edge) + 1)[:, None] / (len(edge) + 1)
    low, high = points[nodes[:, 2]][:, None], points[nodes[:, 6]][:, None]
    return float(np.linalg.norm(points[nodes[:, edge]] - low - shares * (high - low), axis=2).sum())


def _tags(data: Data, cells: int) -> tuple[Integers, tuple[str, ...]]:
    """The number of each cell's surface or volume, and warnings."""
    whole = {name: of for name, of in data.items() if of.dtype.kind in "iu" and of.ndim == 1}
    known = [name for name in _NAMES if name in whole]
    chosen = known[0] if known else next(iter(whole)) if len(whole) == 1 else None
    if chosen is not None:
        return np.abs(whole[chosen].astype(np.int64)), ()
    if not whole:
        return np.zeros(cells, np.int64), ()
    listed = ", ".join(map(str, whole))
    text = f"has several arrays of whole numbers on cells ({listed}), so none numbers surfaces"
    return np.zeros(cells, np.int64), (f"{text}; keep one, or call it {_NAMES[-1]}",)
