"""What is read off a flow: heat fluxes through walls across any axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from thread_ranks import ThreadRank, run_on_threads

from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import decompose
from groundswell.formats.netcdf import read_netcdf
from groundswell.grids.cartesian import Part
from groundswell.solvers.cavity.case import FIELDS, CavityCase
from groundswell.solvers.cavity.findings import findings_of
from groundswell.solvers.cavity.flow import Flow, places_of_numbers
from groundswell.solvers.cavity.flow_file import write_flow
from groundswell.solvers.cavity.setup import prepare

PAIRS = (("west", "east"), ("south", "north"), ("bottom", "top"))


def heated_flow(axis: int, hot: int) -> Flow:
    """A layer whose temperature bends: it leaves the hot wall twice as steeply as the mean, and
    reaches the cold one flat; across, the flux grows with the next axis.
    """
    walls: dict[str, Any] = {side: {"kind": "adiabatic"} for pair in PAIRS for side in pair}
    for end, side in enumerate(PAIRS[axis]):
        walls[side] = {"kind": "fixed", "temperature": 0.5 if end == hot else -0.5}
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 10.0},
        grid={"size": [1.0, 1.2, 0.8], "points": [9, 7, 11]},
        walls=walls,
    )
    grid = prepare(case).finest
    x = [grid.interior_positions(a) / case.grid.size[a] for a in range(3)]
    share = x[axis] if hot == 0 else 1 - x[axis]
    shape = [1, 1, 1]
    shape[2 - axis] = -1
    values = (0.5 - 2 * share + share**2).reshape(shape)
    fields = {name: np.zeros(grid.grid.shape) for name in FIELDS}
    return Flow.of(grid, fields | {"T": np.broadcast_to(values, grid.grid.shape)})


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("hot", [0, 1])
def test_heat_flux_through_walls(tmp_path: Path, axis: int, hot: int) -> None:
    """A parabola is what one-sided differences of second order are exact for."""
    flow = heated_flow(axis, hot)
    found = flow.summary()
    assert found["nusselt"] == pytest.approx(2.0) == found["nusselt_mid_plane"]
    assert found["nusselt_cold"] == pytest.approx(0.0, abs=1e-12)
    along = 0 if axis == 2 else 2
    table = np.loadtxt(flow.write_nusselt(tmp_path / "n.csv"), delimiter=",", skiprows=1)
    assert np.allclose(table[:, 0], flow.axes[along]) and np.allclose(table[:, 1:], [2.0, 0.0])


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("hot", [0, 1])
def test_heat_through_all_walls(axis: int, hot: int) -> None:
    """Twice the mean gradient enters through the hot wall, and nothing leaves."""
    found = heated_flow(axis, hot).summary()
    name = PAIRS[axis][hot]
    assert found["heat_in"].pop(name) == pytest.approx(2.0)
    assert max(map(abs, found["heat_in"].values())) < 1e-12 and len(found["heat_in"]) == 5
    assert found["heat_imbalance"] == pytest.approx(1.0)


def test_findings_name_what_an_engineer_asks_for() -> None:
    summary = heated_flow(0, 0).summary() | {"steady": True}
    found = {quantity.label: str(quantity) for quantity in findings_of(summary, "m/s")}
    assert found["Nusselt number"] == "2" and found["heat in less heat out"] == "100 %"
    moving = {"u": {"z": 0.8123, "value": 0.25, "direction": "-x"}}
    found = {q.label: str(q) for q in findings_of({"peaks": moving}, "m/s")}
    assert found == {"largest u, along -x": "0.25 m/s at z = 0.8123 m"}
    block = {"mean": 3e-19, "lowest": -0.26, "highest": 0.26}
    found = {q.label: str(q) for q in findings_of({"peaks": {}, "solids": {"solid[0]": block}}, "")}
    assert [*found.values()] == ["0", "0.26"]


WARM = {"kind": "fixed", "temperature": "300 + z"}
OPEN = {"kind": "periodic"}
MIRROR = {"kind": "symmetry"}
COLD, HOT = ({"kind": "fixed", "temperature": t} for t in (299.5, 300.5))
LID = HOT | {"velocity": [0.5, 0.2, 0.0]}
MOVING = {"kind": "adiabatic", "velocity": [0.4, 0.0, 0.0]}
SLIDING = {"kind": "robin", "h": 2.0, "ambient": 301.0, "velocity": [0.0, 0.0, 0.7]}


ALL_KINDS = {"west": WARM, "east": SLIDING, "south": MIRROR, "north": MOVING, "bottom": COLD}
HEATED = {"west": COLD, "east": HOT}


@pytest.mark.parametrize(
    ("points", "sides"),
    [
        ((7, 8, 9), ALL_KINDS | {"top": LID}),
        ((8, 5, 6), HEATED | {"south": OPEN, "north": OPEN, "bottom": WARM, "top": MIRROR}),
        ((8, 1, 5), HEATED | {"south": MIRROR, "north": MIRROR, "bottom": MOVING, "top": WARM}),
    ],
)
def test_boxes_have_the_values_of_the_whole(
    points: tuple[int, int, int], sides: dict[str, Any], tmp_path: Path
) -> None:
    """Those of numbers, also where sides meet; and those that each of several ranks writes."""
    fluid = {"kind": "rayleigh", "rayleigh": 1e4}
    grid = prepare(CavityCase(fluid=fluid, grid={"points": points}, walls=sides)).finest
    rng = np.random.default_rng(9)
    inside = {name: rng.standard_normal(points[::-1]) for name in FIELDS}
    flow = Flow.of(grid, inside)
    for name, box in places_of_numbers(grid):
        firsts = [box.first(grid, axis) for axis in (2, 1, 0)]
        found = flow.at(name, box)
        place = tuple(slice(n, n + count) for n, count in zip(firsts, found.shape, strict=True))
        np.testing.assert_array_equal(found, flow.fields[name][place])
        for axis in range(3):
            wanted = flow.axes[axis][place[2 - axis]]
            np.testing.assert_array_equal(box.positions(grid, axis), wanted)
    processes = (1, 1, 4) if points[0] > 7 else (2, 2, 1)
    cut = decompose(points[::-1], 4, grid.periodic[::-1], processes)

    def act(comm: Communicator) -> None:
        block = cut.block(comm.rank)
        part, own = Part.from_block(grid.grid, block.start, block.shape), block.slices
        shifted = inside | {"p": inside["p"] - flow.centre_pressure}
        mine = {name: values[own] for name, values in shifted.items()}
        write_flow(comm, grid, part, mine, tmp_path / "flow.nc")

    with patch.object(ThreadRank, "same_host", property(lambda rank: list(range(rank.size)))):
        assert run_on_threads(4, act) == [None] * 4
    found = read_netcdf(tmp_path / "flow.nc", FIELDS)
    for name in FIELDS:
        np.testing.assert_array_equal(found[name], flow.fields[name])
