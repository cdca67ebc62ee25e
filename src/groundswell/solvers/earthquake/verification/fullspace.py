"""A double couple in a full space, compared with Aki and Richards' solution."""

from __future__ import annotations

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.reference.fullspace import double_couple_tensor, moment_velocity
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.pulse import Pulse
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification.simulation import Floats
from groundswell.verify import Check

SPACE = HomogeneousMedium(vp=3464.0, vs=2000.0, rho=2500.0)
STRIKE, DIP, RAKE, MOMENT = 33.0, 62.0, 24.0, 1e15  # degrees, N m

# Moment rate: a Gaussian. Far away velocity is its derivative, whose spectrum is down to 5 % of its
# peak at omega sigma = 3.03.
SIGMA, DELAY = 0.255, 1.2  # s
HIGHEST = 3.03 / (2 * np.pi * SIGMA)

RADIUS = 2400.0  # m, of the farthest receiver: 2.3 of the shortest S wavelengths
DURATION = DELAY + RADIUS / SPACE.vs + 4 * SIGMA


@sim.needs_misfits
def double_couple(backend: Backend, full: bool) -> list[Check]:
    """Receivers in all directions, off the grid, with absorbing layers on all six sides.

    Seismograms are not windowed, so reflections from the layers count.
    """
    points = 20 if full else 10  # to the shortest S wavelength
    time, velocity, offsets = _simulate(backend, SPACE.vs / HIGHEST / points)
    pulse = Pulse.gaussian(SIGMA, DELAY)
    moment = double_couple_tensor(STRIKE, DIP, RAKE, MOMENT)
    exact = [moment_velocity(SPACE, moment, r, time, pulse) for r in offsets]
    envelope, phase = sim.worst_misfits(velocity, exact, time, (0.1, HIGHEST))
    where = f"{points} points to the shortest S wavelength, worst of {len(offsets)} receivers"
    limits = (0.1, 0.05) if full else (0.4, 0.15)
    return [
        Check.at_most("double couple: envelope misfit", envelope, limits[0], "%", where),
        Check.at_most("double couple: phase misfit", phase, limits[1], "%", where),
    ]


def _simulate(backend: Backend, spacing: float) -> tuple[Floats, Floats, Floats]:
    """Times (n,), velocities (receivers, 3, n) and the receivers' offsets from the source."""
    cells = int(np.ceil(2 * RADIUS / spacing))
    size = cells * spacing
    source = np.array([0.503, 0.497, 0.506]) * size
    directions = np.random.default_rng(4).normal(size=(12, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offsets = directions * np.linspace(0.3, 0.96, 12)[:, None] * RADIUS
    case = sim.make_case(
        grid={"size": (size, size, size), "spacing": spacing},
        time={"duration": DURATION},
        medium={"kind": "homogeneous", "vp": SPACE.vp, "vs": SPACE.vs, "rho": SPACE.rho},
        boundary={"top": "absorbing"},
        source=[
            sim.point(
                source,
                {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY},
                kind="double-couple",
                **{"strike": STRIKE, "dip": DIP, "rake": RAKE, "moment": MOMENT},
            )
        ],
        receiver=sim.receivers(source + offsets),
    )
    return *sim.motion(case, backend), offsets
