"""A cavity has the same numbers and pictures whichever way it is turned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from turns import SIDES, TURNS, Turn
from variants import short_and_long

from groundswell.backends import open_backend
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.grids.cartesian import Part
from groundswell.solvers.cavity.boxes import Box
from groundswell.solvers.cavity.case import AXES, FIELDS, CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.flow_file import write_flow
from groundswell.solvers.cavity.plots import _middle
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.steady import bring_to_steady_state

pytestmark = pytest.mark.each_value

STILL = {"kind": "adiabatic"}
MIRROR = {"kind": "symmetry"}
CLOSED = {side: STILL for pair in SIDES for side in pair}
HEATED = CLOSED | {
    "west": {"kind": "fixed", "temperature": 0.5},
    "east": {"kind": "fixed", "temperature": -0.5},
}
BELOW = CLOSED | {
    "bottom": {"kind": "fixed", "temperature": 300.5},
    "top": {"kind": "fixed", "temperature": 299.5},
}
FLAT = {"south": MIRROR, "north": MIRROR}
LID = {"top": STILL | {"velocity": [1.0, 0.0, 0.0]}}
AIR = {"kind": "rayleigh", "rayleigh": 1e4, "down": "-z"}
DRIVEN = {"kind": "reynolds", "reynolds": 50.0}
TIME = {"tolerance": 1e-9}


SOLIDS = [  # one in the fluid, and one on a wall and in a corner
    {"low": [0.3, 0.3, 0.4], "high": [0.6, 0.5, 0.7], "conductivity": 3.0, "power": 0.2},
    {"low": [0.0, 0.9, 0.0], "high": [0.3, 1.2, 0.2], "conductivity": 0.3},
]


def case_of(
    fluid: Any, walls: Any, points: Any, size: Any = (1.0, 1.0, 1.0), **grid: Any
) -> dict[str, Any]:
    grid = {"points": points, "size": size} | grid
    return {"fluid": fluid, "walls": walls, "grid": grid, "time": TIME}


CAVITIES = {
    "heated from the side": case_of(AIR, HEATED, (9, 6, 7), (1.0, 1.2, 0.8)),
    "heated from the side, flat": case_of(AIR, HEATED | FLAT, (9, 1, 7)),
    "heated from below": case_of(AIR, BELOW, (9, 6, 7), (1.3, 1.2, 0.8)),
    "heated from below, flat": case_of(AIR, BELOW | FLAT, (9, 1, 7), (1.0, 9.0, 1.0)),
    "lid": case_of(DRIVEN, CLOSED | LID, (9, 6, 7), (1.0, 1.2, 0.8)),
    "lid, flat": case_of(DRIVEN, CLOSED | FLAT | LID, (9, 1, 7)),
    "around solids": case_of(AIR, HEATED, (9, 11, 9), (1.0, 1.2, 1.0)) | {"solid": SOLIDS},
    "heated from the side, below a lid": case_of(AIR, HEATED | LID, (9, 6, 7)),
    "stretched, beside a mirror": case_of(
        AIR, HEATED | LID | {"north": MIRROR}, (9, 7, 5), stretching={"x": 1.5, "y": 1.0, "z": 0.5}
    ),
}


def turns_of(content: dict[str, Any], mirrored: int) -> list[Turn]:
    """All orders of the axes, and this number of turns that mirror some.

    The rolls of fluid heated from below may turn either way, so that it has no left and no front.
    """
    either_way = 0 if content["walls"]["bottom"] is STILL else 2  # the first axes, not mirrored
    kept = [turn for turn in TURNS if all(sign > 0 for sign in turn.signs[:either_way])]
    others = [turn for turn in kept if min(turn.signs) < 0]
    drawn = np.random.default_rng(11).permutation(len(others))[:mirrored]
    return [*(turn for turn in TURNS if min(turn.signs) > 0), *(others[n] for n in drawn)]


def random_flow(content: dict[str, Any]) -> dict[str, np.ndarray]:
    """Values without any symmetry."""
    rng = np.random.default_rng(7)
    return {name: rng.standard_normal(content["grid"]["points"][::-1]) for name in FIELDS}


def flow_of(content: dict[str, Any], inside: dict[str, np.ndarray]) -> Flow:
    return Flow.of(prepare(CavityCase(**content)).finest, inside)


def assert_turned(found: Flow, original: Flow, turn: Turn, exactness: float) -> None:
    """The numbers of a flow are those of the original; positions and directions are turned."""
    size = original.grid.case.grid.size
    got, wanted = found.summary(), original.summary()
    peaks, turned = got.pop("peaks"), wanted.pop("peaks")
    solids = got.pop("solids", {}), wanted.pop("solids", {})
    assert [*solids[0]] == [*solids[1]]
    for name, mine in solids[0].items():
        assert mine == pytest.approx(solids[1][name], rel=exactness, abs=exactness)
    assert got.pop("heat_released", {}) == pytest.approx(wanted.pop("heat_released", {}))
    heat = {turn.side(name): value for name, value in wanted.pop("heat_in", {}).items()}
    assert got.pop("heat_in", {}) == pytest.approx(heat, rel=exactness, abs=exactness)
    assert got == pytest.approx(wanted, rel=exactness, abs=exactness)
    assert len(peaks) == len(turned) == 3
    for along, line in (("across", "up"), ("up", "across")):
        axis, line_axis = (getattr(original.plane, each).axis for each in (along, line))
        peak, other = turned["uvw"[axis]], peaks["uvw"[turn.to[axis]]]
        assert other["value"] == pytest.approx(peak["value"], abs=exactness)
        if abs(peak["value"]) < exactness:
            continue  # a roll across the plane: rounding decides where its velocity is largest
        assert other["direction"] == turn.direction(peak["direction"])
        position = turn.position(line_axis, peak[AXES[line_axis]], size[line_axis])
        assert other[AXES[turn.to[line_axis]]] == pytest.approx(position, abs=exactness**0.5)


def nusselt_lines(flow: Flow, folder: Path) -> np.ndarray:
    """Local Nusselt numbers on the hot and the cold wall, along the plane's direction."""
    path = flow.write_nusselt(folder / "nusselt.csv")
    name = path.read_text().split(",")[0]
    (sign,) = (each.sign for each in (flow.plane.across, flow.plane.up) if str(each)[-1] == name)
    return np.loadtxt(path, delimiter=",", skiprows=1)[::sign, 1:]


