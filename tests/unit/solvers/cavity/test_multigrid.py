"""Coarser grids of the cavity: how flows pass between grids, and what cycles come to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cavity_scheme import NAMES, beta_squared, rates, step
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.tuning import Choice
from groundswell.grids.cartesian import GHOSTS
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.cost import decompose
from groundswell.solvers.cavity.decomposition import divide_grids
from groundswell.solvers.cavity.grid_transfer import Band, interpolation, restriction
from groundswell.solvers.cavity.level import Level
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.setup import Setup, prepare
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.cavity.steady import bring_to_steady_state

MIRROR, PERIODIC = {"kind": "symmetry"}, {"kind": "periodic"}
FLAT = {"south": MIRROR, "north": MIRROR}
SIDES: dict[str, dict[str, Any]] = {
    "walls": {},
    "mirrors": {"bottom": MIRROR, "top": MIRROR},
    "mirror and wall": {"bottom": MIRROR},
    "periodic": {"bottom": PERIODIC, "top": PERIODIC},
}


def cavity(
    points: tuple[int, int, int],
    walls: dict[str, Any],
    stretching: dict[str, float] | None = None,
    **time: Any,
) -> CavityCase:
    grid = {"size": [1.0, 0.8, 1.3], "points": list(points), "stretching": stretching or {}}
    fluid = {"kind": "rayleigh", "rayleigh": 1e4}
    return CavityCase(fluid=fluid, grid=grid, walls=walls, time=time)


def two_grids(points: int, sides: str, strength: float = 0.0) -> tuple[LevelGrid, LevelGrid]:
    has_wall = sides in ("walls", "mirror and wall")
    stretching = {"z": strength} if strength and has_wall else None
    fine = prepare(cavity((11, 11, points), SIDES[sides], stretching, levels=2)).finest
    assert fine.coarser is not None
    return fine, fine.coarser


def lengths(grid: LevelGrid) -> np.ndarray:
    """Of the cells along z, without half cells on walls."""
    return grid.axes[2].lengths * grid.axes[2].spacing


def applied(band: Band, values: np.ndarray) -> np.ndarray:
    """The sums that a band stands for; where an axis is periodic, it wraps around."""
    places = band.first[:, None] + np.arange(band.weights.shape[1])
    return (band.weights * values[places % len(values)]).sum(axis=1)


# --- between two grids ----------------------------------------------------------------------------

GRIDS = st.tuples(
    st.integers(10, 40), st.sampled_from(list(SIDES)), st.sampled_from([0.0, 0.7, 2.5])
)
Grids = tuple[int, str, float]


@settings(max_examples=60)
@given(GRIDS)
def test_interpolation_is_exact_for_straight_lines(grid: Grids) -> None:
    """Of pressure, which goes on straight into walls; elsewhere for constants."""
    fine, coarse = two_grids(*grid)
    for source, target in ((fine, coarse), (coarse, fine)):
        band = interpolation(source, target, 2, "p")
        assert np.allclose(applied(band, np.ones(source.grid.cells[2])), 1, atol=1e-12)
        if grid[1] == "walls":
            lines = [2 - 3 * s.interior_positions(2) for s in (source, target)]
            assert np.allclose(applied(band, lines[0]), lines[1], atol=1e-12)


@settings(max_examples=60)
@given(GRIDS, st.sampled_from("uvw"), st.integers(0, 99))
def test_restriction_is_the_transpose_of_interpolation(grid: Grids, name: str, seed: int) -> None:
    """In the measure of the cells' lengths; velocities, which are zero on walls."""
    fine, coarse = two_grids(*grid)
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=s.grid.cells[2]) for s in (fine, coarse))
    down = applied(restriction(fine, coarse, 2, name), a)
    up = applied(interpolation(coarse, fine, 2, name), b)
    left, right = (lengths(coarse) * down) @ b, (lengths(fine) * a) @ up
    assert np.isclose(left, right, atol=1e-10)


