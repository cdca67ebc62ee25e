"""A double couple in a full space, compared with Aki and Richards' solution."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.problems.case_sections import Table, point, receivers, worst_misfits
from groundswell.seismology.reference.fullspace import double_couple_tensor, moment_velocity
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.pulse import Pulse

SPACE = HomogeneousMedium(vp=3464.0, vs=2000.0, rho=2500.0)
STRIKE, DIP, RAKE, MOMENT = 33.0, 62.0, 24.0, 1e15  # degrees, N m

# The moment rate is a Gaussian. In the far field, velocity is its derivative. Its spectrum falls to
# 5 % of the peak at omega sigma = 3.03.
SIGMA, DELAY = 0.255, 1.2  # s
HIGHEST = 3.03 / (2 * np.pi * SIGMA)
SHORTEST = SPACE.vs / HIGHEST  # S wavelength, m

RADIUS = 2400.0  # m, of the farthest receiver: 2.3 of the shortest S wavelengths
DURATION = DELAY + RADIUS / SPACE.vs + 4 * SIGMA


def sections(spacing: float) -> Table:
    """Sections of a case; the region is a cube, and its cells have edges `spacing`, m.

    Receivers lie in all directions. Source and receivers are not on grid nodes.
    """
    size = float(np.ceil(2 * RADIUS / spacing) * spacing)
    source = np.array([0.503, 0.497, 0.506]) * size
    couple = {"strike": STRIKE, "dip": DIP, "rake": RAKE, "moment": MOMENT}
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    return {
        "grid": {"size": (size, size, size), "spacing": spacing},
        "time": {"duration": DURATION},
        "medium": {"kind": "homogeneous", "vp": SPACE.vp, "vs": SPACE.vs, "rho": SPACE.rho},
        "source": [point(source, history, kind="double-couple", **couple)],
        "receiver": receivers(source + offsets()),
    }


def offsets() -> Floats:
    """Positions of the receivers relative to the source, (12, 3), m."""
    directions = np.random.default_rng(4).normal(size=(12, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(directions * np.linspace(0.3, 0.96, 12)[:, None] * RADIUS)


def misfits(time: Floats, velocity: Floats) -> tuple[float, float]:
    """Envelope and phase misfit, %, of the worst receiver.

    Seismograms are not windowed, so reflections from the boundaries of the region count.

    Args:
        velocity: (receivers, 3, n), m/s, at `time`, (n,), s.
    """
    pulse = Pulse.gaussian(SIGMA, DELAY)
    moment = double_couple_tensor(STRIKE, DIP, RAKE, MOMENT)
    exact = [moment_velocity(SPACE, moment, r, time, pulse) for r in offsets()]
    return worst_misfits(velocity, exact, time, (0.1, HIGHEST))
