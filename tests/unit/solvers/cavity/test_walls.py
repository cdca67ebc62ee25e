"""Walls with heat flux, heat transfer and profiles of temperature, against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.backends import open_backend
from groundswell.errors import CaseError
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.grid_transfer import interpolation
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.unsteady import UnsteadyCavity
from groundswell.solvers.cavity.walls import FluxWall, RobinWall

MIRROR, PERIODIC = {"kind": "symmetry"}, {"kind": "periodic"}
FLAT = {"south": MIRROR, "north": MIRROR}
K = 0.6  # thermal conductivity
STILL = {"kind": "properties", "viscosity": 1.0, "diffusivity": 1.0, "expansion": 1e-12}
WARMED = {"kind": "flux", "flux": 0.9}
COOLED = {"kind": "robin", "h": 1.5, "ambient": 290.0}


def case_of(points: tuple[int, int], walls: dict[str, Any], **changes: Any) -> CavityCase:
    fluid = STILL | {"conductivity": K} | changes.pop("fluid", {})
    time = {"tolerance": 1e-10} | changes.pop("time", {})
    grid = {"points": [points[0], 1, points[1]]} | changes
    return CavityCase(fluid=fluid, grid=grid, walls=FLAT | walls, time=time)


def steady(case: CavityCase) -> Flow:
    return bring_to_steady_state(case, open_backend("cpu"))[0]


def test_conduction_through_a_layer() -> None:
    """T = ambient + q (1 / h + (L - x) / k), whichever way heat flows."""
    flow = steady(case_of((9, 7), {"west": WARMED, "east": COOLED}, time={"tolerance": 1e-12}))
    x = flow.axes[0]
    expected = 290 + 0.9 * (1 / 1.5 + (1 - x) / K)
    assert np.abs(flow.fields["T"] - expected).max() < 1e-8
    heat = flow.summary()
    assert abs(heat["heat_imbalance"]) < 1e-8
    assert heat["heat_in"]["west"] == pytest.approx(1.0)  # the conduction of the flux itself


def harmonic_error(points: int) -> float:
    """Largest error of T = x + cos(pi z) sinh(pi x), with its flux or transfer on every wall."""
    sinh, cosh = np.sinh(np.pi), np.cosh(np.pi)
    ambient = f"1 + cos(pi * z) * {sinh} + {K / 2} * (1 + pi * cos(pi * z) * {cosh})"
    walls = {
        "west": {"kind": "flux", "flux": f"-{K} * (1 + pi * cos(pi * z))"},
        "east": {"kind": "robin", "h": 2.0, "ambient": ambient},
        "bottom": {"kind": "fixed", "temperature": "x + (exp(pi * x) - exp(-pi * x)) / 2"},
    }
    flow = steady(case_of((points, points), walls))
    x, z = flow.axes[0], flow.axes[2][:, None]
    return float(np.abs(flow.fields["T"][:, 1] - x - np.cos(np.pi * z) * np.sinh(np.pi * x)).max())


def test_a_harmonic_temperature_with_second_order() -> None:
    coarse, fine = harmonic_error(11), harmonic_error(23)
    assert 3.3 < coarse / fine < 4.7 and fine < 0.05


def test_flow_along_a_heated_plate() -> None:
    """Between walls without ends, heat passes by conduction, and buoyancy balances friction.

    T = Tc + q (L - x) / k and nu w'' = -g beta (T - Tn) with w = 0 on both walls: cubics, for which
    the differences are exact.
    """
    fluid = {"viscosity": 0.02, "diffusivity": 0.03, "expansion": 1e-4, "gravity": 10.0}
    walls = {
        "west": {"kind": "flux", "flux": 0.3},
        "east": {"kind": "fixed", "temperature": 300.0},
        "bottom": PERIODIC,
        "top": PERIODIC,
    }
    flow = steady(case_of((11, 8), walls, fluid=fluid))
    x, slope = flow.axes[0], 0.3 / K
    neutral = flow.grid.fluid.neutral
    lift = 10.0 * 1e-4 / 0.02
    # w'' = -lift (a - slope x), a = T(0) - neutral
    a = 300.0 + slope - neutral
    w = -lift * (a * x**2 / 2 - slope * x**3 / 6) + lift * (a / 2 - slope / 6) * x
    assert np.abs(flow.fields["T"] - (300 + slope * (1 - x))).max() < 1e-7
    assert np.abs(flow.fields["w"] - w).max() < 1e-7 and np.abs(w).max() > 1e-3
    assert abs(flow.summary()["heat_imbalance"]) < 1e-8


CONVECTING: dict[str, dict[str, Any]] = {
    "west": {"kind": "flux", "flux": "1 + z"},
    "east": {"kind": "robin", "h": 3.0, "ambient": "290 + 0.2 * z"},
    "top": {"kind": "fixed", "temperature": "290.2 + 0.1 * x", "velocity": [0.05, 0.0, 0.0]},
}
AIR = {"viscosity": 0.0084, "diffusivity": 0.0119, "expansion": 0.1}


def test_heat_in_equals_heat_out() -> None:
    """In a flow without any symmetry, under a lid that moves."""
    flow = steady(case_of((15, 13), CONVECTING, fluid=AIR, time={"tolerance": 1e-12}))
    heat = flow.summary()
    assert np.abs(flow.fields["w"]).max() > 0.05
    assert min(map(abs, (heat["heat_in"][n] for n in ("west", "east", "top")))) > 0.05
    assert abs(heat["heat_imbalance"]) < 1e-8


def test_cycles_come_to_the_flow_that_steps_come_to() -> None:
    time = {"tolerance": 1e-10, "levels": 1}
    alone = steady(case_of((15, 13), CONVECTING, fluid=AIR, time=time))
    many = steady(case_of((15, 13), CONVECTING, fluid=AIR, time=time | {"levels": 2}))
    for name in "uwT":
        assert np.abs(many.fields[name] - alone.fields[name]).max() < 1e-6, name


@pytest.mark.parametrize("wall", [WARMED, COOLED])
def test_corrections_have_no_flux_of_their_own(wall: dict[str, Any]) -> None:
    """Differences of two flows on the coarse grid meet the wall's condition without its value."""
    walls = {"west": wall, "east": {"kind": "fixed", "temperature": 290.0}}
    fine = prepare(case_of((23, 11), walls, time={"levels": 2})).finest
    coarse = fine.coarser
    assert coarse is not None
    band = interpolation(coarse, fine, 0, "T")
    t = np.cos(np.arange(coarse.points[0]))
    found = (band.weights[0] * t[band.first[0] + np.arange(band.weights.shape[1])]).sum()
    h, side = coarse.grid.spacing[0], coarse.case.walls.west
    loss = side.h / K if isinstance(side, RobinWall) else 0.0
    assert isinstance(side, FluxWall | RobinWall)
    at_wall = (4 * t[0] - t[1]) / (3 + 2 * h * loss)
    share = fine.grid.spacing[0] / h
    assert found == pytest.approx((1 - share) * at_wall + share * t[0])


