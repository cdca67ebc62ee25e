"""Rock that yields: an S pulse against a fine solution in one dimension, and the energy."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems import case_sections
from groundswell.seismology.reference.yielding_column import YieldingColumn
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification.energy import (
    SPACING,
    SPEEDS,
    RandomBox,
    push,
    step_through,
)
from groundswell.time_integration.step_limits import staggered_leapfrog
from groundswell.verify import Check

VP, VS, RHO = 3000.0, 1500.0, 2200.0
DEPTH, TIME = 6000.0, 2.0  # m, s
MIDDLE, WIDTH, SPEED = 1500.0, 200.0, 1.0  # of the pulse: m, m, m/s
# Rock becomes weaker around this depth, where the pulse of 3.3 MPa makes it yield.
WEAK, EXTENT = 3000.0, 400.0  # m
STRONGEST, WEAKEST = 4e6, 1.5e6  # Pa
RELAXATION = 0.05  # s
FINE = 12_000  # cells of the reference


def shear_pulse(backend: Backend, full: bool) -> Iterator[Check]:
    """Velocity and plastic strain of the pulse after it has passed the weak rock."""
    counts = (120, 240, 480) if full else (120, 240)
    column = YieldingColumn(VS, RHO, strength, RELAXATION, DEPTH)
    z, v, between, _, strain = column.propagate(pulse, TIME, FINE)
    errors = []
    for count in counts:
        found = _propagated(backend, count)
        depths = {name: sim.coordinates(found, name)[2].ravel()[2:-2] for name in ("vx", "sxx")}
        wanted = np.interp(depths["vx"], z, v), np.interp(depths["sxx"], between, strain)
        fields = sim.read(found, ("vx", "plastic_strain"))
        computed = (fields[name][:, 1, 1] for name in ("vx", "plastic_strain"))
        errors.append([_relative(a, b) for a, b in zip(computed, wanted, strict=True)])
    (coarse, _), (fine, of_strain) = errors[-2:]
    most = 0.006 if full else 0.015
    slowed = float(v.max()) / SPEED
    note = f"with {counts[-1]} cells; the rock takes {100 * (1 - slowed):.0f} % off the peak"
    yield Check.at_most("S pulse in weak rock: velocity", fine, most, note=note)
    note = f"up to {strain.max():.2e}"
    yield Check.at_most("S pulse in weak rock: plastic strain", of_strain, most, note=note)
    order = log(coarse / fine, 2)
    # Differences are of second order or higher, relaxation is of first order in time.
    yield Check.at_least("S pulse in weak rock: order", order, 1.2, note="of the velocity")


def dissipation(backend: Backend, full: bool) -> Iterator[Check]:
    """Energy in a closed box of random cells: it never grows, with and without a free surface.

    The horizontal stress before the waves is the vertical one, so that it has no energy to give.
    """
    for top, relaxation in ((True, 0.0), (False, 0.05)):
        energies = _energies(backend, RandomBox.random(20, top), relaxation, 1000 if full else 200)
        name = f"energy in rock that yields under a {'free surface' if top else 'rigid lid'}"
        growth = float(np.diff(energies).max() / energies[0])
        left = f"{100 * energies[-1] / energies[0]:.0f} % of it is left"
        yield Check.at_most(f"{name}: largest growth in a step", growth, 1e-13, note=left)


def _energies(backend: Backend, box: RandomBox, relaxation: float, steps: int) -> list[float]:
    """The energy after each step."""
    rock = {"cohesion": 5e5, "friction_angle": 0.0, "relaxation_time": relaxation}
    step = 0.9 * staggered_leapfrog(SPACING, SPEEDS[1], free_surface=True)
    case = box.case(step, plasticity={"model": "drucker-prager", **rock})
    found = sim.build(case, backend, closed=True)
    box.fill(found)
    push(found)
    return [box.energy(*step_through(found)) for _ in range(steps)]


def pulse(z: Floats) -> Floats:
    """Velocity at time 0, m/s."""
    return np.asarray(SPEED * np.exp(-(((z - MIDDLE) / WIDTH) ** 2)))


def strength(z: Floats) -> Floats:
    """Of the rock, Pa; it does not depend on the pressure."""
    return np.asarray(STRONGEST - (STRONGEST - WEAKEST) * np.exp(-(((z - WEAK) / EXTENT) ** 2)))


def _propagated(backend: Backend, count: int) -> sim.Earthquake:
    """The solver after the pulse, with so many cells over the depth."""
    found = sim.build(_column(count), backend)
    dt = found.setup.dt
    sim.fill(found, "vx", lambda x, y, z: pulse(z))
    sim.fill(found, "sxz", lambda x, y, z: -RHO * VS * pulse(z - VS * dt / 2))
    sim.advance(found, found.setup.steps)
    return found


def _column(count: int) -> EarthquakeCase:
    h = DEPTH / count
    steps = int(np.ceil(TIME / (0.45 * h / VP)))
    depth = f"{STRONGEST} - {STRONGEST - WEAKEST} * exp(-((depth - {WEAK}) / {EXTENT}) ** 2)"
    rock = {"cohesion": depth, "friction_angle": 0.0, "relaxation_time": RELAXATION}
    return sim.make_case(
        grid={"size": (3 * h, 3 * h, DEPTH), "spacing": h},
        time={"duration": TIME, "step": TIME / steps},
        medium={"kind": "homogeneous", "vp": VP, "vs": VS, "rho": RHO},
        boundary={"top": "absorbing", "sides": "periodic", "width": 4},
        source=[case_sections.SILENCE],
        plasticity={"model": "drucker-prager", **rock},
    )


def _relative(found: Floats, wanted: Floats) -> float:
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
