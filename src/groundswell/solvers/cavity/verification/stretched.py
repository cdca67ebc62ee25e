"""Flows on grids whose points cluster at walls: convection, a lid, and the order of convergence.

Convection in a square and a cube: the references of `convection`, and Le Quere (1991, Comput.
Fluids 20:29) at Ra = 1e7 and 1e8. Lid: Ghia, Ghia & Shin (1982, J. Comput. Phys. 48:387) above
Re = 1000. Their extremes at Re = 1000 differ by up to 2 % from those of Botella & Peyret (1998). At
Re = 3200, their u next to the bottom differs by 0.03 from ours, which is the same on 95^2 and 127^2
points to 0.002.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log2

import numpy as np
from scipy.interpolate import CubicSpline

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.verification.cases import (
    FLAT,
    TOLERANCE,
    cavity,
    convection,
    numbers,
)
from groundswell.solvers.cavity.verification.convection import CUBE, SQUARE
from groundswell.solvers.cavity.verification.lid import LID, REFERENCES, WALLS, extremes
from groundswell.verify import Check

NUSSELT = SQUARE | {1e7: 16.523, 1e8: 30.225}
# Points along an axis and stretching: on a CPU, and in addition in full.
QUICK = {1e3: (23, 1.0), 1e4: (23, 1.5), 1e5: (31, 1.5), 1e6: (31, 2.0)}
FULL = {1e7: (63, 2.0), 1e8: (127, 2.0)}
TOLERANCES = {1e8: 1e-5}  # of residuals, where they fall slowly
WITHIN = 0.4  # per cent of the reference

CUBE_GRID, WITHIN_CUBE = (31, 1.5), 1.0
COMPARED = 1e5  # whose error is compared with that of an even grid of four times as many points
ORDER_GRIDS, ORDER_RAYLEIGH, ORDER_STRENGTH = (15, 31, 63), 1e4, 1.5

LID_GRID = {1000: (63, 1.5), 3200: (127, 1.5), 5000: (127, 1.0)}
WITHIN_LID = 1.2  # per cent of the reference
WITHIN_PROFILE = {3200: 0.035, 5000: 0.015}  # of the lid's speed
# u on the vertical middle line at these heights, by Ghia, Ghia & Shin.
PROFILES = {
    0.0547: {3200: -0.32407, 5000: -0.41165},
    0.0703: {3200: -0.37827, 5000: -0.43643},
    0.1016: {3200: -0.41933, 5000: -0.40435},
    0.1719: {3200: -0.34323, 5000: -0.33050},
    0.2813: {3200: -0.24427, 5000: -0.22855},
    0.4531: {3200: -0.08664, 5000: -0.07404},
    0.5: {3200: -0.04272, 5000: -0.03039},
    0.6172: {3200: 0.07156, 5000: 0.08183},
    0.7344: {3200: 0.19791, 5000: 0.20087},
    0.8516: {3200: 0.34682, 5000: 0.33556},
    0.9531: {3200: 0.46101, 5000: 0.46036},
}


def stretched(case: CavityCase, strength: float, axes: str = "xz") -> CavityCase:
    """The case with points that cluster at the walls of some axes."""
    content = {"stretching": dict.fromkeys(axes, strength), "points": case.grid.points}
    return CavityCase(**case.model_dump() | {"grid": content})


def heated(rayleigh: float, points: int, strength: float, **time: object) -> CavityCase:
    """A square with a hot and a cold wall; even if the strength is 0."""
    case = cavity(points, convection(rayleigh), FLAT, **time)
    return stretched(case, strength) if strength else case


def _flow(case: CavityCase, backend: Backend) -> Flow:
    return bring_to_steady_state(case, backend)[0]


def _error(rayleigh: float, points: int, strength: float, backend: Backend) -> float:
    """Of the Nusselt number, per cent."""
    case = heated(rayleigh, points, strength, tolerance=TOLERANCES.get(rayleigh, TOLERANCE))
    nusselt = _flow(case, backend).summary()["nusselt"]
    return float(100 * (nusselt / NUSSELT[rayleigh] - 1))


def square(backend: Backend, full: bool) -> Iterator[Check]:
    """Nusselt numbers of the square, each on one grid, without extrapolation."""
    for rayleigh, (points, strength) in (QUICK | (FULL if full else {})).items():
        error = _error(rayleigh, points, strength, backend)
        name = f"stretched, {points}^2 points, Ra = {rayleigh:g}: Nu"
        yield Check.near(name, error, 0, WITHIN, "%", f"against {NUSSELT[rayleigh]:g}")
        if rayleigh == COMPARED:
            even = abs(_error(rayleigh, 2 * points + 1, 0.0, backend))
            title = f"Ra = {rayleigh:g}: error over that of {2 * points + 1}^2 even points"
            yield Check.at_most(title, abs(error) / even, 1)


def cube(backend: Backend, full: bool) -> Iterator[Check]:
    """Nusselt numbers and largest speeds of the cube on one grid."""
    points, strength = CUBE_GRID
    case = cavity(points, convection(COMPARED), tolerance=1e-6)
    found = numbers(_flow(stretched(case, strength, "xyz"), backend))
    for name, reference in CUBE[COMPARED].items():
        error = 100 * (found[name] / reference - 1)
        title = f"stretched, {points}^3 points, Ra = {COMPARED:g}: {name.replace('_', ' ')}"
        note = f"{found[name]:.5g} against {reference:g}"
        yield Check.near(title, error, 0, WITHIN_CUBE, "%", note)


def order(backend: Backend, full: bool) -> Iterator[Check]:
    """Order of convergence of fields: changes from grid to grid at the points that all have."""
    flows = [
        _flow(heated(ORDER_RAYLEIGH, n, ORDER_STRENGTH, tolerance=1e-8), backend)
        for n in ORDER_GRIDS
    ]
    for name in ("u", "w", "T"):
        coarse, fine = (_change(name, *pair) for pair in pairwise(flows))
        yield Check.near(f"stretched: order of {name}", log2(coarse / fine), 2, 0.3)


def _change(name: str, coarse: Flow, fine: Flow) -> float:
    """Root mean square of the difference at the points of the coarser grid."""
    difference = fine.fields[name][::2, :, ::2] - coarse.fields[name]
    return float(np.sqrt(np.mean(difference**2)))


def lid(backend: Backend, full: bool) -> Iterator[Check]:
    """Extremes on the middle lines at Re = 1000, and in full profiles at 3200 and 5000."""
    for name, value in extremes(_driven(1000, backend)).items():
        reference = REFERENCES[1000][name]
        error = 100 * (value / reference - 1)
        note = f"{value:.6g} against {reference:g}"
        yield Check.near(f"stretched lid, Re = 1000: {name}", error, 0, WITHIN_LID, "%", note)
    for reynolds in (3200, 5000) if full else ():
        found = _u_at([*PROFILES], _driven(reynolds, backend))
        profile = [speeds[reynolds] for speeds in PROFILES.values()]
        largest = float(np.abs(found - profile).max())
        title = f"stretched lid, Re = {reynolds}: largest difference of u"
        yield Check.at_most(title, largest, WITHIN_PROFILE[reynolds], note="of Ghia et al. 1982")


def _driven(reynolds: int, backend: Backend) -> Flow:
    points, strength = LID_GRID[reynolds]
    case = cavity(points, {"kind": "reynolds", "reynolds": reynolds}, WALLS | LID)
    return _flow(stretched(case, strength), backend)


def _u_at(heights: list[float], flow: Flow) -> Floats:
    """u on the vertical middle line."""
    return np.asarray(CubicSpline(flow.axes[2], flow.centre_line("u", 2))(heights))
