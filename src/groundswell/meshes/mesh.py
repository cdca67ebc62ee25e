"""Unstructured meshes of hexahedra."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import whole_number
from groundswell.arrays import HostArray, Integers
from groundswell.errors import InputError, counted
from groundswell.meshes.entities import DIMENSIONS, ENTITIES, SWAPPED, Entities, Turns, entity_nodes
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, face_nodes, map_jacobians

CORNERS = 8
ROUNDING = 1e-12  # of coordinates that a summary states as zero, relative to the largest one
# The two corners of each edge, edges along r first, then s, then t.
EDGES = np.array([(c, c + (1 << a)) for a in range(AXES) for c in range(8) if not c >> a & 1])
FACES = np.array([face_nodes(1, face) for face in range(2 * AXES)])
# Which of an element's entities are its corners, edges, faces, in these orders, and its interior.
_CORNER_PLACES = 2 * np.stack(np.unravel_index(np.arange(CORNERS), (2,) * AXES)).T @ (9, 3, 1)
_PLACES = [
    _CORNER_PLACES,
    _CORNER_PLACES[EDGES].sum(axis=1) // 2,
    _CORNER_PLACES[FACES].sum(axis=1) // 4,
    _CORNER_PLACES.sum(keepdims=True) // CORNERS,
]


@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """A conforming mesh: elements share whole faces, edges and corners.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> corners = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 2.0)])
    >>> gs.poisson.Mesh([range(8)], corners[None])
    Mesh(1 element of order 1; x 0 to 2 m, y 0 to 1 m, z 0 to 1 m)

    Edges and faces are identified by their corners, so no two may have the same ones. That excludes
    periodic meshes of one or two elements along an axis; use a periodic `Box` there.

    Args:
        corners: vertex numbers of each element's corners, (elements, 8).
        nodes: positions of each element's nodes of degree `order`, (elements, (order + 1)^3, 3), m.
        order: degree of the element maps.
        sides: tagged boundary faces, by their four vertices in rising order, (faces, 4).
        side_tags: tags of these faces, above 0, (faces,). Other boundary faces have tag 1.
        unlinked: vertices of the corners if no periodic links joined any, (elements, 8); None if
            none do.

    Raises:
        InputError: arrays of wrong kinds or shapes, inverted elements, or a face of three elements.
    """

    corners: Integers
    nodes: Floats
    order: int = 1
    sides: Integers = field(default_factory=lambda: np.empty((0, 4), np.int64))
    side_tags: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    unlinked: Integers | None = None

    def __repr__(self) -> str:
        """A summary without the arrays."""
        points = self.nodes.reshape(-1, AXES)
        points = np.where(abs(points) < ROUNDING * abs(points).max(), 0.0, points)
        ends = zip("xyz", points.min(axis=0), points.max(axis=0), strict=True)
        extent = ", ".join(f"{axis} {low:.6g} to {high:.6g} m" for axis, low, high in ends)
        return f"Mesh({counted(self.count, 'element')} of order {self.order}; {extent})"

    def __post_init__(self) -> None:
        order = whole_number("order", self.order)
        corners, nodes = (_as_array(name, getattr(self, name)) for name in ("corners", "nodes"))
        if corners.dtype.kind not in "iu":
            raise InputError(
                f"corners are {corners.dtype}; give whole numbers, the indices of vertices"
            )
        for name, values in {"order": order, "corners": corners, "nodes": nodes}.items():
            object.__setattr__(self, name, values)
        shape = (len(self.corners), (self.order + 1) ** AXES, AXES)
        if self.corners.shape[1:] != (CORNERS,) or self.nodes.shape != shape:
            raise InputError(
                f"corners of shape {self.corners.shape} and nodes of shape {self.nodes.shape}: "
                f"give (elements, {CORNERS}), and {shape} for elements of degree {self.order}"
            )
        counts = np.bincount(self.faces[1].ravel())
        if counts.max(initial=0) > 2:
            raise InputError(
                f"{counted(int(np.sum(counts > 2)), 'face')} between three or more elements"
            )
        if (inverted := np.flatnonzero(~(_volumes(self.nodes, self.order) > 0))).size:
            raise InputError(
                f"{counted(len(inverted), 'element')} inverted or not finite, the first is "
                f"{inverted[0]}: give their corners along x first, then y, then z, right-handed"
            )

    @property
    def count(self) -> int:
        """Number of elements."""
        return len(self.corners)

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """Positions of the nodes of degree `order`, (elements, (order + 1)^3, 3)."""
        return self.nodes[np.asarray(elements)]

    def ids(self, degree: int, elements: ArrayLike) -> Integers:
        """See `Hexahedra`: corners first, then the interior of edges, faces, and elements."""
        entities, nodes = self.entities(elements), (degree - 1) ** np.arange(AXES + 1)
        first, first_node = (_starts(self._counts * each)[DIMENSIONS] for each in (1, nodes))
        numbers = first_node + nodes[DIMENSIONS] * (entities.ids - first)
        return entity_nodes(degree).number(numbers, entities.turns)

    def entities(self, elements: ArrayLike) -> Entities:
        """See `Hexahedra`: edges and faces are turned according to the numbers of their corners."""
        chosen = np.asarray(elements, np.int64)
        corners = self.corners[chosen]
        ids = np.empty((len(chosen), ENTITIES), np.int64)
        numbers = corners, self._edges[1][chosen], self.faces[1][chosen], chosen[:, None]
        for places, first, of_kind in zip(_PLACES, _starts(self._counts), numbers, strict=True):
            ids[:, places] = first + of_kind
        turns = np.zeros(ids.shape, np.int8)
        turns[:, _PLACES[1]] = corners[:, EDGES[:, 0]] > corners[:, EDGES[:, 1]]
        turns[:, _PLACES[2]] = _face_turns(corners[:, FACES])
        return Entities(ids, turns)

    @cached_property
    def _counts(self) -> Integers:
        """Numbers of vertices, edges, faces and elements."""
        vertices = int(self.corners.max(initial=-1)) + 1
        return np.array([vertices, len(self._edges[0]), len(self.faces[0]), self.count])

    def count_nodes(self, degree: int) -> int:
        """Number of distinct nodes of a degree in the whole mesh."""
        inner, corners = degree - 1, len(np.unique(self.corners))
        edges, faces = len(self._edges[0]), len(self.faces[0])
        return corners + inner * edges + inner**2 * faces + inner**3 * self.count

    def tags(self, elements: ArrayLike) -> Integers:
        """Boundary tag of each face, or INSIDE for interior ones, (elements, 6)."""
        return self._face_tags[self.faces[1][np.asarray(elements)]]

    @cached_property
    def _face_tags(self) -> Integers:
        """Boundary tag of each face, or INSIDE, (faces,)."""
        keys, number = self.faces
        tags = (np.bincount(number.ravel(), minlength=len(keys)) == 1).astype(np.int64)
        where = self.find_faces(self.sides)
        if strange := int(np.sum(where < 0)):
            raise InputError(f"{counted(strange, 'side')} not among the faces of elements")
        tags[where] = self.side_tags
        return tags

    def find_faces(self, vertices: Integers) -> Integers:
        """Numbers of the faces with these vertices, (n, 4), or -1 where there is none, (n,)."""
        keys = self.faces[0]
        both = pack(np.concatenate([keys, np.sort(vertices, axis=1)]))
        known, wanted = both[: len(keys)], both[len(keys) :]  # the known ones are in rising order
        at = np.searchsorted(known, wanted).clip(max=len(known) - 1)
        return np.where(known[at] == wanted, at, -1)

    def with_sides(self, sides: Integers, side_tags: Integers) -> Mesh:
        """The mesh with other tagged faces; see `Mesh`."""
        return self._changed(self.faces[1], sides=sides, side_tags=side_tags)

    def reordered(self, order: Integers) -> Mesh:
        """The mesh with its elements in another order, (elements,)."""
        unlinked = None if self.unlinked is None else self.unlinked[order]
        corners, nodes = self.corners[order], self.nodes[order]
        return self._changed(self.faces[1][order], corners=corners, nodes=nodes, unlinked=unlinked)

    def _changed(self, face_numbers: Integers, **values: Any) -> Mesh:
        """The same elements with other values of some attributes, which are not checked again.

        Args:
            face_numbers: of the elements, see `faces`; finding them takes long.
        """
        found, kept = object.__new__(Mesh), {f.name: getattr(self, f.name) for f in fields(self)}
        vars(found).update({**kept, **values, "faces": (self.faces[0], face_numbers)})
        return found

    def without_links(self) -> Mesh:
        """The mesh whose vertices no periodic links join; its sides have no tags."""
        if self.unlinked is None:
            return self
        return Mesh(self.unlinked, self.nodes, self.order)

    def mirrored(self, axis: int) -> Mesh:
        """The mesh with the signs of coordinates along an axis changed, and r reversed."""
        signs = np.where(np.arange(AXES) == axis, -1.0, 1.0)
        nodes, corners = reverse_r(self.nodes * signs, self.order), reverse_r(self.corners, 1)
        unlinked = None if self.unlinked is None else reverse_r(self.unlinked, 1)
        numbers = self.faces[1][:, [1, 0, 2, 3, 4, 5]]
        return self._changed(numbers, corners=corners, nodes=nodes, unlinked=unlinked)

    @property
    def edges(self) -> Integers:
        """Vertices of each edge in rising order, (edges, 2)."""
        return self._edges[0]

    @cached_property
    def _edges(self) -> tuple[Integers, Integers]:
        return _unique_entities(np.sort(self.corners[:, EDGES], axis=-1))

    @cached_property
    def faces(self) -> tuple[Integers, Integers]:
        """Vertices of each face in rising order, (faces, 4); face numbers of elements, (.., 6)."""
        return _unique_entities(np.sort(self.corners[:, FACES], axis=-1))

    @property
    def face_sides(self) -> tuple[Integers, Integers]:
        """The two sides of each face, (faces,) each, as 6 times the element plus its face.

        They are in rising order, and equal on the boundary.
        """
        numbers = self.faces[1].ravel()
        one, two = (np.empty(len(self.faces[0]), np.int64) for _ in range(2))
        one[numbers[::-1]] = np.arange(numbers.size)[::-1]  # of several values, the last is stored
        two[numbers] = np.arange(numbers.size)
        return one, two


def reverse_r(values: Any, order: int) -> Any:
    """Values at the nodes of elements, (elements, (order + 1)^3, ...), in reverse along r."""
    n = order + 1
    cubes = values.reshape(-1, n, n, n, *values.shape[2:])
    return cubes[:, :, :, ::-1].reshape(values.shape)


def _unique_entities(keys: Integers) -> tuple[Integers, Integers]:
    """The distinct keys, and for each of (elements, entities, corners) its number among them."""
    rows = keys.reshape(-1, keys.shape[-1])
    _, first, number = np.unique(pack(rows), return_index=True, return_inverse=True)
    return rows[first], number.reshape(keys.shape[:-1])


def pack(rows: Integers) -> Integers:
    """A number for each row, (rows,), in their lexicographic order, which is faster to sort."""
    columns = np.ascontiguousarray(rows.T)
    if len(rows):
        columns[1:] -= columns[:-1].copy()  # has the same order, and less numbers near one another
    return _pack(columns)


def _pack(columns: Integers) -> Integers:
    """The same for columns, (columns, rows)."""
    if len(columns) == 1 or not columns.size:
        return columns[0]
    middle = len(columns) // 2
    first, second = _pack(columns[:middle]), _pack(columns[middle:])
    if _spread(first) * _spread(second) >= 2**63:
        first, second = (np.unique(n, return_inverse=True)[1] for n in (first, second))
    return (first - first.min()) * _spread(second) + second - second.min()


def _spread(numbers: Integers) -> int:
    return int(numbers.max()) - int(numbers.min()) + 1


def _starts(counts: Integers) -> Integers:
    """Where each of these many numbers begin."""
    return np.cumsum(counts) - counts


def _face_turns(corners: Integers) -> Turns:
    """How elements are turned against their faces.

    A face's axes start at its lowest vertex; the first one runs to the lower of its two neighbours.

    Args:
        corners: vertices at (0, 0), (1, 0), (0, 1) and (1, 1) of the elements' axes, (.., 4).
    """
    lowest = corners.argmin(axis=-1)  # its bits say at which end of each axis it is
    first, second = (
        np.take_along_axis(corners, (lowest ^ step)[..., None], -1)[..., 0] for step in (1, 2)
    )
    return np.where(first < second, lowest, lowest + SWAPPED).astype(np.int8)


def _volumes(nodes: Floats, order: int) -> Floats:
    """Volumes of elements, negative for inverted ones."""
    return np.asarray(map_jacobians(nodes, order) @ gll(order).cube_weights)


def _as_array(name: str, given: Any) -> HostArray:
    """An array of numbers with axes."""
    array = np.asarray(given)
    if array.dtype.kind not in "iuf" or not array.ndim:
        raise InputError(f"{name} = {given!r:.60}; give an array of numbers")
    return array
