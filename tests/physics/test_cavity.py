"""Steady flows in boxes: known properties, and whether the default settings reach them."""

from __future__ import annotations

from typing import Any

import cavity_staggered
import numpy as np
import pytest
from checked import warnings_of
from variants import short_and_long

from groundswell.backends import open_backend
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.setup import ALONE, prepare
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.verification.lid import extrapolated

MIRROR, STILL = {"kind": "symmetry"}, {"kind": "adiabatic"}
FLAT = {"south": MIRROR, "north": MIRROR}
LID = dict.fromkeys(("west", "east", "bottom"), STILL) | {
    "top": STILL | {"velocity": [1.0, 0.0, 0.0]}
}
BELOW = {"west": STILL, "east": STILL} | {
    side: {"kind": "fixed", "temperature": t} for side, t in (("bottom", 0.5), ("top", -0.5))
}


def box(points: tuple[int, int], width: float = 1.0, height: float = 1.0) -> dict[str, Any]:
    return {"size": [width, 1.0, height], "points": [points[0], 1, points[1]]}


def lid(reynolds: float, points: int, **time: Any) -> CavityCase:
    fluid = {"kind": "reynolds", "reynolds": reynolds}
    return CavityCase(fluid=fluid, grid=box((points, points)), walls=FLAT | LID, time=time)


def sides(rayleigh: float, grid: dict[str, Any], prandtl: float = 0.71, **time: Any) -> CavityCase:
    fluid = {"kind": "rayleigh", "rayleigh": rayleigh, "prandtl": prandtl}
    return CavityCase(fluid=fluid, grid=grid, walls=FLAT, time=time)


def below(rayleigh: float, grid: dict[str, Any], prandtl: float = 0.71, **time: Any) -> CavityCase:
    fluid = {"kind": "rayleigh", "rayleigh": rayleigh, "prandtl": prandtl}
    return CavityCase(fluid=fluid, grid=grid, walls=FLAT | BELOW, time=time)


def steady(case: CavityCase) -> Flow:
    return bring_to_steady_state(case, open_backend("cpu"))[0]


@pytest.mark.full
def test_a_lid_drives_the_flow_of_a_staggered_grid() -> None:
    """Limits of both differ by what their extrapolations leave; sources of mass made it 0.8 %."""
    coarse, fine = (cavity_staggered.extremes(100, cells) for cells in (24, 48))
    found = extrapolated(100, 64, open_backend("cpu"))
    limits = [found[name].limit for name in ("smallest u", "largest w", "smallest w")]
    assert limits == pytest.approx(fine + (fine - coarse) / 3, rel=2e-3)


@pytest.mark.parametrize("walls", ["west", "bottom", "top"])
def test_no_net_flux_crosses_a_middle_line(walls: str) -> None:
    """Whichever wall moves; the damping flux, of third order, is not part of the velocity."""
    velocity = [0.0, 0.0, 1.0] if walls == "west" else [-1.0, 0.0, 0.0]
    moving = dict.fromkeys(("west", "east", "bottom", "top"), STILL)
    case = lid(100, 23).model_dump() | {
        "walls": FLAT | moving | {walls: STILL | {"velocity": velocity}}
    }
    flow = steady(CavityCase(**case))
    through = flow.centre_line("w", 0) if walls == "west" else flow.centre_line("u", 2)
    assert abs(np.trapezoid(through, np.linspace(0, 1, 25))) < 1e-4


def test_mirrored_and_turned_lids_drive_mirrored_and_turned_flows() -> None:
    """To rounding errors of a few steps: the sums of the axes have an order."""
    flows = {}
    for name, side, velocity in (
        ("top", "top", [1.0, 0.0, 0.0]),
        ("mirrored", "top", [-1.0, 0.0, 0.0]),
        ("turned", "east", [0.0, 0.0, 1.0]),
    ):
        still = dict.fromkeys(("west", "east", "bottom", "top"), STILL)
        walls = FLAT | still | {side: STILL | {"velocity": velocity}}
        case = lid(100, 15).model_dump() | {"walls": walls}
        flows[name] = steady(CavityCase(**case)).fields
    u, w = (flows["top"][name][:, 0] for name in "uw")
    assert abs(flows["mirrored"]["u"][:, 0, ::-1] + u).max() < 1e-13
    assert abs(flows["mirrored"]["w"][:, 0, ::-1] - w).max() < 1e-13
    assert abs(flows["turned"]["w"][:, 0].T[1:-1, 1:-1] - u[1:-1, 1:-1]).max() < 1e-12
    assert abs(flows["turned"]["u"][:, 0].T[1:-1, 1:-1] - w[1:-1, 1:-1]).max() < 1e-12


