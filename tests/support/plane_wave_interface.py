"""Plane P and SV waves at an interface: exact coefficients, and those of the grid, by frequency.

Velocities vary as exp(i k x - i omega t). On the grid, rows far from the interface move as waves of
their half-space, whose wavenumbers along z solve the dispersion relation of the differences. The
motion of the other rows and the amplitudes of the waves that leave follow from the equations of
motion. Time and x are continuous.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Complexes, Floats

REACH = 3  # rows that an equation of motion reaches, up and down
EDGE = 2 * REACH  # rows at either end that move as waves of a half-space


@dataclass(frozen=True)
class Solid:
    """A half-space; a fluid if vs is 0."""

    vp: float
    vs: float
    rho: float

    def waves(self, omega: float, k: float, down: bool) -> list[tuple[complex, complex, complex]]:
        """(wavenumber along z, vx, vz) of the P wave and, in a solid, of the SV wave."""
        sign = 1 if down else -1
        p = sign * _vertical(omega / self.vp, k)
        found = [(p, k * self.vp / omega, p * self.vp / omega)]
        if self.vs > 0:
            s = sign * _vertical(omega / self.vs, k)
            found.append((s, sign * s * self.vs / omega, -sign * k * self.vs / omega))
        return found

    def traction(self, omega: float, k: float, wave: tuple[complex, complex, complex]) -> Complexes:
        """(sxz, szz) of a wave."""
        q, vx, vz = wave
        mu, p_modulus = self.rho * self.vs**2, self.rho * self.vp**2
        normal = p_modulus * q * vz + (p_modulus - 2 * mu) * k * vx
        return -np.array([mu * (q * vx + k * vz), normal]) / omega


def _vertical(total: float, k: float) -> complex:
    return complex(np.sqrt(complex(total**2 - k**2)))


def exact_coefficients(above: Solid, below: Solid, omega: float, k: float, wave: int) -> Complexes:
    """Amplitudes of reflected P, SV and transmitted P, SV for a unit P (0) or SV (1) wave."""
    scale = 1 / (above.rho * above.vp)

    def column(solid: Solid, moving: tuple[complex, complex, complex]) -> Complexes:
        return np.array([*moving[1:], *(scale * solid.traction(omega, k, moving))])

    incoming = column(above, above.waves(omega, k, True)[wave])
    leaving = [column(above, w) for w in above.waves(omega, k, False)]
    leaving += [-column(below, w) for w in below.waves(omega, k, True)]
    slips = above.vs == 0 or below.vs == 0  # vx is not continuous
    rows = slice(1 if slips else 0, None)
    return np.linalg.lstsq(np.array(leaving).T[rows], -incoming[rows], rcond=None)[0]


@dataclass(frozen=True)
class GridInterface:
    """Rows of unit height with an interface at depth `place`.

    Args:
        parameters: of the rows: rho and rho at vz, mu at sxz, and the stiffnesses c11, c13, c33.
    """

    above: Solid
    below: Solid
    place: float
    parameters: dict[str, Floats]

    def coefficients(self, omega: float, k: float, wave: int) -> Complexes:
        """As `exact_coefficients`, with phases relative to the interface."""
        n = len(self.parameters["rho"])
        motion = self._motion(omega, k)
        middle = np.tile((np.arange(n) >= EDGE) & (np.arange(n) < n - EDGE), 2)
        top = np.tile(np.arange(n) < EDGE, 2)
        bottom = np.tile(np.arange(n) >= n - EDGE, 2)
        columns = [motion[:, middle]]
        for solid, down, edge in ((self.above, False, top), (self.below, True, bottom)):
            columns += [
                motion[:, edge] @ self._field(w, n)[edge, None] for w in solid.waves(omega, k, down)
            ]
        incoming = self._field(self.above.waves(omega, k, True)[wave], n)
        found = np.linalg.lstsq(np.hstack(columns), -motion[:, top] @ incoming[top], rcond=None)[0]
        return found[middle.sum() :]

    def _motion(self, omega: float, k: float) -> Complexes:
        """omega^2 rho v + div sigma of all rows but those at the ends, of (vx, vz)."""
        p = self.parameters
        n = len(p["rho"])
        weights = {-1: 1 / 24, 0: -9 / 8, 1: 9 / 8, 2: -1 / 24}
        down = np.sum([w * np.eye(n, k=shift) for shift, w in weights.items()], axis=0)
        up, one, along = -down.T, np.eye(n), 1j * k
        xz = p["mu at sxz"][:, None] * np.hstack([up, along * one])
        zz = np.hstack([along * np.diag(p["c13"]), p["c33"][:, None] * down])
        xx = np.hstack([along * np.diag(p["c11"]), p["c13"][:, None] * down])
        inertia = omega**2 * np.concatenate([p["rho"], p["rho at vz"]])
        force = np.vstack([along * xx + down @ xz, along * xz + up @ zz]) + np.diag(inertia)
        inner = np.tile((np.arange(n) >= REACH) & (np.arange(n) < n - REACH), 2)
        return force[inner] / inertia.max()

    def _field(self, wave: tuple[complex, complex, complex], n: int) -> Complexes:
        q, vx, vz = wave
        phase = 1j * _wavenumber(q) * (np.arange(n) - self.place)
        return np.concatenate([vx * np.exp(phase + 0.5j * _wavenumber(q)), vz * np.exp(phase)])


def _wavenumber(symbol: complex) -> complex:
    """The wavenumber at which differences along z have this symbol, by Newton's method."""
    found = symbol
    for _ in range(50):
        value = 9 / 4 * np.sin(found / 2) - np.sin(3 * found / 2) / 12
        slope = 9 / 8 * np.cos(found / 2) - np.cos(3 * found / 2) / 8
        found -= (value - symbol) / slope
    return found
