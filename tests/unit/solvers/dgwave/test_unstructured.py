"""DG waves on meshes of Gmsh: answers of bricks in any orientation; what is said of mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled
from dgwave_cases import EXPLOSION, WATER, build
from gmsh_files import cells_of, numbered, save
from numpy.typing import NDArray

import groundswell as gs
from groundswell.errors import CaseError, InputError
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.mesh_faces import NOWHERE, find_mesh_faces, turned
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.recording.lattice import Lattice, has_shaking_map
from groundswell.spectral_elements.surface_location import find_surface, top_faces
from groundswell.spectral_elements.vtkhdf import LagrangeElements

pytestmark = pytest.mark.each_value

COUNTS, SIZE = (4, 3, 3), (800.0, 600.0, 600.0)
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500}
SEA = {name: WATER[name] for name in ("vp", "vs", "rho")}
NAMES = {"top": (1, 2), "rest": (2, 2), "sea": (1, 3), "rock": (2, 3)}
GRID = {"size": SIZE, "spacing": 200}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SEA}, {"top": 200, **ROCK}]}


def write(path: Path, order: int = 1, bend: Any = None, up: bool = False, **changes: Any) -> Path:
    """A file of the elements of GRID, in any order and orientation, water over rock."""
    mesh = shuffled(Box(COUNTS, high=SIZE, order=order), np.random.default_rng(2))
    tags = 2 * (mesh.tags(np.arange(mesh.count)) > 0)
    z = np.stack([mesh.nodes[:, face_nodes(order, f), 2] for f in range(6)], axis=1)
    tags[(z == 0).all(axis=2)] = 1
    volumes = np.where(mesh.nodes[:, :, 2].mean(axis=1) < 200, 1, 2)
    nodes = mesh.nodes if bend is None else bend(mesh.nodes)
    points, numbers = numbered(Mesh(mesh.corners, nodes, order))
    points = points * [1, 1, -1] if up else points
    return save(path, points, cells_of(numbers, tags, volumes), changes.get("names", NAMES))


def on_mesh(path: Path, **changes: Any) -> dict[str, Any]:
    """Changes of a case that put it on a mesh."""
    return {
        "grid": {"file": str(path), "vertical": "down"},
        "medium": {"kind": "volumes", "volumes": {"sea": SEA, "rock": ROCK}},
        "boundary": {"surfaces": {"top": "free-surface", "rest": "absorbing"}},
        "source": [dict(EXPLOSION)],  # which changes change
        **changes,
    }


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


# --- faces and surfaces ---------------------------------------------------------------------------


def test_faces_meet_at_their_nodes() -> None:
    """Nodes of a face are those of the other side, turned."""
    mesh = shuffled(Box((3, 2, 2), order=3), np.random.default_rng(4))
    found = find_mesh_faces(mesh)
    everyone = np.argwhere(found.neighbours != NOWHERE)
    assert len(everyone) == 2 * (2 * 2 * 2 + 3 * 2 + 3 * 2)
    assert len(np.unique(found.turns[found.neighbours != NOWHERE])) == 8
    for element, face in everyone:
        other, its = found.neighbours[element, face], found.faces[element, face]
        assert found.neighbours[other, its] == element and found.faces[other, its] == face
        here = mesh.nodes[element, face_nodes(3, face)]
        there = mesh.nodes[other, face_nodes(3, its)]
        assert np.allclose(here, there[turned(found.turns[element, face], 4)], atol=1e-14)


def test_tops_of_meshes() -> None:
    """Exact on trilinear and on curved elements, at their edges too; nothing beside them."""
    rng = np.random.default_rng(1)
    points = rng.uniform(0.05, 0.95, (30, 2))
    points[:5], points[5:9, 0] = [[0.5, 0.5]], 0.25

    def bend(x: NDArray[Any]) -> NDArray[Any]:
        lift = 0.1 * x[..., 0] ** 2 - 0.2 * x[..., 0] * x[..., 1] + 0.1 * x[..., 1]
        return np.stack([x[..., 0], x[..., 1], x[..., 2] + lift * (1 - x[..., 2])], axis=-1)

    mesh = shuffled(Box((4, 2, 2), deform=bend, order=2), rng)
    x, y = points.T
    assert np.allclose(find_surface(mesh, points), 0.1 * x**2 - 0.2 * x * y + 0.1 * y, atol=1e-12)
    assert np.isnan(find_surface(mesh, np.array([[1.2, 0.5], [-0.1, 0.0]]))).all()
    elements, areas = top_faces(mesh)
    assert len(set(elements)) == 8 and np.allclose(areas, 1 / 8)


def test_only_the_highest_of_many_faces_is_the_top() -> None:
    """Of two boxes above each other, and beside them."""
    low, high = (
        Box((3, 2, 1), high=(3, 2, 1)),
        Box((1, 1, 1), low=(1.0, 0.0, -2.0), high=(2, 1, -1)),
    )
    nodes = np.concatenate([box.geometry_nodes(np.arange(box.count)) for box in (low, high)])
    corners = np.concatenate([low.ids(1, np.arange(6)), high.ids(1, [0]) + 100])
    mesh = Mesh(corners, nodes, 1)
    points = np.array([[0.5, 0.5], [1.5, 0.5], [1.5, 1.5], [2.5, 1.999], [3.5, 0.5]])
    assert np.array_equal(find_surface(mesh, points), [0, -2, 0, 0, np.nan], equal_nan=True)
    assert sorted(top_faces(mesh)[0]) == [0, 2, 3, 4, 5, 6]


def test_floors_of_caves_are_not_the_surface() -> None:
    """A block of 3 x 1 x 3 elements without its middle."""
    box = Box((3, 1, 3), high=(3, 1, 3))
    solid = np.delete(np.arange(9), 4)
    mesh = Mesh(box.ids(1, solid), box.geometry_nodes(solid), 1)
    points = np.array([[0.5, 0.5], [1.5, 0.5]])
    assert np.array_equal(find_surface(mesh, points), [0, 0])
    elements, areas = top_faces(mesh)
    assert sorted(solid[elements]) == [0, 1, 2] and np.allclose(areas, 1)


# --- mistakes -------------------------------------------------------------------------------------

VOLUMES = {"sea": SEA, "rock": ROCK}
SURFACES = {"top": "free-surface", "rest": "absorbing"}
AIRGUN = {
    **{"kind": "airgun", "x": 430, "y": 450, "depth": 5000, "strength": "20 bar m"},
    "time_function": {"kind": "ricker", "frequency": 4},
}
AWP = {"kind": "awp", "file": "a.msh", "points": 1, "steps": 3, "step": 0.02, "format": "text"}
OUTSIDE = [{"name": name, "x": 9, "y": 9, "depth": 601} for name in "AB"]
MISFITS = [
    ({"medium__volumes": {**VOLUMES, "ice": ROCK}}, "has no physical volume 'ice'; it has rock, s"),
    ({"medium__volumes": {"sea": SEA}}, "medium.volumes lacks the physical volume 'rock' of the"),
    ({"boundary__surfaces": {**SURFACES, "tip": "rigid"}}, "has no physical surface 'tip'; it has"),
    ({"boundary__surfaces": {"top": "rigid"}}, "boundary.surfaces lacks the physical surface 'res"),
    ({"source__0__x": 900}, r"source\[0\] lies outside the mesh, at x = 900 m"),
    ({"source": [AIRGUN]}, r"source\[0\]: the source lies outside the mesh, .* depth of 5000 m"),
    ({"source": [AWP]}, r"source\[0\]: positions .* \"awp\" are indices of the cells of a grid"),
    ({"receiver": OUTSIDE}, "receiver A lies outside the m.*\nreceiver B lies outside the mesh"),
]


@pytest.mark.parametrize(("changes", "message"), MISFITS)
def test_what_does_not_fit_is_told(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "a.msh")
    with pytest.raises(InputError, match=message):
        prepare(build(tmp_path, **{**on_mesh(path), **changes}))


def test_bad_elements_are_told(tmp_path: Path) -> None:
    """At the nodes of the degree, where the file's own nodes may be sound; and gaps."""

    def fold(points: NDArray[Any]) -> NDArray[Any]:
        moved = points.copy()
        moved[..., 0] += 80 * np.sin(2 * np.pi * points[..., 0] / 200 + 2)
        return moved

    with pytest.raises(InputError, match=r"inverted|folded"):
        prepare(build(tmp_path, **on_mesh(write(tmp_path / "a.msh", 2, fold)), method__degree=4))
    mesh = shuffled(Box((2, 1, 1), high=SIZE), np.random.default_rng(0))
    points, numbers = numbered(mesh)
    twice = np.arange(16).reshape(2, 8)  # every element has points of its own
    path = save(
        tmp_path / "b.msh", points[numbers].reshape(-1, 3), cells_of(twice, twice[:, :6] * 0)
    )
    with pytest.raises(InputError, match="pairs of nodes coincide"):
        prepare(build(tmp_path, **on_mesh(path)))


