"""DG waves: faults on physical surfaces of meshes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mesh_faults import (
    FAULT,
    PLANE,
    ROCK,
    UNIFORM,
    case,
    fault_mesh,
    in_middle,
    in_place,
    on_mesh,
)

import groundswell as gs
from groundswell.errors import InputError
from groundswell.meshes.mesh import Mesh
from groundswell.seismology.friction import SlipWeakening
from groundswell.seismology.reference.uniform_fault import OverstressedFault
from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.faults.surfaces import faces_on_surface

SOFT = {"vp": 4800.0, "vs": 2800.0, "rho": 2400.0}
HALVES = {"kind": "volumes", "volumes": {"rock": ROCK, "soft": SOFT}}


@pytest.fixture(scope="module")
def ruptured(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Runs a small rupture on a mesh, see `fault_mesh`, or on a grid, with changes of its case."""

    def run(mesh: dict[str, Any] | None = None, **changes: Any) -> Any:
        folder = tmp_path_factory.mktemp("rupture")
        if mesh is not None:
            given = {"surfaces": {"fault": in_middle}, **mesh}
            path = fault_mesh(folder / "a.msh", **given)
            changes = {**on_mesh(path, changes.pop("medium", UNIFORM)), **changes}
        return gs.run(case(folder, **changes), folder=folder / "results")

    return run


@pytest.fixture(scope="module")
def on_grid(ruptured: Callable[..., Any]) -> Callable[..., Any]:
    """Runs the same on a grid, with changes of the case."""
    fault = {key: value for key, value in FAULT.items() if key != "surface"}
    given = {
        "fault": [{**fault, "plane": PLANE}],
        "medium": UNIFORM,
        "boundary": {"sides": "absorbing", "bottom": "absorbing"},
    }

    @cache
    def plain() -> Any:
        return ruptured(**given)

    return lambda **changes: ruptured(**{**given, **changes}) if changes else plain()


def assert_same(found: Any, expected: Any, tolerance: float) -> None:
    """Maps and seismograms agree, relative to their largest values."""
    for name in ("slip_strike", "slip_updip", "peak_rate", "shear_strike", "normal_stress", "area"):
        ours, theirs = (in_place(run.fault, run.fault[name]) for run in (found, expected))
        assert np.abs(ours - theirs).max() < tolerance * np.abs(theirs).max(), name
    ours, theirs = (run.seismograms.values for run in (found, expected))
    assert np.abs(ours - theirs).max() < tolerance * np.abs(theirs).max()


@pytest.mark.parametrize(("order", "seed"), [(1, 2), (2, 3), (1, 4)])
def test_a_surface_is_the_plane_of_a_grid(
    ruptured: Callable[..., Any], on_grid: Callable[..., Any], order: int, seed: int
) -> None:
    """Whatever the order and the local axes of elements, and the side that the file has first."""
    expected, found = on_grid(), ruptured({"order": order, "seed": seed})
    assert float(expected.fault.slip_strike.min()) < -0.05
    assert_same(found, expected, 1e-10)


def test_each_node_has_the_rock_of_its_place(
    ruptured: Callable[..., Any], on_grid: Callable[..., Any]
) -> None:
    """On both walls, whose nodes are numbered in different orders."""
    layers = [{"top": 0, **ROCK, "vs": 2000.0}, {"top": 600, **ROCK}]
    medium = {"kind": "layered", "interpolation": "linear", "layers": layers}
    given = {"medium": medium, "method": {"degree": 2, "material": "node"}}
    assert_same(ruptured({"seed": 5}, **given), on_grid(**given), 1e-10)


def hills(points: Any) -> Any:
    """A box of these elevations, whose elements of order 2 are those of degree 2."""
    x, y, z = np.moveaxis(points, -1, 0)
    rise = 30 * np.sin(np.pi * x / 400) * np.cos(np.pi * (y + 100) / 800)
    return np.stack([x, y, z - rise * (1 - z / 600)], axis=-1)


def test_a_fault_below_hills_is_that_of_a_grid(
    ruptured: Callable[..., Any], on_grid: Callable[..., Any]
) -> None:
    elevation = "30 * sin(pi * x / 400) * cos(pi * (y + 100) / 800)"  # 0 on average
    expected = on_grid(topography={"kind": "formula", "elevation": elevation})
    assert_same(ruptured({"order": 2, "bend": hills}), expected, 1e-9)


# --- a uniform fault ------------------------------------------------------------------------------

DIP = np.radians(60.0)
CUBE = (4, 4, 4)
MIDDLE = [400.0, 400.0, 300.0]


