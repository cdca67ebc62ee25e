"""Geometry of curved elements: metric terms at nodes, and normals and areas of faces.

With x(r, s, t) the map of an element and J its Jacobian, |J| grad r is the cross product of the
tangents along s and t, and likewise for s and t; integrals over an element are sums with weights
w |J| over its nodes (Deville, Fischer & Mund 2002, High-order methods for incompressible fluid
flow, sections 4.3 and 4.4; Kopriva 2009, Implementing spectral methods for partial differential
equations, chapter 6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import Integers, Mask
from groundswell.backends.host_threads import for_each
from groundswell.errors import InputError, counted
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import (
    AXES,
    Floats,
    Hexahedra,
    Shapes,
    StoredShapes,
    face_nodes,
    mapped_tangents,
    refine,
    tangents,
)

Scalar = TypeVar("Scalar", bound=np.generic)

ROUNDING = 1e-13
CHUNK_NODES = 1 << 15  # nodes processed at a time, so that intermediate arrays stay in cache
# Number of shares of a rank's nodes, and limits on the nodes of a share. Threads process one share
# at a time. With smaller ones, they would wait for Python's global lock; with larger ones, some
# would have no work, and the system would provide new memory for each temporary array.
SHARES, LEAST_SHARE, LARGEST_SHARE = 32, 1 << 16, 1 << 17
# Face 2 a + 1 has its outward normal along +grad of axis a, face 2 a along -grad.
FACE_SIGNS = (-1.0, 1.0) * AXES


@dataclass(frozen=True, eq=False)
class MetricTerms:
    """Metric terms at the nodes of elements.

    Args:
        contravariant: |J| times the gradients of r, s and t, three of (elements, 3, nodes).
        determinant: |J|, (elements, nodes).
    """

    contravariant: tuple[Floats, Floats, Floats]
    determinant: Floats

    @classmethod
    def of(cls, mesh: Shapes, degree: int, elements: ArrayLike) -> MetricTerms:
        """Metric terms at the nodes of a degree."""
        r, s, t = mapped_tangents(mesh, degree, elements)
        normals = (_cross(s, t), _cross(t, r), _cross(r, s))
        return cls(normals, _dot(r, normals[0]))


def tabulate(
    compute: Callable[[Integers], tuple[NDArray[Scalar], ...]], count: int, nodes: int
) -> tuple[NDArray[Scalar], ...]:
    """Compute arrays over all elements, (count, ...), in threads, some elements at a time.

    Args:
        compute: returns arrays, (elements, ...), given the numbers of the elements, from 0 on.
        count: number of elements.
        nodes: number of nodes of an element.
    """
    whole: list[NDArray[Scalar]] = []
    lock = Lock()

    def store(part: slice) -> None:
        found = compute(np.arange(count)[part])
        with lock:
            if not whole:
                whole.extend(np.empty((count, *a.shape[1:]), a.dtype) for a in found)
        for array, values in zip(whole, found, strict=True):
            array[part] = values

    for_each(store, shares(count, nodes) or [slice(0, 0)])
    return tuple(whole)


def compute_mass(mesh: Hexahedra, degree: int, elements: ArrayLike) -> Floats:
    """The diagonal mass matrix w |J| of elements, (elements, (degree + 1)^3).

    Raises:
        InputError: elements are inverted somewhere.
    """
    chosen = np.asarray(elements)
    shapes = StoredShapes.of(mesh, chosen)

    def compute(some: Integers) -> tuple[Floats]:
        return (mass_of_few(shapes, degree, some),)

    (mass,) = tabulate(compute, len(chosen), (degree + 1) ** AXES)
    require_positive(mass, chosen)
    return mass


def mass_of_few(mesh: Shapes, degree: int, elements: ArrayLike) -> Floats:
    """The same for a few elements, whose arrays fit in the cache; they may be inverted."""
    lower = min(degree, 3 * mesh.order - 1)  # |J| has this degree along each axis
    r, s, t = mapped_tangents(mesh, lower, elements)
    determinant = refine(_dot(r, _cross(s, t))[..., None], lower, degree)[..., 0]
    return np.asarray(gll(degree).cube_weights * determinant)


def _cross(a: Floats, b: Floats) -> Floats:
    """Cross products of vectors, (elements, 3, nodes)."""
    product = np.empty_like(a)
    for x in range(AXES):
        y, z = (x + 1) % AXES, (x + 2) % AXES
        product[:, x] = a[:, y] * b[:, z] - a[:, z] * b[:, y]
    return product


def _dot(a: Floats, b: Floats) -> Floats:
    """Scalar products of vectors, (elements, 3, nodes)."""
    return np.asarray(np.einsum("exn,exn->en", a, b))


@dataclass(frozen=True, eq=False)
class FaceGeometry:
    """Outward unit normals and surface Jacobians at the nodes of the faces of elements.

    Args:
        normals: (elements, 6, (degree + 1)^2, 3).
        areas: surface Jacobians without quadrature weights, (elements, 6, (degree + 1)^2).
    """

    normals: Floats
    areas: Floats

    @classmethod
    def at_nodes(cls, nodes: Floats, degree: int) -> FaceGeometry:
        """From the positions of elements' nodes, (elements, (degree + 1)^3, 3)."""
        along = tangents(nodes, degree)
        scaled = np.empty((len(nodes), 2 * AXES, (degree + 1) ** 2, AXES))
        for face, sign in enumerate(FACE_SIGNS):
            indices = face_nodes(degree, face)
            first, second = (along[(face // 2 + n) % AXES][:, indices] for n in (1, 2))
            scaled[:, face] = sign * np.cross(first, second)
        areas = np.linalg.norm(scaled, axis=-1)
        return cls(scaled / areas[..., None], areas)


def require_positive(determinants: Floats, elements: NDArray[np.integer]) -> None:
    """Refuse elements whose Jacobian determinants, (elements, ...), are not positive everywhere."""
    bad = elements[~np.all(determinants > 0, axis=tuple(range(1, determinants.ndim)))]
    if len(bad):
        raise InputError(
            f"{counted(len(bad), 'element')} inverted, flat or not finite somewhere, the first is "
            f"{bad[0]}; deform the mesh less, or refine it"
        )


@dataclass(frozen=True, eq=False)
class TrilinearMaps:
    """The maps of elements with straight edges.

    Args:
        coefficients: of r, s, t, rs, rt, st and rst in the positions, (elements, 7, 3).
        affine: whether elements are parallelepipeds up to rounding, (elements,).
    """

    coefficients: Floats
    affine: Mask

    @classmethod
    def of(cls, mesh: Shapes, elements: ArrayLike) -> TrilinearMaps:
        """The maps of these elements of a mesh of order 1."""
        chosen = np.asarray(elements)
        r, s, t = (np.array([1 if c >> a & 1 else -1 for c in range(8)]) for a in range(AXES))
        signs = np.stack([r, s, t, r * s, r * t, s * t, r * s * t]) / 8
        terms = np.empty((len(chosen), len(signs), AXES))
        affine = np.empty(len(chosen), bool)
        for part in chunks(len(chosen), signs.shape[1]):
            corners = mesh.geometry_nodes(chosen[part])
            terms[part] = signs @ corners
            size, bent = (_largest(those) for those in (terms[part, :AXES], terms[part, AXES:]))
            affine[part] = bent <= ROUNDING * size + 4 * np.finfo(float).eps * _largest(corners)
        return cls(terms, affine)

    def least_determinants(self, degree: int) -> Floats:
        """The least |J| over each element's nodes of a degree, (elements,)."""
        least = np.empty(len(self.coefficients))
        least[self.affine] = _triple_product(self.coefficients[self.affine, :AXES])
        bent = np.flatnonzero(~self.affine)

        def compute(some: Integers) -> tuple[Floats]:
            return (_least_determinants(self.coefficients[bent[some]], degree),)

        (least[bent],) = tabulate(compute, len(bent), (max(degree, 2) + 1) ** AXES)
        return least


def chunks(count: int, nodes: int) -> Iterator[slice]:
    """Slices of `count` elements with `nodes` nodes each, small enough for a cache."""
    step = max(1, CHUNK_NODES // nodes)
    return (slice(first, first + step) for first in range(0, count, step))


def shares(count: int, nodes: int) -> list[slice]:
    """Slices of `count` elements with `nodes` nodes each, for any number of threads."""
    step = max(1, nodes_of_share(count * nodes) // nodes)
    return [slice(first, first + step) for first in range(0, count, step)]


def nodes_of_share(nodes: int) -> int:
    """Number of nodes, out of `nodes` in all, that a thread processes at a time."""
    return min(max(nodes // SHARES, LEAST_SHARE), LARGEST_SHARE)


def _largest(vectors: Floats) -> Floats:
    """The largest component of each element's vectors, (elements, any, 3)."""
    return np.asarray(np.abs(vectors).max(axis=(1, 2)))


def _triple_product(vectors: Floats) -> Floats:
    """Triple products of (elements, 3, 3)."""
    r, s, t = np.moveaxis(vectors, 1, 0)
    return np.asarray(np.einsum("ex,ex->e", r, np.cross(s, t)))


def _least_determinants(terms: Floats, degree: int) -> Floats:
    """The least |J| of trilinear maps with these coefficients, (elements,).

    |J| has degree 2 along each axis: one tangent is constant along it, the other two are linear.
    """
    points = gll(2).points
    t, s, r = (axis.ravel() for axis in np.meshgrid(points, points, points, indexing="ij"))
    one, none = np.ones_like(r), np.zeros_like(r)
    by_r = np.stack([one, none, none, s, t, none, s * t], axis=1)
    by_s = np.stack([none, one, none, r, none, t, r * t], axis=1)
    by_t = np.stack([none, none, one, none, r, s, r * s], axis=1)
    along = np.stack([basis @ terms for basis in (by_r, by_s, by_t)], axis=2)
    values = _triple_product(along.reshape(-1, AXES, AXES)).reshape(len(terms), len(t), 1)
    return np.asarray(refine(values, 2, degree).min(axis=(1, 2)))
