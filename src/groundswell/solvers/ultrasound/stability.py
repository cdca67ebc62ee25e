"""The longest stable step of the k-space scheme.

A plane wave with the wavenumber k in a homogeneous medium obeys

    p(n + 1) = (2 - a - b) p(n) - (1 - b) p(n - 1),
    a = c^2 (1 - eta k^(y - 1)) K^2 dt^2,    b = c^2 |tau| k^(y - 2) K^2 dt,
    K = 2 sin(c_ref k dt / 2) / (c_ref dt),

because the absorption uses the rate of density of the last step. The wave does not grow if
a + 2 b <= 4. Without losses, this is the limit of Mast et al. (2001), IEEE Trans. Ultrason.
Ferroelectr. Freq. Control 48, 341-354. In heterogeneous media, we use the largest coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi

import numpy as np
from numpy.typing import NDArray

from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.medium import AcousticMedium

WAVENUMBERS = 16  # at which the limit is evaluated, up to the largest
SHORTEST = 1e-4  # shortest trial step, relative to the longest one
TRIALS = 2000  # number of trial steps


@dataclass(frozen=True)
class Coefficients:
    """Largest coefficients of a medium.

    Args:
        stiffness: c^2, m^2/s^2.
        dispersion: -c^2 eta, without the factor k^(y - 1); 0 where eta is positive.
        absorption: c^2 |tau|, without the factor k^(y - 2).
        power: exponent y.
    """

    stiffness: float
    dispersion: float
    absorption: float
    power: float

    @classmethod
    def of(cls, medium: AcousticMedium) -> Coefficients:
        """The coefficients of a medium."""
        squared = np.square(medium.speed)
        eta = medium.eta if medium.is_dispersive else np.zeros(1)
        tau = medium.tau if medium.is_absorbing else np.zeros(1)
        return cls(
            float(np.max(squared)),
            max(0.0, float(np.max(-squared * eta))),
            float(np.max(squared * np.abs(tau))),
            medium.power if medium.is_absorbing or medium.is_dispersive else STOKES,
        )

    def growth(self, k: NDArray[np.float64], reference_speed: float, dt: float) -> float:
        """(a + 2 b) / 4 at the worst of these wavenumbers (rad/m): above 1, waves grow."""
        squared = (2 * np.sin(reference_speed * k * dt / 2) / reference_speed) ** 2
        dispersed = self.stiffness + self.dispersion * k ** (self.power - 1)
        damped = 2 * self.absorption * k ** (self.power - 2) / dt
        return float(np.max(squared * (dispersed + damped)) / 4)


def longest_step(medium: AcousticMedium, largest_k: float, reference_speed: float) -> float:
    """Longest step up to which all steps are stable, s; infinite if there is none.

    Args:
        medium: the medium.
        largest_k: largest wavenumber of the grid, rad/m.
        reference_speed: sound speed of the k-space correction, m/s.
    """
    found = Coefficients.of(medium)
    k = largest_k * np.arange(1, WAVENUMBERS + 1) / WAVENUMBERS
    longest = WAVENUMBERS * pi / (reference_speed * largest_k)  # c_ref k dt / 2 = pi / 2 at k[0]
    trials = longest * np.geomspace(SHORTEST, 1, TRIALS)
    stable = 0.0
    for dt in trials:
        if found.growth(k, reference_speed, dt) > 1 + 1e-9:
            return _boundary(found, k, reference_speed, (stable, float(dt)))
        stable = float(dt)
    return inf


def _boundary(
    found: Coefficients, k: NDArray[np.float64], speed: float, between: tuple[float, float]
) -> float:
    """The step between a stable and an unstable one at which waves begin to grow, s."""
    stable, unstable = between
    for _ in range(40):
        middle = (stable + unstable) / 2
        if found.growth(k, speed, middle) > 1 + 1e-9:
            unstable = middle
        else:
            stable = middle
    return stable
