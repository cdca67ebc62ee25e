"""DG waves on meshes of Gmsh: answers of bricks in any orientation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import EXPLOSION, build
from gmsh_cases import ROCK, SEA, SIZE, on_mesh, write
from numpy.typing import NDArray

import groundswell as gs
from groundswell.errors import InputError
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.recording.lattice import Lattice, has_shaking_map
from groundswell.spectral_elements.vtkhdf import LagrangeElements

pytestmark = pytest.mark.each_value


GRID = {"size": SIZE, "spacing": 200}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SEA}, {"top": 200, **ROCK}]}


BRICKS: dict[str, Any] = {
    "grid": GRID,
    "medium": LAYERS,
    "boundary": {"sides": "absorbing", "bottom": "absorbing"},
    "source": [EXPLOSION],
}


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_bricks_of_a_file_are_those_of_a_grid(tmp_path: Path, order: int, up: bool) -> None:
    """Whatever the order and the orientation of elements, and the direction of z."""
    path = write(tmp_path / "a.msh", order, up=up)
    receivers = [{"name": f"R{n}", "x": 150 * n, "y": 70 * n, "depth": 90 * n} for n in range(4)]
    common = {
        "receiver": receivers,
        "time": {"duration": 0.3, "step": 0.004},
        "method": {"degree": 3, "flux": 0.5},
        "run__precision": "double",
    }
    mesh = on_mesh(path, grid={"file": str(path), "vertical": "up" if up else "down"})
    found, expected = (
        gs.run(build(tmp_path, **common, **case), folder=tmp_path / name).seismograms.values
        for name, case in (("mesh", mesh), ("grid", BRICKS))
    )
    largest = np.abs(expected).max()
    assert largest > 0 and np.abs(found - expected).max() < 1e-12 * largest


def hill(points: NDArray[Any]) -> NDArray[Any]:
    """A hill, whose flanks are quadratic on elements of 200 m, and bent interfaces."""
    x, y, z = np.moveaxis(points, -1, 0)
    rise = 40 * np.sin(np.pi * x / 800) * np.sin(np.pi * y / 600)
    return np.stack([x + 0.1 * z, y, z - rise * (1 - z / 600)], axis=-1)


def test_bent_elements(tmp_path: Path) -> None:
    """Depths count from the surface; all files have the coordinates of the mesh."""
    path = write(tmp_path / "a.msh", 2, hill)
    line = {"kind": "line", "start": [100, 300, 50], "end": [700, 300, 50], "points": 5}
    record = {"fields": ["szz"], "where": line, "what": "max", "file": "a.nc"}
    outputs = {"output__final_fields": True, "output__record": [record]}
    case = build(tmp_path, **on_mesh(path), **outputs, time__duration=0.4, method__degree=3)
    setup: Any = prepare(case)
    place = setup.geometry.place(np.array([[400.0, 300.0, 0.0], [400.0, 300.0, 55.0]]))
    assert np.allclose(place, [[400, 300, -40], [400, 300, 15]], atol=1.0)
    result = gs.run(case, folder=tmp_path / "r")
    assert float(np.abs(result.seismograms).max()) > 0
    assert float(result.records["a.nc"]["szz_max"].max()) > 0
    points = LagrangeElements.read(tmp_path / "r" / "fields.vtkhdf").points
    assert points[:, 2].min() == pytest.approx(-40, abs=1) and points[:, 2].max() == 600
    assert len(points) == 36 * 4**3


# --- the surface ----------------------------------------------------------------------------------

MAP = {"shaking_map": True, "surface": {"interval": 0.02, "stride": 2}}


def surface_of(result: Any) -> Any:
    with open_surface(result.folder / "surface.nc") as series:
        return series["velocity"].load()


@pytest.mark.parametrize("order", [1, 2])
def test_surfaces_of_bricks_of_a_file_are_those_of_a_grid(tmp_path: Path, order: int) -> None:
    """The same points, and the same motion there, whichever face of an element is its top."""
    path = write(tmp_path / "a.msh", order)
    common = {
        "time": {"duration": 0.3, "step": 0.004},
        "method": {"degree": 3, "flux": 0.5},
        "run__precision": "double",
        "output": MAP,
        "source": [EXPLOSION],
    }
    found, expected = (
        gs.run(build(tmp_path, **{**case, **common}), folder=tmp_path / name)
        for name, case in (("mesh", on_mesh(path)), ("grid", BRICKS))
    )
    maps, series = (found.shaking_map, expected.shaking_map), map(surface_of, (found, expected))
    for ours, theirs in ((maps[0].pgv, maps[1].pgv), (maps[0].pga, maps[1].pga), tuple(series)):
        assert all(np.allclose(ours[axis], theirs[axis], atol=1e-9) for axis in "xy")
        largest = np.abs(theirs.values).max()
        assert largest > 0 and np.abs(ours.values - theirs.values).max() < 1e-11 * largest


def skewed_hill(points: NDArray[Any]) -> NDArray[Any]:
    """A hill in a parallelogram, with vertical sides."""
    x, y, z = np.moveaxis(points, -1, 0)
    rise = 40 * np.sin(np.pi * x / 800) * np.sin(np.pi * y / 600)
    return np.stack([x + 0.5 * y, y, z - rise * (1 - z / 600)], axis=-1)


def test_points_of_the_surface_are_those_of_receivers(tmp_path: Path) -> None:
    """Points of the map beside the mesh have no values."""
    path = write(tmp_path / "a.msh", 2, skewed_hill)
    rock = {"kind": "homogeneous", **ROCK}
    near = {"name": "A", "x": 450, "y": 250, "depth": 0}
    changes = {"receiver": [near], "time__duration": 0.4, "output": MAP, "run__precision": "double"}
    case = build(tmp_path, **on_mesh(path, medium=rock), **changes)
    result = gs.run(case, folder=tmp_path / "r")
    series, peaks = surface_of(result), result.shaking_map.pgv
    assert np.allclose(peaks.x, np.arange(50, 1100, 100)) and peaks.shape == (6, 11)
    offset = peaks.x - 0.5 * peaks.y
    assert np.array_equal(np.isnan(peaks), ((offset < 0) | (offset > 800)).transpose("y", "x"))
    here, there = np.isfinite(series.isel(time=-1, component=0)), np.isfinite(peaks[::2, ::2])
    assert np.array_equal(here, there)
    trace = series.sel(x=450, y=250).transpose("component", "time").values
    every = round(0.02 / prepare(case).dt)
    recorded = result.seismograms[0].values[:, ::every]
    largest = np.abs(recorded).max()
    assert largest > 0 and np.abs(trace - recorded).max() < 1e-12 * largest


def test_meshes_of_ground_have_a_map(tmp_path: Path) -> None:
    """Unless water is on top, or nothing is: then the surface must be the other way round."""
    path = write(tmp_path / "a.msh")
    sea, ground = (
        on_mesh(path, medium={"kind": "volumes", "volumes": {"sea": top, "rock": ROCK}})
        for top in (SEA, ROCK)
    )
    assert has_shaking_map(prepare(build(tmp_path, **ground)))
    assert not has_shaking_map(prepare(build(tmp_path, **ground, output__shaking_map=False)))
    assert not has_shaking_map(prepare(build(tmp_path, **sea)))
    assert has_shaking_map(prepare(build(tmp_path, **sea, output__shaking_map=True)))


def test_ranks_share_the_points_of_the_surface(tmp_path: Path) -> None:
    found: Any = prepare(build(tmp_path, **on_mesh(write(tmp_path / "a.msh", 2, hill))))
    parts = [
        Lattice.of(found.geometry, found.partition.elements(3, rank).numbers) for rank in range(3)
    ]
    together = np.concatenate([part.mine for part in parts])
    assert sorted(together) == [*range(parts[0].count)] and len(parts[0].mine) < len(together)


def test_nodes_on_the_bottom_of_the_mesh_stay_in_it(tmp_path: Path) -> None:
    """The place of their seismometer is otherwise slightly below them."""
    path = write(tmp_path / "a.msh", 2, hill)
    place = {"x": 100, "y": 300, "depth": 600 + 40 * np.sin(np.pi / 8) - 1e-9}
    node = {"name": "A", "kind": "ocean-bottom-node", **place}
    case = build(tmp_path, **on_mesh(path), receiver=[node], time__duration=0.3)
    assert float(np.abs(gs.run(case, folder=tmp_path / "r").seismograms).max()) > 0


# --- quantities -----------------------------------------------------------------------------------


def test_checks_describe_the_mesh(tmp_path: Path) -> None:
    found = gs.check(build(tmp_path, **on_mesh(write(tmp_path / "a.msh"))))
    assert found["elements"] == 36 and found["region"] == [0, 0, 0, 800, 600, 600]
    assert found["problems"] == [] and found["fluid_cells"] == 12


def test_records_outside_the_mesh_are_refused_before_a_run(tmp_path: Path) -> None:
    """In the mesh's own shape: above its sides, but below its hill."""
    path = write(tmp_path / "a.msh", 2, hill)
    record = {"fields": ["szz"], "what": "max", "file": "a.nc"}
    for place, is_inside in (([400, 300, -30], True), ([40, 300, -30], False)):
        where = {"kind": "points", "positions": [place]}
        case = build(tmp_path, **on_mesh(path), output__record=[record | {"where": where}])
        if is_inside:
            prepare(case)
            continue
        with pytest.raises(InputError, match=r"1 of 1 positions of output.record lie outside"):
            gs.check(case)
