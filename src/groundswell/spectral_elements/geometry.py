"""What the shape of elements makes of the operator: six factors of derivatives, and the mass.

With x(r, s, t) the map of an element and J its Jacobian, integrals of gradients become those over
[-1, 1]^3 of reference derivatives times G = w |J| J^-1 J^-T, symmetric, at each node of weight w;
the mass is w |J| (Deville, Fischer & Mund 2002, High-order methods for incompressible fluid flow,
sections 4.3 and 4.4; Chalmers et al. 2023, section "The NekBone benchmark").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, positions, refine, tangents

FACTORS = ("rr", "rs", "rt", "ss", "st", "tt")
ROUNDING = 1e-13
AT_ONCE = 1 << 15  # nodes whose geometry is worked out together: more would not stay in caches


@dataclass(frozen=True, eq=False)
class Geometry:
    """Of some elements.

    Args:
        factors: entries of G in the order of FACTORS, (elements, 6, (N + 1)^3).
        mass: (elements, (N + 1)^3).
    """

    factors: Floats
    mass: Floats

    @classmethod
    def of(cls, mesh: Hexahedra, degree: int, elements: ArrayLike) -> Geometry:
        """Of these elements, for values of a degree.

        Raises:
            InputError: elements that are inside out somewhere.
        """
        chosen, nodes = np.asarray(elements), (degree + 1) ** 3
        factors = np.empty((len(chosen), len(FACTORS), nodes))
        mass = np.empty((len(chosen), nodes))
        for part in portions(len(chosen), nodes):
            factors[part], mass[part] = _worked_out(positions(mesh, degree, chosen[part]), degree)
        require_upright(chosen[~(mass > 0).all(axis=1)])
        return cls(factors, mass)

    def diagonal(self, degree: int, screening: float) -> Floats:
        """Of the operator of each element, (elements, (N + 1)^3)."""
        n, d = degree + 1, gll(degree).derivative
        rr, rs, rt, ss, st, tt = np.moveaxis(self.factors.reshape(-1, 6, n, n, n), 1, 0)
        along = [
            np.einsum(f"mi,e{axes}->e{axes.replace('m', 'i')}", d**2, factor)
            for factor, axes in ((rr, "tsm"), (ss, "tmr"), (tt, "msr"))
        ]
        own = np.diag(d)
        r, s, t = own, own[:, None], own[:, None, None]
        mixed = 2 * (r * s * rs + r * t * rt + s * t * st)
        return (sum(along) + mixed).reshape(self.mass.shape) + screening * self.mass


def require_upright(bad: NDArray[np.integer]) -> None:
    """Refuse elements, by their numbers, that are inside out somewhere."""
    if len(bad):
        raise InputError(
            f"{len(bad)} elements are inside out, flat or not finite somewhere, the first is "
            f"{bad[0]}: deform the mesh less, or refine it"
        )


@dataclass(frozen=True, eq=False)
class Edges:
    """Of elements with straight edges.

    Args:
        terms: what of positions goes with r, s, t, rs, rt, st and rst, (elements, 7, 3): the
            trilinear map but for its constant.
        affine: which are parallelepipeds but for rounding, also of corners' places, (elements,).
    """

    terms: Floats
    affine: NDArray[np.bool_]

    @classmethod
    def of(cls, mesh: Hexahedra, elements: ArrayLike) -> Edges:
        """Of these elements."""
        chosen = np.asarray(elements)
        r, s, t = (np.array([1 if c >> a & 1 else -1 for c in range(8)]) for a in range(AXES))
        signs = np.stack([r, s, t, r * s, r * t, s * t, r * s * t]) / 8
        terms = np.empty((len(chosen), len(signs), AXES))
        affine = np.empty(len(chosen), bool)
        for part in portions(len(chosen), signs.shape[1]):
            corners = mesh.shapes(chosen[part])
            terms[part] = signs @ corners
            size, bent = (_largest(those) for those in (terms[part, :AXES], terms[part, AXES:]))
            affine[part] = bent <= ROUNDING * size + 4 * np.finfo(float).eps * _largest(corners)
        return cls(terms, affine)

    def determinants(self, degree: int) -> Floats:
        """Least |J| at the nodes, (elements,)."""
        found = np.empty(len(self.terms))
        found[self.affine] = _triple(self.terms[self.affine, :AXES])
        bent = np.flatnonzero(~self.affine)
        for part in portions(len(bent), (max(degree, 2) + 1) ** AXES):
            found[bent[part]] = _least_determinants(self.terms[bent[part]], degree)
        return found

    def metric(self, screening: float) -> Floats:
        """Factors, and mass times screening, of parallelepipeds, (elements, 7).

        But for nodes' weights.
        """
        r, s, t = np.moveaxis(self.terms[:, :AXES], 1, 0)
        normals = (np.cross(s, t), np.cross(t, r), np.cross(r, s))
        determinant = np.einsum("ex,ex->e", r, normals[0])
        pairs = [(normals[a], normals[b]) for a in range(AXES) for b in range(a, AXES)]
        factors = [np.einsum("ex,ex->e", a, b) / determinant for a, b in pairs]
        return np.stack([*factors, screening * determinant], axis=1)


def portions(count: int, nodes: int) -> Iterator[slice]:
    """All of `count` elements that have so many nodes, some at a time."""
    step = max(1, AT_ONCE // nodes)
    return (slice(first, first + step) for first in range(0, count, step))


def _largest(vectors: Floats) -> Floats:
    """Of each element's components, (elements, any, 3)."""
    return np.asarray(np.abs(vectors).max(axis=(1, 2)))


def _triple(vectors: Floats) -> Floats:
    """Triple products, of (elements, 3, 3)."""
    r, s, t = np.moveaxis(vectors, 1, 0)
    return np.asarray(np.einsum("ex,ex->e", r, np.cross(s, t)))


def _least_determinants(terms: Floats, degree: int) -> Floats:
    """Of elements with straight edges, by their terms, (elements,).

    |J| is of degree 2 along each axis, as the derivative along one loses it and two others have it.
    """
    points = gll(2).points
    t, s, r = (axis.ravel() for axis in np.meshgrid(points, points, points, indexing="ij"))
    one, none = np.ones_like(r), np.zeros_like(r)
    by_r = np.stack([one, none, none, s, t, none, s * t], axis=1)
    by_s = np.stack([none, one, none, r, none, t, r * t], axis=1)
    by_t = np.stack([none, none, one, none, r, s, r * s], axis=1)
    along = np.stack([basis @ terms for basis in (by_r, by_s, by_t)], axis=2)
    values = _triple(along.reshape(-1, AXES, AXES)).reshape(len(terms), -1, 1)
    return np.asarray(refine(values, 2, degree).min(axis=(1, 2)))


def _worked_out(nodes: Floats, degree: int) -> tuple[Floats, Floats]:
    """Factors and mass of elements whose nodes lie here."""
    r, s, t = tangents(nodes, degree)
    normals = (np.cross(s, t), np.cross(t, r), np.cross(r, s))  # |J| times gradients of r, s, t
    determinant = np.einsum("enx,enx->en", r, normals[0])
    weights = gll(degree).weights_of_cubes
    pairs = [(normals[a], normals[b]) for a in range(3) for b in range(a, 3)]
    with np.errstate(divide="ignore", invalid="ignore"):  # flat elements are refused later
        scale = weights / determinant
        factors = [np.einsum("enx,enx->en", a, b) * scale for a, b in pairs]
    return np.stack(factors, axis=1), weights * determinant
