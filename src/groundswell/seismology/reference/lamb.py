"""Lamb's problem: surface motion of a Poisson half-space under a vertical point force.

The response to a step force at t = 0 is self-similar: it is F / (2 pi mu r) times a function of
tau = t vs / r only. This function is known in closed form for vp = sqrt(3) vs: Pekeris (1955),
PNAS 41, 469-480; Mooney (1974), BSSA 64, 473-491. The motion for any force F(t) is the convolution
of that function with dF/dt.

The force and vertical motion are positive downward (z), radial motion is positive away from the
force.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.seismology.reference.pulse import Pulse

# In units of the S arrival and slowness: squared P slowness and squared Rayleigh slowness, which is
# the largest root u of N(u) = (1 - 2u)^4 + 16 u^2 (u - 1/3)(1 - u). RATIO = vp / vs.
_P2 = 1.0 / 3.0
_ROOTS = np.array([0.25, (3.0 - np.sqrt(3.0)) / 4.0, (3.0 + np.sqrt(3.0)) / 4.0])
P_ARRIVAL = np.sqrt(_P2)
RAYLEIGH_ARRIVAL = np.sqrt(_ROOTS[2])
RATIO = np.sqrt(3.0)

# Number of panels between two singularities of the convolution, and of Gauss points per panel.
_PANELS = 24
_POINTS = 10


@dataclass(frozen=True)
class PoissonHalfSpace:
    """An elastic half-space of Poisson's ratio 1/4: S speed (m/s) and density (kg/m^3)."""

    vs: float
    rho: float

    @property
    def vp(self) -> float:
        """P speed, m/s."""
        return float(RATIO * self.vs)

    @property
    def mu(self) -> float:
        """Shear modulus, Pa."""
        return self.rho * self.vs**2


def lamb_velocity(
    space: PoissonHalfSpace, force: Pulse, distance: float, time: ArrayLike
) -> Floats:
    """Surface velocity, m/s, with rows radial and vertical (down), (2, n).

    Args:
        force: downward force, N; its derivative must be continuous. With the integral of the force,
            the result is the displacement, m.
        distance: distance of the receiver from the force, m.
        time: times, s, (n,).
    """
    times = np.asarray(time, dtype=float)
    unit = distance / space.vs
    motion = np.zeros((2, times.size))
    for i, t in enumerate(times):
        tau, weights = _quadrature((t - force.stop) / unit, (t - force.start) / unit)
        response = np.stack([radial_step_response(tau), vertical_step_response(tau)])
        motion[:, i] = response @ (weights * force(t - tau * unit, 2))
    return motion * unit / (2.0 * np.pi * space.mu * distance)


def vertical_step_response(tau: ArrayLike) -> Floats:
    """Vertical displacement (down) after a step, in units of F / (2 pi mu r); finally 3/4."""
    t2 = np.asarray(tau, dtype=float) ** 2
    before_rayleigh, before_s = (t2 > _P2) & (t2 < _ROOTS[2]), (t2 > _P2) & (t2 < 1.0)
    response = np.where(t2 >= _ROOTS[2], 0.75, 0.0)
    s = t2[before_rayleigh]
    response[before_rayleigh] = 0.75 - np.sqrt(3 * RATIO + 5) / (8 * np.sqrt(_ROOTS[2] - s))
    # Between P and S the terms of the other two roots replace half of the response.
    s = t2[before_s]
    others = np.sqrt(3 * RATIO - 5) / np.sqrt(s - _ROOTS[1]) - RATIO / np.sqrt(s - _ROOTS[0])
    response[before_s] = 0.5 * response[before_s] + others / 16.0
    return response


def radial_step_response(tau: ArrayLike) -> Floats:
    """Radial displacement (outward) after a step, in units of F / (2 pi mu r); finally -1/4.

    Partial fractions of 1/N reduce the integral over slowness to elliptic integrals K and Pi.
    """
    from scipy.special import ellipk

    tau = np.asarray(tau, dtype=float)
    response = np.zeros_like(tau)
    arrived = tau > P_ARRIVAL
    t = tau[arrived]
    width = 1.0 - _P2
    k2 = (t**2 - _P2) / width
    # K and Pi are infinite at the S arrival, where they cancel, but finite one rounding error away.
    m = np.minimum(np.minimum(k2, 1.0 / k2), 1.0 - np.finfo(float).eps)
    slope = -8.0 + 112.0 / 3.0 * _ROOTS - 32.0 * _ROOTS**2  # N'(u), N a cubic
    weights = (1.0 - 2.0 * _ROOTS) * (1.0 - _ROOTS) / (slope * width)
    total = -3.0 / (16.0 * width) * ellipk(m)
    for root, weight in zip(_ROOTS, weights, strict=True):
        total -= weight * _ellippi(np.minimum(k2, 1.0) * width / (root - _P2), m)
    body = 4.0 / np.pi * np.sqrt(width) * t * np.minimum(1.0, 1.0 / np.sqrt(k2)) * total
    behind = np.maximum(t**2 - _ROOTS[2], 0.0)
    rayleigh = np.divide(t, 4.0 * np.sqrt(behind), out=np.zeros_like(t), where=behind > 0)
    response[arrived] = body - rayleigh
    return response


def _ellippi(n: Floats, m: Floats) -> Floats:
    """Complete elliptic integral of the third kind Pi(n | m), by Carlson's symmetric forms."""
    from scipy.special import elliprf, elliprj

    return elliprf(0.0, 1.0 - m, 1.0) + n / 3.0 * elliprj(0.0, 1.0 - m, 1.0, 1.0 - n)


def _quadrature(first: float, last: float) -> tuple[Floats, Floats]:
    """Nodes and weights over first < tau < last, split where the step response is singular."""
    edges = np.clip([P_ARRIVAL, 1.0, RAYLEIGH_ARRIVAL, np.inf], first, last)
    rules = [_graded_rule(a, b) for a, b in pairwise(edges) if b > a]
    nodes, weights = zip(*rules, strict=True) if rules else ((np.zeros(0),), (np.zeros(0),))
    return np.concatenate(nodes), np.concatenate(weights)


def _graded_rule(a: float, b: float) -> tuple[Floats, Floats]:
    """Composite Gauss rule in theta on [a, b], with tau = middle - half cos(theta).

    The substitution makes the inverse square roots at the Rayleigh arrival smooth functions of
    theta and clusters nodes at the S arrival, where the slope is infinite.
    """
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    width = np.pi / _PANELS
    theta = (width * (np.arange(_PANELS)[:, None] + 0.5 * (1.0 + x))).ravel()
    half = 0.5 * (b - a)
    weights = np.tile(0.5 * width * w, _PANELS) * half * np.sin(theta)
    return a + half * (1.0 - np.cos(theta)), weights
