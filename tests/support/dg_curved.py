"""Discontinuous Galerkin on curved elements in NumPy: the reference of the kernels with metrics.

Momentum (of a fluid its volume) is integrated by parts, in weak form, and fluxes are found in
coordinates along the normal and two tangents. Faces find each other by the positions of their
nodes. States are as in dg_scheme.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from dg_scheme import ON_FACE, SHEARS, STRESS_ROWS, Floats, Trace, apply, corrections
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from groundswell.meshes.gll import gll


class Beyond(NamedTuple):
    """The other side of a face: an element, its face, and the nodes of that in our order."""

    element: int
    face: int
    nodes: np.ndarray


@dataclass(frozen=True, eq=False)
class CurvedScheme:
    """The semi-discrete scheme on elements of any shape.

    Args:
        nodes: positions, (elements, n, n, n, 3).
        metrics: J a^d, (elements, 3 (d), 3, n, n, n).
        degree, rho, lam, mu, theta, damping: see `Scheme`.
        reflections: of faces that are boundaries, (elements, 6).
        periods: of the mesh along x, y, z; None where it is not periodic.
    """

    nodes: Floats
    metrics: Floats
    degree: int
    rho: Floats
    lam: Floats
    mu: Floats
    theta: float
    reflections: Floats
    periods: Sequence[float | None] = (None, None, None)
    damping: ArrayLike = 0.0

    @property
    def count(self) -> int:
        """Number of elements."""
        return len(self.nodes)

    def of_nodes(self, values: ArrayLike) -> Floats:
        """A property of each node, (elements, n, n, n)."""
        return np.broadcast_to(values, (self.count, *(self.degree + 1,) * 3))

    @cached_property
    def jacobians(self) -> Floats:
        """J, whose square is the determinant of the metrics, (elements, n, n, n)."""
        return np.sqrt(np.linalg.det(np.moveaxis(self.metrics, (1, 2), (-2, -1))))

    @property
    def weights(self) -> Floats:
        """Quadrature weights of the nodes, (elements, n, n, n)."""
        return self.jacobians * gll(self.degree).cube_weights.reshape((self.degree + 1,) * 3)

    # --- faces ------------------------------------------------------------------------------------

    @cached_property
    def beyond(self) -> dict[tuple[int, int], Beyond]:
        """What lies beyond each face that is not a boundary."""
        keys = [(e, f) for e in range(self.count) for f in range(6)]
        positions = np.moveaxis(self.nodes, -1, 1)
        at = np.stack([positions[e][ON_FACE[f]].reshape(3, -1).T for e, f in keys])
        middles, size = at.mean(axis=1), np.ptp(self.nodes.reshape(-1, 3), axis=0).max()
        found = {}
        for steps in product(*((-1, 0, 1) if p else (0,) for p in self.periods)):
            shift = np.array([n * (p or 0.0) for n, p in zip(steps, self.periods, strict=True)])
            others = KDTree(middles + shift).query_ball_point(middles, 1e-9 * size)
            for own, those in enumerate(others):
                for other in those:
                    distances = np.linalg.norm(at[own][:, None] - at[other] - shift, axis=-1)
                    if distances.min(axis=1).max() < 1e-9 * size and other != own:
                        found[keys[own]] = Beyond(*keys[other], distances.argmin(axis=1))
        return found

    def _basis(self, element: int, face: int) -> tuple[Floats, Floats]:
        """Rows normal, tangent, tangent at the nodes, (nodes, 3, 3), and surface Jacobians."""
        side = 2 * (face % 2) - 1
        scaled = side * self.metrics[element, face // 2][ON_FACE[face]].reshape(3, -1).T
        area = np.linalg.norm(scaled, axis=1)
        normal = scaled / area[:, None]
        helper = np.eye(3)[np.abs(normal).argmin(axis=1)]
        first = np.cross(normal, helper)
        first /= np.linalg.norm(first, axis=1)[:, None]
        return np.stack([normal, first, np.cross(normal, first)], axis=1), area

    def _trace(self, u: Floats, element: int, face: int, basis: Floats, order: Floats) -> Trace:
        """A side of a face in the coordinates of a basis, at its nodes in an order."""
        own = u[..., element, :, :, :, :][ON_FACE[face]]
        own = own.reshape(*own.shape[:-3], -1)[..., order]
        if own.shape[-2] == 9:
            traction = np.einsum("pb,...bcp->...cp", basis[:, 0], own[..., STRESS_ROWS, :])
        else:
            traction = -own[..., :1, :] * basis[:, 0].T
        both = [np.einsum("pdc,...cp->...dp", basis, f) for f in (traction, own[..., -3:, :])]
        p, s = np.sqrt(self.rho * (self.lam + 2 * self.mu)), np.sqrt(self.rho * self.mu)
        p, s = (self.of_nodes(z)[element][ON_FACE[face]].ravel()[order] for z in (p, s))
        return Trace(*both, np.stack([p, s, s]))

    def _face(self, u: Floats, element: int, face: int) -> tuple[Floats, Floats, Floats]:
        """T*, v* - v and p* (minus the normal component of T*) in Cartesian components."""
        basis, area = self._basis(element, face)
        own = self._trace(u, element, face, basis, np.arange(len(basis)))
        beyond = self.beyond.get((element, face))
        if beyond is None:
            reflection = self.reflections[element, face]
            other, theta = own.mirrored(reflection), None if reflection else 1.0
        else:
            other, theta = self._trace(u, beyond.element, beyond.face, basis, beyond.nodes), None
        change_T, change_v = corrections(own, other, self.theta if theta is None else theta)
        if u.shape[-4] == 4:
            change_T, change_v = (f * [[1], [0], [0]] for f in (change_T, change_v))
        parts = (own.traction + change_T, change_v, own.velocity + change_v, change_T)
        return tuple(area * np.einsum("pdc,...dp->...cp", basis, f) for f in parts)

    # --- rates ------------------------------------------------------------------------------------

    def rates(self, u: Floats) -> Floats:
        """du/dt without sources."""
        found = np.empty_like(u)
        for element in range(self.count):
            found[..., element, :, :, :, :] = self._element(u, element)
        return found

    def _element(self, u: Floats, element: int) -> Floats:
        own, metric, J = u[..., element, :, :, :, :], self.metrics[element], self.jacobians[element]
        rho, lam, mu = (self.of_nodes(f)[element] for f in (self.rho, self.lam, self.mu))
        faces = [self._face(u, element, face) for face in range(6)]
        v = own[..., -3:, :, :, :]
        if u.shape[-4] == 4:
            flux = np.einsum("dbkji,...bkji->...dkji", metric, v)[..., None, :, :, :, :]
            spread = self._weak(flux)[..., 0, :, :, :] + self._normal(element, faces)
            slope = self._strong(own[..., :1, :, :, :], metric)[..., 0, :, :, :, :]
            push = slope - self._on_faces([f[3] for f in faces])
            rate = np.concatenate([-lam * spread[..., None, :, :, :], -push / rho], axis=-4) / J
        else:
            stress = own[..., STRESS_ROWS, :, :, :]
            flux = np.einsum("dbkji,...bckji->...cdkji", metric, stress)
            force = self._weak(flux) + self._on_faces([f[0] for f in faces])
            G = self._strong(v, metric) + self._outer(element, [f[1] for f in faces])
            spread = lam * (G[..., 0, 0, :, :, :] + G[..., 1, 1, :, :, :] + G[..., 2, 2, :, :, :])
            rows = [spread + 2 * mu * G[..., d, d, :, :, :] for d in range(3)]
            rows += [mu * (G[..., a, b, :, :, :] + G[..., b, a, :, :, :]) for a, b in SHEARS]
            rate = np.concatenate([np.stack(rows, axis=-4), force / rho], axis=-4) / J
        return rate - self.of_nodes(self.damping)[element] * own

    def _weak(self, flux: Floats) -> Floats:
        """-W^-1 D^T W of fluxes (..., c, d, nodes) across the axes, summed: (..., c, nodes)."""
        w = gll(self.degree).weights
        adjoint = -gll(self.degree).derivative.T * w / w[:, None]
        return sum(apply(adjoint, d, flux[..., d, :, :, :]) for d in range(3))

    def _strong(self, f: Floats, metric: Floats) -> Floats:
        """J times derivatives along x, y, z: (..., c, b, nodes)."""
        matrix = gll(self.degree).derivative
        along = np.stack([apply(matrix, d, f) for d in range(3)], axis=-4)
        return np.einsum("dbkji,...cdkji->...cbkji", metric, along)

    def _on_faces(self, values: Sequence[Floats]) -> Floats:
        """Values at the nodes of faces, (..., c, n^2) each, over the end weight, at all nodes."""
        n = self.degree + 1
        found = np.zeros((*values[0].shape[:-1], n, n, n))
        for face, f in enumerate(values):
            shape = found[ON_FACE[face]].shape
            found[ON_FACE[face]] += f.reshape(shape) / gll(self.degree).weights[0]
        return found

    def _outer(self, element: int, values: Sequence[Floats]) -> Floats:
        """The same of products with the normals, (..., c, b, nodes)."""
        products = []
        for face, f in enumerate(values):
            normal = self._basis(element, face)[0][:, 0].T
            products.append(f[..., :, None, :] * normal)
        return self._on_faces(products)

    def _normal(self, element: int, faces: Sequence[tuple[Floats, ...]]) -> Floats:
        """The common normal velocity times the surface Jacobian."""
        parts = []
        for face, f in enumerate(faces):
            normal = self._basis(element, face)[0][:, 0].T
            parts.append((f[2] * normal).sum(axis=-2, keepdims=True))
        return self._on_faces(parts)[..., 0, :, :, :]