def dipping(points: Any) -> Any:
    """Planes of constant y dip by 60 degrees to larger y; the middle stays in place."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([x, y + (z - MIDDLE[2]) / np.tan(DIP), z], axis=-1)


def across(x: Any, y: Any, z: Any) -> Any:
    return y == 400


@pytest.mark.parametrize("rake", [-90.0, 30.0])
def test_a_uniform_dipping_fault_between_unlike_rocks(
    ruptured: Callable[..., Any], rake: float
) -> None:
    """In the middle of a block, before waves from its sides arrive: closed form.

    The hanging wall is above the fault, at larger y. The limit is for wave fronts that elements of
    200 m do not resolve.
    """
    friction = {**FAULT["friction"], "distance": 0.1}
    stress = {"normal": "120 MPa", "shear": "84 MPa", "rake": rake}
    fault = {**FAULT, "patch": [], "friction": friction, "stress": stress, "hypocenter": MIDDLE}
    beside = [  # 20 m from the fault, in the footwall and in the hanging wall
        {"name": n, "x": 400.0, "y": 400 + s * np.sin(DIP), "depth": 300 - s * np.cos(DIP)}
        for n, s in (("F", -20), ("H", 20))
    ]
    halves = {"counts": CUBE, "volume": lambda x, y, z: y > 400}
    mesh = {"surfaces": {"fault": across}, "bend": dipping, **halves}
    changes = {"receiver": beside, "time": {"duration": 0.045, "step": 1e-3}}
    found = ruptured(mesh, medium=HALVES, fault=[fault], method={"degree": 5}, **changes)
    impedances = [rock["rho"] * rock["vs"] for rock in (ROCK, SOFT)]
    eta = np.prod(impedances) / sum(impedances)
    law = SlipWeakening(static=0.677, dynamic=0.525, distance=0.1)
    exact = OverstressedFault(law, 84e6, 120e6, eta)
    at = np.flatnonzero(np.hypot(found.fault.along_strike, middle_of(found.fault)) < 1)
    assert len(at) == 4
    slip = float(exact.slip(np.array([0.045]))[0])
    direction = np.array([np.cos(np.radians(rake)), np.sin(np.radians(rake))])
    for name, part in zip(("slip_strike", "slip_updip"), direction, strict=True):
        error = np.abs(found.fault[name].values[at] - part * slip).max()
        assert error < 1e-3 * slip
    # Strike is west, as the hanging wall is to the right of it; updip is towards smaller y.
    axes = np.array([[-1, 0, 0], [0, -np.cos(DIP), np.sin(DIP)]])
    foot, hanging = np.cumsum(found.seismograms.values, axis=-1)[..., -1]
    assert hanging @ axes.T @ direction > 0 > foot @ axes.T @ direction
    if rake == -90:
        assert hanging[2] < 0 < foot[2]  # the third component is up


def middle_of(fault: Any) -> Any:
    """Distance down dip from the middle of the block."""
    return fault.down_dip - 300 / np.sin(DIP)


# --- branches -------------------------------------------------------------------------------------


def fork(points: Any) -> Any:
    """Behind y = 400 m, planes of constant x turn by 30 degrees to larger x."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([x + np.maximum(y - 400, 0) * np.tan(DIP), y, z], axis=-1)


BRANCHES = {
    "main": in_middle,
    "branch": lambda x, y, z: (x == 400) & (y >= 400) & (y <= 800) & (z <= 400),
}


def test_a_branch(ruptured: Callable[..., Any]) -> None:
    """Two faults that meet along a line; left-lateral stress breaks one, and then the other.

    On the main fault, 78 of 120 MPa are shear stress, on the branch 35 of 55 MPa.
    """
    tensor = {"xx": -130e6, "yy": -120e6, "zz": -115e6, "xy": -78e6, "xz": 0, "yz": 0}
    fault = {key: FAULT[key] for key in ("law", "friction")} | {"stress": {"tensor": tensor}}
    faults = [{**fault, "name": name, "surface": name} for name in BRANCHES]
    start = [270.0, 400.0, 200.0]
    faults[0]["patch"] = [{**FAULT["patch"][0], "center": start, "stress": {"shear": "84 MPa"}}]
    found = ruptured({"surfaces": BRANCHES, "bend": fork}, fault=faults, time={"duration": 0.3})
    on_branch = (found.fault.x > 400 + 1e-6).values & (found.fault.y > 400 + 1e-6).values
    for where in (on_branch, ~on_branch):
        part = found.fault.isel(point=where)
        slip = np.hypot(part.slip_strike, part.slip_updip).values
        assert np.isfinite(slip).all() and 0.05 < slip.max() < 2
        broken = slip > 0.05
        assert (part.slip_strike.values[broken] > 0.9 * slip[broken]).all()
    times = found.fault.rupture_time.values
    assert np.nanmin(times[on_branch]) > 0.03 > np.nanmin(times[~on_branch]) == 0
    assert np.isfinite(found.seismograms.values).all()


# --- orientation ----------------------------------------------------------------------------------


