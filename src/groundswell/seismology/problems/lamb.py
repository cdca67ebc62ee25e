"""Lamb's problem: a vertical force on the surface of a half-space, and the surface motion."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.problems.case_sections import Table, point, receivers, worst_misfits
from groundswell.seismology.reference.lamb import PoissonHalfSpace, lamb_velocity
from groundswell.seismology.reference.pulse import Pulse

HALF_SPACE = PoissonHalfSpace(vs=2000.0, rho=2500.0)

# The force is a Gaussian of time. The velocity of the Rayleigh wave is proportional to its
# derivative of order 3/2, the spectrum of which falls to 5 % of the peak at omega sigma = 3.2.
FORCE, SIGMA, DELAY = 1e10, 0.255, 1.2  # N, s, s
HISTORY = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
HIGHEST = 3.2 / (2 * np.pi * SIGMA)
SHORTEST = HALF_SPACE.vs / HIGHEST  # S wavelength, m

DISTANCES = (900.0, 2000.0, 3300.0)  # m: up to 3.3 of the shortest S wavelengths
DIRECTIONS = np.radians([3.0, 87.0, 42.0])  # from x towards y
CORNER = (1130.0, 1070.0)  # m, from the corner of the region to the force
DEPTH = 2100.0
DURATION = DELAY + DISTANCES[-1] / (0.9 * HALF_SPACE.vs) + 3 * SIGMA


def sections(spacing: float) -> Table:
    """Sections of a case with cells of edges `spacing`, m; force and receivers are off the grid."""
    across = DISTANCES[-1] * np.cos(DIRECTIONS[-1]) + 2 * CORNER[0]
    size = [float(np.ceil(length / spacing) * spacing) for length in (across, across, DEPTH)]
    ground = {"vp": HALF_SPACE.vp, "vs": HALF_SPACE.vs, "rho": HALF_SPACE.rho}
    places = np.add(CORNER, _directions() * np.array(DISTANCES)[:, None])
    return {
        "grid": {"size": size, "spacing": spacing},
        "time": {"duration": DURATION},
        "medium": {"kind": "homogeneous", **ground},
        "source": [point((*CORNER, 0.0), HISTORY, kind="force", force=[0.0, 0.0, FORCE])],
        "receiver": receivers((x, y, 0.0) for x, y in places),
    }


def misfits(time: Floats, velocity: Floats) -> dict[float, tuple[float, float]]:
    """Envelope and phase misfit, %, by distance, m: the worse of radial and vertical motion.

    Args:
        velocity: (receivers, 3, n), m/s, at `time`, (n,), s.
    """
    radial = np.einsum("rc,rcn->rn", _directions(), velocity[:, :2])
    motion = np.stack([radial, velocity[:, 2]], axis=1)
    return {
        distance: worst_misfits(
            [series], [lamb_velocity(HALF_SPACE, _force(), distance, time)], time, (0.1, HIGHEST)
        )
        for series, distance in zip(motion, DISTANCES, strict=True)
    }


def _directions() -> Floats:
    return np.column_stack([np.cos(DIRECTIONS), np.sin(DIRECTIONS)])


def _force() -> Pulse:
    def history(t: Floats) -> Floats:
        return FORCE * np.exp(-0.5 * ((t - DELAY) / SIGMA) ** 2)

    return Pulse.from_function(history, DELAY - 6 * SIGMA, DELAY + 6 * SIGMA)
