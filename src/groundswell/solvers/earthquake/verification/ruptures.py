"""Faults that break by themselves: TPV3 against a boundary-integral solution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.problems.ruptures import ROCK, SQUARE
from groundswell.seismology.reference import tpv3 as reference
from groundswell.simulation.result import Result
from groundswell.simulation.temporary import run_built
from groundswell.solvers.earthquake.verification.simulation import make_case
from groundswell.verify import Check

LENGTH, WIDTH = 30e3, 15e3  # of the fault, m
MARGIN = 3e3  # rock between the fault and the sides of the region, m
CELLS = {False: (300.0, 0.1), True: (100.0, 0.03)}  # edge, m, and limit of the error, s


def tpv3(backend: Backend, full: bool) -> Iterator[Check]:
    """The rupture time on the whole fault, and low-passed peaks of slip rates if `full`."""
    edge, limit = CELLS[full]
    result = run_built(make_case(**_sections(edge), run={"backend": backend.name}))
    fault = result.fault
    exact = reference.rupture_time(fault.along_strike.values, fault.down_dip.values - WIDTH / 2)
    error = fault.rupture_time.values - exact
    name = f"TPV3, cells of {edge:g} m: RMS of the rupture time"
    yield Check.at_most(name, float(np.sqrt(np.mean(error**2))), limit, "s")
    if full:
        yield from _peaks(result, edge)


def _peaks(result: Result, edge: float) -> Iterator[Check]:
    """The largest slip rates below LOW_PASS at places in the middle of cells."""
    series = result.fault_points
    dt = float(series.time[1] - series.time[0])
    for place, exact in reference.PEAKS_BELOW.items():
        point = series.sel(point=place)
        rates = np.stack([point.rate_strike.values, point.rate_updip.values])
        found = float(np.hypot(*reference.low_passed(rates, dt)).max())
        name = f"TPV3, cells of {edge:g} m: largest slip rate at {place} below "
        name += f"{reference.LOW_PASS:g} Hz"
        yield Check.near(name, found, exact, 0.05 * exact, "m/s")


def _sections(edge: float) -> dict[str, Any]:
    start = float(np.ceil(MARGIN / edge) * edge)
    across = start + edge / 2
    middle = [start + LENGTH / 2, across, start + WIDTH / 2]
    plane = {"y": across, "x": [start, start + LENGTH], "depth": [start, start + WIDTH]}
    points = [
        {"name": name, "along_strike": along, "down_dip": WIDTH / 2 + down}
        for name, ((along, down), _) in reference.PEAKS.items()
    ]
    square = {"shape": "rectangle", "center": middle, "size": [SQUARE, SQUARE]}
    return {
        "time": {"duration": 7.0},
        "grid": {
            "size": [LENGTH + 2 * start, 2 * start + edge, WIDTH + 2 * start],
            "spacing": edge,
        },
        "medium": ROCK,
        "boundary": {"top": "absorbing"},
        "output": {"fault_points": {"point": points}},
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
