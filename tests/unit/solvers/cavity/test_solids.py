"""Solid blocks in a cavity: kernels against NumPy, conduction, heat balances, and messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cavity_scheme import NAMES, rates, step
from cavity_solids import still
from checked import warnings_of

from groundswell.backends import open_backend
from groundswell.errors import GroundswellError
from groundswell.solvers.cavity.api import build_case
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.point_axis import PointAxis
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solid_grid import fluid_centre
from groundswell.solvers.cavity.solid_heat import read_outlines
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.unsteady import UnsteadyCavity

MIRROR, PERIODIC, STILL = ({"kind": kind} for kind in ("symmetry", "periodic", "adiabatic"))
FLAT = {"south": MIRROR, "north": MIRROR}

# The box has the spacings 0.1, 0.1 and 0.1, whatever the walls. Some surfaces lie between points.
INSIDE = {"low": [0.3, 0.3, 0.4], "high": [0.6, 0.5, 0.75], "conductivity": 3.0, "power": 0.2}
BELOW = {"low": [0.3, 0.3, 0.0], "high": [0.5, 0.5, 0.4], "conductivity": 0.7}
ON_SIDES = {"low": [0.0, 0.0, 0.0], "high": [0.25, 0.4, 0.3], "conductivity": 0.2}
ACROSS = {"low": [0.5, 0.0, 0.4], "high": [0.7, 0.8, 0.65], "conductivity": 5.0, "power": -0.1}
BOXES: dict[str, tuple[Any, Any, Any]] = {
    "inside": ({}, (9, 7, 9), [INSIDE]),
    "on sides": ({"bottom": {"kind": "conducting"}}, (9, 7, 9), [ON_SIDES]),
    "touching": (
        {},
        (9, 7, 9),
        [INSIDE, BELOW],
    ),
    "periodic": ({"south": PERIODIC, "north": PERIODIC}, (9, 8, 9), [ACROSS]),
    "mirrors": (FLAT, (9, 8, 9), [ON_SIDES, ACROSS]),
}


def make(name: str, grid: Any = (), **changes: Any) -> CavityCase:
    walls, points, solids = BOXES[name]
    fluid = {"kind": "rayleigh", "rayleigh": 3e4, "prandtl": 0.5}
    return CavityCase(
        fluid=fluid,
        grid={"size": [1.0, 0.8, 1.0], "points": list(points), **dict(grid)},
        walls=walls,
        solid=changes.pop("solid", solids),
        time={"steps": 100, "levels": 1} | changes.pop("time", {}),
        **changes,
    )


def random_flow(solver: Any, seed: int = 5) -> dict[str, np.ndarray]:
    """Values without symmetries, at rest in solids."""
    rng, grid = np.random.default_rng(seed), solver.setup.finest
    flow = {name: rng.normal(size=grid.grid.shape) for name in NAMES}
    rest = still(grid)
    solver.fill(flow)  # also in solids, where the solver sets them to zero
    return {n: np.where(rest & (n != "T"), 0.0, f) for n, f in flow.items()}


# The same boxes on grids whose points cluster at walls. Surfaces lie on points of these grids, or
# halfway or a quarter of the way between them.
STRETCHED: dict[str, Any] = {
    "inside": ({"x": 1.5, "y": 0.7, "z": 2.5}, {}),
    "on sides": ({"x": 2.0, "z": 1.0}, {}),
    "touching": ({"x": 0.8, "y": 1.2, "z": 1.4}, {}),
    "periodic": ({"x": 1.0, "z": 2.0}, {}),
    "mirrors": ({"z": 1.5}, {"x": [0.04, 0.1, 0.19, 0.3, 0.45, 0.6, 0.73, 0.85, 0.94]}),
}


def moved(solid: dict[str, Any], grid: LevelGrid) -> dict[str, Any]:
    """A block of the even boxes, with its corners moved like the points of a stretched grid."""
    corners = {key: [*map(float, solid[key])] for key in ("low", "high")}
    for key, corner in corners.items():
        for axis, along in enumerate(grid.axes):
            even = PointAxis(along.size, along.points, along.offsets)
            corners[key][axis] = np.interp(corner[axis], even.extended(1), along.extended(1))
    return solid | corners


def make_stretched(name: str, **changes: Any) -> CavityCase:
    """A box of STRETCHED."""
    stretching, positions = STRETCHED[name]
    case = make(name, solid=[], grid={"stretching": stretching, "positions": positions}, **changes)
    solids = [moved(solid, prepare(case).finest) for solid in BOXES[name][2]]
    return CavityCase(**case.model_dump() | {"solid": solids})


@pytest.mark.most(3)
@pytest.mark.parametrize("name", STRETCHED)
def test_a_step_on_a_stretched_grid(name: str) -> None:
    case = make_stretched(name, time={"courant": 0.05})
    solver = Cavity(prepare(case), open_backend("cpu"))
    expected = step(solver.setup.finest, random_flow(solver))
    solver.step()
    for field in NAMES:
        assert np.abs(solver.snapshot(field) - expected[field]).max() < 1e-11, field


@pytest.mark.parametrize("name", STRETCHED)
def test_a_stretched_grid_makes_no_mass(name: str) -> None:
    solver = Cavity(prepare(make_stretched(name)), open_backend("cpu"))
    flow, grid = random_flow(solver), solver.setup.finest
    assert np.abs(flow["u"]).max() > 1
    level = solver.levels[0]
    level.compute_rates(level.copies[1], forced=False)()
    sources = solver.backend.to_host(level.copies[1]["p"].interior)
    z, y, x = (grid.axes[axis].lengths for axis in (2, 1, 0))
    of_cells = np.einsum("kji,k,j,i->kji", sources, z, y, x)
    assert abs(of_cells.sum()) < 1e-13 * abs(of_cells).sum()


@pytest.mark.most(3)
@pytest.mark.parametrize("name", BOXES)
def test_a_step_is_what_the_equations_say(name: str) -> None:
    solver = Cavity(prepare(make(name, time={"courant": 0.05})), open_backend("cpu"))
    expected = step(solver.setup.finest, random_flow(solver))
    solver.step()
    for field in NAMES:
        assert np.abs(solver.snapshot(field) - expected[field]).max() < 1e-11, field


@pytest.mark.parametrize("name", BOXES)
def test_no_mass_is_made(name: str) -> None:
    solver = Cavity(prepare(make(name)), open_backend("cpu"))
    random_flow(solver)
    level = solver.levels[0]
    level.compute_rates(level.copies[1], forced=False)()
    sources = solver.backend.to_host(level.copies[1]["p"].interior)
    assert abs(sources.sum()) < 1e-13 * abs(sources).sum()


def test_residuals_and_global_steps_are_those_of_the_equations() -> None:
    case = make("inside", time={"local": False})
    solver = Cavity(prepare(case), open_backend("cpu"))
    grid, flow = solver.setup.finest, random_flow(solver)
    change, limits = rates(grid, flow)
    norms, limit = solver.levels[0].measure()
    assert norms[4] == pytest.approx(np.sqrt(np.mean(change["T"] ** 2)), rel=1e-10)
    assert limit == pytest.approx(max(limits["velocity"].max(), limits["heat"].max()), rel=1e-12)


# --- in time --------------------------------------------------------------------------------------

WATER = {
    "kind": "properties",
    "viscosity": 0.1,
    "diffusivity": 0.2,
    "expansion": 0.03,
    "conductivity": 0.5,
}
# Its cells at the surface hold solid and fluid.
HEATER = {
    "low": [0.25, 0.0, 0.25],
    "high": [0.5, 1.0, 0.625],
    "conductivity": 2.0,
    "heat_capacity": 12.5,
    "power": 0.3,
}


@pytest.mark.parametrize("stretching", [{}, {"x": 1.5, "z": 0.8}])
def test_a_closed_box_stores_the_heat_that_a_solid_releases(stretching: dict[str, float]) -> None:
    """To the tolerance of steps, whatever the flow, with cycles through two grids."""
    closed = dict.fromkeys(("west", "east", "bottom", "top"), STILL)
    case = CavityCase(
        fluid=WATER,
        grid={"points": [31, 1, 31], "stretching": stretching},
        walls=FLAT | closed,
        solid=[HEATER],
        time={"duration": 0.4, "step": 0.1, "tolerance": 1e-10, "levels": 2},
    )
    solver = UnsteadyCavity(prepare(case), open_backend("cpu"))
    first = solver.snapshot("T")  # the disturbance of fluid at rest
    for _ in range(4):
        solver.step()
    assert len(solver.levels) == 2
    capacity = solver.backend.to_host(solver.levels[0].solids["capacity"])
    middles = [(x[1:] + x[:-1]) / 2 for x in map(solver.setup.finest.interior_positions, (0, 2))]
    x, z = (np.diff([0, *m, 1]) for m in middles)  # cells of first points extend to the walls
    heat = WATER["conductivity"] / WATER["diffusivity"] * capacity * (solver.snapshot("T") - first)
    stored = np.einsum("k,kji,i->", z, heat, x)
    assert stored == pytest.approx(0.3 * 0.4, rel=1e-7)
    assert np.abs(solver.snapshot("w")).max() > 1e-4
    ratio = 12.5 * WATER["diffusivity"] / WATER["conductivity"]
    assert {1.0, ratio} < {round(float(x), 9) for x in capacity.ravel()}


# --- numbers --------------------------------------------------------------------------------------


def test_numbers_of_a_heated_block() -> None:
    """The warm block heats the walls; its outline and the centre of pressure are in the plane."""
    solid = HEATER | {"low": [0.375, 0.0, 0.375], "high": [0.625, 1.0, 0.625]}
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 1e3},
        grid={"points": [15, 1, 15]},
        walls=FLAT,
        solid=[solid],
        time={"tolerance": 1e-10},
    )
    flow, solver, _ = bring_to_steady_state(case, open_backend("cpu"))
    found = flow.summary()
    assert found["heat_released"] == {"solid[0]": pytest.approx(0.3)}
    assert sum(found["heat_in"].values()) == pytest.approx(-0.3, abs=1e-8)
    assert abs(found["heat_imbalance"]) < 1e-8
    assert [*found["solids"]] == [*found["heat_released"]]
    temperatures = found["solids"]["solid[0]"]
    block = flow.fields["T"][6:11, 1, 6:11]
    assert temperatures["highest"] == block.max() and temperatures["lowest"] == block.min()
    assert 0 < temperatures["mean"] < temperatures["highest"]
    assert not np.abs(flow.fields["u"][6:11, 1, 6:11]).any()
    assert not still(solver.setup.finest)[fluid_centre(solver.setup.finest)[::-1]]
    (outline,) = read_outlines("0.375 0 0.375 0.625 1 0.75", "x", "z", 0.5)
    assert outline == (0.375, 0.375, 0.25, 0.375)
    assert not [*read_outlines("0.375 0 0.375 0.625 1 0.75", "x", "y", 0.9)]


@pytest.mark.parametrize("stretching", [{}, {"x": 2.0, "z": 1.0}])
def test_a_wall_behind_a_solid_conducts_like_the_solid(stretching: dict[str, float]) -> None:
    """Nusselt numbers count the flux through the wall, steady and, as histories do, in time."""
    layer = {"low": [0.0, 0.0, 0.0], "high": [0.4375, 1.0, 1.0], "conductivity": 0.2}
    case = {
        "fluid": {"kind": "rayleigh", "rayleigh": 1e-2},
        "grid": {"points": [15, 1, 7], "stretching": stretching},
        "walls": FLAT,
        "solid": [layer | {"heat_capacity": 1e-3}],
    }
    exact = 1 / (0.5625 + 0.4375 / 0.2)
    steady = CavityCase(**case, time={"tolerance": 1e-8})
    flow, *_ = bring_to_steady_state(steady, open_backend("cpu"))
    assert flow.summary()["nusselt"] == pytest.approx(exact, rel=1e-7)
    times = {"duration": 40.0, "step": 10.0, "tolerance": 1e-8}
    solver = UnsteadyCavity(prepare(CavityCase(**case, time=times)), open_backend("cpu"))
    for _ in range(4):
        solver.step()
    assert solver.history.read()[-1, 3:5] == pytest.approx([exact, exact], rel=1e-4)


# --- messages -------------------------------------------------------------------------------------

BLOCK = {"low": [0.3, 0.3, 0.3], "high": [0.6, 0.5, 0.6], "conductivity": 2.0}
MOVING = {"kind": "adiabatic", "velocity": [1.0, 0.0, 0.0]}


@pytest.mark.parametrize(
    ("solids", "changes", "text"),
    [
        ([BLOCK | {"conductivity": -1.0}], {}, r"solid\[0\].conductivity = -1"),
        ([BLOCK | {"high": [0.6, 0.2, 0.6]}], {}, r"solid\[0\].high\[1\].*greater than low"),
        ([BLOCK | {"high": [1.2, 0.5, 0.6]}], {}, r"solid\[0\].high\[0\].*at most 1, where"),
        ([BLOCK | {"low": [0.3, -0.1, 0.3]}], {}, r"solid\[0\].low\[1\].*must be 0 or more"),
        (BLOCK, {}, r"solid: must be a list.* double brackets"),
        ([BLOCK | {"conductivity": "2 W/m/K"}], {}, r"conductivity.* has no unit with fluid.kind"),
        ([BLOCK | {"power": "2 W"}], {}, r"solid\[0\].power.* has no unit with fluid.kind"),
        ([BLOCK, BLOCK | {"low": [0.5, 0.3, 0.3]}], {}, r"solid\[1\].*overlaps solid\[0\]"),
        ([BLOCK | {"low": [0.45, 0.3, 0.3]}], {}, r"is 1.5 spacings thick along x"),
        ([BLOCK | {"low": [0.2, 0.3, 0.3]}], {}, r"along x next to solid\[0\] has 1 point in"),
        ([BLOCK | {"low": [0.07, 0.3, 0.3]}], {}, r"ends 0.7 spacings before a wall along x"),
        ([BLOCK | {"high": [0.6, 0.5, 1]}], {"walls": {"top": MOVING}}, r"walls.top, which moves"),
        (
            [BLOCK | {"low": [0.3, 0.0, 0.3]}],
            {"walls": {"south": {"kind": "flux", "flux": 1.0}}},
            r'touches walls.south, whose kind is "flux"; leave a gap',
        ),
        ([BLOCK], {"fluid": WATER | {"conductivity": None}}, r"fluid.conductivity.*is required"),
        ([BLOCK], {"time": {"duration": 1.0, "step": 0.1}}, r"heat_capacity.*is required for flow"),
        (
            [BLOCK],
            {"walls": FLAT, "grid": {"size": [1, 0.8, 1], "points": [9, 1, 9]}},
            r"must reach from 0 to 0.8 along y",
        ),
        (
            [BLOCK | {"power": 1.0}],
            {"walls": dict.fromkeys(("west", "east"), STILL), "fluid": WATER},
            r"solid\[0\].power.*needs a wall",
        ),
    ],
)
def test_messages(solids: Any, changes: dict[str, Any], text: str) -> None:
    content = {
        "fluid": {"kind": "rayleigh", "rayleigh": 1e4},
        "grid": {"size": [1.0, 0.8, 1.0], "points": [9, 7, 9]},
        "solid": solids,
    }
    with pytest.raises(GroundswellError, match=text):
        prepare(CavityCase(**content | changes))


@pytest.mark.parametrize("at", [None, 0.5])
def test_solids_without_any_fluid_are_named(at: float | None) -> None:
    """One that fills the box, or two that share it."""
    whole = {"low": [0.0, 0.0, 0.0], "high": [1.0, 0.8, 1.0], "conductivity": 2.0}
    halves = [whole | {"high": [1.0, 0.8, at]}, whole | {"low": [0.0, 0.0, at]}]
    said = "solid[0] fills" if at is None else "the solids fill"
    found = warnings_of(prepare(make("inside", solid=[whole] if at is None else halves)))
    (text,) = [w for w in found if "whole box" in w]
    assert text.startswith(f"{said} the whole box: nothing flows")
    half = prepare(make("inside", solid=halves[:1] if at else [BLOCK]))
    assert not [w for w in warnings_of(half) if "whole box" in w]


def test_surfaces_between_points_are_named() -> None:
    solid = BLOCK | {"low": [0.37, 0.3, 0.3]}
    (text,) = [w for w in warnings_of(prepare(make("inside", solid=[solid]))) if "between" in w]
    assert text.startswith("solid[0] ends between points along x:")
    assert not [w for w in warnings_of(prepare(make("inside", solid=[BLOCK]))) if "between" in w]


@pytest.mark.parametrize("kind", ["inlet", "outflow"])
def test_openings_have_a_message(kind: str) -> None:
    with pytest.raises(GroundswellError, match="no fluid enters or leaves the box"):
        CavityCase(
            fluid={"kind": "reynolds", "reynolds": 10.0},
            grid={"points": [9, 9, 9]},
            walls={"west": {"kind": kind, "velocity": [1.0, 0.0, 0.0]}},
        )


def test_python_arguments() -> None:
    air = {"kind": "rayleigh", "rayleigh": 1e4}
    case = build_case((9, 7, 9), air, size=(1.0, 0.8, 1.0), solid=[BLOCK])
    assert case.solid[0].conductivity == 2.0 and case.conserves_heat
