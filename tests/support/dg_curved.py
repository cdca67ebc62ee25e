"""Discontinuous Galerkin on curved elements in NumPy: the reference of the kernels with metrics.

Momentum (of a fluid its volume) is integrated by parts, in weak form, and fluxes are found in
coordinates along the normal and two tangents. Faces, and quarters of faces, find each other by the
positions of their nodes. At quarters, the geometry is that of the finer element. States are as in
dg_scheme.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from dg_scheme import (
    ON_FACE,
    SHEARS,
    STRESS_ROWS,
    Floats,
    Trace,
    apply,
    corrections,
    halves,
    linear_halves,
    projections,
    tensor,
)
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from groundswell.meshes.gll import gll

WHOLE = -1  # in place of a quarter
Key = tuple[int, int, int]  # element, face, and quarter or WHOLE


class Beyond(NamedTuple):
    """The other side of a face or of a quarter: its key, and its nodes in our order."""

    key: Key
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
    def beyond(self) -> dict[Key, Beyond]:
        """The other side of each face, or quarter of a face, that is not a boundary."""
        keys = [*product(range(self.count), range(6), (WHOLE, *range(4)))]
        positions = np.moveaxis(self.nodes, -1, 1)
        at = np.stack([self.on_face(positions[key[0]], key).T for key in keys])
        middles, size = at.mean(axis=1), np.ptp(self.nodes.reshape(-1, 3), axis=0).max()
        found = {}
        for steps in product(*((-1, 0, 1) if p else (0,) for p in self.periods)):
            shift = np.array([n * (p or 0.0) for n, p in zip(steps, self.periods, strict=True)])
            others = KDTree(middles + shift).query_ball_point(middles, 1e-9 * size)
            for own, those in enumerate(others):
                for other in those:
                    distances = np.linalg.norm(at[own][:, None] - at[other] - shift, axis=-1)
                    if distances.min(axis=1).max() < 1e-9 * size and other != own:
                        found[keys[own]] = Beyond(keys[other], distances.argmin(axis=1))
        return found

    def on_face(self, values: Floats, key: Key, matrices: Sequence[Floats] | None = None) -> Floats:
        """Values at the nodes of an element, (..., n, n, n), at those of a face or quarter."""
        _, face, quarter = key
        found = values[ON_FACE[face]]
        if quarter != WHOLE:
            found = tensor(matrices or halves(self.degree), face // 2, quarter, found)
        return found.reshape(*found.shape[:-3], -1)

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
        own = self.on_face(u[..., element, :, :, :, :], (element, face, WHOLE))[..., order]
        if own.shape[-2] == 9:
            traction = np.einsum("pb,...bcp->...cp", basis[:, 0], own[..., STRESS_ROWS, :])
        else:
            traction = -own[..., :1, :] * basis[:, 0].T
        both = [np.einsum("pdc,...cp->...dp", basis, f) for f in (traction, own[..., -3:, :])]
        return Trace(*both, self._impedances((element, face, WHOLE))[:, order])

    def _impedances(self, key: Key) -> Floats:
        """rho cp along a normal, rho cs across it, twice, (3, nodes)."""
        p, s = np.sqrt(self.rho * (self.lam + 2 * self.mu)), np.sqrt(self.rho * self.mu)
        cubes = np.stack([self.of_nodes(z)[key[0]] for z in (p, s, s)])
        return self.on_face(cubes, key, linear_halves(self.degree))

    def _face(self, u: Floats, element: int, face: int) -> tuple[Floats, Floats, Floats, Floats]:
        """T*, v* - v, v* and T* - T times the surface Jacobian, in Cartesian components."""
        if (element, face, 0) in self.beyond and (element, face, WHOLE) not in self.beyond:
            return self._mortar(u, element, face)
        basis, area = self._basis(element, face)
        own = self._trace(u, element, face, basis, np.arange(len(basis)))
        beyond = self.beyond.get((element, face, WHOLE))
        if beyond is None:
            reflection = self.reflections[element, face]
            other, theta = own.mirrored(reflection), None if reflection else 1.0
        elif beyond.key[2] == WHOLE:
            other, theta = self._trace(u, *beyond.key[:2], basis, beyond.nodes), None
        else:
            other, theta = self._quarter(u, beyond.key, basis, -4 * area), None
        change_T, change_v = corrections(own, other, self.theta if theta is None else theta)
        if u.shape[-4] == 4:
            change_T, change_v = (f * [[1], [0], [0]] for f in (change_T, change_v))
        parts = (own.traction + change_T, change_v, own.velocity + change_v, change_T)
        return tuple(area * np.einsum("pdc,...dp->...cp", basis, f) for f in parts)

    # --- quarters ---------------------------------------------------------------------------------

    def _fluxes(self, u: Floats, element: int, face: int) -> tuple[Floats, Floats]:
        """Traction times the surface Jacobian, and velocity, at all nodes: (..., c, n, n, n).

        In acoustics the same of the normal velocity, and pressure.
        """
        own, side = u[..., element, :, :, :, :], 2 * (face % 2) - 1
        normals = side * self.metrics[element, face // 2]
        if u.shape[-4] == 4:
            return (normals * own[..., -3:, :, :, :]).sum(axis=-4, keepdims=True), own[
                ..., :1, :, :, :
            ]
        stress = own[..., STRESS_ROWS, :, :, :]
        return np.einsum("bkji,...bckji->...ckji", normals, stress), own[..., -3:, :, :, :]

    def _quarter(self, u: Floats, key: Key, basis: Floats, area: Floats) -> Trace:
        """A quarter of a side in the coordinates of a basis. The traction of a fluid is normal.

        Args:
            area: surface Jacobians of the whole face; negative if the normal points inward.
        """
        flux, plain = (self.on_face(f, key) for f in self._fluxes(u, *key[:2]))
        flux = flux / area
        if u.shape[-4] == 4:
            both = [np.concatenate([f, 0 * f, 0 * f], axis=-2) for f in (-plain, flux)]
        else:
            both = [np.einsum("pdc,...cp->...dp", basis, f) for f in (flux, plain)]
        impedances = self._impedances(key)
        return Trace(both[0] * (impedances > 0), both[1], impedances)

    def _mortar(self, u: Floats, element: int, face: int) -> tuple[Floats, Floats, Floats, Floats]:
        """See `_face`: the finer elements' fluxes, projected by the rule of `Scheme._on_quarters`.

        Fluxes through the face are projected after the own ones are taken off.
        """
        basis, area = self._basis(element, face)
        whole = [self.on_face(f, (element, face, WHOLE)) for f in self._fluxes(u, element, face)]
        flux, change = whole[0], -whole[1]
        for quarter in range(4):
            key = (element, face, quarter)
            star_flux, star = self._at_quarter(u, key)
            own = self.on_face(self._fluxes(u, element, face)[0], key)
            flux = flux + self._projected(star_flux - own, face, quarter)
            change = change + self._projected(star, face, quarter)
        if u.shape[-4] == 4:
            normal = basis[:, 0].T
            return flux, change, normal * flux, -area * normal * change
        return flux, area * change, change, flux

    def _at_quarter(self, u: Floats, key: Key) -> tuple[Floats, Floats]:
        """Common flux through a quarter, and velocity; in acoustics volume flux, and pressure."""
        finer, order = self.beyond[key]
        assert (order == np.arange(len(order))).all()  # axes are parallel
        basis, area = self._basis(*finer[:2])
        basis, area = -basis, 4 * area  # of this side
        own, other = self._quarter(u, key, basis, area), self._trace(u, *finer[:2], basis, order)
        change_T, change_v = corrections(own, other, self.theta)
        both = (own.traction + change_T, own.velocity + change_v)
        if u.shape[-4] == 4:
            return area * both[1][..., :1, :], -both[0][..., :1, :]
        traction, velocity = (np.einsum("pdc,...dp->...cp", basis, f) for f in both)
        return area * traction, velocity

    def _projected(self, values: Floats, face: int, quarter: int) -> Floats:
        """The projection of values at the nodes of a quarter, (..., n^2), onto the face."""
        n = self.degree + 1
        shape = [1 if d == face // 2 else n for d in (2, 1, 0)]
        cube = values.reshape(*values.shape[:-1], *shape)
        found = tensor(projections(self.degree), face // 2, quarter, cube)
        return found.reshape(values.shape)

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
