"""The step of an earthquake: its clock, its finite check and its periodic sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_earthquake import (
    REGION,
    SOURCE,
    SPACING,
    WIDTH,
    make_solver,
    precisions,
    randomise,
    set_clock,
)

from groundswell.backends import open_backend
from groundswell.errors import RunFailed
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.decomposition import Block, decompose
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange
from groundswell.grids.cartesian import Field, Layout
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import Earthquake


@pytest.mark.parametrize("ticks", [0, 1])
def test_the_last_launch_of_a_step_moves_the_clock(ticks: int) -> None:
    solver = make_solver("single")
    boxes = [Block((0, 0, 0), solver.part.shape)]
    set_clock(solver, 2**40)
    for run in solver._update_velocity(boxes, ticks):
        run()
    assert solver.clock[0] == 2**40 + ticks


def test_a_step_moves_the_clock_once() -> None:
    solver = make_solver("single")
    set_clock(solver, 2**40)
    solver.step()
    assert solver.clock[0] == 2**40 + 1


# --- finite check ---------------------------------------------------------------------------------


@precisions
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_found_and_named(precision: str, value: float) -> None:
    solver = make_solver(precision)
    randomise(solver, seed=16)
    solver.finite_check._found[0] = -1
    solver.fields["vy"].array[0] = solver.fields["vy"].array[:, :2] = np.nan  # ghosts do not count
    solver.enqueue_finite_check()
    solver.check_health(3)
    i, j, k = 4, 11, 8
    solver.fields["vy"].interior[k, j, i] = value
    solver.enqueue_finite_check()
    with pytest.raises(
        RunFailed, match=r"vy is not finite at x = 150 m, y = 1190 m, depth = 637.5 m"
    ):
        solver.check_health(64)
    solver.finite_check._found[0] = -1


def test_the_largest_finite_value_is_finite() -> None:
    solver = make_solver("single")
    solver.fields["vx"].interior[...] = np.finfo(np.float32).max
    solver.fields["vy"].interior[...] = solver.fields["vz"].interior[...] = 0
    solver.enqueue_finite_check()
    solver.check_health(1)


# --- periodic sides -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes", ["x", "y", "xy"])
@pytest.mark.parametrize("beyond", [0, 2], ids=["inside", "rows beyond other ends too"])
@pytest.mark.parametrize("cells", [(13, 9, 7), (2, 3, 1), (1, 2, 3), (1, 1, 1)])
def test_ghosts_of_periodic_axes_come_from_the_far_side(
    cells: Any, beyond: int, axes: str, dtype: str
) -> None:
    backend, rng = open_backend("cpu"), np.random.default_rng(17)
    layout = Layout(cells, np.dtype(dtype).itemsize)
    wraps = tuple(axis in axes for axis in "zyx")
    rows = zip(cells[::-1], wraps, strict=True)
    within = tuple(None if wrap else (-beyond, n + beyond) for n, wrap in rows)
    ghosts = Ghosts((2, 2, 2), (2, 2, 2), corners=True, within=within)
    fields = [Field(backend, layout, dtype) for _ in range(4)]
    wanted = []
    inside = tuple(
        slice(2, -2) if wrap else slice(2 - beyond, beyond - 2 or None) for wrap in wraps
    )
    reach = tuple(slice(None) if wrap else s for wrap, s in zip(wraps, inside, strict=True))
    for field in fields:
        field.array[...] = rng.normal(size=field.array.shape)
        values = field.array.copy()
        width = [(2, 2) if wrap else (0, 0) for wrap in wraps]
        values[reach] = np.pad(field.array[inside], width, "wrap")
        wanted.append(values)
    cut = decompose(layout.cells[::-1], 1, wraps)
    asked = [GhostField(field.array, field.origin, ghosts) for field in fields]
    HaloExchange(backend, SerialCommunicator(), cut, asked)()
    for field, values in zip(fields, wanted, strict=True):
        assert (field.array == values).all()


@pytest.mark.parametrize("region", [REGION, (1, 2, 3)])
def test_a_step_between_periodic_sides_does_not_know_where_they_are(region: Any) -> None:
    """Random fields rolled along x and y give the rolled step."""
    silent = {"kind": "brune", "rise": 0.1, "onset": 0.9}
    case = EarthquakeCase(
        time={"duration": 1.0},
        grid={"size": [n * h for n, h in zip(region, SPACING, strict=True)], "spacing": [*SPACING]},
        medium={"kind": "homogeneous", "vp": 5000.0, "vs": 2800.0, "rho": 2500.0},
        boundary={"sides": "periodic", "width": WIDTH},
        source=[SOURCE | {"x": 50.0, "time_function": silent}],
        run={"precision": "double"},
    )
    solver = Earthquake(prepare(case), open_backend("cpu"))
    shifts, rng = (region[1] // 2 + 1, region[0] // 3 + 1), np.random.default_rng(18)
    start = {name: rng.normal(size=solver.part.shape) for name in solver.fields}

    def stepped(roll: tuple[int, int]) -> dict[str, NDArray[Any]]:
        for memory in (*solver.layers.memory.values(), [*solver.layers.surface_memory.values()]):
            for array in memory:
                array[...] = 0
        for name, field in solver.fields.items():
            field.array[...] = 0
            field.array[2:-2] = np.nan  # what the exchange does not reach would show
            field.interior[...] = np.roll(start[name], roll, (1, 2))
        for exchange in solver.exchanges:
            exchange()
        solver.step()
        return {name: field.interior.copy() for name, field in solver.fields.items()}

    still, moved = stepped((0, 0)), stepped(shifts)
    for name, values in still.items():
        assert np.isfinite(values).all()
        assert (moved[name] == np.roll(values, shifts, (1, 2))).all(), name
