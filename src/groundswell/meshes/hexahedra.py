"""Hexahedral elements: positions and global ids of their nodes, boundary tags of their faces.

The reference axes of an element are r, s and t, each from -1 to 1. Nodes are numbered along r
first, then s, then t; corners are the nodes of degree 1. On face 2 a axis a is -1, on face 2 a + 1
it is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers
from groundswell.backends.host_threads import chunks, for_each
from groundswell.meshes.entities import AXES, Entities
from groundswell.meshes.gll import gll, interpolation_between

INSIDE = 0  # tag of an interior face
TEMPORARIES = 8  # arrays of vectors at nodes


class Shapes(Protocol):
    """Shapes of hexahedra, any of which can be queried."""

    @property
    def order(self) -> int:
        """Degree of the polynomials that map [-1, 1]^3 to elements; 1 for straight edges."""

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """Positions of the nodes of degree `order`, (elements, (order + 1)^3, 3)."""


@runtime_checkable
class Hexahedra(Shapes, Protocol):
    """A mesh of hexahedra, any of which can be queried."""

    @property
    def count(self) -> int:
        """Number of elements."""

    def ids(self, degree: int, elements: ArrayLike) -> Integers:
        """Global ids of nodes, (elements, (degree + 1)^3); elements share nodes with equal ids."""

    def entities(self, elements: ArrayLike) -> Entities:
        """Vertices, edges, faces and interiors, which elements share like the nodes on them."""

    def count_nodes(self, degree: int) -> int:
        """Number of distinct nodes of a degree in the whole mesh."""

    def tags(self, elements: ArrayLike) -> Integers:
        """Boundary tag of each face, or INSIDE for interior ones, (elements, 6)."""


@dataclass(frozen=True, eq=False)
class StoredShapes:
    """The shapes of some elements of a mesh, computed once and kept in memory.

    Args:
        order: see `Shapes`.
        nodes: positions of the geometry nodes, (elements, (order + 1)^3, 3).
    """

    order: int
    nodes: Floats

    @classmethod
    def of(cls, mesh: Shapes, elements: ArrayLike) -> StoredShapes:
        """Store the shapes of these elements, which then have the numbers 0, 1, ..."""
        return cls(mesh.order, mesh.geometry_nodes(elements))

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """Positions of the nodes of degree `order`, (elements, (order + 1)^3, 3)."""
        return np.asarray(self.nodes[np.asarray(elements)])


def positions(mesh: Shapes, degree: int, elements: ArrayLike) -> Floats:
    """Positions of the nodes of a degree, (elements, (degree + 1)^3, 3)."""
    return refine(mesh.geometry_nodes(elements), mesh.order, degree)


def refine(values: Floats, lower: int, degree: int) -> Floats:
    """Interpolate values (elements, (lower + 1)^3, components) to the nodes of another degree."""
    if lower == degree:
        return values
    return interpolate(values, interpolation_between(lower, degree))


def interpolate(values: Floats, matrix: Floats) -> Floats:
    """Multiply values (elements, n^3, components) by a matrix (m, n) along each axis."""
    return np.moveaxis(_multiply(_by_component(values), matrix, matrix, matrix), 1, -1)


def tangents(nodes: Floats, degree: int) -> tuple[Floats, Floats, Floats]:
    """Derivatives of positions along r, s and t, each (elements, (degree + 1)^3, 3)."""
    n, matrix = degree + 1, gll(degree).derivative
    cube = nodes.reshape(len(nodes), n, n, n, AXES)
    r, s, t = (
        np.einsum(f"ij,e{axes}x->e{axes.replace('j', 'i')}x", matrix, cube).reshape(nodes.shape)
        for axes in ("tsj", "tjr", "jsr")
    )
    return r, s, t


def map_jacobians(nodes: Floats, degree: int) -> Floats:
    """Determinants of the tangents at the nodes, negative where axes are left-handed.

    Args:
        nodes: positions of the nodes of a degree, (elements, (degree + 1)^3, 3), m.

    Returns:
        Determinants, (elements, (degree + 1)^3), m^3; NaN where positions are not finite.
    """
    found = np.empty(nodes.shape[:2])

    def store(part: slice) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            r, s, t = tangents(nodes[part], degree)
            found[part] = np.einsum("enx,enx->en", r, np.cross(s, t))

    for_each(store, chunks(len(nodes), TEMPORARIES * AXES * nodes.shape[1]))
    return found


def mapped_tangents(
    mesh: Shapes, degree: int, elements: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Derivatives of positions along r, s and t at nodes of a degree, each (elements, 3, nodes).

    Elements of a higher order are replaced by polynomials of this degree through their nodes.
    """
    order = min(mesh.order, degree)
    x = _by_component(refine(mesh.geometry_nodes(elements), mesh.order, order))
    up = interpolation_between(order, degree)
    along = up @ gll(order).derivative
    return _multiply(x, along, up, up), _multiply(x, up, along, up), _multiply(x, up, up, along)


def _by_component(values: Floats) -> Floats:
    """Values (elements, nodes, components) as (elements, components, nodes)."""
    return np.ascontiguousarray(np.moveaxis(values, -1, 1))


def _multiply(values: Floats, r: Floats, s: Floats, t: Floats) -> Floats:
    """Multiply values (elements, components, n^3) by matrices (m, n) along the three axes."""
    m, n = r.shape
    shape = values.shape[:2]
    along_r = (values.reshape(-1, n) @ r.T).reshape(*shape, n, n, m)
    along_s = (s @ along_r).reshape(*shape, n, m * m)
    return np.asarray((t @ along_s).reshape(*shape, m**AXES))


def face_nodes(degree: int, face: int) -> Integers:
    """Indices of a face's nodes within an element, ((degree + 1)^2,)."""
    n, (axis, side) = degree + 1, divmod(face, 2)
    cube = np.arange(n**AXES).reshape(n, n, n)
    return np.take(cube, degree * side, axis=AXES - 1 - axis).ravel()
