"""Stretched grids: where points lie, what flows on them come to, and what is read off."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checked import warnings_of

from groundswell.backends import open_backend
from groundswell.errors import CaseError, InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.grids.cartesian import Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.stencils import stencil
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.recording import recording
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.unsteady import UnsteadyCavity
from groundswell.solvers.cavity.wall_heat import mean_nusselt

MIRROR = {"kind": "symmetry"}
FLAT = {"south": MIRROR, "north": MIRROR}
AIR = {"kind": "rayleigh", "rayleigh": 1e4}
STRONG = {"x": 1.5, "z": 1.5}


def case_of(points: tuple[int, int, int], grid: dict[str, Any], **tables: Any) -> CavityCase:
    time = {"tolerance": 1e-10} | tables.pop("time", {})
    return CavityCase(
        fluid=tables.pop("fluid", AIR),
        grid={"points": points} | grid,
        walls=FLAT | tables.pop("walls", {}),
        time=time,
        **tables,
    )


def steady(case: CavityCase) -> Flow:
    return bring_to_steady_state(case, open_backend("cpu"))[0]


@cache
def heated() -> Flow:
    return steady(case_of((23, 1, 21), {"stretching": STRONG}))


# --- where points lie -----------------------------------------------------------------------------


def test_points_cluster_at_walls() -> None:
    grid = prepare(case_of((15, 1, 16), {"size": [2.0, 1.0, 1.0], "stretching": STRONG})).finest
    s = np.arange(1, 16) / 16
    assert np.allclose(grid.interior_positions(0), 1 + np.tanh(3 * s - 1.5) / np.tanh(1.5))
    for axis in (0, 2):
        before, after = grid.axes[axis].distances
        assert (before == after[::-1]).all() and np.argmin(before) == 0
    first = grid.interior_positions(0)[0] / (2 / 16)
    assert first == pytest.approx(3 / np.sinh(3), rel=0.25)  # the spacing at the wall itself


@pytest.mark.parametrize("side", ["bottom", "top"])
def test_points_do_not_cluster_at_planes_of_symmetry(side: str) -> None:
    """Half of the box that has the other half beyond the plane."""
    half = case_of((9, 1, 8), {"size": [1, 1, 0.5], "stretching": {"z": 2.0}}, walls={side: MIRROR})
    whole = prepare(case_of((9, 1, 16), {"stretching": {"z": 2.0}})).finest
    grid, z = prepare(half).finest, whole.interior_positions(2)
    wanted = z[:8] if side == "top" else z[8:] - 0.5
    assert np.allclose(grid.interior_positions(2), wanted, rtol=1e-12)
    metric, of_whole = grid.axes[2].metric, whole.axes[2].metric
    if side == "bottom":  # towards the other wall, low and high change roles
        metric = metric[[0, 1, 3, 2], ::-1]
    assert np.allclose(metric, of_whole[:, :8])


@pytest.mark.parametrize("given", [False, True])
def test_every_second_point_is_one_of_the_coarser_grid(given: bool) -> None:
    fine = prepare(case_of((31, 1, 31), {"stretching": {"x": 2.0}})).finest
    if given:
        positions = {"x": fine.interior_positions(0).tolist()}
        same = prepare(case_of((31, 1, 31), {"positions": positions})).finest
        assert np.allclose(same.axes[0].metric, fine.axes[0].metric, rtol=1e-9)
        fine = same
    assert fine.coarser is not None
    assert np.allclose(fine.coarser.interior_positions(0), fine.interior_positions(0)[1::2])


@pytest.mark.parametrize(
    ("grid", "walls", "text"),
    [
        ({"stretching": {"x": 5.0}}, {}, "grid.stretching.x = 5.0: must be at most 4"),
        ({"stretching": {"x": 0.0}}, {}, "grid.stretching.x"),
        ({"stretching": {"x": float("nan")}}, {}, "grid.stretching.x"),
        ({"stretching": {"y": 1.0}}, {}, "grid.stretching.y"),
        (
            {"stretching": {"z": 1.0}},
            {"bottom": MIRROR, "top": MIRROR},
            "needs a wall at an end of z",
        ),
        ({"positions": {"x": [0.5]}}, {}, "must have 9 entries, as grid.points along x"),
        ({"positions": {"x": [0.1] * 9}}, {}, "must increase and lie inside the box"),
        ({"positions": {"x": [0.1 * n for n in range(3, 12)]}}, {}, "must increase and lie inside"),
        ({"positions": {"x": [-0.1]}}, {}, "grid.positions.x"),
        (
            {"positions": {"x": [0.1 * n for n in range(1, 10)]}, "stretching": {"x": 1.0}},
            {},
            "excludes stretching.x; leave out one of the two",
        ),
    ],
)
def test_grids_that_cannot_be_are_named(grid: Any, walls: Any, text: str) -> None:
    with pytest.raises(CaseError) as error:
        case_of((9, 1, 9), grid, walls=walls)
    assert text in str(error.value)


def test_strongly_uneven_distances_are_named_before() -> None:
    rough, smooth = (prepare(case_of((n, 1, 31), {"stretching": {"x": 2.0}})) for n in (15, 63))
    assert any("differ by up to 59.9 %" in text for text in warnings_of(rough))
    assert not any("differ by" in text for text in warnings_of(smooth))


# --- flows ----------------------------------------------------------------------------------------


def harmonic_error(points: int, grid: dict[str, Any]) -> float:
    """Largest error of T = x + cos(pi z) sinh(pi x), with its flux or transfer on every wall."""
    sinh, cosh, k = np.sinh(np.pi), np.cosh(np.pi), 0.6
    ambient = f"1 + cos(pi * z) * {sinh} + {k / 2} * (1 + pi * cos(pi * z) * {cosh})"
    walls = {
        "west": {"kind": "flux", "flux": f"-{k} * (1 + pi * cos(pi * z))"},
        "east": {"kind": "robin", "h": 2.0, "ambient": ambient},
        "bottom": {"kind": "fixed", "temperature": "x + (exp(pi * x) - exp(-pi * x)) / 2"},
    }
    still = {"kind": "properties", "viscosity": 1.0, "diffusivity": 1.0, "expansion": 1e-12}
    case = case_of((points, 1, points), grid, walls=walls, fluid=still | {"conductivity": k})
    flow = steady(case)
    x, z = flow.axes[0], flow.axes[2][:, None]
    return float(np.abs(flow.fields["T"][:, 1] - x - np.cos(np.pi * z) * np.sinh(np.pi * x)).max())


def test_a_harmonic_temperature_with_second_order() -> None:
    coarse, fine = (harmonic_error(n, {"stretching": {"x": 1.2, "z": 0.8}}) for n in (11, 23))
    assert 3.3 < coarse / fine < 4.7 and fine < 0.05


def test_a_flow_is_symmetric_about_the_centre_and_loses_no_heat() -> None:
    fields = heated().fields
    for name, sign in {"u": -1, "w": -1, "T": -1}.items():
        assert np.abs(fields[name] - sign * fields[name][::-1, :, ::-1]).max() < 1e-9, name
    assert abs(heated().summary()["heat_imbalance"]) < 1e-8


def test_a_stretched_grid_is_more_accurate_than_an_even_one() -> None:
    """With a quarter of the points; 2.24475 by Hortmann et al. 1990."""
    even = steady(case_of((47, 1, 47), {}, time={"tolerance": 1e-6})).summary()["nusselt"]
    assert abs(heated().summary()["nusselt"] - 2.24475) < abs(even - 2.24475)


def test_heat_in_equals_heat_out_with_fluxes_through_walls() -> None:
    walls = {
        "west": {"kind": "flux", "flux": "1 + z"},
        "east": {"kind": "robin", "h": 3.0, "ambient": "290 + 0.2 * z"},
        "top": {"kind": "fixed", "temperature": "290.2 + 0.1 * x", "velocity": [0.05, 0.0, 0.0]},
    }
    air = {"kind": "properties", "viscosity": 0.0084, "diffusivity": 0.0119, "expansion": 0.1}
    grid = {"positions": {"x": [0.03, 0.09, 0.16, 0.25, 0.36, 0.5, 0.66, 0.8, 0.88, 0.94, 0.98]}}
    grid |= {"stretching": {"z": 1.3}}
    fluid, time = air | {"conductivity": 0.6}, {"tolerance": 1e-12}
    heat = steady(case_of((11, 1, 13), grid, walls=walls, fluid=fluid, time=time)).summary()
    assert min(map(abs, (heat["heat_in"][n] for n in ("west", "east", "top")))) > 0.05
    assert abs(heat["heat_imbalance"]) < 1e-8


def test_a_steady_flow_stays_so_in_time_and_on_another_grid() -> None:
    """The initial flow comes from a file on another grid, or from the same grid."""
    start = {"flow": dict(zip("xyz", heated().axes, strict=True)) | heated().fields}
    time = {"duration": 0.4, "step": 0.2, "tolerance": 1e-7}
    case = case_of((23, 1, 21), {"stretching": STRONG}, time=time, start=start)
    solver = UnsteadyCavity(prepare(case), open_backend("cpu"))
    solver.step()
    for name in "uwT":
        assert np.abs(solver.snapshot(name) - heated().fields[name][1:-1, 1:-1, 1:-1]).max() < 1e-5
    nusselt = mean_nusselt(solver.levels[0], SerialCommunicator())
    flow = solver.outputs.whole_flow().summary()
    assert nusselt == pytest.approx([flow["nusselt"], flow["nusselt_cold"]], rel=1e-9)


# --- records --------------------------------------------------------------------------------------


def domain() -> CartesianDomain:
    grid = prepare(case_of((15, 1, 12), {"stretching": STRONG})).finest
    found = recording(grid, Part.whole(grid.grid)).domain
    assert isinstance(found, CartesianDomain)
    return found


@pytest.mark.parametrize(("taps", "degree"), [(2, 1), (4, 3)])
def test_records_interpolate_between_uneven_points(taps: int, degree: int) -> None:
    """Exactly, polynomials of the degree; straight lines between the outermost points and walls."""
    along, rng = domain(), np.random.default_rng(3)
    nodes = along.nodes[0]
    assert nodes is not None
    inside = rng.uniform(nodes[0], nodes[-1], 40)
    for at, power in ((inside, degree), (np.array([0.0, 1.0]), 1)):
        first, weights = stencil(along._cells(0, at), len(nodes), taps, nodes)
        values = nodes[first[:, None] + np.arange(taps)] ** power
        assert np.allclose((weights * values).sum(axis=1), at**power, atol=1e-12)


def test_records_choose_the_points_in_a_box_and_the_nearest_layer() -> None:
    along = domain()
    nodes = along.nodes[2]
    assert nodes is not None
    assert along._layer(2, nodes[3] + 0.4 * (nodes[4] - nodes[3])) == range(3, 4)
    assert np.array_equal(along.coordinate(2, np.arange(12)), nodes)
    between = SimpleNamespace(low=[0, 0, nodes[3] + 1e-3], high=[1, 1, nodes[3] + 2e-3], stride=1)
    with pytest.raises(InputError, match="m apart, from"):
        along._between(2, between)  # type: ignore[arg-type]
