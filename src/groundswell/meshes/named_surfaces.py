"""Named surfaces of mesh files: sides of the mesh, and surfaces inside it."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, counted
from groundswell.meshes.content import MeshContent
from groundswell.meshes.hanging import find_hanging
from groundswell.meshes.mesh import Mesh

_COINCIDENT = 1e-8  # distance of coincident nodes, over the size of the mesh


def tagged_faces(content: MeshContent) -> tuple[Integers, Integers]:
    """Faces in surfaces by the points of their corners, (faces, 4), and tags."""
    rows = [np.empty((0, 5), np.int64)]
    for block in content.of_dimension(2):
        if block.tags.any() and not block.kind.startswith("quad"):
            raise InputError(f"surfaces hold {block.kind} cells; recombine them to quads")
        corners = np.sort(block.nodes[:, :4], axis=1)  # both sides of a face inside are one
        rows.append(np.column_stack([corners, block.tags])[block.tags != 0])
    unique = np.unique(np.concatenate(rows), axis=0).astype(np.int64)
    return unique[:, :4], unique[:, 4]


def find_inner(mesh: Mesh, points: Floats) -> dict[int, Integers]:
    """The faces of tagged surfaces inside the mesh by tag; `points` are the mesh's vertices."""
    outside = _boundary(mesh)
    _require_merged(points[np.unique(outside)])
    _require_conforming(mesh, points)
    is_inner = ~_is_among(mesh.sides, outside)
    _require_faces(mesh, mesh.sides[is_inner])
    if mixed := set(mesh.side_tags[is_inner]) & set(mesh.side_tags[~is_inner]):
        raise InputError(
            f"the surface of tag {min(mixed)} lies partly on the boundary of the mesh and "
            "partly inside; make two of it"
        )
    tags = np.unique(mesh.side_tags[is_inner]).tolist()
    return {tag: mesh.sides[mesh.side_tags == tag] for tag in tags}


def _boundary(mesh: Mesh) -> Integers:
    """Vertices of the boundary faces in rising order, (faces, 4)."""
    keys, number = mesh.faces
    return keys[np.bincount(number.ravel()) == 1]


def tag_boundary(
    mesh: Mesh, inner: list[int], names: dict[int, str]
) -> tuple[Mesh, dict[str, int]]:
    """The mesh with all sides tagged, without those inside, and tags by name, also of these."""
    outside, is_side = _boundary(mesh), ~np.isin(mesh.side_tags, inner)
    tags = sorted(set(mesh.side_tags.tolist()))
    mesh = mesh.with_sides(mesh.sides[is_side], mesh.side_tags[is_side])
    rest = outside[~_is_among(outside, mesh.sides)]
    if len(rest):
        taken = {*tags, *names, *names.values()}
        tags.append(next(n for n in count(1) if not {n, str(n)} & taken))
        if tags[-1] != 1:  # untagged faces have tag 1 already
            sides = np.concatenate([mesh.sides, rest])
            known = np.concatenate([mesh.side_tags, np.full(len(rest), tags[-1])])
            mesh = mesh.with_sides(sides, known)
    return mesh, _tags_by_name(tags, names)


def _tags_by_name(tags: list[int], names: dict[int, str]) -> dict[str, int]:
    if empty := [name for tag, name in names.items() if tag not in tags]:
        raise InputError(
            f"surfaces {empty} have no faces; remove them, or save a file of Gmsh with "
            "Mesh.SaveAll = 0, because version 2.2 loses groups otherwise"
        )
    called = [names.get(tag, str(tag)) for tag in tags]
    if repeated := [name for name, n in Counter(called).items() if n > 1]:
        raise InputError(f"several surfaces are called {repeated}; rename them")
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
            f"{format_point(points[pairs[0, 0]])}, so elements are not connected there; merge "
            "them with Coherence Mesh in Gmsh, or surfaces with Coherence before meshing"
        )


def _require_conforming(mesh: Mesh, points: Floats) -> None:
    """Refuse faces that vertices of other elements divide: they have no neighbours."""
    divided, vertices = find_hanging(mesh, points)
    if len(divided):
        raise InputError(
            f"{counted(len(np.unique(divided)), 'face')} with vertices of other elements inside, "
            f"the first at {format_point(points[vertices[0]])}, so elements are not connected "
            "there; use a conforming mesh. In Gmsh, join volumes with BooleanFragments or "
            "Coherence before meshing, and give curves that they share one number of transfinite "
            "points"
        )


def refuse_inner(inner: dict[str, Integers]) -> None:
    raise InputError(
        f"{counted(sum(map(len, inner.values())), 'face')} of named surfaces not on the "
        "boundary of the mesh; name only surfaces that bound the meshed volume"
    )


def _require_faces(mesh: Mesh, inner: Integers) -> None:
    """Refuse tagged faces inside that are not faces of elements, and faces that are tagged twice.

    Args:
        inner: vertices of the tagged faces that are not on the boundary, (faces, 4).
    """
    if len(inner) and (strange := int(np.sum(mesh.find_faces(inner) < 0))):
        raise InputError(
            f"{counted(strange, 'face')} of named surfaces not among the faces of elements; "
            "name only surfaces of the meshed volume"
        )
    if repeated := len(mesh.sides) - len(np.unique(mesh.sides, axis=0)):
        raise InputError(f"{counted(repeated, 'face')} in two named surfaces; put each face in one")


def _is_among(rows: Integers, others: Integers) -> Any:
    """Whether each of (rows, n) is one of (others, n)."""
    _, number = np.unique(np.concatenate([others, rows]), axis=0, return_inverse=True)
    number = number.ravel()
    return np.isin(number[len(others) :], number[: len(others)])


def format_point(point: Floats) -> str:
    return "({:.6g}, {:.6g}, {:.6g}) m".format(*point)
