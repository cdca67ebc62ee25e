"""Exact plane waves on the grid with its 2 x 2 x 2 pattern of mechanisms, by Bloch's theorem.

A wave's values in two cells of equal parity differ by a factor exp(-i k h) for each cell between
them, so eight cells with three velocities each are all there is. At a given frequency k is such
that the 24 by 24 matrix of their equations has the eigenvalue omega^2. Differences are those of the
grid; time is continuous.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from groundswell.arrays import Complexes
from groundswell.seismology.attenuation import Relaxation

CELLS = 8
VS, RHO = 1732.0, 2500.0
VP = 3000.0


@dataclass(frozen=True)
class Wave:
    """A wave that runs along one axis and moves along one: P if they are the same."""

    axis: int
    motion: int

    @property
    def speed(self) -> float:
        return VP if self.axis == self.motion else VS


WAVES = [Wave(axis, motion) for axis, motion in product(range(3), repeat=2)]


def wavenumber(
    relaxation: Relaxation,
    wave: Wave,
    f: float,
    qp: float,
    qs: float,
    points: float = 20.0,
) -> complex:
    """Complex wavenumber times the cell's edge, at `points` cells a wavelength; k real if elastic.

    The moduli are VP^2 rho and VS^2 rho without relaxation, which sets the scale of k only.
    """
    omega = 2 * np.pi * f
    h = wave.speed / (points * f)
    target = omega**2
    guess = 2 * np.pi / points * (1 - 0.5j / (qp if wave.speed == VP else qs))

    def residual(k: complex) -> complex:
        values, vectors = np.linalg.eig(_equations(relaxation, wave.axis, k, h, omega, qp, qs))
        uniform = np.zeros(3 * CELLS)
        uniform[CELLS * wave.motion : CELLS * (wave.motion + 1)] = 1.0
        similarity = np.abs(uniform @ vectors) / np.linalg.norm(vectors, axis=0)
        return complex(values[np.argmax(similarity)] - target)

    return _root(residual, guess, 1e-12 * target)


def quality_factor(k: complex) -> float:
    """Q = Re M / Im M of the modulus that the wavenumber stands for."""
    return float(-(k**2).real / (k**2).imag)


def _root(function, guess: complex, tolerance: float) -> complex:  # type: ignore[no-untyped-def]
    """By the secant method."""
    a, b = guess, 1.001 * guess
    at_a, at_b = function(a), function(b)
    for _ in range(20):
        if abs(at_b) < tolerance:
            return b
        a, b, at_a = b, b - at_b * (b - a) / (at_b - at_a), at_b
        at_b = function(b)
    raise ArithmeticError("no wavenumber found")


def _equations(
    relaxation: Relaxation, axis: int, k: complex, h: float, omega: float, qp: float, qs: float
) -> Complexes:
    """The matrix that takes velocities (3 components of 8 cells) to omega^2 times them."""
    release = 1 / (1 + 1j * omega * relaxation.tau)
    loss_p, loss_s = (relaxation.weights(1 / q) * release for q in (qp, qs))
    mu, p_modulus = RHO * VS**2, RHO * VP**2
    forward, backward = _differences(axis, k, h)
    # strain[a]: the rows of d v_a / d a at cell centres, as a matrix on all 24 velocities.
    strain = [_place(forward[a], a) for a in range(3)]
    spreading = sum(strain)
    stress = {
        (a, a): (p_modulus * (1 - loss_p))[:, None] * spreading
        - (2 * mu * (1 - loss_s))[:, None] * (spreading - strain[a])
        for a in range(3)
    }
    for a, b in ((0, 1), (0, 2), (1, 2)):
        shear = _place(backward[b], a) + _place(backward[a], b)
        stress[a, b] = stress[b, a] = (mu * (1 - loss_s))[:, None] * shear
    force = [
        sum((backward if b == a else forward)[b] @ stress[a, b] for b in range(3)) for a in range(3)
    ]
    return -np.concatenate(force) / RHO


def _differences(axis: int, k: complex, h: float) -> tuple[list[Complexes], list[Complexes]]:
    """Fourth-order differences along each axis between the eight parities."""
    parity, one = np.arange(CELLS), np.eye(CELLS)
    forward, backward = [], []
    for a in range(3):
        ahead = one[parity ^ (1 << a)] * (np.exp(-1j * k) if a == axis else 1.0)
        behind = np.linalg.inv(ahead)
        forward.append((27 * (ahead - one) - (ahead @ ahead - behind)) / (24 * h))
        backward.append((27 * (one - behind) - (ahead - behind @ behind)) / (24 * h))
    return forward, backward


def _place(block: Complexes, component: int) -> Complexes:
    """An (8, 24) matrix that acts on one component alone."""
    whole = np.zeros((CELLS, 3 * CELLS), complex)
    whole[:, CELLS * component : CELLS * (component + 1)] = block
    return whole
