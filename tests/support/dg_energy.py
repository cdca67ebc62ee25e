"""The energy of dg_scheme.py's states, and its operator as a matrix in coordinates of energy."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from dg_scheme import Scheme

from groundswell.arrays import Floats


def energy(scheme: Scheme, u: Floats) -> Floats:
    """Sum of rho v.v / 2 + S:C^-1:S / 2, or p^2 / (2 lam), over the nodes."""
    v = u[..., -3:, :, :, :]
    density = scheme.rho * (v**2).sum(axis=-4) + strain_energy(scheme, u)
    return (scheme.weights * density / 2).sum(axis=(-4, -3, -2, -1))


def strain_energy(scheme: Scheme, u: Floats) -> Floats:
    """Twice the density of strain energy; the stress is -p I in fluids."""
    if u.shape[-4] == 4:
        return u[..., 0, :, :, :] ** 2 / scheme.lam
    lam, mu, s = scheme.lam, scheme.mu, np.moveaxis(u, -4, 0)
    trace = s[0] + s[1] + s[2]
    square = (s[:3] ** 2).sum(axis=0) + 2 * (s[3:6] ** 2).sum(axis=0)
    solid = np.where(mu > 0, mu, 1.0)
    in_solid = (square - lam * trace**2 / (3 * lam + 2 * mu)) / (2 * solid)
    return np.where(mu > 0, in_solid, (trace / 3) ** 2 / lam)


class Coordinates(NamedTuple):
    """Coordinates c of a state in which the energy is c.c / 2.

    Those of the deviatoric stress of a fluid are idle: they add nothing to a state.
    """

    scheme: Scheme
    fields: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a state."""
        return (self.scheme.count, self.fields, *(self.scheme.degree + 1,) * 3)

    def stiffness(self) -> tuple[Floats, Floats, Floats]:
        """Factors of mean stress, of deviatoric stress and of shear stress."""
        of_nodes, lam, mu = self.scheme.of_nodes, self.scheme.lam, self.scheme.mu
        mean, deviator, shear = np.sqrt(lam + 2 / 3 * mu), np.sqrt(2 * mu), np.sqrt(mu)
        return of_nodes(sqrt(3) * mean), of_nodes(deviator), of_nodes(shear)

    def state(self, c: Floats) -> Floats:
        """The state of coordinates (..., size)."""
        root = np.sqrt(self.scheme.weights)[:, None]
        c = c.reshape(*c.shape[:-1], *self.shape) / root
        mean, deviator, shear = (f[:, None] for f in self.stiffness())
        v = c[..., -3:, :, :, :] / np.sqrt(self.scheme.of_nodes(self.scheme.rho))[:, None]
        if self.fields == 4:
            stress = [np.sqrt(self.scheme.of_nodes(self.scheme.lam))[:, None] * c[..., :1, :, :, :]]
        else:
            normal = c[..., :3, :, :, :]
            middle = normal.mean(axis=-4, keepdims=True)
            stress = [deviator * (normal - middle) + mean * middle, shear * c[..., 3:6, :, :, :]]
        return np.concatenate([*stress, v], axis=-4)

    def of(self, u: Floats) -> Floats:
        """The coordinates of states."""
        root = np.sqrt(self.scheme.weights)[:, None]
        mean, deviator, shear = (f[:, None] for f in self.stiffness())
        v = u[..., -3:, :, :, :] * np.sqrt(self.scheme.of_nodes(self.scheme.rho))[:, None]
        if self.fields == 4:
            stress = [u[..., :1, :, :, :] / np.sqrt(self.scheme.of_nodes(self.scheme.lam))[:, None]]
        else:
            normal = u[..., :3, :, :, :]
            middle = normal.mean(axis=-4, keepdims=True)
            stress = [
                over(normal - middle, deviator) + middle / mean,
                over(u[..., 3:6, :, :, :], shear),
            ]
        c = np.concatenate([*stress, v], axis=-4) * root
        return c.reshape(*c.shape[:-5], -1)

    def matrix(self) -> Floats:
        """The semi-discrete operator, dc/dt = G c."""
        size = int(np.prod(self.shape))
        return self.of(self.scheme.rates(self.state(np.eye(size)))).T


def random_state(scheme: Scheme, fields: int) -> Floats:
    """Noise of the same energy, on average, in all coordinates."""
    coordinates = Coordinates(scheme, fields)
    return coordinates.state(
        np.random.default_rng(1).standard_normal(int(np.prod(coordinates.shape)))
    )


def over(a: Floats, b: Floats) -> Floats:
    """a / b, and 0 where b = 0."""
    return np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0)
