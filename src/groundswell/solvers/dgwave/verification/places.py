"""A double couple at several places of its element, in a full space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.problems.fullspace import DIP, MOMENT, RAKE, STRIKE
from groundswell.seismology.problems.tables import Floats, point, receivers
from groundswell.seismology.reference.fullspace import double_couple_tensor, moment_velocity
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.pulse import Pulse
from groundswell.solvers.dgwave.verification.simulation import make_case, motion
from groundswell.verify import Check

SPACE = HomogeneousMedium(vp=3500.0, vs=2000.0, rho=2500.0)
DEGREE, EDGE, ELEMENTS = 5, 800.0, 5  # m; elements along an edge of the region
SIGMA, DELAY = 0.16, 0.8  # s: seven points per S wavelength where the spectrum is 5 % of its peak
MIDDLE = 0.5 * EDGE * ELEMENTS
# Distance of the source from the middle of an element along x, y, z, in edges.
PLACES = {
    "at an odd place": (-0.18, 0.14, -0.03),
    "on an edge": (0.5, 0.5, -0.14),
    "in the middle": (0.0, 0.0, 0.0),
    "on a face": (0.5, 0.0, 0.0),
    "on a corner": (0.5, 0.5, 0.5),
}
QUICK = 2  # places
DISTANCES = {1.5: 3.0, 1.9: 2.0}  # in edges: limit of the difference, % of all motion there


def double_couple(backend: Backend, full: bool) -> Iterator[Check]:
    """Root mean square of eight receivers at each distance, from each place."""
    for name, place in [*PLACES.items()][: None if full else QUICK]:
        found, exact = _motion(backend, MIDDLE + EDGE * np.array(place))
        parts = zip(np.split(found, len(DISTANCES)), np.split(exact, len(DISTANCES)), strict=True)
        for (distance, limit), (ours, theirs) in zip(DISTANCES.items(), parts, strict=True):
            misfit = 100 * float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
            title = f"double couple {name}: difference at {distance:g} edges"
            yield Check.at_most(title, misfit, limit, "%", f"elements of {EDGE:g} m")


def _motion(backend: Backend, source: Floats) -> tuple[Floats, Floats]:
    """Velocity at the receivers, and the exact one, (receivers, 3, n), m/s."""
    couple = {"strike": STRIKE, "dip": DIP, "rake": RAKE, "moment": MOMENT}
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    offsets = _offsets()
    case = make_case(
        grid={"size": (EDGE * ELEMENTS,) * 3, "spacing": EDGE},
        method={"degree": DEGREE},
        boundary={"top": "pml", "width": 2},
        time={"duration": DELAY + max(DISTANCES) * EDGE / SPACE.vs + 4 * SIGMA},
        medium={"kind": "homogeneous", "vp": SPACE.vp, "vs": SPACE.vs, "rho": SPACE.rho},
        source=[point(source, history, kind="double-couple", **couple)],
        receiver=receivers(source + offsets),
    )
    time, velocity = motion(case, backend)
    moment, pulse = double_couple_tensor(STRIKE, DIP, RAKE, MOMENT), Pulse.gaussian(SIGMA, DELAY)
    return velocity, np.array([moment_velocity(SPACE, moment, r, time, pulse) for r in offsets])


def _offsets() -> Floats:
    """Receivers relative to the source: towards the corners of a turned cube, (receivers, 3), m."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / np.sqrt(3)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    return np.concatenate([corners @ turn * distance * EDGE for distance in DISTANCES])
