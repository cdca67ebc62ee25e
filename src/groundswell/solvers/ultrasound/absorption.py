"""Power-law absorption and dispersion: coefficients of the fractional Laplacians.

The absorption of a plane wave is alpha = alpha_0 omega^y. In the equation of state,

    p = c^2 (1 - tau d/dt (-laplacian)^(y/2 - 1) - eta (-laplacian)^((y + 1)/2 - 1)) rho,

tau causes the absorption and eta the dispersion that belongs to it (Treeby & Cox 2010, J. Acoust.
Soc. Am. 127, 2741-2748). The time derivative of rho is replaced by -rho_0 div u.
"""

from __future__ import annotations

from math import log, pi, tan

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats

STOKES = 2.0  # power of absorption in a thermoviscous fluid, which has no dispersion


def nepers(coefficient: ArrayLike, power: float) -> Floats:
    """Absorption coefficient in Np (rad/s)^-y / m from one in dB / (MHz^y cm)."""
    per_metre = 100 * np.asarray(coefficient, float) * log(10) / 20
    return np.asarray(per_metre * (1e-6 / (2 * pi)) ** power)


def tau(coefficient: ArrayLike, speed: ArrayLike, power: float) -> Floats:
    """Coefficient of the absorption, -2 alpha_0 c^(y - 1), from Np (rad/s)^-y / m and m/s."""
    return np.asarray(-2 * np.asarray(coefficient) * np.asarray(speed, float) ** (power - 1))


def eta(coefficient: ArrayLike, speed: ArrayLike, power: float) -> Floats:
    """Coefficient of the dispersion, 2 alpha_0 c^y tan(pi y / 2); see `tau`."""
    scale = 2 * tan(pi * power / 2)
    return np.asarray(scale * np.asarray(coefficient) * np.asarray(speed, float) ** power)