def picture(flow: Flow, axes: tuple[int, int], folder: Path) -> list[np.ndarray]:
    """Temperature and both velocities that the picture shows, with these axes as dimensions."""
    grid = flow.grid
    inside = {name: flow.inside[name, Box.whole(grid)] for name in FIELDS}
    whole = SerialCommunicator(), grid, Part.whole(grid.grid)
    plane = _middle(*write_flow(*whole, inside, folder / "flow.nc"))
    assert plane["T"].dims == (AXES[flow.plane.up.axis], AXES[flow.plane.across.axis])
    plane = plane.transpose(*(AXES[axis] for axis in axes))
    signs = {each.axis: each.sign for each in (flow.plane.across, flow.plane.up)}
    flips = tuple(slice(None, None, signs[axis]) for axis in axes)
    speeds = [signs[axis] * plane["uvw"[axis]].values[flips] for axis in axes]
    return [plane["T"].values[flips], *speeds]


@pytest.mark.most(3)
@pytest.mark.parametrize("name", short_and_long(CAVITIES, ["heated from the side", "lid"]))
def test_numbers_and_pictures_do_not_depend_on_the_axes(name: str, tmp_path: Path) -> None:
    """Of any flow, here of one without symmetries, and whatever a turn makes of it."""
    content = CAVITIES[name]
    inside = random_flow(content)
    original = flow_of(content, inside)
    shown = picture(original, (2, 0), tmp_path)
    for turn in turns_of(content, 5):
        found = flow_of(turn.cavity(content), turn.flow(inside))
        assert {found.plane.across.axis, found.plane.up.axis} == {turn.to[0], turn.to[2]}, turn
        assert_turned(found, original, turn, 1e-9)
        turned = picture(found, (turn.to[2], turn.to[0]), tmp_path)
        for got, wanted in zip(turned, shown, strict=True):
            np.testing.assert_allclose(got, wanted, atol=1e-9, err_msg=str(turn))
        if original.grid.scales.heat is not None:
            lines = (nusselt_lines(flow, tmp_path) for flow in (found, original))
            np.testing.assert_allclose(*lines, atol=1e-8, err_msg=str(turn))


def steady(content: dict[str, Any]) -> Flow:
    return bring_to_steady_state(CavityCase(**content), open_backend("cpu"))[0]


def assert_solved_turned(content: dict[str, Any], turns: list[Turn]) -> None:
    """The solver's flow in a turned cavity is the turned flow, to the residuals that remain."""
    original = steady(content)
    for turn in turns:
        found = steady(turn.cavity(content))
        assert_turned(found, original, turn, 1e-6)
        for name, wanted in turn.flow(original.fields).items():
            np.testing.assert_allclose(found.fields[name], wanted, atol=1e-6, err_msg=str(turn))


@pytest.mark.full
@pytest.mark.parametrize("name", ["heated from the side, flat", "lid, flat"])
def test_flat_flows_are_solved_alike_along_all_axes(name: str) -> None:
    assert_solved_turned(CAVITIES[name], turns_of(CAVITIES[name], 1)[1:])


@pytest.mark.full
@pytest.mark.parametrize("name", CAVITIES)
def test_flows_are_solved_alike_along_all_axes(name: str) -> None:
    assert_solved_turned(CAVITIES[name], turns_of(CAVITIES[name], 48))
