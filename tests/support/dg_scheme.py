"""Discontinuous Galerkin for acoustic and elastic waves on bricks in NumPy: the kernels' reference.

The nodes of an element of degree N are n^3 GLL points, n = N + 1. States are (..., elements,
fields, n, n, n), the last axis along x; leading axes are states of their own. The fields are sxx,
syy, szz, syz, sxz, sxy, vx, vy, vz, or p, vx, vy, vz, which stand for the stress -p I in a fluid. A
fluid among solids has mu = 0 and such a stress. An element is all fluid or all solid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from dg_bricks import Boundary, Bricks, Coarser, Finer
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.meshes.gll import gll
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY

STRESS_ROWS = ((0, 5, 4), (5, 1, 3), (4, 3, 2))  # fields of the stress tensor
SHEARS = ((1, 2), (0, 2), (0, 1))  # syz, sxz, sxy
ALONG = ("ai,...kji->...kja", "aj,...kji->...kai", "ak,...kji->...aji")


def apply(matrix: Floats, axis: int, f: Floats) -> Floats:
    """A matrix applied to the values along x, y or z."""
    return np.einsum(ALONG[axis], matrix, f)


def index_of(face: int) -> tuple[Any, ...]:
    """The index of a face's nodes; their array keeps all three axes, with one node across."""
    axis, side = divmod(face, 2)
    across = slice(-1, None) if side else slice(0, 1)
    return (..., *(across if axis == d else slice(None) for d in (2, 1, 0)))


ON_FACE = [index_of(face) for face in range(6)]


def traction(u: Floats, axis: int) -> Floats:
    """S n for n along an axis, (..., 3, n, n, n)."""
    if u.shape[-4] == 9:
        return u[..., STRESS_ROWS[axis], :, :, :]
    found = np.zeros_like(u[..., 1:, :, :, :])
    found[..., axis, :, :, :] = -u[..., 0, :, :, :]
    return found


@dataclass(frozen=True, eq=False)
class Trace:
    """One side of a face: traction and velocity (..., 3, nodes), and the impedance of each."""

    traction: Floats
    velocity: Floats
    impedance: Floats

    def mirrored(self, reflection: float) -> Trace:
        """What stands beyond a boundary."""
        return Trace(reflection * self.traction, -reflection * self.velocity, self.impedance)


def corrections(own: Trace, other: Trace, theta: float) -> tuple[Floats, Floats]:
    """T* - T and v* - v of a face; tractions of both sides belong to the same normal.

    theta = 1 is the solution of the Riemann problem. theta = 0 is the central flux: its terms that
    dissipate energy are left out. What remains is the mean of both sides, weighted by impedances,
    so that the stable time step does not depend on the contrast. A fluid has no impedance across
    the normal, so it slips along solids at every theta and keeps its velocity there.
    """
    dT, dv = own.traction - other.traction, own.velocity - other.velocity
    total = own.impedance + other.impedance
    weight = np.where(own.impedance > 0, 1 / np.where(total > 0, total, 1.0), 0.0)
    change_T = -own.impedance * weight * (dT + theta * other.impedance * dv)
    return change_T, -weight * (other.impedance * dv + theta * dT)