def test_elements_need_a_volume(tmp_path: Path) -> None:
    mesh = shuffled(Box((2, 1, 1), high=SIZE), np.random.default_rng(0))
    points, numbers = numbered(mesh)
    tags = 2 * (mesh.tags(np.arange(2)) > 0)
    cells = cells_of(numbers, tags, np.array([0, 2]))
    path = save(tmp_path / "a.msh", points, cells, {"rest": (2, 2), "rock": (2, 3)})
    changes = on_mesh(path, medium={"kind": "volumes", "volumes": {"rock": ROCK}})
    with pytest.raises(InputError, match=r"a.msh: 1 element in no physical volume"):
        prepare(build(tmp_path, **changes, boundary__surfaces={"rest": "absorbing"}))
    path = save(tmp_path / "b.msh", points, cells_of(numbers, tags, 0))
    changes["grid"] = {"file": str(path)}
    with pytest.raises(InputError, match=r"has no physical volume 'rock'; it has none"):
        prepare(build(tmp_path, **changes))


MISTAKES = [
    ({"medium": {"kind": "awp", "file": __file__, "cells": [1, 1, 1], "variables": 3}},
     "medium.kind", "needs the cells of a grid"),
    ({"medium__volumes__sea": {"kind": "awp"}}, "medium.volumes.sea.kind", "homogeneous, layered"),
    ({"medium__volumes__sea": {**SEA, "vs": 1400}}, "medium.volumes.sea.vp", "must exceed sqrt"),
    ({"boundary": {"top": "rigid"}}, "boundary.top", "is available only on a grid of bricks"),
    ({"boundary__surfaces__rest": "sponge"}, "boundary.surfaces.rest", "or a sponge such as"),
    ({"boundary__surfaces__rest": {"kind": "pml"}}, "boundary.surfaces.rest", "or a sponge such"),
    ({"boundary__surfaces__rest": {"kind": "sponge"}}, "boundary.surfaces.rest.width", "is requir"),
    ({"boundary__surfaces__rest": {"kind": "sponge", "width": 0}},
     "boundary.surfaces.rest.width", "must be greater than 0"),
    ({"refinement": {"frequency": 9}}, "refinement", "is available only on a grid of bricks"),
    ({"topography": {"kind": "formula", "elevation": 0}},
     "topography", "remove it; surface and sea floor are those of the mesh"),
    ({"grid": {"file": "no.msh"}}, "grid.file", "does not exist"),
    ({"grid__vertical": "left"}, "grid.vertical", 'must be "up" or "down"'),
    ({"grid__spacing": 3}, "grid.spacing", "is not a key here"),
    ({"source__0__depth": -5}, "source[0].depth", "lies above the surface"),
    ({"receiver": [{"name": "A", "longitude": 1, "latitude": 2, "depth": 0}]},
     "receiver[0].longitude", "meshes have no position on Earth"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "allowed"), MISTAKES)
def test_each_mistake_is_one_problem(
    tmp_path: Path, changes: dict[str, Any], key: str, allowed: str
) -> None:
    path = write(tmp_path / "a.msh")
    with pytest.raises(CaseError) as caught:
        build(tmp_path, **{**on_mesh(path), **changes})
    [problem] = caught.value.problems
    assert problem.key == key and allowed in problem.allowed


GRID_MISTAKES = [
    ({"medium": {"kind": "volumes", "volumes": VOLUMES}}, "medium.kind", "only on a mesh from a f"),
    (
        {"boundary__surfaces": SURFACES},
        "boundary.surfaces",
        "is available only on a mesh from a file",
    ),
]


@pytest.mark.parametrize(("changes", "key", "allowed"), GRID_MISTAKES)
def test_grids_have_no_volumes(changes: dict[str, Any], key: str, allowed: str) -> None:
    with pytest.raises(CaseError) as caught:
        build(**changes)
    [problem] = caught.value.problems
    assert problem.key == key and allowed in problem.allowed
