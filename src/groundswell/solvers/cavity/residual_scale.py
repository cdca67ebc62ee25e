"""The units of residuals, so that they compare between grids and between flows."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.solvers.cavity.setup import Setup

BOUND = 1e5  # of scaled norms: far above those of fluid at rest next to a hot wall
DIGITS = 6  # significant digits compared with the tolerance: rank counts change the rounding


class ResidualScale:
    """U / L for the divergence, U^2 / L for velocity and U dT / L for temperature."""

    def __init__(self, setup: Setup) -> None:
        speed, size = setup.fluid.speed, setup.scales.length
        contrast = setup.scales.temperature_difference or 1.0
        self._scale = np.array([1.0, speed, speed, speed, contrast]) * speed / size

    def of(self, norms: Floats) -> Floats:
        """Norms (5,) in these units."""
        return np.asarray(norms / self._scale)

    def largest(self, norms: Floats) -> float:
        """The largest of these, rounded so that it does not depend on the number of ranks."""
        return float(f"{self.of(norms).max():.{DIGITS - 1}e}")

    def is_bounded(self, norms: Floats) -> bool:
        """Whether a flow with these norms can still converge; False if any is not finite."""
        return bool((self.of(norms) < BOUND).all())