@dataclass(frozen=True, eq=False)
class Scheme:
    """The semi-discrete scheme.

    Args:
        bricks: the elements.
        degree: N.
        rho, lam, mu: of each element, (elements, 1, 1, 1), or of each node; lam is rho c^2 in a
            fluid.
        theta: 1 upwind flux, 0 central flux. Absorbing boundaries always have the upwind flux.
        damping: rate sigma of -sigma u, of each element or node.
    """

    bricks: Bricks
    degree: int
    rho: Floats
    lam: Floats
    mu: Floats
    theta: float = 1.0
    damping: ArrayLike = 0.0

    def of_nodes(self, values: ArrayLike) -> Floats:
        """A property of each node, (elements, n, n, n)."""
        return np.broadcast_to(values, (self.count, *(self.degree + 1,) * 3))

    @property
    def count(self) -> int:
        """Number of elements."""
        return self.bricks.count

    @property
    def jacobians(self) -> Floats:
        """Volumes over those of the reference element, at the nodes, (elements, n, n, n)."""
        return self.of_nodes(self.bricks.sizes.prod(axis=1)[:, None, None, None] / 8)

    @property
    def weights(self) -> Floats:
        """Quadrature weights of the nodes, (elements, n, n, n): they add up to the volume."""
        return self.jacobians * gll(self.degree).cube_weights.reshape((self.degree + 1,) * 3)

    @cached_property
    def impedances(self) -> Floats:
        """rho cp along a normal, rho cs across: (axis of the normal, elements, 3, n, n, n)."""
        p, s = np.sqrt(self.rho * (self.lam + 2 * self.mu)), np.sqrt(self.rho * self.mu)
        along = np.eye(3, dtype=bool)[:, None, :, None, None, None]
        return np.where(along, self.of_nodes(p)[:, None], self.of_nodes(s)[:, None])

    @cached_property
    def derivative(self) -> Floats:
        """The derivative on [-1, 1]."""
        return gll(self.degree).derivative

    def rates(self, u: Floats) -> Floats:
        """du/dt without sources."""
        found = np.empty_like(u)
        for element in range(self.bricks.count):
            found[..., element, :, :, :, :] = self._element(u, element)
        return found

    def _element(self, u: Floats, element: int) -> Floats:
        own = u[..., element, :, :, :, :]
        rate = self._material(element, *self.slopes(u, element), own.shape[-4])
        return rate - self.of_nodes(self.damping)[element] * own

    def slopes(self, u: Floats, element: int) -> tuple[Floats, Floats]:
        """div S and the derivatives of v along each axis, with the terms of the faces."""
        forces, gradient = self.slopes_by_axis(u, element)
        return forces.sum(axis=0), gradient

    def slopes_by_axis(self, u: Floats, element: int) -> tuple[Floats, Floats]:
        """Derivatives along each axis of the traction normal to it, and of v."""
        forces, gradient = self._volume(u[..., element, :, :, :, :], element)
        for face in range(6):
            axis, sign = face // 2, 2 * (face % 2) - 1
            change_T, change_v = self._face(u, element, face)
            lift = 2 / self.bricks.sizes[element, axis] / gll(self.degree).weights[0]
            forces[axis][ON_FACE[face]] += lift * change_T
            gradient[axis][ON_FACE[face]] += lift * sign * change_v
        return forces, gradient

    def _volume(self, own: Floats, element: int) -> tuple[Floats, Floats]:
        """See `slopes_by_axis`; without faces, each (3, ..., 3, nodes)."""
        scaled = [2 / h * self.derivative for h in self.bricks.sizes[element]]
        forces = [apply(scaled[axis], axis, traction(own, axis)) for axis in range(3)]
        v = own[..., -3:, :, :, :]
        return np.stack(forces), np.stack([apply(scaled[axis], axis, v) for axis in range(3)])

    def _material(self, element: int, force: Floats, gradient: Floats, fields: int) -> Floats:
        """Rates of the fields from div S and the derivatives of v."""
        rho, lam, mu = self.rho[element], self.lam[element], self.mu[element]
        slope = np.moveaxis(gradient, -4, 1)  # (axis, component, ...)
        spreading = lam * (slope[0, 0] + slope[1, 1] + slope[2, 2])
        if fields == 4:
            stress = [-spreading]
        else:
            stress = [spreading + 2 * mu * slope[d, d] for d in range(3)]
            stress += [mu * (slope[a, b] + slope[b, a]) for a, b in SHEARS]
        return np.concatenate([np.stack(stress, axis=-4), force / rho], axis=-4)

    def _face(self, u: Floats, element: int, face: int) -> tuple[Floats, Floats]:
        """T* - T and v* - v at the nodes of a face, for the outward normal."""
        axis, sign = face // 2, 2 * (face % 2) - 1
        own = self._trace(u, element, face, sign)
        beyond = self.bricks.faces[element][face]
        if isinstance(beyond, Boundary):
            theta = self.theta if beyond.reflection else 1.0
            return corrections(own, own.mirrored(beyond.reflection), theta)
        if isinstance(beyond, Finer):
            others = [self._trace(u, other, face ^ 1, sign) for other in beyond.elements]
            return self._on_quarters(own, others, axis)
        other = self._trace(u, beyond.element, face ^ 1, sign)
        if isinstance(beyond, Coarser):
            other = self._quarter(other, axis, beyond.quarter)
        return corrections(own, other, self.theta)

    def _trace(self, u: Floats, element: int, face: int, sign: int) -> Trace:
        """An element's side of a face, with the traction for a normal of this sign."""
        axis, own = face // 2, u[..., element, :, :, :, :][ON_FACE[face]]
        impedance = self.impedances[axis, element][ON_FACE[face]]
        return Trace(sign * traction(own, axis), own[..., -3:, :, :, :], impedance)

    def _on_quarters(self, own: Trace, others: list[Trace], axis: int) -> tuple[Floats, Floats]:
        """The skew rule of Kozdon & Wilcox (2018): the finer elements' fluxes, projected.

        Velocities are projected before the own one is taken off, tractions afterwards. Then the
        work of both on the coarse face is that on the fine ones, whatever the quadrature.
        """
        change_T, change_v = np.zeros_like(own.traction), -own.velocity
        for quarter, other in enumerate(others):
            part = self._quarter(own, axis, quarter)
            part_T, part_v = corrections(part, other, self.theta)
            change_T = change_T + tensor(projections(self.degree), axis, quarter, part_T)
            change_v = change_v + tensor(
                projections(self.degree), axis, quarter, part.velocity + part_v
            )
        return change_T, change_v

    def _quarter(self, trace: Trace, axis: int, quarter: int) -> Trace:
        """A trace at the nodes of a quarter of its face."""
        return Trace(
            tensor(halves(self.degree), axis, quarter, trace.traction),
            tensor(halves(self.degree), axis, quarter, trace.velocity),
            tensor(linear_halves(self.degree), axis, quarter, trace.impedance),
        )


