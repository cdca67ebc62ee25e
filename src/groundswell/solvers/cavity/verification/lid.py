"""The lid-driven square against the spectral solutions of Botella & Peyret (1998).

Comput. Fluids 27:421, tables for Re = 100 and 1000: the extremes of velocity on the middle lines,
which converge although the velocity jumps where the lid meets the walls. The table of Ghia, Ghia &
Shin (1982, J. Comput. Phys. 48:387) is up to 2 % off.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.interpolate import CubicSpline

from groundswell.backends import Backend
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.verification.cases import FLAT, Extrapolated, cavity
from groundswell.verify import Check

STILL = {"kind": "adiabatic"}
WALLS = FLAT | dict.fromkeys(("west", "east", "bottom"), STILL)
LID = {"top": STILL | {"velocity": [1.0, 0.0, 0.0]}}

REFERENCES = {
    100: {"smallest u": -0.2140424, "largest w": 0.1795728, "smallest w": -0.2538030},
    1000: {"smallest u": -0.3885698, "largest w": 0.3769447, "smallest w": -0.5270771},
}
# Intervals along an axis of the finest of three grids, and tolerances, per cent: quick and in full.
GRIDS = {100: (64, 256), 1000: (128, 512)}
WITHIN = {100: (0.15, 0.02), 1000: (0.3, 0.1)}
DAMPINGS = (0.0025, 0.04)  # values of C4: the default is 0.01


def reynolds_100(backend: Backend, full: bool) -> Iterator[Check]:
    """Extremes on the middle lines, mass through one, and the effect of damping on the limit."""
    yield from _extremes(100, backend, full)
    limits = [extrapolated(100, 64, backend, dissipation=c4)["smallest u"].limit for c4 in DAMPINGS]
    change = 100 * abs(limits[1] / limits[0] - 1)
    yield Check.at_most("lid, Re = 100: effect of C4 on the limit", change, 0.01, "%")
    flow = lid(100, 63, backend)
    through = np.trapezoid(flow.centre_line("u", 2), flow.axes[2])
    yield Check.at_most("lid, Re = 100: flux through the middle line", abs(through), 1e-6)


def reynolds_1000(backend: Backend, full: bool) -> Iterator[Check]:
    """Extremes on the middle lines, extrapolated."""
    yield from _extremes(1000, backend, full)


def _extremes(reynolds: int, backend: Backend, full: bool) -> Iterator[Check]:
    found = extrapolated(reynolds, GRIDS[reynolds][full], backend)
    for name, reference in REFERENCES[reynolds].items():
        error = 100 * (found[name].limit / reference - 1)
        note = f"{found[name].limit:.6g} against {reference:g}"
        title = f"lid, Re = {reynolds}: {name}"
        yield Check.near(title, error, 0, WITHIN[reynolds][full], "%", note)


def extrapolated(
    reynolds: int, intervals: int, backend: Backend, **time: object
) -> dict[str, Extrapolated]:
    """The extremes on grids of `intervals`, half and a quarter as many."""
    flows = [lid(reynolds, intervals // n - 1, backend, **time) for n in (4, 2, 1)]
    found = [extremes(flow) for flow in flows]
    return {name: Extrapolated(*(values[name] for values in found)) for name in found[0]}


def lid(reynolds: int, points: int, backend: Backend, **time: object) -> Flow:
    """The steady flow in a square."""
    case = cavity(points, {"kind": "reynolds", "reynolds": reynolds}, WALLS | LID, **time)
    return bring_to_steady_state(case, backend)[0]


def extremes(flow: Flow) -> dict[str, float]:
    """Extremes of velocity on the middle lines, of splines through the points."""
    fine = np.linspace(0.0, 1.0, 20_001)
    u, w = (
        CubicSpline(flow.axes[axis], flow.centre_line(name, axis))(fine)
        for name, axis in (("u", 2), ("w", 0))
    )
    return {"smallest u": u.min(), "largest w": w.max(), "smallest w": w.min()}
