"""Reads hexahedral meshes from Gmsh's .msh files.

meshio numbers an element's nodes as VTK's quadratic and triquadratic hexahedra do.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.meshes.hexahedra import AXES, tangents
from groundswell.meshes.mesh import CORNERS, Mesh, reverse_r
from groundswell.meshes.named_surfaces import (
    find_inner,
    format_point,
    refuse_inner,
    tag_boundary,
    tagged_faces,
)
from groundswell.meshes.readers.gmsh_file import find_ignored, group_names, read_bytes, read_meshio

_FLAT = 1e-10  # least Jacobian determinant, over its mean in the element


def _vtk_nodes() -> Integers:
    """(r, s, t) of VTK's 27 nodes: corners, edges, faces, centre; each -1, 0 or 1, (27, 3)."""
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    ends = [np.insert(ring, 2, t, axis=1) for t in (-1, 1)]
    around = [(end + np.roll(end, -1, axis=0)) // 2 for end in ends]
    faces = [side * np.eye(AXES, dtype=int)[axis] for axis in range(AXES) for side in (-1, 1)]
    upright = np.insert(ring, 2, 0, axis=1)
    return np.concatenate([*ends, *around, upright, faces, np.zeros((1, AXES), int)])


_VTK = _vtk_nodes()
_TENSOR_27 = np.argsort((_VTK + 1) @ (1, 3, 9))
_TENSOR_8 = np.argsort((_VTK[:CORNERS] + 1) @ (1, 3, 9))

# Indices of our nodes among meshio's, for each of its cell types. Cells of 20 nodes first get the
# other 7 at the end.
ORDERS = {"hexahedron": _TENSOR_8, "hexahedron20": _TENSOR_27, "hexahedron27": _TENSOR_27}


@dataclass(frozen=True, eq=False)
class GmshGroups:
    """A mesh with its physical groups.

    Args:
        mesh: the elements.
        sides: boundary tags of its sides by name.
        volumes: tag of the physical volume of each element, 0 if it has none, (elements,).
        volume_names: names of the physical volumes by tag; an unnamed one is called by its number.
        inner: faces of each physical surface inside the mesh by name, by their four vertices in
            rising order, (faces, 4).
        warnings: what the file holds that is ignored.
    """

    mesh: Mesh
    sides: dict[str, int]
    volumes: Integers
    volume_names: dict[int, str]
    inner: dict[str, Integers] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_gmsh(path: Path | str) -> tuple[Mesh, dict[str, int]]:
    """Read hexahedra, and the tags of their sides by name; see `read_gmsh_groups`.

    Warns of what is ignored in the file.
    """
    found = read_gmsh_groups(path)
    for text in found.warnings:
        warnings.warn(text, stacklevel=2)
    return found.mesh, found.sides


def read_gmsh_groups(path: Path | str, *, inner: bool = False) -> GmshGroups:
    """Read hexahedra of order 1 or 2 with their physical surfaces and volumes.

    Sides are physical surfaces; an unnamed surface is called by its number. Boundary faces in no
    physical surface form a side of their own with the lowest free number. Left-handed elements are
    mirrored. Lengths are in m. Periodic links are ignored.

    Args:
        path: of the file.
        inner: whether physical surfaces may lie inside the mesh.

    Raises:
        InputError: the file is missing or unreadable, or holds other cells than hexahedra of one
            order; elements are flat or folded; nodes are not merged; physical surfaces overlap, lie
            inside the mesh, are empty, or share a name.
    """
    path = Path(path)
    try:
        content = read_bytes(path)
        source = read_meshio(path, content)
        mesh, sides, within = _build_mesh(source, group_names(content, 2))
        if within and not inner:
            refuse_inner(within)
        volumes = _hexahedra(source)[2]
        given = group_names(content, AXES)
        tags = np.unique(volumes[volumes > 0]).tolist()
        called = {tag: given.get(tag, str(tag)) for tag in tags}
        ignored = tuple(find_ignored(path, content))
        return GmshGroups(mesh, sides, volumes, called, within, ignored)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


# --- elements -------------------------------------------------------------------------------------


def _build_mesh(
    source: Any, names: dict[int, str]
) -> tuple[Mesh, dict[str, int], dict[str, Integers]]:
    """The mesh, the tags of its sides by name, and the faces of surfaces inside it by name."""
    kind, numbers, _ = _hexahedra(source)
    order = 1 if kind == "hexahedron" else 2
    nodes = source.points[numbers]
    if kind == "hexahedron20":
        nodes = np.einsum("ab,ebx->eax", _serendipity(), nodes)
    nodes, corners = _orient(nodes[:, ORDERS[kind]], numbers[:, _TENSOR_8], order)
    vertices, corners = np.unique(corners, return_inverse=True)
    sides, tags = tagged_faces(source)
    index = np.searchsorted(vertices, sides).clip(max=len(vertices) - 1)
    sides = np.where(vertices[index] == sides, index, -1)
    mesh = Mesh(corners.reshape(-1, CORNERS), nodes, order, np.sort(sides, axis=1), tags)
    inner = find_inner(mesh, source.points[vertices])
    within = {names.get(tag, str(tag)): faces for tag, faces in inner.items()}
    mesh, tags_by_name = tag_boundary(mesh, [*inner], names)
    return mesh, {n: tag for n, tag in tags_by_name.items() if tag not in inner}, within


def _hexahedra(source: Any) -> tuple[str, Integers, Integers]:
    """The cell type, meshio's numbers of the cells' nodes, (elements, nodes), and volume tags."""
    tags = source.cell_data.get("gmsh:physical")
    found = [
        (block, np.zeros(len(block), np.int64) if tags is None else np.abs(tags[n]))
        for n, block in enumerate(source.cells)
        if block.dim == AXES and len(block)
    ]
    blocks = [block for block, _ in found]
    kinds = {block.type for block in blocks}
    if len(kinds) != 1 or not kinds <= ORDERS.keys():
        raise InputError(_unsupported_cells(source.cells, kinds))
    numbers = np.concatenate([block.data for block in blocks]).astype(np.int64)
    if numbers.min() < 0:
        raise InputError("elements refer to nodes that the file lacks; save it again")
    # Version 2.2 repeats elements that are in several physical volumes.
    _, first = np.unique(np.sort(numbers[:, :CORNERS], axis=1), axis=0, return_index=True)
    volumes = np.concatenate([tags for _, tags in found]).astype(np.int64)
    chosen = np.sort(first)
    return kinds.pop(), numbers[chosen], volumes[chosen]


def _unsupported_cells(cells: Iterable[Any], kinds: set[str]) -> str:
    """The error message for these cells."""
    counts: Counter[str] = Counter()
    for block in cells:
        counts[block.type] += len(block)
    listed = ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "none"
    if not kinds:
        cure = "mesh in 3 dimensions; if there are physical groups, put the volume in one, too"
    elif all(kind.startswith("hexahedron") for kind in kinds):
        cure = "set Mesh.ElementOrder to 1 or 2 for all"
    else:
        cure = (
            "in Gmsh, mesh transfinite volumes and recombine them, extrude recombined surfaces, "
            "or set Mesh.SubdivisionAlgorithm = 2"
        )
    return f"cells are {listed}; allowed: hexahedra only, all of order 1 or all of order 2; {cure}"


def _serendipity() -> Floats:
    """The matrix from positions of 20 nodes to those of VTK's 27, with face and cell centres.

    Zienkiewicz & Taylor, The finite element method, vol. 1, 5th ed. 2000, section 8.11.
    """
    at, of = _VTK[:, None, :], _VTK[:20]
    hats = np.where(of == 0, 1 - at**2, 1 + of * at).prod(axis=2)
    corner = (of != 0).all(axis=1)
    return np.where(corner, hats * ((of * at).sum(axis=2) - 2) / 8, hats / 4)


def _orient(nodes: Floats, corners: Integers, order: int) -> tuple[Floats, Integers]:
    """Reverse r where r, s and t are left-handed."""
    with np.errstate(invalid="ignore", over="ignore"):
        r, s, t = tangents(nodes, order)
        determinants = np.einsum("enx,enx->en", r, np.cross(s, t))
    mirrored = determinants.mean(axis=1) < 0
    determinants[mirrored] *= -1
    sound = determinants.min(axis=1) > _FLAT * determinants.mean(axis=1)
    if (bad := np.flatnonzero(~sound)).size:  # also catches NaN
        which = "1 element is" if len(bad) == 1 else f"{len(bad)} elements are"
        raise InputError(
            f"{which} flat or folded, the first is around "
            f"{format_point(nodes[bad[0]].mean(axis=0))}; mesh more finely, or optimise "
            "the mesh in Gmsh"
        )
    nodes[mirrored] = reverse_r(nodes[mirrored], order)
    corners[mirrored] = reverse_r(corners[mirrored], 1)
    return nodes, corners
