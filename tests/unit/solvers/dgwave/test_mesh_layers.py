"""Meshes of bricks against grids of the same bricks: media that vary, attenuation, and sponges."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from dgwave_cases import EXPLOSION, SHEAR, WATER, build, setup
from gmsh_files import ENDS, save_box
from thread_ranks import run_on_threads
from variants import long_variants

import groundswell as gs
from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import positions
from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.setup import prepare as prepare_on_ranks
from groundswell.solvers.dgwave.setup.meshes import require_physical

pytestmark = pytest.mark.each_value

REGION = Box((4, 4, 3), high=(800.0, 800.0, 600.0))
AROUND = Box((8, 8, 5), low=(-400.0, -400.0, 0.0), high=(1200.0, 1200.0, 1000.0))  # with sponges
SEA = {name: WATER[name] for name in ("vp", "vs", "rho")}
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500}
DEEP = {"vp": 4200, "vs": 2500, "rho": 2700}
Q = {"qp": 80, "qs": 40}
GRADIENT = {
    "kind": "layered",
    "interpolation": "linear",
    "layers": [{"top": 0, **ROCK}, {"top": 600, **DEEP}],
}
SEA_LAYERS = [{"top": 0, **SEA}, {"top": 200, **SEA}, {"top": 200, **ROCK}]
SEA_AND_GRADIENT = {**GRADIENT, "layers": [*SEA_LAYERS, *GRADIENT["layers"][1:]]}
NODES = {"degree": 3, "flux": 0.5, "material": "node"}
OPEN = {"boundary": {"sides": "absorbing", "bottom": "absorbing"}}
RECEIVERS = [{"name": f"R{n}", "x": 150 * n, "y": 70 * n, "depth": 90 * n} for n in range(4)]
SHOT = {**EXPLOSION, "depth": 150}


def on_mesh(path: Path, medium: dict[str, Any], **conditions: Any) -> dict[str, Any]:
    """The sections of a case on the mesh of a box."""
    surfaces = dict.fromkeys(ENDS, "absorbing") | {"top": "free-surface"} | conditions
    return {
        "grid": {"file": str(path), "vertical": "down"},
        "medium": medium,
        "boundary": {"surfaces": surfaces},
    }


def require_equal_motion(folder: Path, *cases: dict[str, Any], **common: Any) -> None:
    """The cases agree to rounding, which the loads of sources amplify."""
    common = {"run__precision": "double", "receiver": RECEIVERS, **common}
    found = [
        gs.run(build(folder, **common, **case), folder=folder / str(n)).seismograms.values
        for n, case in enumerate(cases)
    ]
    largest = np.abs(found[0]).max()
    assert largest > 0
    for other in found[1:]:
        assert np.abs(other - found[0]).max() < 1e-10 * largest


# --- media ----------------------------------------------------------------------------------------


def test_layers_are_those_of_a_grid(tmp_path: Path) -> None:
    """As one medium of the mesh, and as media of volumes that meet at the sea floor."""
    path = save_box(
        tmp_path / "a.msh",
        REGION,
        volumes=("sea", "rock"),
        volume_of=lambda middles: np.where(middles[:, 2] < 200, 1, 2),
    )
    below = {**GRADIENT, "layers": [{"top": 0, **ROCK}, *SEA_AND_GRADIENT["layers"][2:]]}
    by_volume = {"kind": "volumes", "volumes": {"sea": SEA, "rock": below}}
    cases = (
        {"medium": SEA_AND_GRADIENT, **OPEN},
        on_mesh(path, SEA_AND_GRADIENT),
        on_mesh(path, by_volume),
    )
    time = {"duration": 0.3, "step": 0.003}
    require_equal_motion(tmp_path, *cases, time=time, method=NODES, source=[SHOT])


def test_models_without_quality_factors_have_no_attenuation(tmp_path: Path) -> None:
    axes = {"depth": [0.0, 600], "y": [0.0, 800], "x": [0.0, 800]}
    values = {name: np.full((2, 2, 2), float(value)) for name, value in ROCK.items()}
    data = xr.Dataset({n: (tuple(axes), v) for n, v in values.items()}, coords=axes)
    data.to_netcdf(tmp_path / "model.nc", engine="h5netcdf")
    medium = {"kind": "netcdf", "file": "model.nc"}
    mesh = on_mesh(save_box(tmp_path / "a.msh", REGION), medium)
    with pytest.raises(InputError, match="but the medium has no quality factors"):
        prepare(build(tmp_path, **mesh, attenuation={"model": "constant", "band": [1, 20]}))


def test_unphysical_averages_are_named_by_their_element(tmp_path: Path) -> None:
    mesh = on_mesh(save_box(tmp_path / "a.msh", REGION), {"kind": "homogeneous", **ROCK})
    found: Any = prepare(build(tmp_path, **mesh))
    every = np.arange(found.geometry.count)
    averages = found.materials.elements.average(every)
    require_physical(averages, found.geometry, every)
    place = np.array([[430.0, 450.0, 310.0]])
    averages.vs[found.geometry.locate(place)[0]] = 2900
    message = r"around x = 500 m, y = 500 m, depth = 300 m has vp = 3000, vs = 2900, .*: vp must"
    with pytest.raises(InputError, match=message):
        require_physical(averages, found.geometry, every)


def test_ranks_average_the_media_of_their_own_elements(tmp_path: Path) -> None:
    """For the set-up, of a third of all elements, and of those that hold sources."""
    case = build(tmp_path, **on_mesh(save_box(tmp_path / "a.msh", REGION), GRADIENT))
    ranks = run_on_threads(3, lambda comm: prepare_on_ranks(case, comm))
    for share, found in zip(np.split(np.arange(REGION.count), 3), ranks, strict=True):
        places = np.array([source.position for source in found.survey.sources])
        averages = found.materials.elements.medium.averages
        known = {*share, *found.geometry.locate(places)[0]}
        assert {*np.flatnonzero(averages.is_read)} == known


def test_models_are_those_of_a_grid(tmp_path: Path) -> None:
    rng, shape = np.random.default_rng(1), (3, 3, 3)
    vs = rng.uniform(1000, 2000, shape)
    values = {"vp": vs * 1.8, "vs": vs, "rho": rng.uniform(2000, 2500, shape)}
    axes = {"depth": [0.0, 250, 600], "y": [0.0, 300, 800], "x": [0.0, 500, 800]}
    data = xr.Dataset({n: (tuple(axes), v) for n, v in values.items()}, coords=axes)
    data.to_netcdf(tmp_path / "model.nc", engine="h5netcdf")
    medium = {"kind": "netcdf", "file": "model.nc", "floor": {"vs": "1.2 km/s"}}
    mesh = on_mesh(save_box(tmp_path / "a.msh", REGION), medium)
    time = {"duration": 0.2, "step": 0.003}
    require_equal_motion(tmp_path, {"medium": medium, **OPEN}, mesh, time=time, method=NODES)
    far = Box((4, 4, 3), low=(300.0, 0.0, 0.0), high=(1100.0, 800.0, 600.0))
    mesh = on_mesh(save_box(tmp_path / "b.msh", far), medium)
    with pytest.raises(InputError, match=r"model.nc covers x from 0 to 800 and .* 400 to 1000"):
        prepare(build(tmp_path, **mesh))


@pytest.mark.full
def test_attenuation_is_that_of_a_grid(tmp_path: Path) -> None:
    layers = [{"top": 0, **ROCK, **Q}, {"top": 400, **DEEP, "qp": 200, "qs": 100}]
    medium = {"kind": "layered", "layers": layers}
    mesh = on_mesh(save_box(tmp_path / "a.msh", REGION), medium)
    require_equal_motion(
        tmp_path,
        {"medium": medium, **OPEN},
        mesh,
        time={"duration": 0.2, "step": 0.003},
        attenuation={"model": "constant", "band": [1, 20]},
    )


def test_elements_have_volume_averages(tmp_path: Path) -> None:
    """Of bent elements too: the mean density of all elements is that of the mesh."""

    def bend(points: Floats) -> Floats:
        x, y, z = np.moveaxis(points, -1, 0)
        rise = np.sin(np.pi * x / 800) * np.sin(np.pi * y / 800)
        return np.stack([x, y, z + 80 * rise * z / 600 * (1 - z / 600)], axis=-1)

    box = Box(REGION.counts, high=REGION.high, order=2)
    for path in (
        save_box(tmp_path / "a.msh", box),
        save_box(tmp_path / "b.msh", box, bend),
    ):
        found: Any = prepare(build(tmp_path, **on_mesh(path, GRADIENT)))
        volumes = found.materials.elements.medium._weights(np.arange(found.geometry.count))
        assert np.allclose(volumes.sum(axis=1), 1)
        depths = positions(found.geometry.mesh, 4, np.arange(found.geometry.count))[..., 2]
        rho = (volumes * (ROCK["rho"] + 200 * depths / 600)).sum(axis=1)
        material = found.materials.elements.average(np.arange(found.geometry.count))
        assert np.allclose(material.rho, rho, rtol=1e-9) and np.ptp(rho) > 100
        stiffness = material.rho * material.vs**2
        grid = setup(medium=GRADIENT, boundary={"sides": "rigid", "bottom": "rigid"})
        expected = grid.materials.elements.average(np.arange(grid.geometry.count))
        if path.stem == "a":  # harmonic means, of which both have quadratures
            order = np.lexsort(found.geometry.mesh.nodes.mean(axis=1).T)
            lower, upper = grid.geometry.forest.boxes()
            of_grid = np.lexsort((lower + upper).T)
            mu = (expected.rho * expected.vs**2)[of_grid]
            assert np.allclose(stiffness[order], mu, rtol=1e-7)


def test_uniform_volumes_have_no_nodal_material(tmp_path: Path) -> None:
    path = save_box(tmp_path / "a.msh", REGION)
    for medium in ({"kind": "homogeneous", **ROCK}, {"kind": "volumes", "volumes": {"all": ROCK}}):
        found: Any = prepare(build(tmp_path, **on_mesh(path, medium), method=NODES))
        assert (
            not found.materials.is_nodal
            and discretise(found, found.partition.elements(1, 0)).nodal is None
        )
        assert (
            found.materials.elements.average(np.arange(found.geometry.count)).vp == ROCK["vp"]
        ).all()


def test_nodes_above_the_datum_have_the_material_at_its_depth(tmp_path: Path) -> None:
    """z = 0 is where layers begin, whatever lies above."""
    raised = Box((4, 4, 3), low=(0.0, 0.0, -200.0), high=(800.0, 800.0, 400.0))
    mesh = on_mesh(save_box(tmp_path / "a.msh", raised), GRADIENT)
    found: Any = prepare(build(tmp_path, **mesh, method=NODES, source__0__depth=300))
    everyone = np.arange(found.geometry.count)
    z = np.maximum(positions(found.geometry.mesh, 3, everyone)[..., 2], 0)
    expected = ROCK["vp"] + (DEEP["vp"] - ROCK["vp"]) * z / 600
    assert np.allclose(
        found.materials.elements.at(np.arange(found.geometry.count)).vp, expected, rtol=1e-7
    )
    upside_down = {**mesh, "grid": {**mesh["grid"], "vertical": "up"}}
    low = Box((4, 4, 3), low=(0.0, 0.0, 0.0), high=(800.0, 800.0, 600.0))
    save_box(tmp_path / "a.msh", low)
    with pytest.raises(InputError, match=r"a.msh: the mesh lies above z = 0, where layers and m"):
        prepare(build(tmp_path, **upside_down))


# --- sponges --------------------------------------------------------------------------------------

SPONGE = {"kind": "sponge", "width": 400}
SPONGES = dict.fromkeys(("west", "east", "south", "north", "bottom"), SPONGE)


@pytest.mark.parametrize(
    ("medium", "method"),
    [
        ({"kind": "homogeneous", **ROCK, **Q}, {"degree": 2}),
        *long_variants(
            [
                ({**GRADIENT, "layers": [{"top": 0, **ROCK}, {"top": 400, **DEEP}]}, NODES),
                ({"kind": "homogeneous", **ROCK}, {"degree": 3}),
            ]
        ),
    ],
)
def test_sponges_are_those_of_a_grid(
    tmp_path: Path, medium: dict[str, Any], method: dict[str, Any]
) -> None:
    """Also where several overlap. The lowest elements of the region are uniform, as below it."""
    grid = {"medium": medium, "boundary": {"sides": "sponge", "bottom": "sponge", "width": 2}}
    mesh = on_mesh(save_box(tmp_path / "a.msh", AROUND), medium, **SPONGES)
    attenuation = {"attenuation": {"model": "constant", "band": [1, 20]}} if "qp" in medium else {}
    common = {"time": {"duration": 0.3, "step": 0.002}, "method": method, **attenuation}
    require_equal_motion(tmp_path, grid, mesh, **common)
    of_grid, of_mesh = (prepare(build(tmp_path, **case, **common)) for case in (grid, mesh))
    assert of_mesh.absorption.decay == pytest.approx(of_grid.absorption.decay, rel=1e-12)
    assert of_mesh.step_limit.seconds == pytest.approx(of_grid.step_limit.seconds, rel=1e-9)


def test_damping_rises_towards_the_surface(tmp_path: Path) -> None:
    """With the distance from nodes of the surface, on elements of any shape."""

    def bend(points: Floats) -> Floats:
        x, y, z = np.moveaxis(points, -1, 0)
        return np.stack([x + 0.1 * z, y, z - 60 * np.sin(x / 300) * (1 - z / 600)], axis=-1)

    box = Box(REGION.counts, high=REGION.high, order=2)
    path = save_box(tmp_path / "a.msh", box, bend)
    mesh = on_mesh(path, {"kind": "homogeneous", **ROCK}, bottom={**SPONGE, "width": 250})
    found: Any = prepare(build(tmp_path, **mesh, method__degree=4))
    rows, decay = found.absorption.damping(found.partition.elements(1, 0))
    numbers = found.partition.elements(1, 0).numbers
    everywhere = np.zeros((found.geometry.count, 125))
    everywhere[numbers[rows >= 0]] = decay[rows[rows >= 0]]
    depth = np.clip(
        1
        - (600 - positions(found.geometry.mesh, 4, np.arange(found.geometry.count))[..., 2]) / 250,
        0,
        1,
    )
    strongest = 9 * ROCK["vp"] / 250
    assert decay.max() == pytest.approx(strongest) == found.absorption.decay
    # Distances are those of nodes, which do not lie above each other.
    expected = strongest * (depth**2 + depth**10) / 2
    assert np.abs(everywhere - expected).max() < 0.03 * strongest
    assert (everywhere[depth == 0] == 0).all() and (decay.max(axis=1) > 0).all()


def test_ranks_have_the_damping_of_their_elements(tmp_path: Path) -> None:
    mesh = on_mesh(save_box(tmp_path / "a.msh", AROUND), {"kind": "homogeneous", **ROCK}, **SPONGES)
    found: Any = prepare(build(tmp_path, **mesh))
    everyone = found.partition.elements(1, 0)
    all_rows, all_decay = found.absorption.damping(everyone)
    for rank in range(3):
        elements = found.partition.elements(3, rank)
        rows, decay = found.absorption.damping(elements)
        same = all_rows[everyone.place(elements.numbers)]
        assert np.array_equal(rows >= 0, same >= 0)
        assert np.array_equal(decay[rows[rows >= 0]], all_decay[same[same >= 0]])


def test_checks_and_warnings_name_sponges(tmp_path: Path) -> None:
    mesh = on_mesh(save_box(tmp_path / "a.msh", REGION), {"kind": "homogeneous", **ROCK})
    common = {"receiver": RECEIVERS, "time__duration": 3}  # the source ends before
    none = gs.check(build(tmp_path, **mesh, **common))
    mesh["boundary"]["surfaces"]["west"] = {"kind": "sponge", "width": "0.3 km"}
    found = gs.check(build(tmp_path, **mesh, **common))
    assert found["sponges"] == 2 * 4 * 3 and none["sponges"] == 0
    assert found["memory"] - none["memory"] == 2 * 4 * 3 * 3**3 * 4  # rates of decay
    [warning] = {*found["warnings"]} - {*none["warnings"]}
    assert warning.startswith("a sponge, which damps all motion, contains 3 of 5 sources and")
    assert "the first is receiver R0" in warning


def test_sponges_leave_some_of_the_mesh(tmp_path: Path) -> None:
    path = save_box(tmp_path / "a.msh", REGION)
    wide = {"kind": "sponge", "width": 701}
    mesh = on_mesh(path, {"kind": "homogeneous", **ROCK}, west=wide)
    with pytest.raises(InputError, match=r"surfaces.west.width = 701 m: .* at most 700 m from"):
        prepare(build(tmp_path, **mesh))


def test_sponges_reach_the_middle_of_an_element(tmp_path: Path) -> None:
    """Thinner ones would absorb nothing, and need short time steps."""
    path = save_box(tmp_path / "a.msh", REGION)
    for width, message in ((99, r"surfaces.west.width = 99 m: .* nearest is 100 m"), (101, None)):
        mesh = on_mesh(
            path, {"kind": "homogeneous", **ROCK}, west={"kind": "sponge", "width": width}
        )
        with pytest.raises(InputError, match=message) if message else nullcontext():
            prepare(build(tmp_path, **mesh))


@pytest.mark.parametrize("degree", [1, 4])
def test_strong_damping_is_stable(tmp_path: Path, degree: int) -> None:
    """A sponge of one element needs a shorter step; noise decays in it."""
    thin = {name: {"kind": "sponge", "width": 200} for name in SPONGES}
    path = save_box(tmp_path / "a.msh", Box((2, 2, 2), high=(400.0, 400.0, 400.0)))
    mesh = on_mesh(path, {"kind": "homogeneous", **ROCK}, **thin)
    place = {"x": 150, "y": 150, "depth": 150}
    case = build(
        tmp_path,
        **mesh,
        source=[{**SHEAR, **place}],
        receiver=[],
        method={"degree": degree},
        time__duration=9,
    )
    with gs.Simulation(case) as simulation:
        solver: Any = simulation.solver
        noise = np.random.default_rng(2).standard_normal(solver.propagation.u.shape)
        solver.propagation.u[...] = noise
        solver.prepare()
        for _ in range(300):
            solver.step()
        assert np.abs(solver.propagation.u[:, 6:]).max() < np.abs(noise).max() / 2