def build_on(path: Path, **changes: Any) -> Any:
    """A set-up with a fault that is locked everywhere."""
    fault = {**FAULT, "patch": [], "hypocenter": None, **changes}
    fault = {key: value for key, value in fault.items() if value is not None}
    return prepare(case(path.parent, **on_mesh(path, UNIFORM), fault=[fault]))


def rough(points: Any) -> Any:
    """The plane y = 400 m becomes wavy, and overturns in parts."""
    x, y, z = np.moveaxis(points, -1, 0)
    near = np.sin(np.pi * y / 800)
    wave = 25 * np.sin(x / 60) * np.cos(z / 90) * near
    return np.stack([x, y + wave, z], axis=-1)


def turned(angle: float) -> Callable[[Any], Any]:
    """Rotates a box around its vertical axis, clockwise seen from above: azimuths grow."""

    def bend(points: Any) -> Any:
        x, y, z = np.moveaxis(points, -1, 0)
        cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        return np.stack(
            [cos * (x - 400) + sin * (y - 400), cos * (y - 400) - sin * (x - 400), z], -1
        )

    return bend


@pytest.mark.parametrize(
    ("angle", "strike", "azimuth"),
    [(0, None, 90), (40, None, 130), (120, None, 30), (40, 270, 310), (40, 60, 130), (90, 10, 0)],
)
def test_upright_surfaces_have_one_orientation(
    tmp_path: Path, angle: float, strike: float | None, azimuth: float
) -> None:
    """Even where they overturn: the hanging wall is to the right of the strike."""
    bend = turned(angle)
    for seed in (1, 2):
        path = fault_mesh(
            tmp_path / "a.msh",
            {"fault": in_middle},
            lambda points: bend(rough(points)),
            order=2,
            seed=seed,
        )
        points = build_on(path, strike=strike).faults.faults[0].points
        assert points.normal[:, 2].min() < -0.02 and points.normal[:, 2].max() > 0.02
        along = np.array([np.sin(np.radians(azimuth)), np.cos(np.radians(azimuth)), 0])
        assert (points.strike @ along > 0.7).all() and (points.updip[:, 2] < -0.7).all()
        assert (np.cross(points.updip, points.strike) * points.normal).sum(axis=1) == pytest.approx(
            1
        )


def test_surfaces_of_separate_parts_are_oriented_apart(tmp_path: Path) -> None:
    """Two planes of a surface, and one with a branch, whose edge of three faces joins none."""
    surfaces = {
        "fault": lambda x, y, z: np.isin(y, (200, 600)) & (z <= 400) | (x == 400) & (y <= 400)
    }
    path = fault_mesh(tmp_path / "a.msh", surfaces)
    points = build_on(path).faults.faults[0].points
    assert set(map(tuple, np.abs(points.strike))) == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)}
    assert (points.strike >= -1e-12).all()


def test_a_surface_with_one_side_is_refused() -> None:
    """The middle of a ring of 2 x 2 x 9 elements that is turned by 180 degrees: a Moebius strip."""
    count = 9
    u, v = np.meshgrid([-1, 0, 1], [-1, 0, 1])
    numbers = np.arange(9 * count).reshape(count, 3, 3)
    numbers = np.concatenate([numbers, numbers[:1, ::-1, ::-1]])
    around = 2 * np.pi * np.arange(count)[:, None, None] / count
    turn = around / 2
    away = 5 + u * np.cos(turn) - v * np.sin(turn)
    height = u * np.sin(turn) + v * np.cos(turn)
    at = np.stack([away * np.cos(around), away * np.sin(around), height], -1).reshape(-1, 3)
    cells = [
        numbers[[k + 1, k], j : j + 2, i : i + 2].ravel() for k, j, i in np.ndindex(count, 2, 2)
    ]
    mesh = Mesh(np.array(cells), at[np.array(cells)])
    strip = [np.sort(numbers[k : k + 2, 1, i : i + 2].ravel()) for k, i in np.ndindex(count, 2)]
    with pytest.raises(InputError, match="its surface has only one side"):
        faces_on_surface(mesh, np.array(strip))
    assert faces_on_surface(mesh, np.array(strip[2:]), 0.0).count == 2 * count - 2


def test_unused_surfaces_inside_change_nothing(ruptured: Callable[..., Any]) -> None:
    source = {"kind": "explosion", "magnitude": 3, "x": 300, "y": 200, "depth": 250}
    given = {"source": [{**source, "time_function": {"kind": "gaussian", "sigma": 0.02}}]}
    found, expected = (
        ruptured({"surfaces": surfaces}, **given, fault=[]).seismograms.values
        for surfaces in ({"inside": in_middle, "4": across}, {})
    )
    assert np.abs(expected).max() > 0 and np.array_equal(found, expected)
