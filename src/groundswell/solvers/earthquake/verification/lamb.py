"""Lamb's problem: a vertical force on the surface of a half-space, and the surface motion."""

from __future__ import annotations

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.reference.lamb import PoissonHalfSpace, lamb_velocity
from groundswell.seismology.reference.pulse import Pulse
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification.simulation import Floats
from groundswell.verify import Check

HALF_SPACE = PoissonHalfSpace(vs=2000.0, rho=2500.0)

# The force is a Gaussian of time. The velocity of its Rayleigh wave goes with the derivative of
# order 3/2, whose spectrum is down to 5 % of its peak at omega sigma = 3.2.
FORCE, SIGMA, DELAY = 1e10, 0.255, 1.2  # N, s, s
HISTORY = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
HIGHEST = 3.2 / (2 * np.pi * SIGMA)

DISTANCES = (900.0, 2000.0, 3300.0)  # m: up to 3.3 of the shortest S wavelengths
DIRECTIONS = np.radians([3.0, 87.0, 42.0])  # from x towards y
CORNER = (1130.0, 1070.0)  # m, of the region, to the force
DEPTH = 2100.0
LIMITS = {False: (0.5, 0.2), True: (0.15, 0.1)}  # % of envelope and phase, quick and full
DURATION = DELAY + DISTANCES[-1] / (0.9 * HALF_SPACE.vs) + 3 * SIGMA


@sim.needs_misfits
def vertical_force(backend: Backend, full: bool) -> list[Check]:
    """Radial and vertical motion at three distances; force and receivers are off the grid."""
    points = 20 if full else 10  # to the shortest S wavelength
    time, motion = _simulate(backend, HALF_SPACE.vs / HIGHEST / points)
    where = f"{points} points to the shortest S wavelength, worse of radial and vertical"
    checks = []
    for series, distance in zip(motion, DISTANCES, strict=True):
        exact = lamb_velocity(HALF_SPACE, _force(), distance, time)
        misfits = sim.worst_misfits([series], [exact], time, (0.1, HIGHEST))
        checks += [
            Check.at_most(f"Lamb's problem at {distance:g} m: {kind}", value, limit, "%", where)
            for kind, value, limit in zip(
                ("envelope misfit", "phase misfit"), misfits, LIMITS[full], strict=True
            )
        ]
    return checks


def _force() -> Pulse:
    def history(t: Floats) -> Floats:
        return FORCE * np.exp(-0.5 * ((t - DELAY) / SIGMA) ** 2)

    return Pulse.from_function(history, DELAY - 6 * SIGMA, DELAY + 6 * SIGMA)


def _simulate(backend: Backend, spacing: float) -> tuple[Floats, Floats]:
    """Times (n,), and radial and downward velocity (receivers, 2, n)."""
    across = DISTANCES[-1] * np.cos(DIRECTIONS[-1]) + 2 * CORNER[0]
    size = [np.ceil(length / spacing) * spacing for length in (across, across, DEPTH)]
    directions = np.column_stack([np.cos(DIRECTIONS), np.sin(DIRECTIONS)])
    places = np.add(CORNER, directions * np.array(DISTANCES)[:, None])
    case = sim.make_case(
        grid={"size": size, "spacing": spacing},
        time={"duration": DURATION},
        medium={
            "kind": "homogeneous",
            **{"vp": HALF_SPACE.vp, "vs": HALF_SPACE.vs, "rho": HALF_SPACE.rho},
        },
        source=[sim.point((*CORNER, 0.0), HISTORY, kind="force", force=[0.0, 0.0, FORCE])],
        receiver=sim.receivers((x, y, 0.0) for x, y in places),
    )
    time, velocity = sim.motion(case, backend)
    radial = np.einsum("rc,rcn->rn", directions, velocity[:, :2])
    return time, np.stack([radial, velocity[:, 2]], axis=1)
