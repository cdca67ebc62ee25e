"""A double couple in three layers over a half-space, compared with wavenumber integration.

Misfits are relative L2 norms over six stations on the surface, all components and all times.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.problems.case_sections import Table, point, receivers
from groundswell.seismology.reference.fullspace import double_couple_tensor
from groundswell.seismology.reference.layered import (
    LayeredHalfSpace,
    MomentSource,
    layered_velocity,
)
from groundswell.seismology.reference.misfit import relative_misfit
from groundswell.seismology.reference.pulse import Pulse

# vp, vs (m/s) and density (kg/m^3) of the layers and the half-space.
ROCKS = ((2600, 1400, 2050), (4000, 2200, 2350), (5000, 2850, 2550), (6000, 3460, 2700))

SIZE = (11000.0, 11000.0, 5000.0)  # m
EPICENTRE, DEPTH = (3110.0, 4530.0), 2830.0  # m
STRIKE, DIP, RAKE, MOMENT = 30.0, 60.0, 40.0, 1e16  # degrees, N m
SIGMA, DELAY = 0.25, 1.25  # s, of the Gaussian moment rate
DURATION = 9.0  # s

# The stations are at least 1.5 km from the sides of the region.
DISTANCES = np.array([1000.0, 2300.0, 3600.0, 5000.0, 6400.0, 8000.0])  # m
DIRECTIONS = np.radians([200.0, 110.0, 305.0, 62.0, 15.0, 38.0])  # from x towards y
OFFSETS = np.column_stack([np.cos(DIRECTIONS), np.sin(DIRECTIONS)]) * DISTANCES[:, None]


def layers(interfaces: tuple[float, ...]) -> list[Layer]:
    """The layers with interfaces at these depths, m."""
    return [Layer(top, *rock) for top, rock in zip((0.0, *interfaces), ROCKS, strict=True)]


def sections(medium: Table, spacing: float) -> Table:
    """Sections of a case with cells of edges `spacing`, m.

    Args:
        medium: its `[medium]` table.
    """
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    couple = {"strike": STRIKE, "dip": DIP, "rake": RAKE, "moment": MOMENT}
    return {
        "grid": {"size": SIZE, "spacing": spacing},
        "time": {"duration": DURATION},
        "medium": medium,
        "source": [point((*EPICENTRE, DEPTH), history, kind="double-couple", **couple)],
        "receiver": receivers((x, y, 0.0) for x, y in OFFSETS + EPICENTRE),
        "run": {"precision": "single"},
    }


def exact_velocity(ground: list[Layer], time: Floats) -> Floats:
    """Velocity at the stations, (stations, 3, n), m/s, at `time`, (n,), s."""
    moment = double_couple_tensor(STRIKE, DIP, RAKE, MOMENT)
    source = MomentSource(DEPTH, moment, Pulse.gaussian(SIGMA, DELAY))
    on_surface = [(x, y, 0.0) for x, y in OFFSETS]
    return layered_velocity(LayeredHalfSpace(ground), source, on_surface, time)


def misfit(ground: list[Layer], time: Floats, velocity: Floats) -> float:
    """Misfit of velocities (stations, 3, n), %."""
    return 100 * relative_misfit(velocity, exact_velocity(ground, time))
