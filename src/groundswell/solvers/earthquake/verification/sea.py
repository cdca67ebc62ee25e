"""Water over rock with sources below it, and ice on water.

Motion at and below the sea floor is compared with wavenumber integration. Absorbing layers and the
time step are the defaults. Beside ice on water over rock, all motion must decay in the layers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.problems import case_sections
from groundswell.seismology.problems.case_sections import Table
from groundswell.seismology.reference.layered import (
    LayeredHalfSpace,
    MomentSource,
    layered_velocity,
)
from groundswell.seismology.reference.misfit import relative_misfit
from groundswell.seismology.reference.pulse import Pulse
from groundswell.seismology.sources.moment import double_couple, explosion
from groundswell.solvers.earthquake.solver import VELOCITIES, Earthquake
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

H, FLOOR = 100.0, 800.0  # m
SEA = (Layer(0.0, 1500.0, 0.0, 1025.0), Layer(FLOOR, 4500.0, 2500.0, 2500.0))
SIZE, DURATION = (3200.0, 3200.0, 1600.0), 4.0
SIGMA, DELAY = 0.25, 1.5  # s, of a Gaussian moment rate
MOMENT = 1e15
STRIKE, DIP, RAKE = 25.0, 70.0, 40.0
SOURCE = np.array([1130.0, 1270.0])  # m
PLACE = np.array([950.0, 640.0])  # of the receivers from the source, m
# Depth below the floor, cells, and limits of the misfit on the floor, across and along z, %.
SOURCES = (("explosion", 4.0, 2.0, 2.0), ("double-couple", 0.49, 5.0, 5.0))
DEEPER = (("double-couple", 1.5, 5.0, 5.0), ("double-couple", 4.0, 2.0, 2.0))
RECEIVERS = (0.0, FLOOR, FLOOR + 1.3 * H)  # depths, m


def sources_below_water(backend: Backend, full: bool) -> Iterator[Check]:
    """Motion of the sea floor and of the surface of the sea, and its decay."""
    for kind, below, *limits in SOURCES + (DEEPER if full else ()):
        depth = FLOOR + below * H
        solver = sim.build(_sea(kind, depth), backend)
        steps = solver.setup.steps
        found = sim.seismograms(solver, steps)
        exact = _exact(kind, depth, solver.setup.dt * np.arange(steps))
        name = f"{kind} {below:g} cells below the sea floor"
        for along, part, limit in zip(
            ("horizontal", "vertical"), (slice(2), slice(2, 3)), limits, strict=True
        ):
            misfit = 100 * relative_misfit(found[1:, part], exact[1:, part])
            yield Check.at_most(f"{name}: misfit of {along} motion", misfit, limit, "%")
        level = np.abs(found[0, :2]).max() / np.abs(found[0, 2]).max()
        yield Check.at_most(f"{name}: horizontal over vertical motion of the sea", level, 1e-9)
        before, after = _motion(solver, 1), _motion(solver, 2 * steps)
        title = f"{name}: motion after {3 * DURATION:g} s over that after {DURATION:g} s"
        yield Check.at_most(title, 100 * after / before, 20.0, "%")


def _sea(kind: str, depth: float) -> sim.EarthquakeCase:
    angles = {"strike": STRIKE, "dip": DIP, "rake": RAKE} if kind == "double-couple" else {}
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    source = case_sections.point((*SOURCE, depth), history, kind=kind, moment=MOMENT, **angles)
    return sim.make_case(
        grid={"size": SIZE, "spacing": H},
        time={"duration": DURATION},
        medium=case_sections.layered_medium(SEA),
        source=[source],
        receiver=case_sections.receivers([(*(SOURCE + PLACE), z) for z in RECEIVERS]),
    )


def _exact(kind: str, depth: float, time: Floats) -> Floats:
    """Exact velocity at the receivers, (receivers, 3, n)."""
    moment = explosion(MOMENT) if kind == "explosion" else double_couple(STRIKE, DIP, RAKE, MOMENT)
    xx, yy, zz, xy, xz, yz = moment
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    source = MomentSource(depth, tensor, Pulse.gaussian(SIGMA, DELAY))
    places = np.array([(*PLACE, z) for z in RECEIVERS])
    return layered_velocity(LayeredHalfSpace(SEA), source, places, time)


# --- ice ------------------------------------------------------------------------------------------

ICE = (
    Layer(0.0, 3800.0, 1900.0, 917.0),
    Layer(300.0, 1480.0, 0.0, 1025.0),
    Layer(600.0, 4500.0, 2500.0, 2500.0),
)


def ice_on_water(backend: Backend, full: bool) -> Iterator[Check]:
    """Motion of the whole grid at the end over its peak, beside matched layers."""
    spacing, duration = (50.0, 12.0) if full else (100.0, 16.0)
    for width in (6, 10, 20) if full else (10,):
        found = sim.build(_ice(spacing, width), backend)
        count = round(duration / 8 / found.setup.dt)
        motion = [_motion(found, count) for _ in range(8)]
        name = f"ice on water over rock, layers of {width} cells: motion at the end over its peak"
        note = f"after {8 * count} steps"
        yield Check.at_most(name, 100 * motion[-1] / max(motion), 10.0, "%", note=note)


def _ice(spacing: float, width: int) -> sim.EarthquakeCase:
    history: Table = {"kind": "gaussian", "sigma": 0.08 * spacing / 50, "delay": 0.008 * spacing}
    return sim.make_case(
        grid={"size": (2000.0, 2000.0, 1200.0), "spacing": spacing},
        time={"duration": 8.0},
        medium=case_sections.layered_medium(ICE),
        boundary={"width": width},
        source=[
            case_sections.point((1030.0, 970.0, 100.0), history, kind="explosion", moment=1e14)
        ],
        run={"precision": "single"},
    )


def _motion(found: Earthquake, steps: int) -> float:
    """RMS of the velocities of all cells after more steps."""
    sim.advance(found, steps)
    squares = [np.mean(v**2) for v in sim.read(found, VELOCITIES).values()]
    return float(np.sqrt(np.sum(squares)))