def tensor(matrices: list[Floats], axis: int, quarter: int, f: Floats) -> Floats:
    """Matrices of a quarter's two halves, applied along the axes of a face normal to `axis`."""
    lower, higher = (d for d in range(3) if d != axis)
    return apply(matrices[quarter // 2], higher, apply(matrices[quarter % 2], lower, f))


@cache
def halves(degree: int) -> list[Floats]:
    """Interpolation from the nodes to those of the lower and the upper half."""
    points = gll(degree).points
    return [gll(degree).interpolation((points + shift) / 2) for shift in (-1, 1)]


@cache
def linear_halves(degree: int) -> list[Floats]:
    """Linear interpolation between nodes, which keeps impedances positive."""
    points = gll(degree).points
    return [
        np.stack([np.interp((points + shift) / 2, points, f) for f in np.eye(len(points))], 1)
        for shift in (-1, 1)
    ]


@cache
def projections(degree: int) -> list[Floats]:
    """The adjoints of `halves`: P = M^-1 I^T M / 2."""
    w = gll(degree).weights
    return [half.T * w / w[:, None] / 2 for half in halves(degree)]


def step_limit(scheme: Scheme, courant: float) -> float:
    """dt = C h / (cp (N + 1)^2), the least of all elements, where 3 / h = 1/hx + 1/hy + 1/hz."""
    h = 3 / (1 / scheme.bricks.sizes).sum(axis=1)
    cp = scheme.of_nodes(np.sqrt((scheme.lam + 2 * scheme.mu) / scheme.rho)).max(axis=(1, 2, 3))
    return float(courant * (h / cp).min() / (scheme.degree + 1) ** 2)


def advanced(rates: Callable[[Floats, float], Floats], u: Floats, dt: float, steps: int) -> Floats:
    """The solution of du/dt = rates(u, t) after some steps from t = 0."""
    residual, u = np.zeros_like(u), u.copy()
    for step in range(steps):
        for a, b, c in zip(*vars(CARPENTER_KENNEDY).values(), strict=True):
            residual = a * residual + dt * rates(u, (step + c) * dt)
            u = u + b * residual
    return u
