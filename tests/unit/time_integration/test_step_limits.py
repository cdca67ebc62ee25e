"""The stable step of the staggered leapfrog, against spectra of its discrete operator."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import eigvalsh

from groundswell.arrays import Floats
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH
from groundswell.time_integration.step_limits import staggered_leapfrog

ROWS = 10  # of a half-space; its fastest modes hug the surface


def fourth_order(k: float) -> float:
    """What a difference does to a wave along x of k radians a cell, but for a factor of i."""
    return 2 * (9 / 8 * np.sin(k / 2) - 1 / 24 * np.sin(3 * k / 2))


class HalfSpace:
    """Rows of velocity below a free surface: vx, vy and vz of waves along x and y, density 1.

    Cells are 1 wide and `deep` deep, P waves have speed 1 and S waves 1 / `ratio`.
    """

    def __init__(self, ratio: float, deep: float, kx: float, ky: float) -> None:
        self.mu = 1 / ratio**2
        self.lam, self.deep = 1 - 2 * self.mu, deep
        self.dx, self.dy = fourth_order(kx), fourth_order(ky)
        slope_x, slope_y = (SHEAR_REACH * deep * 2 * np.sin(k / 2) for k in (kx, ky))
        spreading = 2 * np.sin(kx / 2) * self.row(0, 0) + 2 * np.sin(ky / 2) * self.row(1, 0)
        self.above = (
            self.row(0, 0) + slope_x * self.row(2, 0),
            self.row(1, 0) + slope_y * self.row(2, 0),
            self.row(2, 1) - 2 * deep * self.lam * spreading,
        )

    def row(self, component: int, k: int) -> Floats:
        """The value in row k as a combination of all that move."""
        if k == -1:
            return self.above[component]
        found = np.zeros((3, ROWS))
        found[component, k : k + 1] = 1  # nothing moves below the last row
        return found.ravel()

    def along_z(self, component: int, k: int) -> Floats:
        """Derivative between rows k - 1 and k."""
        far, low, high, beyond = (self.row(component, k + n) for n in (-2, -1, 0, 1))
        return (9 / 8 * (high - low) - 1 / 24 * (beyond - far)) / self.deep

    def stiffness(self) -> NDArray[np.float64]:
        """Twice the strain energy as a quadratic form of velocities."""
        total = np.zeros((3 * ROWS, 3 * ROWS))
        for k in range(ROWS):
            normal = (
                -self.dx * self.row(0, k),
                -self.dy * self.row(1, k),
                self.along_z(2, k + 1),
            )
            shear = [-self.dx * self.row(1, k) - self.dy * self.row(0, k)]
            if k > 0:  # on the surface itself there is no shear stress
                shear += [
                    self.along_z(c, k) + d * self.row(2, k) for c, d in ((0, self.dx), (1, self.dy))
                ]
            total += self.lam * square(sum(normal)) + 2 * self.mu * sum(map(square, normal))
            total += self.mu * sum(map(square, shear))
        return total

    def fastest(self) -> float:
        """The highest angular frequency; vz on the surface moves half a cell."""
        mass = np.ones((3, ROWS))
        mass[2, 0] = 0.5
        weights = 1 / np.sqrt(mass.ravel())
        return sqrt(eigvalsh(self.stiffness() * np.outer(weights, weights))[-1])


def square(v: Floats) -> Floats:
    return np.outer(v, v)


@pytest.mark.parametrize("deep", [0.5, 1.0, 2.0, 10.0])
@pytest.mark.parametrize("ratio", [1.5, 3.0, 100.0])
def test_a_free_surface_is_stable_up_to_the_limit(ratio: float, deep: float) -> None:
    waves = combinations_with_replacement(np.linspace(0, np.pi, 7), 2)
    stable = 2 / max(HalfSpace(ratio, deep, *k).fastest() for k in waves)
    limit = staggered_leapfrog((1.0, 1.0, deep), 1.0, free_surface=True)
    assert limit <= stable * 1.0005
    assert limit >= 0.92 * stable


def test_without_a_surface_the_limit_is_von_neumanns() -> None:
    limit = staggered_leapfrog((100.0, 100.0, 100.0), 5000.0)
    assert limit == pytest.approx(6 * 100.0 / (7 * sqrt(3) * 5000.0))
