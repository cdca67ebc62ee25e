"""Hexahedra from .msh files, as Gmsh writes them.

The format is that of Gmsh's reference manual, section "MSH file format". meshio reads it, and
counts an element's nodes as VTK's quadratic and triquadratic hexahedra do.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from groundswell.errors import InputError
from groundswell.meshes.gll import Floats
from groundswell.meshes.hexahedra import AXES, Numbers, tangents
from groundswell.meshes.mesh import CORNERS, Mesh

_SAME = 1e-8  # of the mesh's size: nodes as close lie in one place
_FLAT = 1e-10  # of a determinant's mean over an element


def _vtk_nodes() -> Numbers:
    """Where (r, s, t) VTK's 27 nodes are: corners, edges, faces, centre; -1, 0 or 1, (27, 3)."""
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    ends = [np.insert(ring, 2, t, axis=1) for t in (-1, 1)]
    around = [(end + np.roll(end, -1, axis=0)) // 2 for end in ends]
    faces = [side * np.eye(AXES, dtype=int)[axis] for axis in range(AXES) for side in (-1, 1)]
    upright = np.insert(ring, 2, 0, axis=1)
    return np.concatenate([*ends, *around, upright, faces, np.zeros((1, AXES), int)])


_VTK = _vtk_nodes()
_TENSOR_27 = np.argsort((_VTK + 1) @ (1, 3, 9))
_TENSOR_8 = np.argsort((_VTK[:CORNERS] + 1) @ (1, 3, 9))

# Places of our nodes, in the order of `hexahedra`, among those that meshio counts. Elements of 20
# nodes first get the other 7 at the end.
ORDERS = {"hexahedron": _TENSOR_8, "hexahedron20": _TENSOR_27, "hexahedron27": _TENSOR_27}


def read_gmsh(path: Path | str) -> tuple[Mesh, dict[str, int]]:
    """Hexahedra of order 1 or 2 and the numbers of their sides, by name.

    Sides are physical surfaces; ones without a name are called by their number. All faces outside
    that are in no physical surface are a side of their own, which has the lowest number that is
    free, 1 if there are no physical surfaces. Left-handed elements are mirrored. Lengths are taken
    to be in m. Periodic links are not followed; where faces are in several surfaces without a name,
    meshio tells one of them for version 4.1.

    Raises:
        InputError: no file, none that meshio can read, or one with other cells than hexahedra of
            one order; flat or folded elements; nodes that were not merged; physical surfaces that
            overlap, are no outer faces, have none, or share a name.
    """
    path = Path(path)
    try:
        names = _names(_content(path))
        return _assembled(_found(path), names)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


# --- the file -------------------------------------------------------------------------------------


def _content(path: Path) -> bytes:
    """What is in the file, if it is whole."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"no file that can be read ({error.strerror}); expected .msh") from None
    if not content.lstrip().startswith((b"$MeshFormat", b"$Comments")):
        raise InputError("not a .msh file, which begins with $MeshFormat; export it from Gmsh")
    if b"$EndElements" not in content:
        raise InputError("the file is cut short or holds no elements; save or copy it again")
    return content


def _found(path: Path) -> Any:
    """meshio's mesh."""
    import meshio

    try:
        # It warns on stderr of tags that it skips.
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return meshio.gmsh.read(path)
    except (Exception, SystemExit) as error:  # a reader may stumble over anything
        raise InputError(
            f"meshio cannot read it ({type(error).__name__}: {error}); save it from Gmsh in one "
            "piece, as version 4.1 or 2.2, with Mesh.SaveAll = 0"
        ) from error


def _names(content: bytes) -> dict[int, str]:
    """Names of physical surfaces; meshio loses those that a volume or a curve has as well."""
    section = re.search(rb"\$PhysicalNames(.*?)\$EndPhysicalNames", content, re.DOTALL)
    lines = section[1].decode(errors="replace") if section else ""
    named = re.findall(r'^\s*2\s+(-?\d+)\s+"(.+)"\s*$', lines, re.MULTILINE)
    return {abs(int(tag)): name for tag, name in named}


# --- elements -------------------------------------------------------------------------------------


def _assembled(found: Any, names: dict[int, str]) -> tuple[Mesh, dict[str, int]]:
    kind, numbers = _hexahedra(found)
    order = 1 if kind == "hexahedron" else 2
    nodes = found.points[numbers]
    if kind == "hexahedron20":
        nodes = np.einsum("ab,ebx->eax", _serendipity(), nodes)
    nodes, corners = _right_handed(nodes[:, ORDERS[kind]], numbers[:, _TENSOR_8], order)
    vertices, corners = np.unique(corners, return_inverse=True)
    sides, tags = _surfaces(found)
    places = np.searchsorted(vertices, sides).clip(max=len(vertices) - 1)
    sides = np.where(vertices[places] == sides, places, -1)
    mesh = Mesh(corners.reshape(-1, CORNERS), nodes, order, np.sort(sides, axis=1), tags)
    return _bounded(mesh, found.points[vertices], names)


def _hexahedra(found: Any) -> tuple[str, Numbers]:
    """Their kind, and meshio's numbers of their nodes, (elements, nodes)."""
    blocks = [block for block in found.cells if block.dim == AXES and len(block)]
    kinds = {block.type for block in blocks}
    if len(kinds) != 1 or not kinds <= ORDERS.keys():
        raise InputError(_advice(found.cells, kinds))
    numbers = np.concatenate([block.data for block in blocks]).astype(np.int64)
    if numbers.min() < 0:
        raise InputError("elements have nodes that the file lacks; save it again")
    # Version 2.2 repeats elements that are in several physical volumes.
    _, once = np.unique(np.sort(numbers[:, :CORNERS], axis=1), axis=0, return_index=True)
    return kinds.pop(), numbers[np.sort(once)]


def _advice(cells: Iterable[Any], kinds: set[str]) -> str:
    """What is wrong with these cells, and the cure."""
    counts: Counter[str] = Counter()
    for block in cells:
        counts[block.type] += len(block)
    listed = ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "none"
    if not kinds:
        cure = "mesh in 3 dimensions, and if there are physical groups, put the volume in one too"
    elif all(kind.startswith("hexahedron") for kind in kinds):
        cure = "set Mesh.ElementOrder to 1 or 2 for all"
    else:
        cure = (
            "in Gmsh, mesh volumes as transfinite and recombine them, extrude recombined surfaces, "
            "or set Mesh.SubdivisionAlgorithm = 2"
        )
    return f"cells are {listed}; allowed: hexahedra alone, all of order 1 or all of 2: {cure}"


def _serendipity() -> Floats:
    """Positions of 20 nodes to those of VTK's 27, whose centres of faces and inside they lack.

    Zienkiewicz & Taylor, The finite element method, vol. 1, 5th ed. 2000, section 8.11.
    """
    at, of = _VTK[:, None, :], _VTK[:20]
    hats = np.where(of == 0, 1 - at**2, 1 + of * at).prod(axis=2)
    corner = (of != 0).all(axis=1)
    return np.where(corner, hats * ((of * at).sum(axis=2) - 2) / 8, hats / 4)


def _right_handed(nodes: Floats, corners: Numbers, order: int) -> tuple[Floats, Numbers]:
    """The same elements, r reversed where r, s and t are left-handed."""
    with np.errstate(invalid="ignore", over="ignore"):
        r, s, t = tangents(nodes, order)
        determinants = np.einsum("enx,enx->en", r, np.cross(s, t))
    mirrored = determinants.mean(axis=1) < 0
    determinants[mirrored] *= -1
    sound = determinants.min(axis=1) > _FLAT * determinants.mean(axis=1)
    if (bad := np.flatnonzero(~sound)).size:  # not a number is not sound either
        raise InputError(
            f"{len(bad)} elements are flat or folded, one of them around "
            f"{_shown(nodes[bad[0]].mean(axis=0))}: mesh more finely, or optimise the mesh in Gmsh"
        )
    nodes[mirrored] = _reversed(nodes[mirrored], order + 1)
    corners[mirrored] = _reversed(corners[mirrored], 2)
    return nodes, corners


def _reversed(values: Any, n: int) -> Any:
    """Values at n^3 nodes of elements whose r runs the other way."""
    cubes = values.reshape(-1, n, n, n, *values.shape[2:])
    return cubes[:, :, :, ::-1].reshape(values.shape)


# --- sides ----------------------------------------------------------------------------------------


def _surfaces(found: Any) -> tuple[Numbers, Numbers]:
    """meshio's numbers of the corners of faces in physical surfaces, (faces, 4), and their tags."""
    rows = [np.empty((0, 5), np.int64)]
    for n, block in enumerate(found.cells):
        if block.dim != 2 or "gmsh:physical" not in found.cell_data:
            continue
        tags = np.abs(found.cell_data["gmsh:physical"][n])  # below 0 where a surface is reversed
        if tags.any() and not block.type.startswith("quad"):
            raise InputError(f"physical surfaces hold {block.type} cells; recombine them to quads")
        rows.append(np.column_stack([block.data[:, :4], tags])[tags != 0])
        _require_one_group(found.cell_sets, n)
    known = np.unique(np.concatenate(rows), axis=0)
    return known[:, :4].astype(np.int64), known[:, 4].astype(np.int64)


def _require_one_group(groups: dict[str, Any], block: int) -> None:
    """Version 4.1 tells them all, and meshio takes the first."""
    theirs = [
        name
        for name, members in groups.items()
        if name != "gmsh:bounding_entities" and len(members[block])
    ]
    if len(theirs) > 1:
        raise InputError(f"physical surfaces {theirs} share faces; leave each face in one of them")


def _bounded(mesh: Mesh, points: Floats, names: dict[int, str]) -> tuple[Mesh, dict[str, int]]:
    """The mesh with all its sides, and their numbers by name; `points` are those of its corners."""
    keys, number = mesh.faces
    outside = keys[np.bincount(number.ravel()) == 1]
    _require_merged(points[np.unique(outside)])
    _require_sides(mesh, outside)
    rest = outside[~_among(outside, mesh.sides)]
    tags = sorted(set(mesh.side_tags.tolist()))
    if len(rest):
        taken = {*tags, *names, *names.values()}
        tags.append(next(n for n in count(1) if not {n, str(n)} & taken))
        if tags[-1] != 1:  # which they have otherwise
            sides = np.concatenate([mesh.sides, rest])
            known = np.concatenate([mesh.side_tags, np.full(len(rest), tags[-1])])
            mesh = replace(mesh, sides=sides, side_tags=known)
    return mesh, _by_name(tags, names)


def _by_name(tags: list[int], names: dict[int, str]) -> dict[str, int]:
    if empty := [name for tag, name in names.items() if tag not in tags]:
        raise InputError(
            f"physical surfaces {empty} have no faces of their own; leave them out, or save the "
            "file with Mesh.SaveAll = 0, since version 2.2 loses groups otherwise"
        )
    called = [names.get(tag, str(tag)) for tag in tags]
    if twice := [name for name, n in Counter(called).items() if n > 1]:
        raise InputError(f"several physical surfaces are called {twice}; rename them")
    return dict(zip(called, tags, strict=True))


def _require_merged(points: Floats) -> None:
    """Outer corners (corners, 3) have a place of their own: ones that were not merged are outer."""
    pairs = cKDTree(points).query_pairs(_SAME * np.ptp(points, axis=0).max(), output_type="ndarray")
    if len(pairs):
        raise InputError(
            f"{len(pairs)} pairs of nodes lie in one place, one of them at "
            f"{_shown(points[pairs[0, 0]])}, so elements are not joined there: merge them in Gmsh "
            "with Coherence Mesh, or surfaces with Coherence (BooleanFragments) before meshing"
        )


def _require_sides(mesh: Mesh, outside: Numbers) -> None:
    if strangers := int(np.sum(~_among(mesh.sides, outside))):
        raise InputError(
            f"{strangers} faces of physical surfaces lie between two elements, or at none; leave "
            "only surfaces in physical groups that bound the meshed volume"
        )
    if repeated := len(mesh.sides) - len(np.unique(mesh.sides, axis=0)):
        raise InputError(f"{repeated} faces are in two physical surfaces; leave each in one")


def _among(rows: Numbers, others: Numbers) -> Any:
    """Whether each of (rows, n) is one of (others, n)."""
    _, place = np.unique(np.concatenate([others, rows]), axis=0, return_inverse=True)
    place = place.ravel()
    return np.isin(place[len(others) :], place[: len(others)])


def _shown(point: Floats) -> str:
    return "({:.6g}, {:.6g}, {:.6g}) m".format(*point)
