"""Faults that break by themselves: uniform ones, which have exact solutions, and TPV3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.friction import FastWeakening, SlipWeakening
from groundswell.seismology.reference import tpv3 as reference
from groundswell.seismology.reference.uniform_fault import OverstressedFault, UniformFault, ramp
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.fault_slip import RECORDED, VARIABLES
from groundswell.solvers.dgwave.setup import prepare
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.solvers.dgwave.verification.uniform_faults import ETA, UniformColumn
from groundswell.verify import Check

NORMAL = 120e6  # Pa
WEAKENING = SlipWeakening(static=0.677, dynamic=0.525, distance=0.4)
FAST_WEAKENING = FastWeakening(
    direct=0.01,
    evolution=0.014,
    length=0.4,
    reference_friction=0.6,
    reference_speed=1e-6,
    weakened_friction=0.2,
    weakening_speed=0.1,
)
LIMIT = 1e-5  # of the peak
# Of the area. A few nodes remain locked, at corners of the fault and beside the patch: elements
# share their places with the patch, which releases the stress there before it reaches the strength.
ENOUGH = 0.999


def slip_weakening(backend: Backend, full: bool) -> Iterator[Check]:
    """The nucleation patch of TPV3 and TPV5 everywhere: slip grows exponentially."""
    load = 81.6e6
    found = UniformColumn(WEAKENING, NORMAL, (-load, 0.0)).history(backend, 0.6)
    exact = OverstressedFault(WEAKENING, load, NORMAL, ETA)
    expected = exact.rate(found["time"])
    error = np.abs(-found["rate_strike"] - expected).max() / expected.max()
    yield Check.at_most("uniform fault, slip weakening: slip rate", error, LIMIT)
    name = "uniform fault, slip weakening: final slip rate"
    yield Check.near(name, -found["rate_strike"][-1], 4.022, 0.001, "m/s")


def rate_and_state(backend: Backend, full: bool) -> Iterator[Check]:
    """The friction and the nucleation of TPV104 everywhere."""
    start, added, rise = 40e6, 45e6, 1.0
    state = float(FAST_WEAKENING.initial_state(start, NORMAL, 1e-16))
    shear, more = (-start, 0.0), (-added, 0.0)
    for degree in (2, 4) if full else (2,):
        column = UniformColumn(
            FAST_WEAKENING, NORMAL, shear, state, more, rise, degree=degree, cells=34
        )
        found = column.history(backend, 3.0)
        exact = UniformFault(
            FAST_WEAKENING, lambda t: start + added * ramp(t, rise), NORMAL, ETA, state
        )
        expected = exact.history(found["time"])
        error = np.abs(-found["rate_strike"] - expected.rate).max() / expected.rate.max()
        title = f"uniform fault, rate and state, degree {degree}"
        yield Check.at_most(f"{title}: slip rate", error, LIMIT)
        yield Check.near(
            f"{title}: final slip rate", -found["rate_strike"][-1], 13.125, 1e-3, "m/s"
        )
        passed = found["rupture_time"][-1]
        yield Check.near(f"{title}: passes 1 mm/s", passed, 0.57124, 1e-4, "s")


def tpv3(backend: Backend, full: bool) -> Iterator[Check]:
    """The hypocenter before waves from the edge of its patch arrive; the whole fault if `full`.

    The mesh of the whole fault is coarse on a CPU; elsewhere, nodes are 100 m apart.
    """
    solver = _rupture(backend, 1000.0, 2, 0.4)
    exact = OverstressedFault(WEAKENING, 81.6e6, NORMAL, ETA)
    slip = float(exact.slip(np.array([solver.setup.steps * solver.setup.dt]))[0])
    found = -_near(solver, "slip_strike", (0.0, 0.0))
    yield Check.near("TPV3: slip at the hypocenter after 0.4 s", found, slip, 0.02 * slip, "m")
    if full:
        yield from _whole_fault(backend)


def _whole_fault(backend: Backend) -> Iterator[Check]:
    edge, degree, limit = (1000.0, 4, 0.1) if backend.on_host else (500.0, 5, 0.015)
    solver = _rupture(backend, edge, degree, 7.0)
    title = f"TPV3, elements of {edge:g} m, degree {degree}"
    broken, error = time_errors(_points(solver), _values(solver, "rupture_time"))
    yield Check.at_least(f"{title}: part of the area that breaks", broken, ENOUGH)
    yield Check.at_most(f"{title}: RMS of the rupture time", error, limit, "s")
    if backend.on_host:
        return
    for place, (at, exact) in reference.PEAKS.items():
        name = f"{title}: largest slip rate at {place}"
        yield Check.near(name, _near(solver, "peak_rate", at), exact, 0.03 * exact, "m/s")


def _rupture(backend: Backend, edge: float, degree: int, duration: float) -> DgWave:
    """The problem at its end."""
    given = {"method": {"degree": degree}, "time": {"duration": duration}}
    solver = DgWave(prepare(DgWaveCase.from_dict(_tpv3(edge) | given)), backend)
    solver.prepare()
    for _ in range(solver.setup.steps):
        solver.step()
    backend.synchronize()
    return solver


def _points(solver: DgWave) -> FaultPoints:
    faults = solver.setup.faults
    assert faults is not None
    return faults.faults[0].points


def _values(solver: DgWave, name: str) -> Floats:
    """Values of VARIABLES or RECORDED at the points of the fault."""
    slip = solver.propagation.fault
    assert slip is not None
    names, rows = (VARIABLES, slip.slip) if name in VARIABLES else (RECORDED, slip.recorded)
    return np.asarray(solver.backend.to_host(rows)[names.index(name)])


def _near(solver: DgWave, name: str, place: tuple[float, float]) -> float:
    """The value at the point nearest to a place along strike and down dip of the hypocenter."""
    points = _points(solver)
    away = np.hypot(points.along_strike - place[0], points.down_dip - 7500 - place[1])
    return float(_values(solver, name)[away.argmin()])


def time_errors(points: FaultPoints, times: Floats) -> tuple[float, float]:
    """The part of the area that breaks, and there, the RMS of the errors of rupture times, s.

    Both are those of points where the solution is known.
    """
    exact = reference.rupture_time(points.along_strike, points.down_dip - 7500)
    area, broken = np.where(np.isfinite(exact), points.area, 0.0), np.isfinite(times + exact)
    error = np.average((times - exact)[broken] ** 2, weights=area[broken])
    return float(area[broken].sum() / area.sum()), float(np.sqrt(error))


def _tpv3(edge: float) -> dict[str, Any]:
    """The case: at least 4 km of rock between the fault and absorbing layers."""
    x, y, z = (edge * np.ceil(length / edge) for length in (38e3, 8e3, 23e3))
    low = edge * np.floor((x - 30e3) / (2 * edge)), edge * np.floor((z - 15e3) / (2 * edge))
    across = edge * np.floor(y / (2 * edge))
    middle = [low[0] + 15e3, across, low[1] + 7.5e3]
    return {
        "solver": "dgwave",
        "grid": {"size": [x, y, z], "spacing": edge},
        "medium": {"kind": "homogeneous", "vp": 6000, "vs": 3464, "rho": 2670},
        "boundary": {"top": "pml", "sides": "pml", "bottom": "pml"},
        "fault": [
            {
                "plane": {
                    "y": across,
                    "x": [low[0], low[0] + 30e3],
                    "depth": [low[1], low[1] + 15e3],
                },
                "hypocenter": middle,
                "law": "slip-weakening",
                "friction": {"static": 0.677, "dynamic": 0.525, "distance": 0.4},
                "stress": {"normal": NORMAL, "shear": 70e6, "rake": 180},
                "patch": [
                    {
                        "shape": "rectangle",
                        "center": middle,
                        "size": [3e3, 3e3],
                        "stress": {"shear": 81.6e6},
                    }
                ],
            }
        ],
    }
