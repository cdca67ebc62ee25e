"""The coefficients of -div(k grad u) + c u = f on a rank's elements, and those of its sides.

Arrays have one entry where all elements, or all nodes of each element, have the same value: those
of materials take no memory worth mentioning, and functions one value a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Shapes, face_nodes, interpolate, positions
from groundswell.spectral_elements.geometry import FaceGeometry

ONE, NONE = np.ones((1, 1, 1)), np.zeros((1, 1))
TENSOR = [(a, b) for a in range(AXES) for b in range(a, AXES)]  # xx, xy, xz, yy, yz, zz


class SideFactors(NamedTuple):
    """Integrals of h times each node's basis function over the sides of some elements.

    Args:
        elements: their local numbers, rising, (some,).
        values: at their nodes, (some, (N + 1)^3); 0 where no side is.
    """

    elements: Integers
    values: Floats

    def of(self, chosen: Integers) -> Floats:
        """Those of chosen elements, (chosen, (N + 1)^3)."""
        found = np.zeros((len(chosen), *self.values.shape[1:]))
        if len(self.elements):
            at = np.searchsorted(self.elements, chosen).clip(max=len(self.elements) - 1)
            here = self.elements[at] == chosen
            found[here] = self.values[at[here]]
        return found

    def nonzero(self, chosen: Integers) -> tuple[Integers, Floats]:
        """Numbers of the nodes of chosen elements with a value, and the values, (nodes,)."""
        here = np.isin(self.elements, chosen)
        elements, nodes = np.nonzero(self.values[here])
        numbers = self.elements[here][elements] * self.values.shape[1] + nodes
        return numbers, self.values[here][elements, nodes]


@dataclass(frozen=True, eq=False)
class Transfer:
    """Coefficients h of sides where k du/dn + h (u - ambient) = 0.

    Args:
        elements, faces: local numbers of the elements with such a side, and its number, (faces,).
        values: h at the nodes of the faces, (faces, (N + 1)^2), 0 or more.
    """

    elements: Integers
    faces: Integers
    values: Floats

    def at_degree(self, degree: int) -> Transfer:
        """The same at the nodes of another degree."""
        matrix = linear_interpolation(_degree_of(self.values, AXES - 1), degree)
        return replace(self, values=self.values @ np.kron(matrix, matrix).T)

    def integrate(self, shapes: Shapes) -> SideFactors:
        """Integrals times basis functions, with the nodes as quadrature points."""
        degree = _degree_of(self.values, AXES - 1)
        some, row = np.unique(self.elements, return_inverse=True)
        areas = FaceGeometry.at_nodes(positions(shapes, degree, some), degree).areas
        weights = np.outer(gll(degree).weights, gll(degree).weights).ravel()
        found = np.zeros((len(some), (degree + 1) ** AXES))
        for face in range(2 * AXES):
            here = np.flatnonzero(self.faces == face)
            at = np.ix_(row[here], face_nodes(degree, face))
            found[at] += self.values[here] * areas[row[here], face] * weights
        return SideFactors(some, found)


@dataclass(frozen=True, eq=False)
class Coefficients:
    """k, c and h on a rank's elements.

    Args:
        conductivity: k, (elements or 1, 1, nodes or 1); of a symmetric tensor its entries xx, xy,
            xz, yy, yz and zz, (elements or 1, 6, nodes or 1).
        screening: c, (elements or 1, nodes or 1).
        transfer: h; None without sides that have it.
    """

    conductivity: Floats = field(default_factory=lambda: ONE)
    screening: Floats = field(default_factory=lambda: NONE)
    transfer: Transfer | None = None

    @classmethod
    def screened(cls, screening: float) -> Coefficients:
        """Those of -div grad u + screening u."""
        return cls(screening=np.full((1, 1), float(screening)))

    @property
    def is_tensor(self) -> bool:
        """Whether k is a tensor."""
        return self.conductivity.shape[1] > 1

    @property
    def has_screening(self) -> bool:
        """Whether c differs from 0 anywhere on this rank."""
        return bool(self.screening.any())

    def at_degree(self, degree: int) -> Coefficients:
        """The same at the nodes of a lower degree, between which k stays positive."""
        transfer = self.transfer and self.transfer.at_degree(degree)
        k, (c,) = _lowered(self.conductivity, degree), _lowered(self.screening[None], degree)
        return Coefficients(k, c, transfer)

    def times_conductivity(self, vectors: Floats, some: Integers) -> Floats:
        """k times vectors at the nodes of some elements, (some, 3, nodes)."""
        if self.conductivity is ONE:
            return vectors
        k = part_of(self.conductivity, some)
        if not self.is_tensor:
            return np.asarray(k * vectors)
        product = np.zeros_like(vectors)
        for n, (a, b) in enumerate(TENSOR):
            product[:, a] += k[:, n] * vectors[:, b]
            if a != b:
                product[:, b] += k[:, n] * vectors[:, a]
        return product

    def determined(self, elements: int) -> Integers:
        """Which of the rank's elements have a c or an h above 0."""
        has_c = np.broadcast_to((self.screening > 0).any(axis=1), (elements,))
        if (sides := self.transfer) is None:
            return np.flatnonzero(has_c)
        has_h = (sides.values > 0).any(axis=1)
        return np.union1d(np.flatnonzero(has_c), sides.elements[has_h])


def part_of(values: Floats, some: Integers) -> Floats:
    """The values of some elements, or the one of all."""
    return values if len(values) == 1 else values[some]


def _lowered(values: Floats, degree: int) -> Floats:
    """Values (elements, components, nodes or 1) at the nodes of a lower degree."""
    if values.shape[-1] == 1:
        return values
    matrix = linear_interpolation(_degree_of(values, AXES), degree)
    return interpolate(values.swapaxes(1, 2), matrix).swapaxes(1, 2)


@cache
def linear_interpolation(degree: int, other: int) -> Floats:
    """The matrix from values at the points of a degree to those of another, linear in between.

    It yields averages with positive weights, so values that are positive remain so.
    """
    points, at = gll(degree).points, gll(other).points
    matrix = np.stack([np.interp(at, points, unit) for unit in np.eye(degree + 1)], axis=1)
    matrix.setflags(write=False)
    return matrix


def _degree_of(values: Floats, axes: int) -> int:
    """The degree of values at the nodes of faces or elements, (..., (degree + 1)^axes)."""
    return round(values.shape[-1] ** (1 / axes)) - 1


def stack_tensor(entries: Sequence[Floats]) -> Floats:
    """One or six entries of k, each (elements or 1, nodes or 1), as `Coefficients` has them."""
    return np.stack(np.broadcast_arrays(*entries), axis=1)
