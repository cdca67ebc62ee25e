"""Hexahedral elements: where their nodes lie, which of them are the same, which faces are outside.

Axes of an element are r, s, t, each from -1 to 1. Its nodes are numbered along r first, then s,
then t; so are its corners, which are its nodes of degree 1. Face 2 a is where axis a is -1, face
2 a + 1 where it is 1.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.meshes.gll import Floats, gll

Numbers = NDArray[np.int64]

AXES = 3
INSIDE = 0  # tag of a face that another element shares


@runtime_checkable
class Hexahedra(Protocol):
    """The elements of a domain, any of which can be asked for.

    Attributes:
        count: of all elements.
        order: degree of the polynomials that map [-1, 1]^3 to elements: 1 if they are trilinear.
    """

    @property
    def count(self) -> int:
        """Of all elements."""

    @property
    def order(self) -> int:
        """Degree of the maps."""

    def shapes(self, elements: ArrayLike) -> Floats:
        """Positions of the nodes of degree `order`, (elements, (order + 1)^3, 3)."""

    def ids(self, degree: int, elements: ArrayLike) -> Numbers:
        """Global ids of nodes, (elements, (degree + 1)^3): equal where elements share them."""

    def count_nodes(self, degree: int) -> int:
        """Different nodes of a degree in the whole mesh."""

    def tags(self, elements: ArrayLike) -> Numbers:
        """Of each face the number of the boundary that it is part of, or INSIDE, (elements, 6)."""


def positions(mesh: Hexahedra, degree: int, elements: ArrayLike) -> Floats:
    """Where nodes of a degree lie, (elements, (degree + 1)^3, 3)."""
    found = mesh.shapes(elements)
    return refine(found, mesh.order, degree)


def refine(values: Floats, lower: int, degree: int) -> Floats:
    """Values (elements, (lower + 1)^3, components) at nodes of another degree, by interpolation."""
    if lower == degree:
        return values
    return interpolated(values, gll(lower).interpolation(gll(degree).points))


def interpolated(values: Floats, matrix: Floats) -> Floats:
    """Values (elements, n^3, components) times a matrix (m, n) along each axis, (.., m^3, ..)."""
    m, n = matrix.shape
    cube = values.reshape(len(values), n, n, n, values.shape[-1])
    cube = np.einsum("at,bs,cr,etsri->eabci", matrix, matrix, matrix, cube, optimize=True)
    return cube.reshape(len(values), m**AXES, values.shape[-1])


def tangents(nodes: Floats, degree: int) -> tuple[Floats, Floats, Floats]:
    """Derivatives of positions along r, s and t, each as `nodes`, (elements, (degree + 1)^3, 3)."""
    n, matrix = degree + 1, gll(degree).derivative
    cube = nodes.reshape(len(nodes), n, n, n, AXES)
    r, s, t = (
        np.einsum(f"ij,e{axes}x->e{axes.replace('j', 'i')}x", matrix, cube).reshape(nodes.shape)
        for axes in ("tsj", "tjr", "jsr")
    )
    return r, s, t


def face_nodes(degree: int, face: int) -> Numbers:
    """Places of a face's nodes among those of an element, ((degree + 1)^2,)."""
    n, (axis, side) = degree + 1, divmod(face, 2)
    cube = np.arange(n**AXES).reshape(n, n, n)
    return np.take(cube, degree * side, axis=AXES - 1 - axis).ravel()
