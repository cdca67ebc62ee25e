"""Reads hexahedral meshes from Gmsh's .msh files.

meshio numbers an element's nodes as VTK's quadratic and triquadratic hexahedra do.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, counted
from groundswell.meshes.gmsh_file import find_ignored, group_names, read_bytes, read_meshio
from groundswell.meshes.hanging import find_hanging
from groundswell.meshes.hexahedra import AXES, tangents
from groundswell.meshes.mesh import CORNERS, Mesh, reverse_r

_COINCIDENT = 1e-8  # distance of coincident nodes, over the size of the mesh
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
            _refuse_inner(within)
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
    sides, tags = _tagged_faces(source)
    index = np.searchsorted(vertices, sides).clip(max=len(vertices) - 1)
    sides = np.where(vertices[index] == sides, index, -1)
    mesh = Mesh(corners.reshape(-1, CORNERS), nodes, order, np.sort(sides, axis=1), tags)
    inner = _find_inner(mesh, source.points[vertices])
    within = {names.get(tag, str(tag)): faces for tag, faces in inner.items()}
    mesh, tags_by_name = _tag_boundary(mesh, [*inner], names)
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
            f"{_format_point(nodes[bad[0]].mean(axis=0))}; mesh more finely, or optimise "
            "the mesh in Gmsh"
        )
    nodes[mirrored] = reverse_r(nodes[mirrored], order)
    corners[mirrored] = reverse_r(corners[mirrored], 1)
    return nodes, corners


# --- sides ----------------------------------------------------------------------------------------


def _tagged_faces(source: Any) -> tuple[Integers, Integers]:
    """Faces in physical surfaces by meshio's numbers of their corners, (faces, 4), and tags."""
    rows = [np.empty((0, 5), np.int64)]
    for n, block in enumerate(source.cells):
        if block.dim != 2 or "gmsh:physical" not in source.cell_data:
            continue
        tags = np.abs(source.cell_data["gmsh:physical"][n])  # negative where a surface is reversed
        if tags.any() and not block.type.startswith("quad"):
            raise InputError(f"physical surfaces hold {block.type} cells; recombine them to quads")
        rows.append(np.column_stack([block.data[:, :4], tags])[tags != 0])
        _require_one_group(source.cell_sets, n)
    unique = np.unique(np.concatenate(rows), axis=0).astype(np.int64)
    return unique[:, :4], unique[:, 4]


def _require_one_group(groups: dict[str, Any], block: int) -> None:
    """Refuse faces in several groups; version 4.1 lists all of them, meshio takes the first."""
    members_of = [
        name
        for name, members in groups.items()
        if name != "gmsh:bounding_entities" and len(members[block])
    ]
    if len(members_of) > 1:
        raise InputError(f"physical surfaces {members_of} share faces; put each face in only one")


def _find_inner(mesh: Mesh, points: Floats) -> dict[int, Integers]:
    """The faces of tagged surfaces inside the mesh by tag; `points` are the mesh's vertices."""
    outside = _boundary(mesh)
    _require_merged(points[np.unique(outside)])
    _require_conforming(mesh, points)
    is_inner = ~_is_among(mesh.sides, outside)
    _require_faces(mesh, mesh.sides[is_inner])
    if mixed := set(mesh.side_tags[is_inner]) & set(mesh.side_tags[~is_inner]):
        raise InputError(
            f"the physical surface of tag {min(mixed)} lies partly on the boundary of the mesh and "
            "partly inside; make two of it"
        )
    tags = np.unique(mesh.side_tags[is_inner]).tolist()
    return {tag: mesh.sides[mesh.side_tags == tag] for tag in tags}


def _boundary(mesh: Mesh) -> Integers:
    """Vertices of the boundary faces in rising order, (faces, 4)."""
    keys, number = mesh.faces
    return keys[np.bincount(number.ravel()) == 1]


