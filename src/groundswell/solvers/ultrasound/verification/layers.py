"""Absorbing layers: the remainder of waves that should have left the region."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, exp

import numpy as np

from groundswell.backends import Backend
from groundswell.solvers.ultrasound.verification import simulation as sim
from groundswell.solvers.ultrasound.verification.simulation import SPEED
from groundswell.verify import Check

SPACING, COURANT = 1e-3, 0.5  # m
DT = COURANT * SPACING / SPEED
SIGMA = 3.0  # of pulses, points; their spectrum falls to 29 % at 12 points per wavelength

# Largest allowed returning pressure, relative to that of the wave, by width of the layers, points.
RETURNING = {10: 1e-4, 15: 3e-6, 20: 1e-6}


def plane_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """Pressure that returns at normal incidence, by reflection and through both layers.

    The grid is periodic: the part of a wave that passes through one layer enters the region through
    the other.
    """
    n = 256 if full else 32
    for width, limit in RETURNING.items():
        x = np.arange(n) - (n - 1) / 2
        ridge = np.tile(np.exp(-(x**2) / (2 * SIGMA**2)), (sim.ACROSS, 1))
        first, steps = ceil((n / 2 + 6 * SIGMA) / COURANT), ceil((n + 2 * width) / COURANT)
        case = sim.channel(
            *(n, SPACING, width),
            initial={"kind": "array", "values": ridge, "smooth": False},
            time={"duration": (first + steps) * DT, "step": DT},
        )
        found = sim.build(case, backend)
        sim.advance(found, first)
        returned = np.abs(sim.record(found, (0, 0), steps)).max() / 0.5
        note = f"two waves through both layers: {2 * exp(-2 * _absorption(width)):.1e}"
        yield Check.at_most(f"plane wave, {width} points: returning", returned, limit, note=note)


def _absorption(width: int, strength: float = 2.0) -> float:
    """Absorption of a wave that passes through a layer once, Np."""
    return float(strength * np.sum((np.arange(1, width + 1) / width) ** 4))


def ball(backend: Backend, full: bool) -> list[Check]:
    """Pressure and its energy after a ball of pressure has left, at all angles of incidence.

    In three dimensions, the exact pressure behind the wave is zero.
    """
    n, width = (96, 20) if full else (24, 10)
    steps = ceil((n * 3**0.5 / 2 + 6 * SIGMA + 2 * width) / COURANT)
    middle = [(n - 1) / 2 * SPACING] * 3
    start = {"kind": "gaussian", "centre": middle, "width": SIGMA * SPACING, "pressure": 1.0}
    case = sim.make_case(
        grid={"points": [n] * 3, "spacing": SPACING},
        boundary={"width": width},
        initial={**start, "smooth": False},
        time={"duration": steps * DT, "step": DT},
        run={"precision": "single"},
    )
    found = sim.build(case, backend)
    first = sim.pressure(found)
    sim.advance(found, steps)
    left = sim.pressure(found)
    energy = np.sum(left**2) / np.sum(first**2)
    return [
        Check.at_most(f"ball, {width} points: pressure left", np.abs(left).max(), 1e-5),
        Check.at_most(f"ball, {width} points: energy left", energy, 1e-9),
    ]
