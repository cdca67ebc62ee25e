"""Solids in cavities: conduction through layers, a heated block, and a block in the centre.

House, Beckermann & Smith (1990, Numer. Heat Transfer A 18:213) give the mean Nusselt number of a
square with a conducting square of half its size in the centre, at Ra = 1e5 and Pr = 0.71.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from groundswell.backends import Backend
from groundswell.case.section import CaseTable
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.verification.cases import FLAT, convection, converging
from groundswell.verify import Check

HOUSE = {0.2: 4.624, 1.0: 4.506, 5.0: 4.324}  # by conductivity over that of the fluid
HOUSE_GRIDS, HOUSE_WITHIN = (64, 256), 0.5  # intervals, quick and in full; per cent
LAYERS = ((0.3, 0.7, 5.0), (0.0, 0.47, 0.2))  # from, to, conductivity: also between points
GRIDS: dict[str, CaseTable] = {"": {}, ", stretched": {"x": 2.0, "z": 1.0}}
# Intervals along an axis, quick and in full, and by how much those next to the walls and to the
# block are shorter than the mean one, as a fraction.
CLUSTERED_INTERVALS, CLUSTERING = (48, 96), 0.6
AT_REST = 0.1  # Rayleigh number at which the fluid only conducts
HEATED = (
    {"low": [0.25, 0, 0.25], "high": [0.5, 1, 0.625], "conductivity": 5.0, "power": 1.0},
    {"low": [0.75, 0, 0.5], "high": [1, 1, 1], "conductivity": 0.3},
)


def flat(
    points: tuple[int, int],
    rayleigh: float,
    solids: Sequence[CaseTable],
    tolerance: float = 1e-6,
    grid: CaseTable | None = None,
) -> CavityCase:
    """A square between a hot and a cold wall with solids, and points along x and z.

    Args:
        grid: more keys of the grid.
    """
    return CavityCase(
        fluid=convection(rayleigh),
        grid={"points": [points[0], 1, points[1]], **(grid or {})},
        walls=FLAT,
        solid=solids,
        time={"tolerance": tolerance},
    )


def layers(backend: Backend, full: bool) -> Iterator[Check]:
    """Conduction through a layer of a solid and a layer of fluid, whose resistances add up."""
    for (low, high, conductivity), (where, strengths) in product(LAYERS, GRIDS.items()):
        layer = {"low": [low, 0, 0], "high": [high, 1, 1], "conductivity": conductivity}
        case = flat((24, 11), AT_REST, [layer], 1e-9, {"stretching": strengths})
        thickness = high - low
        exact = 1 / (1 - thickness + thickness / conductivity)
        error = abs(_steady(case, backend).summary()["nusselt"] / exact - 1)
        title = f"layers{where}, conductivities 1 and {conductivity:g}: error of Nu"
        yield Check.at_most(title, error, 1e-8)


def balance(backend: Backend, full: bool) -> Iterator[Check]:
    """Heat that enters and that a solid releases, against the heat that leaves."""
    for where, strengths in GRIDS.items():
        flow = _steady(flat((31, 31), 1e5, HEATED, 1e-11, {"stretching": strengths}), backend)
        missing = abs(flow.summary()["heat_imbalance"])
        title = f"heated block{where}: heat in over heat out, less 1"
        yield Check.at_most(title, missing, 1e-8)


def block(backend: Backend, full: bool) -> Iterator[Check]:
    """Nusselt numbers of a square with a block in its centre, extrapolated."""
    for conductivity, reference in HOUSE.items():
        make = partial(with_block, conductivity=conductivity)
        found = converging(make, HOUSE_GRIDS[full], backend)["nusselt"]
        error = 100 * (found.limit / reference - 1)
        note = f"{found.limit:.5g} against {reference:g}"
        title = f"square with a block, conductivity {conductivity:g}: Nu"
        yield Check.near(title, error, 0, HOUSE_WITHIN, "%", note)


def clustered_block(backend: Backend, full: bool) -> Iterator[Check]:
    """The same on one grid whose points cluster at the walls and at the surface of the block."""
    intervals = CLUSTERED_INTERVALS[full]
    s = np.arange(1, intervals) / intervals
    along = (s - CLUSTERING * np.sin(8 * np.pi * s) / (8 * np.pi)).tolist()
    for conductivity, reference in HOUSE.items():
        case = with_block(intervals - 1, conductivity, {"positions": {"x": along, "z": along}})
        found = _steady(case, backend).summary()["nusselt"]
        error = 100 * (found / reference - 1)
        title = f"square with a block, {intervals - 1}^2 uneven points, {conductivity:g}: Nu"
        yield Check.near(title, error, 0, HOUSE_WITHIN, "%", f"{found:.5g} against {reference:g}")


def with_block(points: int, conductivity: float, grid: CaseTable | None = None) -> CavityCase:
    """The square of House, Beckermann & Smith."""
    solid = {"low": [0.25, 0, 0.25], "high": [0.75, 1, 0.75], "conductivity": conductivity}
    return flat((points, points), 1e5, [solid], grid=grid)


def _steady(case: CavityCase, backend: Backend) -> Flow:
    return bring_to_steady_state(case, backend)[0]
