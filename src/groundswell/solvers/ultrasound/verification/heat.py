"""The temperature of uniform tissue against closed forms of Pennes' equation.

The sides, through which no heat flows, are so far away that the tissue is as good as infinite.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import erf, exp, pi, sqrt

import numpy as np
from scipy.integrate import quad

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.ultrasound.heat.bioheat import SpectralBioheat
from groundswell.solvers.ultrasound.heat.tissue import Tissue
from groundswell.verify import Check

H, N = 0.5e-3, 40  # m, points along each axis
AT = H * (np.arange(N) - (N - 1) / 2)
SQUARES = AT[:, None, None] ** 2 + AT[:, None] ** 2 + AT**2
TISSUE = Tissue(perfusion=8.0).coefficients(1000.0)
D = float(TISSUE.conductivity / TISSUE.capacity)  # diffusivity, m^2/s
P = float(TISSUE.cooling)  # rate at which blood carries heat away, 1/s
RATE, RADIUS = 1e6, 4e-3  # W/m^3, m
FINER = 8  # parts of a cell along each axis, for the share that lies in a sphere


def gaussian(backend: Backend, _full: bool) -> Iterator[Check]:
    """A Gaussian rise spreads and cools; the number of steps does not matter."""
    sigma, time = 1.5e-3, 4.0
    wide = sigma**2 + 2 * D * time
    exact = exp(-P * time) * (sigma**2 / wide) ** 1.5 * np.exp(-SQUARES / (2 * wide))
    for steps in (1, 7):
        with backend.arithmetic():
            method = SpectralBioheat(TISSUE, 0 * SQUARES, (H,) * 3, backend)
            method.start(backend.to_device(np.exp(-SQUARES / (2 * sigma**2))))
            for _ in range(steps):
                found = method.advance(time / steps, 0.0)
        error = np.abs(backend.to_host(found) - exact).max() / exact.max()
        yield Check.at_most(f"spreading Gaussian, steps: {steps}, error over the peak", error, 2e-7)


def sphere(backend: Backend, _full: bool) -> Iterator[Check]:
    """A sphere that is heated at a constant rate, within it and outside."""
    time, middle = 10.0, N // 2
    with backend.arithmetic():
        method = SpectralBioheat(TISSUE, RATE * _share_in_sphere(), (H,) * 3, backend)
        found = backend.to_host(method.advance(time, 1.0))
    at = [middle, middle + 4, middle + 7, middle + 9, middle + 12]
    exact = np.array([_heated(sqrt(SQUARES[middle, middle, n]), time) for n in at])
    error = np.abs(found[middle, middle, at] - exact).max() / exact.max()
    where = f"{RADIUS / H:g} points in its radius"
    yield Check.at_most("heated sphere: error over the rise at its centre", error, 4e-3, note=where)


def _share_in_sphere() -> Floats:
    """The part of the cell around each point that lies in the sphere."""
    inside = np.zeros(SQUARES.shape)
    shifts = H * ((np.arange(FINER) + 0.5) / FINER - 0.5)
    for dz, dy, dx in product(shifts, repeat=3):
        z, y, x = (AT + dz)[:, None, None], (AT + dy)[:, None], AT + dx
        inside += z**2 + y**2 + x**2 < RADIUS**2
    return inside / FINER**3


def _heated(r: float, time: float) -> float:
    """The rise at a distance from the centre of the heated sphere, K."""
    rise, _ = quad(lambda t: exp(-P * t) * _instantaneous(r, t), 0, time, limit=200)
    return RATE / float(TISSUE.capacity) * float(rise)


def _instantaneous(r: float, time: float) -> float:
    """The rise after one of 1 K in the sphere (Carslaw & Jaeger 1959, section 10.3)."""
    width = 2 * sqrt(D * time)
    near, far = (RADIUS - r) / width, (RADIUS + r) / width
    tails = exp(-(near**2)) - exp(-(far**2))
    return (erf(near) + erf(far)) / 2 - width / (2 * r * sqrt(pi)) * tails
