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
WHOLE, PEAKS = 7.0, 4.5  # s, until all of the fault, and the places of the peaks, have broken
# Edge of cells, m, with which peaks below LOW_PASS are within a fraction. The slip of a cell is the
# mean of its two sides, which break one after the other: with 100 m, P1 has 3.5 % less.
FINER, NEAR = 75.0, 0.03


def tpv3(backend: Backend, full: bool) -> Iterator[Check]:
    """The rupture time on the whole fault, and low-passed peaks of slip rates if `full`."""
    edge, limit = CELLS[full]
    fault = _run(edge, WHOLE, backend).fault
    exact = reference.rupture_time(fault.along_strike.values, fault.down_dip.values - WIDTH / 2)
    error = fault.rupture_time.values - exact
    name = f"TPV3, cells of {edge:g} m: RMS of the rupture time"
    yield Check.at_most(name, float(np.sqrt(np.mean(error**2))), limit, "s")
    if full:
        yield from _peaks(_run(FINER, PEAKS, backend), FINER)


def _run(edge: float, duration: float, backend: Backend) -> Result:
    return run_built(make_case(**_sections(edge, duration), run={"backend": backend.name}))


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
        yield Check.near(name, found, exact, NEAR * exact, "m/s")


def _sections(edge: float, duration: float) -> dict[str, Any]:
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
        "time": {"duration": duration},
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
