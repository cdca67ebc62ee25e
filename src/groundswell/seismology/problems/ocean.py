"""An airgun in water over sediment and rock, compared with wavenumber integration.

Hydrophones are in the water. Ocean-bottom nodes record the pressure of the water and the velocity
of the ground at the sea floor. Misfits are relative L2 norms over all receivers and times.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.problems.case_sections import Table, layered_medium, point, receivers
from groundswell.seismology.reference.layered import (
    LayeredHalfSpace,
    MomentSource,
    layered_pressure,
    layered_velocity,
)
from groundswell.seismology.reference.misfit import relative_misfit
from groundswell.seismology.reference.pulse import Pulse

FLOOR = 450.0  # m, depth of the water
LAYERS = (
    Layer(0.0, 1500.0, 0.0, 1000.0),
    Layer(FLOOR, 2000.0, 900.0, 1900.0),
    Layer(750.0, 2600.0, 1450.0, 2200.0),
)
SIZE = (1650.0, 450.0, 900.0)  # m

# At this depth, the reflection at the surface is strong.
AIRGUN, VOLUME = (225.0, 225.0, 75.0), 0.1  # m, m^3
SIGMA, DELAY = 0.1, 0.6  # s, of the Gaussian rate of the volume
DURATION = 2.2  # s

# Positions along the line, from the source, and across it, m.
ALONG = np.array([380.0, 610.0, 840.0, 1070.0, 1300.0])
ACROSS = np.array([110.0, -90.0, 60.0, -130.0, 20.0])
HYDROPHONES = np.column_stack([ALONG, ACROSS, [220.0, 340.0, 260.0, 400.0, 300.0]])
NODES = np.column_stack([ALONG - 40.0, -ACROSS, np.full(ALONG.size, FLOOR)])


def sections(spacing: float) -> Table:
    """Sections of a case with elements of edges `spacing`, m, which must divide all depths."""
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    places = np.add(np.concatenate([HYDROPHONES, NODES]), [*AIRGUN[:2], 0.0])
    kinds = ["hydrophone"] * len(HYDROPHONES) + ["ocean-bottom-node"] * len(NODES)
    return {
        "grid": {"size": SIZE, "spacing": spacing},
        "time": {"duration": DURATION},
        "medium": layered_medium(LAYERS),
        "source": [point(AIRGUN, history, kind="airgun", volume=VOLUME)],
        "receiver": [
            {**receiver, "kind": kind}
            for receiver, kind in zip(receivers(places), kinds, strict=True)
        ],
        "run": {"precision": "single"},
    }


def misfits(time: Floats, pressure: Floats, velocity: Floats) -> dict[str, float]:
    """Misfits, %, of pressure at hydrophones and nodes, and of velocity at nodes.

    Args:
        time: times, (n,), s.
        pressure: pressure at hydrophones, then nodes, (receivers, 1, n), Pa.
        velocity: velocity at nodes along x, y and down, (nodes, 3, n), m/s.
    """
    exact_pressure, exact_velocity = exact(time)
    water, floor = np.split(pressure[:, 0], [len(HYDROPHONES)])
    exact_water, exact_floor = np.split(exact_pressure, [len(HYDROPHONES)])
    return {
        "hydrophones": 100 * relative_misfit(water, exact_water),
        "pressure of nodes": 100 * relative_misfit(floor, exact_floor),
        "velocity of nodes": 100 * relative_misfit(velocity, exact_velocity),
    }


def exact(time: Floats) -> tuple[Floats, Floats]:
    """Pressure at hydrophones, then nodes, (receivers, n); velocity at nodes, (nodes, 3, n)."""
    water, ground = LAYERS[0], LayeredHalfSpace(LAYERS)
    moment = VOLUME * water.rho * water.vp**2 * np.eye(3)
    source = MomentSource(AIRGUN[2], moment, Pulse.gaussian(SIGMA, DELAY))
    in_water = np.concatenate([HYDROPHONES, NODES * [1.0, 1.0, 1.0 - 1e-9]])
    return (
        layered_pressure(ground, source, in_water, time),
        layered_velocity(ground, source, NODES, time),
    )
