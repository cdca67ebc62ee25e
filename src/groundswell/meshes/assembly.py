"""Meshes from the content of mesh files: elements, their orientation, named sides and volumes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, counted, did_you_mean
from groundswell.meshes.content import CellBlock, MeshContent
from groundswell.meshes.fitting import share_nodes
from groundswell.meshes.hexahedra import AXES, map_jacobians
from groundswell.meshes.mesh import CORNERS, Mesh, pack, reverse_r
from groundswell.meshes.named_surfaces import (
    find_inner,
    format_point,
    refuse_inner,
    tag_boundary,
    tagged_faces,
)
from groundswell.meshes.node_orders import DEGREES, KINDS, TENSOR_8, to_geometry_nodes
from groundswell.meshes.periodic import join_links

_FLAT = 1e-10  # least Jacobian determinant, over its mean in the element
_LARGEST = 1e100  # of coordinates, m; the volumes of larger elements overflow


@dataclass(frozen=True, eq=False, repr=False)
class MeshGroups:
    """A mesh with its named surfaces and volumes.

    Args:
        mesh: the elements.
        sides: boundary tags of its sides by name.
        volumes: tag of the volume of each element, 0 if it has none, (elements,).
        volume_names: names of the volumes by tag; an unnamed one is called by its number.
        inner: faces of each surface inside the mesh by name, by their four vertices in rising
            order, (faces, 4).
        periodic: names of the surfaces that periodic links join.
        warnings: what the file holds that is ignored.
    """

    mesh: Mesh
    sides: dict[str, int]
    volumes: Integers
    volume_names: dict[int, str]
    inner: dict[str, Integers] = field(default_factory=dict)
    periodic: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """A summary without the arrays."""
        volumes = ", ".join(self.volume_names.values()) or "none"
        return f"MeshGroups({self.mesh!r}; sides: {', '.join(self.sides)}; volumes: {volumes})"

    def by_volume(self, values: Mapping[str, float]) -> Floats:
        """A value for each element, (elements,), by the name of its volume.

        Raises:
            InputError: a volume has no value, or an element no volume, or a name is unknown.
        """
        names = [*self.volume_names.values()]
        if unknown := [name for name in values if name not in names]:
            hint = did_you_mean(unknown[0], names)
            raise InputError(f"{unknown[0]!r} is not a named volume of the mesh{hint}")
        if missing := [name for name in names if name not in values]:
            raise InputError(f"by_volume lacks the volume {missing[0]} of the mesh; add it")
        if outside := int((self.volumes == 0).sum()):
            raise InputError(f"{counted(outside, 'element')} in no named volume")
        of_volumes = np.array([values[name] for name in names], float)
        return np.asarray(of_volumes[np.searchsorted([*self.volume_names], self.volumes)])


def assemble(content: MeshContent, *, inner: bool = False, periodic: bool = False) -> MeshGroups:
    """The mesh of a file's content.

    Args:
        inner: whether surfaces may lie inside the mesh.
        periodic: whether periodic links join elements; otherwise they are ignored.

    Raises:
        InputError: see `read_mesh_groups`.
    """
    mesh, volumes, vertices = _elements(content)
    points, names = content.points[vertices], dict(content.surfaces)
    found = find_inner(mesh, points)
    within = {names.get(tag, str(tag)): faces for tag, faces in found.items()}
    if within and not inner:
        refuse_inner(within)
    mesh, tags = tag_boundary(mesh, [*found], names)
    sides = {name: tag for name, tag in tags.items() if tag not in found}
    links = [_numbers_among(vertices, link) for link in content.links if periodic]
    mesh, linked = join_links(mesh, points, links, sides) if links else (mesh, ())
    return MeshGroups(
        mesh,
        {name: tag for name, tag in sides.items() if name not in linked},
        volumes,
        _called(volumes, content.volumes),
        within,
        linked,
        tuple(_warnings(content, periodic)),
    )


def _called(tags: Integers, names: Mapping[int, str]) -> dict[int, str]:
    """Names of these tags above 0."""
    return {tag: names.get(tag, str(tag)) for tag in np.unique(tags[tags > 0]).tolist()}


def _warnings(content: MeshContent, periodic: bool) -> Iterable[str]:
    """What is ignored."""
    yield from content.warnings
    if not any(block.tags.any() for block in content.of_dimension(2)):
        yield "no surfaces are named, so the whole boundary is one side, which has a number"
    if content.links and not periodic:
        yield "periodic links between sides are ignored; each has its own boundary condition"


# --- elements -------------------------------------------------------------------------------------


def _elements(content: MeshContent) -> tuple[Mesh, Integers, Integers]:
    """The mesh with its tagged faces, tags of volumes, and the points that are its vertices."""
    numbers, volumes = _hexahedra(content)
    nodes = content.fitted
    if nodes is None:
        nodes = to_geometry_nodes(_positions(content.points)[numbers])
    order = round(nodes.shape[1] ** (1 / AXES)) - 1
    nodes, corners = _orient(nodes, numbers[:, TENSOR_8], order)
    is_vertex = np.zeros(len(content.points), bool)
    is_vertex[corners] = True
    vertices, corners = np.flatnonzero(is_vertex), (np.cumsum(is_vertex) - 1)[corners]
    faces, tags = tagged_faces(content)
    sides = np.sort(_numbers_among(vertices, faces), axis=1)
    mesh = Mesh(corners, nodes, order, sides, tags)
    return mesh if content.fitted is None else share_nodes(mesh), volumes, vertices


def _positions(points: Floats) -> Floats:
    """Positions in double precision; values beyond all use become NaN, which `_orient` finds."""
    found = np.asarray(points, float)
    return np.where(np.abs(found) < _LARGEST, found, np.nan)


def _numbers_among(vertices: Integers, points: Integers) -> Integers:
    """Numbers of points among these vertices, or -1."""
    index = np.searchsorted(vertices, points).clip(max=len(vertices) - 1)
    return np.where(vertices[index] == points, index, -1)


def _hexahedra(content: MeshContent) -> tuple[Integers, Integers]:
    """Indices of the points of the elements, (elements, nodes), and tags of their volumes."""
    blocks = content.of_dimension(AXES)
    kinds = {block.kind for block in blocks}
    if len(kinds) != 1 or not kinds <= {*KINDS.values()}:
        raise InputError(_unsupported_cells(content.blocks, kinds))
    if any(KINDS.get(block.nodes.shape[1]) != block.kind for block in blocks):
        raise InputError("elements lack nodes, or have too many; save it again")
    numbers = np.concatenate([block.nodes for block in blocks]).astype(np.int64)
    if numbers.min() < 0 or numbers.max() >= len(content.points):
        raise InputError("elements refer to nodes that the file lacks; save it again")
    volumes = np.concatenate([block.tags for block in blocks]).astype(np.int64)
    if content.fitted is not None:
        return numbers, volumes
    # Version 2.2 of Gmsh repeats elements that are in several named volumes.
    _, first = np.unique(pack(np.sort(numbers[:, :CORNERS], axis=1)), return_index=True)
    chosen = np.sort(first)
    return numbers[chosen], volumes[chosen]


def _unsupported_cells(blocks: list[CellBlock], kinds: set[str]) -> str:
    """The error message for these cells."""
    counts: Counter[str] = Counter()
    for block in blocks:
        counts[block.kind] += len(block.nodes)
    listed = ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "none"
    if not kinds:
        cure = "mesh in 3 dimensions; if there are physical groups, put the volume in one, too"
    elif all(kind.startswith("hexahedron") for kind in kinds):
        cure = f"use one of {', '.join(KINDS.values())} for all; in Gmsh, set Mesh.ElementOrder"
    else:
        cure = (
            "in Gmsh, mesh transfinite volumes and recombine them, extrude recombined surfaces, "
            "or set Mesh.SubdivisionAlgorithm = 2"
        )
    orders = f"1 to {max(DEGREES.values())}"
    return f"cells are {listed}; allowed: hexahedra only, all of one order from {orders}; {cure}"


def _orient(nodes: Floats, corners: Integers, order: int) -> tuple[Floats, Integers]:
    """Reverse r where r, s and t are left-handed."""
    determinants = map_jacobians(nodes, order)
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