def _tag_boundary(
    mesh: Mesh, inner: list[int], names: dict[int, str]
) -> tuple[Mesh, dict[str, int]]:
    """The mesh with all sides tagged, without those inside, and tags by name, also of these."""
    outside, is_side = _boundary(mesh), ~np.isin(mesh.side_tags, inner)
    tags = sorted(set(mesh.side_tags.tolist()))
    mesh = replace(mesh, sides=mesh.sides[is_side], side_tags=mesh.side_tags[is_side])
    rest = outside[~_is_among(outside, mesh.sides)]
    if len(rest):
        taken = {*tags, *names, *names.values()}
        tags.append(next(n for n in count(1) if not {n, str(n)} & taken))
        if tags[-1] != 1:  # untagged faces have tag 1 already
            sides = np.concatenate([mesh.sides, rest])
            known = np.concatenate([mesh.side_tags, np.full(len(rest), tags[-1])])
            mesh = replace(mesh, sides=sides, side_tags=known)
    return mesh, _tags_by_name(tags, names)


def _tags_by_name(tags: list[int], names: dict[int, str]) -> dict[str, int]:
    if empty := [name for tag, name in names.items() if tag not in tags]:
        raise InputError(
            f"physical surfaces {empty} have no faces; remove them, or save the file with "
            "Mesh.SaveAll = 0, because version 2.2 loses groups otherwise"
        )
    called = [names.get(tag, str(tag)) for tag in tags]
    if repeated := [name for name, n in Counter(called).items() if n > 1]:
        raise InputError(f"several physical surfaces are called {repeated}; rename them")
    return dict(zip(called, tags, strict=True))


def _require_merged(points: Floats) -> None:
    """Refuse coincident boundary vertices (vertices, 3): the elements there are not connected."""
    from scipy.spatial import cKDTree  # takes long to import

    pairs = cKDTree(points).query_pairs(
        _COINCIDENT * np.ptp(points, axis=0).max(), output_type="ndarray"
    )
    if len(pairs):
        raise InputError(
            f"{len(pairs)} pairs of nodes coincide, the first at "
            f"{_format_point(points[pairs[0, 0]])}, so elements are not connected there; merge "
            "them with Coherence Mesh in Gmsh, or surfaces with Coherence before meshing"
        )


def _require_conforming(mesh: Mesh, points: Floats) -> None:
    """Refuse faces that vertices of other elements divide: they have no neighbours."""
    divided, vertices = find_hanging(mesh, points)
    if len(divided):
        raise InputError(
            f"{counted(len(np.unique(divided)), 'face')} with vertices of other elements inside, "
            f"the first at {_format_point(points[vertices[0]])}, so elements are not connected "
            "there; use a conforming mesh. In Gmsh, join volumes with BooleanFragments or "
            "Coherence before meshing, and give curves that they share one number of transfinite "
            "points"
        )


def _refuse_inner(inner: dict[str, Integers]) -> None:
    raise InputError(
        f"{counted(sum(map(len, inner.values())), 'face')} of physical surfaces not on the "
        "boundary of the mesh; put only surfaces that bound the meshed volume in physical groups"
    )


def _require_faces(mesh: Mesh, inner: Integers) -> None:
    """Refuse tagged faces inside that are not faces of elements, and faces that are tagged twice.

    Args:
        inner: vertices of the tagged faces that are not on the boundary, (faces, 4).
    """
    if len(inner) and (strange := int(np.sum(mesh.find_faces(inner) < 0))):
        raise InputError(
            f"{counted(strange, 'face')} of physical surfaces not among the faces of elements; "
            "put only surfaces of the meshed volume in physical groups"
        )
    if repeated := len(mesh.sides) - len(np.unique(mesh.sides, axis=0)):
        raise InputError(
            f"{counted(repeated, 'face')} in two physical surfaces; put each face in one"
        )


def _is_among(rows: Integers, others: Integers) -> Any:
    """Whether each of (rows, n) is one of (others, n)."""
    _, number = np.unique(np.concatenate([others, rows]), axis=0, return_inverse=True)
    number = number.ravel()
    return np.isin(number[len(others) :], number[: len(others)])


def _format_point(point: Floats) -> str:
    return "({:.6g}, {:.6g}, {:.6g}) m".format(*point)
