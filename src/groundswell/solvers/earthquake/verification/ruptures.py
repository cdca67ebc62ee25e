"""Faults that break by themselves: TPV3 against a boundary-integral solution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.problems.ruptures import ROCK, SQUARE
from groundswell.seismology.reference import tpv3 as reference
from groundswell.simulation.temporary import run_built
from groundswell.solvers.earthquake.verification.simulation import make_case
from groundswell.verify import Check

LENGTH, WIDTH = 30e3, 15e3  # of the fault, m
MARGIN = 3e3  # rock between the fault and the sides of the region, m
CELLS = {False: (300.0, 0.1), True: (100.0, 0.03)}  # edge, m, and limit of the error, s


def tpv3(backend: Backend, full: bool) -> Iterator[Check]:
    """The rupture time on the whole fault."""
    edge, limit = CELLS[full]
    fault = run_built(make_case(**_sections(edge), run={"backend": backend.name})).fault
    exact = reference.rupture_time(fault.along_strike.values, fault.down_dip.values - WIDTH / 2)
    error = fault.rupture_time.values - exact
    name = f"TPV3, cells of {edge:g} m: RMS of the rupture time"
    yield Check.at_most(name, float(np.sqrt(np.mean(error**2))), limit, "s")


def _sections(edge: float) -> dict[str, Any]:
    start = float(np.ceil(MARGIN / edge) * edge)
    across = start + edge / 2
    middle = [start + LENGTH / 2, across, start + WIDTH / 2]
    plane = {"y": across, "x": [start, start + LENGTH], "depth": [start, start + WIDTH]}
    square = {"shape": "rectangle", "center": middle, "size": [SQUARE, SQUARE]}
    return {
        "time": {"duration": 7.0},
        "grid": {
            "size": [LENGTH + 2 * start, 2 * start + edge, WIDTH + 2 * start],
            "spacing": edge,
        },
        "medium": ROCK,
        "boundary": {"top": "absorbing"},
        "fault": [
            {
                "plane": plane,
                "hypocenter": middle,
                "law": "slip-weakening",
                "friction": {"static": 0.677, "dynamic": 0.525, "distance": 0.4},
                "stress": {"normal": 120e6, "shear": 70e6, "rake": 180},
                "patch": [{**square, "stress": {"shear": 81.6e6}}],
            }
        ],
    }