def test_profiles_on_walls_are_beyond_the_points_of_all_copies() -> None:
    solver = Cavity(prepare(case_of((9, 7), CONVECTING, fluid=AIR)), open_backend("cpu"))
    for copy in solver.levels[0].copies:
        west = copy["T"].array[2:-2, 2, 1]
        z = solver.setup.finest.interior_positions(2)
        assert np.allclose(west, (1 + z) * 2 * solver.setup.finest.grid.spacing[0] / (3 * K))


def test_fluid_that_nothing_cools_warms_up() -> None:
    """In time, a flux alone is possible: dT/dt = q alpha / (k L)."""
    walls = {"west": WARMED, "east": {"kind": "adiabatic"}}
    time = {"duration": 2.0, "step": 0.1, "tolerance": 1e-6}
    solver = UnsteadyCavity(prepare(case_of((9, 7), walls, time=time)), open_backend("cpu"))
    means = []
    for _ in range(12):
        solver.step()
        means.append(solver.snapshot("T").mean())
    assert means[-1] - means[-2] == pytest.approx(0.1 * 0.9 / K, rel=1e-3)


@pytest.mark.parametrize(
    ("walls", "fluid", "text"),
    [
        ({"west": WARMED}, {}, "the temperature of steady flow would be undefined"),
        (
            {"west": COOLED},
            {"conductivity": None},
            "is required for walls.west",
        ),
        ({"west": {"kind": "flux", "flux": "1 / z"}}, {}, "is not finite everywhere on the wall"),
        ({"west": {"kind": "flux", "flux": "1 / q"}}, {}, 'has the unknown name "q"'),
        ({"west": COOLED | {"h": -1.0}}, {}, "walls.west.h"),
        ({"west": COOLED | {"h": 0.0}}, {}, "walls.west.h"),
        ({"west": COOLED | {"ambient": float("nan")}}, {}, "walls.west.ambient"),
        ({"west": {"kind": "fixed", "temperature": "3 kg"}}, {}, "walls.west.temperature"),
    ],
)
def test_walls_that_cannot_be_are_named(walls: Any, fluid: Any, text: str) -> None:
    others = {"east": {"kind": "adiabatic"}}
    with pytest.raises(CaseError) as error:
        case_of((9, 7), others | walls, fluid=fluid)
    assert text in str(error.value)
