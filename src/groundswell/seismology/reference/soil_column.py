"""S waves that propagate vertically in soft soil below a free surface: a fine solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.plasticity import Elements


@dataclass(frozen=True, eq=False)
class SoilColumn:
    """A uniform column of soil, whose shear stress is that of springs in parallel that slide.

    rho dv/dt = ds/dz, with second-order differences, staggered in space and time. Each spring has
    its share of mu dv/dz, and never more stress than its strength.

    Args:
        vs: m/s.
        rho: kg/m^3.
        elements: the springs.
        reference_strain: the unit of their strains.
        depth: of the column, m; its lower end is free, too.
    """

    vs: float
    rho: float
    elements: Elements
    reference_strain: float
    depth: float

    def surface_motion(
        self, velocity: Callable[[Floats], Floats], place: float, times: Floats, cells: int
    ) -> Floats:
        """Horizontal velocity at a depth after soil was set in motion without stress, m/s.

        Args:
            velocity: function of depth (m) that returns the velocity at time 0, m/s.
            place: the depth, m.
            times: at equal intervals, which are also the first of them, s.
            cells: of the column.
        """
        h, mu = self.depth / cells, self.rho * self.vs**2
        steps = int(np.ceil(times[0] * self.vs / (0.5 * h)))
        dt, centres = times[0] / steps, h * (np.arange(cells, dtype=np.float64) + 0.5)
        stiffness = mu * self.elements.shares
        limits = mu * self.reference_strain * self.elements.strengths
        v, springs, found = velocity(centres), np.zeros((cells + 1, len(limits))), []
        for _ in times:
            for _ in range(steps):
                stress = springs.sum(axis=1)
                stress[[0, -1]] = 0
                v += dt / self.rho * np.diff(stress) / h
                change = dt * np.diff(v, prepend=v[0], append=v[-1]) / h
                springs = np.clip(springs + change[:, None] * stiffness, -limits, limits)
            found.append(np.interp(place, centres, v))
        return np.array(found)
