"""S waves that propagate vertically through rock that yields: a fine solution in one dimension."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats

Profile = Callable[[Floats], Floats]  # of depth, m


@dataclass(frozen=True)
class YieldingColumn:
    """A column of rock of uniform stiffness, with a strength that varies with depth.

    rho dv/dt = ds/dz, ds/dt = mu dv/dz, by differences of second order, staggered in space and
    time; where |s| exceeds the strength Y(z), a step of length dt leaves Y + (|s| - Y) exp(-dt/Tv).
    The mean stress does not change, so that Y is that of the initial stress.

    Args:
        vs: m/s.
        rho: kg/m^3.
        strength: Y, Pa.
        relaxation_time: Tv, s.
        depth: of the column, m; its ends do not move.
    """

    vs: float
    rho: float
    strength: Profile
    relaxation_time: float
    depth: float

    def propagate(self, velocity: Profile, time: float, cells: int) -> tuple[Floats, ...]:
        """A pulse that propagates downwards, after a time.

        Args:
            velocity: of the pulse at time 0, m/s.
            time: s.
            cells: of the column.

        Returns:
            Depths (cells + 1,), m, and velocities there, m/s; then depths (cells,) between them,
            stresses, Pa, and accumulated plastic strains.
        """
        h = self.depth / cells
        steps = int(np.ceil(time * self.vs / (0.9 * h)))
        dt, mu = time / steps, self.rho * self.vs**2
        z = np.arange(cells + 1, dtype=np.float64) * h
        between = z[:-1] + h / 2
        # The stress is half a step later, when the pulse has moved on.
        stress = -self.rho * self.vs * velocity(between - self.vs * dt / 2)
        v, strength, strain = velocity(z), self.strength(between), np.zeros(cells)
        remembered = np.exp(-dt / self.relaxation_time) if self.relaxation_time else 0.0
        for _ in range(steps):
            v[1:-1] += dt / self.rho * np.diff(stress) / h
            stress += mu * dt * np.diff(v) / h
            excess = (1 - remembered) * np.maximum(np.abs(stress) - strength, 0)
            stress -= np.sign(stress) * excess
            strain += excess / (2 * mu)
        return z, v, between, stress, strain
