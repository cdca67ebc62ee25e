"""Soft soil that yields: an S pulse that meets the surface, against one dimension."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.plasticity import Elements, Hyperbola
from groundswell.seismology.problems import case_sections
from groundswell.seismology.reference.soil_column import SoilColumn
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

VP, VS, RHO = 600.0, 300.0, 1900.0
REFERENCE_STRAIN, SURFACES, LARGEST = 1e-4, 15, 30.0
DEPTH, TIME, INTERVAL = 450.0, 0.52, 0.004  # m, s, s
MIDDLE, WIDTH, SPEED = 120.0, 30.0, 0.22  # of the pulse: m, m, m/s
FINE = 540  # cells of the reference


def shear_pulse(backend: Backend, full: bool) -> Iterator[Check]:
    """Velocity near the surface, where half of a pulse strains soil by 3.7 reference strains.

    The backbone has corners, where the velocity has kinks, so that finer cells gain little.
    """
    elements = Elements.fit(Hyperbola(), SURFACES, LARGEST)
    column = SoilColumn(VS, RHO, elements, REFERENCE_STRAIN, DEPTH)
    times = INTERVAL * np.arange(1, round(TIME / INTERVAL) + 1, dtype=np.float64)
    for count in (45, 90, 180) if full else (45,):
        found, place = _surface_motion(backend, count, times)
        wanted = column.surface_motion(pulse, place, times, FINE)
        error = float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
        loss = 100 * (1 - np.abs(wanted).max() / SPEED)
        name = f"S pulse in soft soil, {count} cells: velocity at the surface"
        yield Check.at_most(name, error, 0.015, note=f"the soil takes {loss:.0f} % off the peak")


def pulse(z: Floats) -> Floats:
    """Horizontal velocity at time 0, m/s."""
    return np.asarray(SPEED * np.exp(-(((z - MIDDLE) / WIDTH) ** 2)))


def _surface_motion(backend: Backend, count: int, times: Floats) -> tuple[Floats, float]:
    """Horizontal velocity of the uppermost cells at times, and their depth, m."""
    h = DEPTH / count
    steps = int(np.ceil(INTERVAL / (0.4 * h / VP)))
    found, series = sim.build(_case(count, INTERVAL / steps), backend), []
    sim.fill(found, "vx", lambda x, y, z: pulse(z))
    for _ in times:
        sim.advance(found, steps)
        series.append(sim.read(found, ["vx"])["vx"][0, 1, 1])
    return np.array(series), h / 2


def _case(count: int, step: float) -> EarthquakeCase:
    h = DEPTH / count
    return sim.make_case(
        grid={"size": (3 * h, 3 * h, DEPTH), "spacing": h},
        time={"duration": TIME, "step": step},
        medium={"kind": "homogeneous", "vp": VP, "vs": VS, "rho": RHO},
        boundary={"sides": "periodic", "width": 4},
        source=[case_sections.SILENCE],
        plasticity={
            **{"model": "iwan", "depth": DEPTH, "surfaces": SURFACES},
            "reference_strain": REFERENCE_STRAIN,
        },
    )