@settings(max_examples=60)
@given(GRIDS)
def test_restriction_makes_no_mass(grid: Grids) -> None:
    """All points of a fine grid count alike in the sum of a coarse grid's sources of mass.

    On stretched grids, each counts by the length of its cell.
    """
    fine, coarse = two_grids(*grid)
    points = fine.grid.cells[2]
    band, units = restriction(fine, coarse, 2, "p"), np.eye(points)
    sums = [applied(band, unit) @ lengths(coarse) for unit in units]
    assert np.allclose(sums, lengths(fine), rtol=1e-12)


@settings(max_examples=60)
@given(GRIDS, st.data())
def test_a_blocks_part_of_a_band_reads_its_ghosts_at_most(grid: Grids, data: st.DataObject) -> None:
    fine, coarse = two_grids(*grid)
    cut = data.draw(st.integers(2, coarse.grid.cells[2] - 2))
    edge = int(
        np.searchsorted(
            fine.axes[2].even_positions,
            coarse.axes[2].even_positions[cut] - coarse.grid.spacing[2] / 2,
        )
    )
    whole = restriction(fine, coarse, 2, "p")
    values = np.random.default_rng(cut).normal(size=fine.grid.cells[2])
    found = []
    for rows, start, stop in ((slice(0, cut), 0, edge), (slice(cut, None), edge, len(values))):
        part = whole.part(rows, start, stop)
        places = part.first[:, None] + np.arange(part.weights.shape[1])
        assert places.min() >= -GHOSTS and places.max() < stop - start + GHOSTS
        found.append((part.weights * values[(places + start) % len(values)]).sum(axis=1))
    assert np.allclose(np.concatenate(found), applied(whole, values), atol=1e-12)


# --- a coarse grid --------------------------------------------------------------------------------


def test_a_coarse_grid_is_forced() -> None:
    """A step along the rates that NumPy finds, and what the finer grid adds to them."""
    case = cavity((9, 7, 8), {}, scheme="rk3", courant=0.05)
    grid = LevelGrid(case, case.grid.points, depth=1)
    backend, rng = open_backend("cpu"), np.random.default_rng(3)
    cut = divide_grids([grid], 1)[0].held
    level = Level(grid, backend, SerialCommunicator(), cut, Choice("auto"), 1)
    flow, more = ({n: rng.normal(size=grid.grid.shape) for n in NAMES} for _ in range(2))
    level.fill(flow)
    level.set_step_sizes()
    for name in NAMES:
        backend.assign(level.forcing[name].interior, more[name])
    change, _ = rates(grid, flow)
    beta2 = beta_squared(grid, flow)
    for forced in (False, True):
        level.compute_rates(level.copies[1], forced=forced)()
        for name in NAMES:
            scale = beta2 if name == "p" else 1.0
            expected = change[name] / scale + (more[name] if forced else 0.0)
            found = backend.to_host(level.copies[1][name].interior)
            assert np.abs(found - expected).max() < 1e-10, name
    expected_flow = step(grid, flow, forcing=more)
    for launch in level.steps(1):
        launch()
    for name in NAMES:
        found = backend.to_host(level.copies[0][name].interior)
        assert np.abs(found - expected_flow[name]).max() < 1e-11, name


# --- cycles ---------------------------------------------------------------------------------------


def steady(case: CavityCase) -> Cavity:
    return bring_to_steady_state(case, open_backend("cpu"))[1]


def fields(solver: Cavity) -> dict[str, np.ndarray]:
    found = {name: solver.snapshot(name) for name in NAMES}
    return found | {"p": found["p"] - found["p"][solver.setup.finest.centre[::-1]]}


@pytest.mark.parametrize("points", [(23, 1, 31), (22, 1, 25)])
def test_cycles_come_to_the_flow_that_steps_come_to(points: tuple[int, int, int]) -> None:
    alone, many = (
        steady(cavity(points, FLAT, levels=levels, tolerance=1e-10)) for levels in (1, 3)
    )
    assert len(many.levels) == 3 and many.stage == 0
    expected, found = fields(alone), fields(many)
    for name in NAMES:
        assert np.abs(found[name] - expected[name]).max() < 1e-7, name
    assert many.history.read()[-1, 0] * 24 < alone.history.read()[-1, 0] / 2