# --- heated from below ----------------------------------------------------------------------------


def test_fluid_heated_from_below_does_not_stay_at_rest() -> None:
    """Above Ra = 1708 rest is unstable. Rolls of wave number 3.117 in an unbounded layer of air
    transport 2.116 at 5000 (Clever & Busse 1974, J. Fluid Mech. 65:625); side walls take some.
    """
    found = steady(below(5e3, box((95, 15), width=6.0))).summary()["nusselt"]
    assert found == pytest.approx(2.116, rel=0.06)
    assert steady(below(1.5e3, box((23, 11), width=2.0))).summary()["nusselt"] < 1.005


@pytest.mark.parametrize("axis", range(3))
def test_the_disturbance_is_that_of_the_case_turned(axis: int) -> None:
    names = [("west", "east"), ("south", "north"), ("bottom", "top")]
    walls: dict[str, Any] = {side: STILL for pair in names for side in pair}
    low, high = names[axis]
    walls |= {low: BELOW["bottom"], high: BELOW["top"]}
    size, points = np.roll([2.0, 3.0, 1.0], axis + 1), np.roll([7, 9, 5], axis + 1)
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 1e4, "down": "-" + "xyz"[axis]},
        grid={"size": size.tolist(), "points": points.tolist()},
        walls=walls,
    )
    solver = Cavity(prepare(case), open_backend("cpu"))
    t = np.transpose(solver.snapshot("T"))
    assert 0.01 < abs(t).max() < 0.05
    assert np.isclose(np.take(t, 0, axis).max(), np.take(t, -1, axis).max())
    assert abs(t).max(axis=axis).min() > 0 or t.any()


# --- defaults -------------------------------------------------------------------------------------

FLOWS: dict[str, CavityCase] = {
    "lid, Re 400": lid(400, 31),
    "lid, Re 1000": lid(1000, 63),
    "lid, Re 3200": lid(3200, 127),
    "lid, Re 5000": lid(5000, 127),
    "sides, square": sides(1e6, box((63, 63))),
    "sides, 3 high": sides(1e5, box((23, 71), height=3.0)),
    "sides, 4 high": sides(1e5, box((15, 63), height=4.0)),
    "sides, 6 high": sides(1e5, box((31, 191), height=6.0)),
    "sides, 10 high": sides(1e5, box((31, 319), height=10.0)),
    "sides, 4 wide": sides(1e6, box((127, 31), width=4.0)),
    "sides, 10 wide": sides(1e6, box((319, 31), width=10.0)),
    "below, square": below(1e5, box((63, 63))),
    "below, oil": below(1e4, box((31, 31)), prandtl=100),
    "sides, oil": sides(1e5, box((63, 63)), prandtl=100),
    "sides, metal": sides(1e4, box((31, 31)), prandtl=0.01),
    "sides, faster metal": sides(1e5, box((127, 127)), prandtl=0.01),
    "below, faster metal": below(1e5, box((127, 127)), prandtl=0.01),
    "below, metal": below(1e4, box((31, 31)), prandtl=0.1),
}
LONG = [name for name in FLOWS if name != "below, metal"]


@pytest.mark.parametrize("name", short_and_long(list(FLOWS), LONG))
def test_defaults_reach_a_steady_flow(name: str) -> None:
    """By cycles, without trying again on the finest grid alone, and without a warning before."""
    solver = bring_to_steady_state(FLOWS[name], open_backend("cpu"))[1]
    assert solver.history.convergence()["steady"] and solver.stage != ALONE
    assert [text for text in warnings_of(solver.setup) if "steady" in text] == []


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (lid(5000, 31), "cell Reynolds number is about 1.6e+02"),
        (lid(9000, 255), "above a Reynolds number of about 8,000"),
        (sides(1e6, box((63, 319), height=10.0)), "in a box 10 times as high"),
    ],
)
def test_flows_that_may_not_become_steady_are_named_before(case: CavityCase, text: str) -> None:
    assert any(text in warning for warning in warnings_of(prepare(case)))


def test_the_finest_grid_alone_replaces_cycles_that_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here a mistake in the correction makes them fail."""
    case = sides(1e4, box((23, 23)), tolerance=1e-4)
    right = steady(case).summary()["nusselt"]
    monkeypatch.setattr("groundswell.solvers.cavity.multigrid.ADD", -1)
    flow, solver, _ = bring_to_steady_state(case, open_backend("cpu"))
    assert solver.stage == ALONE and "finest grid alone" in solver.warnings[0]
    assert flow.summary()["nusselt"] == pytest.approx(right, rel=1e-3)
