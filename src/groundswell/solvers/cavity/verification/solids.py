"""Solids in cavities: conduction through layers, a heated block, and a block in the centre.

House, Beckermann & Smith (1990, Numer. Heat Transfer A 18:213) give the mean Nusselt number of a
square with a conducting square of half its size in the centre, at Ra = 1e5 and Pr = 0.71.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

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
AT_REST = 0.1  # Rayleigh number at which the fluid only conducts
HEATED = (
    {"low": [0.25, 0, 0.25], "high": [0.5, 1, 0.625], "conductivity": 5.0, "power": 1.0},
    {"low": [0.75, 0, 0.5], "high": [1, 1, 1], "conductivity": 0.3},
)


def flat(
    points: tuple[int, int], rayleigh: float, solids: Sequence[CaseTable], tolerance: float = 1e-6
) -> CavityCase:
    """A square between a hot and a cold wall with solids, and points along x and z."""
    return CavityCase(
        fluid=convection(rayleigh),
        grid={"points": [points[0], 1, points[1]]},
        walls=FLAT,
        solid=solids,
        time={"tolerance": tolerance},
    )


def layers(backend: Backend, full: bool) -> Iterator[Check]:
    """Conduction through a layer of a solid and a layer of fluid, whose resistances add up."""
    for low, high, conductivity in LAYERS:
        layer = {"low": [low, 0, 0], "high": [high, 1, 1], "conductivity": conductivity}
        flow = _steady(flat((24, 11), AT_REST, [layer], 1e-9), backend)
        thickness = high - low
        exact = 1 / (1 - thickness + thickness / conductivity)
        error = abs(flow.summary()["nusselt"] / exact - 1)
        title = f"layers, conductivities 1 and {conductivity:g}: error of Nu"
        yield Check.at_most(title, error, 1e-8)


def balance(backend: Backend, full: bool) -> Iterator[Check]:
    """Heat that enters and that a solid releases, against the heat that leaves."""
    flow = _steady(flat((31, 31), 1e5, HEATED, 1e-11), backend)
    missing = abs(flow.summary()["heat_imbalance"])
    yield Check.at_most("heated block: heat in over heat out, less 1", missing, 1e-8)


def block(backend: Backend, full: bool) -> Iterator[Check]:
    """Nusselt numbers of a square with a block in its centre, extrapolated."""
    for conductivity, reference in HOUSE.items():
        make = partial(with_block, conductivity=conductivity)
        found = converging(make, HOUSE_GRIDS[full], backend)["nusselt"]
        error = 100 * (found.limit / reference - 1)
        note = f"{found.limit:.5g} against {reference:g}"
        title = f"square with a block, conductivity {conductivity:g}: Nu"
        yield Check.near(title, error, 0, HOUSE_WITHIN, "%", note)


def with_block(points: int, conductivity: float) -> CavityCase:
    """The square of House, Beckermann & Smith."""
    solid = {"low": [0.25, 0, 0.25], "high": [0.75, 1, 0.75], "conductivity": conductivity}
    return flat((points, points), 1e5, [solid])


def _steady(case: CavityCase, backend: Backend) -> Flow:
    return bring_to_steady_state(case, backend)[0]
