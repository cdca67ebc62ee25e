"""Residuals of the elastic or acoustic wave equations in closed-form fields.

Derivatives are central differences of order six, at 300 points to the shortest wavelength.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.reference.medium import HomogeneousMedium

STENCIL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
TENSOR = [[0, 5, 4], [5, 1, 3], [4, 3, 2]]  # of the order xx, yy, zz, yz, xz, xy
STEP = 2 * np.pi / 300


def derivative(function: Callable[[float], Floats], step: float) -> Floats:
    """The derivative of a function at 0."""
    pairs = ((w, function(n * step) - function(-n * step)) for n, w in STENCIL.items())
    return sum(w * difference for w, difference in pairs) / step


def gradient(function: Callable[[Floats], Floats], points: Floats, step: float) -> Floats:
    """Derivatives of `function`(points) along the axes, (3, ...)."""
    unit = np.eye(3).reshape(3, 3, *[1] * (points.ndim - 1))
    return np.stack([derivative(lambda h, e=e: function(points + h * e), step) for e in unit])


def residuals(
    field: Any,
    medium: HomogeneousMedium,
    points: Floats,
    time: Floats,
    numbers: tuple[float, float],
) -> Floats:
    """Relative residuals of the equation of motion and of Hooke's law, (2,).

    Args:
        field: has the methods `velocity` and `stress` of points and time.
        numbers: largest wavenumber (1/m) and angular frequency (rad/s).
    """
    h, dt = STEP / np.array(numbers)
    strain = gradient(lambda x: field.velocity(x, time), points, h)
    divergence = np.einsum("iij...->j...", gradient(lambda x: tensor(field, x, time), points, h))
    inertia = medium.rho * derivative(lambda t: field.velocity(points, time + t), dt)
    rate = derivative(lambda t: tensor(field, points, time + t), dt)
    unit = np.eye(3).reshape(3, 3, *[1] * (strain.ndim - 2))
    mu = medium.rho * medium.vs**2
    hooke = (medium.rho * medium.vp**2 - 2 * mu) * np.einsum("ii...->...", strain) * unit
    hooke = hooke + mu * (strain + strain.swapaxes(0, 1))
    return np.array([largest(divergence - inertia, inertia), largest(hooke - rate, rate)])


def tensor(field: Any, points: Floats, time: Floats) -> Floats:
    """The stress as a tensor, (3, 3, ...)."""
    return field.stress(points, time)[TENSOR]


def largest(difference: Floats, size: Floats) -> float:
    """The largest difference as a share of the largest value."""
    return float(np.abs(difference).max() / np.abs(size).max())