def test_a_cycle_leaves_a_steady_flow_as_it_is() -> None:
    case = cavity((23, 1, 31), FLAT, levels=1, tolerance=1e-10)
    flow = fields(steady(case))
    time = case.time.model_copy(update={"levels": 2})
    solver = Cavity(prepare(case.model_copy(update={"time": time})), open_backend("cpu"))
    solver.fill(flow)
    for _ in range(3):
        solver.step()
    assert all(np.abs(fields(solver)[name] - flow[name]).max() < 1e-8 for name in NAMES)


def test_a_flow_begins_on_the_coarsest_grid() -> None:
    solver = Cavity(prepare(cavity((47, 1, 47), FLAT)), open_backend("cpu"))
    assert [grid.grid.cells[0] for grid in solver.setup.grids] == [47, 23, 11]
    assert (
        solver.stage == 2
        and solver.next_stage()
        and solver.next_stage()
        and not solver.next_stage()
    )
    assert [row[1] for row in steady(solver.setup.case).history.read()][-1] == 0


def test_grids_that_do_not_resolve_the_flow_are_left_out() -> None:
    fluid = {"kind": "rayleigh", "rayleigh": 1e6}
    case = CavityCase(fluid=fluid, grid={"points": [127, 127, 127]})
    assert [s.grid.cells[0] for s in prepare(case).grids] == [127, 63, 31]
    euler = CavityCase(fluid=fluid, grid={"points": [127] * 3}, time={"scheme": "euler"})
    assert len(prepare(euler).grids) == 1


# --- on several ranks -----------------------------------------------------------------------------


def on_processes(setup: Setup, *processes: int) -> Setup:
    run = setup.case.run.model_copy(update={"processes": processes})
    return prepare(setup.case.model_copy(update={"run": run}))


def test_coarse_grids_on_which_an_exchange_takes_longer_than_all_points_are_not_divided() -> None:
    grids = prepare(cavity((95, 95, 95), {}, levels=4)).grids
    assert [grid.grid.count for grid in grids] == [95**3, 47**3, 23**3, 11**3]
    for exchange_points, divided in ((0, 4), (2000, 3), (11_000, 2), (10**6, 1)):
        found = divide_grids(grids, 8, exchange_points)
        assert [d.held.ranks for d in found] == [8] * divided + [1] * (4 - divided)
        restricted = min(divided + 1, 4)
        assert [d.restricted.ranks for d in found] == [8] * restricted + [1] * (4 - restricted)
    assert [d.hides_exchange for d in divide_grids(grids, 8, 11_000)][:2] == [True, True]
    assert [d.hides_exchange for d in divide_grids(grids, 8, 20_000)][:2] == [True, False]
    assert all(d.held.ranks == 1 for d in divide_grids(grids, 1, 0))


def test_each_rank_has_the_memory_for_whole_grids_that_are_not_divided() -> None:
    setup = replace(prepare(cavity((63, 63, 63), {}, levels=2)), exchange_points=0)
    divided, whole = (decompose(s, 8) for s in (setup, replace(setup, exchange_points=10**6)))
    coarse = setup.grids[1].grid.count * 5 * 8 * 5  # fields, bytes, and copies
    assert min(whole.memory) - max(divided.memory) > coarse * 0.8
    assert whole.updates_per_step - divided.updates_per_step > 31**3 * 100 * 0.8
    assert 0 < whole.traffic.sum() < divided.traffic.sum()
    assert [q.value for q in whole.quantities] == [[(31, 31, 31)]] and not divided.quantities


def test_a_coarse_grid_is_not_divided_into_single_points() -> None:
    setup = on_processes(prepare(cavity((40, 40, 16), {}, levels=2)), 1, 1, 8)
    assert [d.held.ranks for d in divide_grids(setup.grids, 8, 0)] == [8, 1]


def test_ranks_that_a_coarse_grid_is_too_small_for() -> None:
    crowded = prepare(cavity((40, 40, 19), SIDES["periodic"], levels=2))
    setup = on_processes(crowded, 1, 1, 8)
    with pytest.raises(InputError, match=r"20 x 20 x 9 points leaves some of 8 blocks along z"):
        divide_grids(setup.grids, 8)
