"""Air in a cavity 8 times as high as wide, which oscillates.

Christon, Gresho & Sutton (2002, IJNMF 40:953) compare many codes at Ra = 3.4e5 and Pr = 0.71. Their
reference is the spectral solution of Xin & Le Quere (2002, IJNMF 40:981): a period of 3.4119 in
units of free fall across the width, and a mean Nusselt number of 4.57946.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.cavity.case import FIELDS, CavityCase
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.unsteady import UnsteadyCavity
from groundswell.solvers.cavity.verification.cases import FLAT, convection
from groundswell.verify import Check

RAYLEIGH, HEIGHT = 3.4e5, 8.0
PERIOD, NUSSELT = 3.4119, 4.57946
POINTS, STRETCHING = (63, 255), {"x": 1.5, "z": 1.0}
STEP = 0.05  # lengthens the period by 0.3 %; 0.1 by 1.1 %, and 0.2 damps the oscillation
TOLERANCE = 1e-4  # of the steps' residuals: 0.1 % of the largest rates of change
# From rest, the oscillation grows slowly. That at a larger Rayleigh number grows faster.
STRONGER, STRONGER_DURATION = 5e5, 50.0
DURATION, OBSERVED = 150.0, 60.0
MIN_OSCILLATIONS, LASTING = 10, 0.8


def oscillating(backend: Backend, full: bool) -> Iterator[Check]:
    """Period and mean Nusselt number of the last part of a run; in full, on a GPU."""
    if not full or backend.name != "cuda":
        return
    found = develop(backend, POINTS, STEP)
    times, nusselt = found[:, 0], found[:, 3]
    late = times > DURATION - OBSERVED
    period, count = mean_period(times[late], nusselt[late])
    error = 100 * (period / PERIOD - 1)
    yield Check.at_least("8 times as high as wide: oscillations", count, MIN_OSCILLATIONS)
    lasting = persistence(times[late], nusselt[late])
    yield Check.at_least("8 times as high as wide: amplitude over earlier one", lasting, LASTING)
    yield Check.near("8 times as high as wide: period", error, 0, 1, "%", f"{period:.4f}")
    mean = nusselt[late].mean()
    error = 100 * (mean / NUSSELT - 1)
    yield Check.near("8 times as high as wide: Nu", error, 0, 1, "%", f"{mean:.4f}")


def tall(points: tuple[int, int], step: float, duration: float, rayleigh: float) -> CavityCase:
    """The cavity, with points along x and z."""
    return CavityCase(
        fluid=convection(rayleigh),
        grid={
            "size": [1.0, 1.0, HEIGHT],
            "points": [points[0], 1, points[1]],
            "stretching": STRETCHING,
        },
        walls=FLAT,
        time={"duration": duration, "step": step, "tolerance": TOLERANCE},
    )


def develop(backend: Backend, points: tuple[int, int], step: float) -> Floats:
    """The history of the flow, which starts from one at STRONGER; see `StepHistory`."""
    stronger = tall(points, 2 * step, STRONGER_DURATION, STRONGER)
    before = _run(UnsteadyCavity(prepare(stronger), backend))
    solver = UnsteadyCavity(prepare(tall(points, step, DURATION, RAYLEIGH)), backend)
    solver.fill({name: before.snapshot(name) for name in FIELDS})
    return _run(solver).history.read()


def _run(solver: UnsteadyCavity) -> UnsteadyCavity:
    """The solver after all its steps."""
    for _ in range(solver.setup.steps):
        solver.step()
    return solver


def mean_period(times: Floats, values: Floats) -> tuple[float, int]:
    """The mean time between rises of values through their trend, and the number of periods."""
    about = _about_trend(times, values)
    before = np.flatnonzero((about[:-1] < 0) & (about[1:] >= 0))
    slope = about[before + 1] - about[before]
    rises = times[before] - about[before] * (times[before + 1] - times[before]) / slope
    count = len(rises) - 1
    return (float(rises[-1] - rises[0]) / count, count) if count > 0 else (0.0, 0)


def persistence(times: Floats, values: Floats) -> float:
    """Root mean square about the trend in the second half of the times over that in the first."""
    first, second = np.array_split(_about_trend(times, values) ** 2, 2)
    return float(np.sqrt(second.mean() / first.mean()))


def _about_trend(times: Floats, values: Floats) -> Floats:
    trend = np.polyfit(times - times[0], values, 2)
    return np.asarray(values - np.polyval(trend, times - times[0]))
