"""Materials that vary inside elements: where they come from, and what a set-up makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import xarray as xr
from checked import cost, warnings_of
from dgwave_cases import EXPLOSION, build, setup
from variants import long_variants

import groundswell as gs
from groundswell.arrays import Floats
from groundswell.backends import open_backend
from groundswell.errors import CaseError, InputError
from groundswell.meshes.gll import gll
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.materials import elements as element_materials
from groundswell.solvers.dgwave.mesh.elements import face_nodes

pytestmark = pytest.mark.each_value


NODES = {"degree": 3, "material": "node"}
TOP = {"top": 0, "vp": 2000, "vs": 1000, "rho": 2000}
BOTTOM = {"top": 600, "vp": 4000, "vs": 2000, "rho": 2600}
GRADIENT = {"kind": "layered", "interpolation": "linear", "layers": [TOP, BOTTOM]}
WATER = {"vp": 1500, "vs": 0, "rho": 1000}
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500}
Q = {"qp": 80, "qs": 40}


def layers(*materials: dict[str, Any], thickness: float = 200) -> dict[str, Any]:
    stack = [{"top": n * thickness, **material} for n, material in enumerate(materials)]
    return {"kind": "layered", "layers": stack}


def depths(found: Any) -> Floats:
    """Of the nodes of all elements, (elements, nodes), clipped to the region."""
    lower, upper = found.geometry.forest.boxes()
    inside = np.repeat((gll(found.degree).points + 1) / 2, (found.degree + 1) ** 2)
    return np.clip(lower[:, 2:] + (upper - lower)[:, 2:] * inside, 0, found.geometry.extent[2])


def everywhere(found: Any) -> Any:
    return found.materials.unrelaxed_nodes(np.arange(found.geometry.count))


# --- the medium at the nodes ----------------------------------------------------------------------


@pytest.mark.parametrize("refinement", [None, {"frequency": 10, "levels": 1}])
def test_nodes_have_the_medium_of_their_depths(refinement: Any) -> None:
    """Absorbing layers continue the ends of the region."""
    found = setup(medium=GRADIENT, method=NODES, refinement=refinement)
    share = depths(found) / 600
    for name, values in everywhere(found).given().items():
        expected = TOP[name] + share * (BOTTOM[name] - TOP[name])
        assert np.allclose(values, expected, rtol=1e-7)


def test_interfaces_on_faces_are_sharp() -> None:
    """Also below the region, where a layer begins at its bottom."""
    hard = {"vp": 5000, "vs": 2900, "rho": 2700}
    found = setup(medium=layers(WATER, ROCK, ROCK, hard), method=NODES)
    middle = np.mean(found.geometry.forest.boxes(), axis=0)[:, 2]
    expected = np.where(middle < 200, WATER["vp"], ROCK["vp"])[:, None]
    assert np.array_equal(
        everywhere(found).vp, np.broadcast_to(expected, (found.geometry.count, 64))
    )
    assert found.materials.statistics.mixed == 0


def test_models_of_netcdf_files_are_interpolated_at_nodes(tmp_path: Path) -> None:
    axes = {"depth": [0.0, 250, 600], "y": [0.0, 300, 800], "x": [0.0, 500, 800]}
    rng, shape = np.random.default_rng(1), (3, 3, 3)
    vs = rng.uniform(1000, 2000, shape)
    values = {"vp": vs * 1.8, "vs": vs, "rho": rng.uniform(2000, 2500, shape)}
    data = xr.Dataset({n: (tuple(axes), v) for n, v in values.items()}, coords=axes)
    data.to_netcdf(tmp_path / "model.nc", engine="h5netcdf")
    medium = {"kind": "netcdf", "file": "model.nc"}
    found = setup(tmp_path, medium=medium, method=NODES, boundary__sides="rigid")
    lower, upper = found.geometry.forest.boxes()
    x, y, z = np.moveaxis(
        lower[:, None] + (upper - lower)[:, None] * (1 + found.materials.elements._nodes) / 2, -1, 0
    )
    at = {"x": x, "y": y, "depth": np.minimum(z, 600)}
    places = {name: xr.DataArray(position.ravel()) for name, position in at.items()}
    for name, nodes in everywhere(found).given().items():
        assert np.allclose(nodes.ravel(), data[name].interp(places).values, rtol=1e-7)


def test_bounds_hold_at_nodes() -> None:
    found = setup(medium={**GRADIENT, "floor": {"vs": 1500}}, method=NODES)
    assert everywhere(found).vs.min() == 1500


def test_elements_of_fluid_and_solid_have_their_average() -> None:
    found = setup(medium=layers(WATER, ROCK, thickness=150), method=NODES, source=[EXPLOSION])
    first = np.flatnonzero(found.geometry.forest.boxes()[1][:, 2] <= 200)
    uniform = setup(medium=layers(WATER, ROCK, thickness=150), source=[EXPLOSION])
    nodes, averages = everywhere(found), uniform.materials.elements.average(first)
    assert (nodes.vs[first] == 0).all()
    assert np.array_equal(nodes.vp[first], np.repeat(averages.vp[:, None], 64, axis=1))
    assert found.materials.statistics.mixed == len(first)
    assert any("both fluid and solid" in warning for warning in warnings_of(found))


def test_elements_of_fluid_and_solid_are_counted_with_both_materials() -> None:
    """One metre of water makes an element a fluid; edges that end at the sea floor cure it."""
    medium = layers(WATER, ROCK, thickness=201)
    found = [setup(medium=medium, method=m, source=[EXPLOSION]) for m in (NODES, {"degree": 3})]
    below = np.isclose(found[0].geometry.forest.boxes()[0][:, 2], 200)
    for each in found:
        assert np.array_equal(each.materials.statistics.is_mixed, below)
        (told,) = (warning for warning in warnings_of(each) if "both fluid and solid" in warning)
        assert "1 of 201 m down to 201 m, 2 of 199.5 m down to 600 m" in told
    edges = [200, 200, [201, 199.5, 199.5]]
    cured = setup(medium=medium, grid__spacing=edges, source=[EXPLOSION])
    assert (
        cured.materials.statistics.mixed == 0
        and 0 < cured.materials.statistics.fluid < cured.geometry.count
    )


@pytest.mark.parametrize("kind", ["arrays", "awp"])
def test_media_of_cells_are_refused(tmp_path: Path, kind: str) -> None:
    array = np.full((3, 4, 4), 3000.0)
    (tmp_path / "a").touch()
    medium = {
        "arrays": {"kind": kind, "vp": array, "vs": array / 2, "rho": array},
        "awp": {"kind": kind, "file": "a", "cells": [4, 4, 3], "variables": 3},
    }[kind]
    with pytest.raises(CaseError, match=r"material.* must be \"element\".*give layers or"):
        build(tmp_path, medium=medium, method=NODES)


# --- what follows from it -------------------------------------------------------------------------


def test_steps_and_resolution_are_those_of_the_extremes_at_nodes() -> None:
    """An element at the bottom has waves faster than its average, one at the top slower ones."""
    found = setup(medium=GRADIENT, method=NODES)
    fast = setup(medium={"kind": "homogeneous", **_only(BOTTOM)}, method=NODES)
    slow = setup(medium={"kind": "homogeneous", **_only(TOP)}, method=NODES)
    uniform = setup(medium=GRADIENT, method={"degree": 3})
    assert found.materials.fastest.max() == pytest.approx(fast.materials.fastest.max(), rel=1e-7)
    assert found.materials.resolved_frequency == pytest.approx(
        slow.materials.resolved_frequency, rel=1e-7
    )
    assert found.step_limit.seconds < uniform.step_limit.seconds
    assert found.materials.resolved_frequency < uniform.materials.resolved_frequency


def test_extremes_do_not_depend_on_how_many_places_are_sampled_at_a_time() -> None:
    with patch.object(element_materials, "SAMPLES", 5 * 64):
        few = setup(medium=GRADIENT, method=NODES)
    found = setup(medium=GRADIENT, method=NODES)
    assert (
        found.geometry.count > 5
        and np.ptp(found.materials.fastest) > 0
        and np.ptp(found.materials.statistics.slowest) > 0
    )
    for name, values in vars(found.materials.statistics).items():
        assert np.array_equal(getattr(few.materials.statistics, name), values)


def _only(layer: dict[str, float]) -> dict[str, float]:
    return {name: layer[name] for name in ("vp", "vs", "rho")}


def test_rates_of_sources_have_the_material_of_their_place() -> None:
    found = setup(medium=GRADIENT, method=NODES)
    share = 310 / 600
    rho, vs = 2000 + 600 * share, 1000 + 1000 * share
    assert found.materials.elements.density(430, 450, 310) == pytest.approx(rho, rel=1e-7)
    assert found.materials.elements.rigidity(430, 450, 310) == pytest.approx(rho * vs**2, rel=1e-7)
    push = {"kind": "force", "force": [0, 0, rho], "x": 430, "y": 450, "depth": 310}
    pushed = setup(medium=GRADIENT, method=NODES, source=[{**push, "time_function": _pulse()}])
    momentum = 0.0  # that one unit of the time function adds
    elements = pushed.partition.elements(1, 0)
    for part in discretise(pushed, elements).terms.sources:
        element = elements.numbers[[part.element]]
        mass = pushed.materials.elements.at(element).rho * gll(pushed.degree).cube_weights
        volume = np.prod(pushed.geometry.edges[element] / 2)
        momentum += float((part.load * mass).sum()) * volume * part.history.rates[-1]
    assert momentum == pytest.approx(rho, rel=1e-9)


def _pulse() -> dict[str, Any]:
    return {"kind": "gaussian", "sigma": 0.1}


def test_quality_factors_are_those_of_elements() -> None:
    """Unrelaxed speeds of nodes have the same ratio to the medium's in all of an element."""
    medium = {**GRADIENT, "layers": [{**TOP, **Q}, {**BOTTOM, "qp": 200, "qs": 100}]}
    attenuation = {"model": "constant", "band": [1, 20]}
    found = setup(medium=medium, method=NODES, attenuation=attenuation)
    everyone = np.arange(found.geometry.count)
    ratio = everywhere(found).vs / found.materials.elements.at(everyone).vs
    expected = (
        found.materials.unrelaxed(everyone).vs / found.materials.elements.average(everyone).vs
    )
    assert np.allclose(ratio, expected[:, None], rtol=1e-12) and np.ptp(expected) > 1e-3


@pytest.mark.parametrize("medium", [{"kind": "homogeneous", **ROCK}, layers(WATER, WATER, WATER)])
def test_traffic_includes_the_material(medium: Any) -> None:
    found, uniform = (
        setup(medium=medium, method=method, source=[EXPLOSION]) for method in (NODES, {"degree": 3})
    )
    moduli, beyond = tables(found)
    words = (moduli.size + beyond.size) / found.unknowns
    assert cost(found).bytes_per_update - cost(uniform).bytes_per_update == pytest.approx(4 * words)


def tables(found: Any, ranks: int = 1, rank: int = 0) -> Any:
    nodal = discretise(found, found.partition.elements(ranks, rank)).nodal
    return nodal.tables(open_backend("cpu"), "float64")


def test_impedances_beyond_faces_are_those_of_the_neighbours_nodes() -> None:
    """On several ranks too: each finds those beyond its faces from the medium."""
    found = setup(medium=GRADIENT, method=NODES, boundary__sides="periodic")
    whole, everyone = tables(found), found.partition.elements(1, 0)
    faces = face_nodes(3)
    own = found.equations.impedances_of(everywhere(found))
    for rank in range(3):
        elements = found.partition.elements(3, rank)
        moduli, beyond = tables(found, 3, rank)
        rows = everyone.place(elements.numbers)
        assert np.array_equal(beyond, whole[1][rows])
        assert np.array_equal(moduli, whole[0][rows])
        below = elements.neighbours[:, 5]
        inside = below >= 0
        expected = own[:, below[inside]][..., faces[4]].swapaxes(0, 1)
        assert np.array_equal(beyond[inside, 5], expected)


@pytest.mark.parametrize("ranks", [1, 2])
def test_tables_do_not_depend_on_how_many_nodes_are_computed_at_a_time(ranks: int) -> None:
    found = setup(medium=GRADIENT, method=NODES, refinement={"frequency": 5, "levels": 1})
    nodal = discretise(found, found.partition.elements(ranks, 0)).nodal
    backend = open_backend("cpu")
    whole = [*nodal.tables(backend, "float32"), nodal.quarters("float32")]
    with patch("groundswell.solvers.dgwave.materials.nodal.PART", 7 * 64):
        parts = [*nodal.tables(backend, "float32"), nodal.quarters("float32")]
    assert nodal.elements.count > 7 and nodal.elements.links.count > 7 * 6 and len(whole[2]) > 7
    for one, other in zip(whole, parts, strict=True):
        assert one.dtype == np.float32 and np.array_equal(one, other)


# --- runs -----------------------------------------------------------------------------------------

HILLS = {"kind": "formula", "elevation": "20 * sin(x / 99)"}


@pytest.mark.parametrize("topography", [*long_variants([None]), HILLS])
def test_a_homogeneous_medium_moves_as_uniform_elements_do(tmp_path: Path, topography: Any) -> None:
    def motion(method: dict[str, Any]) -> Any:
        changes = {"topography": topography, "run": {"precision": "double"}}
        case = build(method=method, **changes, time__step=0.002)
        return gs.run(case, folder=tmp_path / str(len(method))).seismograms

    nodes, uniform = motion(NODES), motion({"degree": 3})
    scale = float(np.abs(uniform).max())
    assert scale > 0 and float(np.abs(nodes - uniform).max()) < 1e-12 * scale


def test_unphysical_points_of_a_model_are_named(tmp_path: Path) -> None:
    """They lie between the centres of elements, which averages do not see."""
    axes = {"depth": [0.0, 100, 300, 600], "y": [0.0, 800], "x": [0.0, 800]}
    vp = np.full((4, 2, 2), 3000.0)
    vp[0] = 10.0
    values = {"vp": vp, "vs": 0 * vp + 5.0, "rho": 0 * vp + 2000}
    data = xr.Dataset({n: (tuple(axes), v) for n, v in values.items()}, coords=axes)
    data.to_netcdf(tmp_path / "model.nc", engine="h5netcdf")
    with pytest.raises(InputError, match=r"vp = 10.*at its node depth = 0, .*correct the model"):
        _ = setup(
            tmp_path, medium={"kind": "netcdf", "file": "model.nc"}, method=NODES
        ).step_limit.seconds


def test_gaps_of_a_model_at_corners_of_fluid_elements_do_no_harm(tmp_path: Path) -> None:
    """In the air and beside the region. Rock at other corners of the water is found."""
    at = np.arange(-100.0, 1000, 200)  # the middles of elements, and beyond
    vs = np.where(at < 200, 0.0, 1700.0)[:, None, None] * np.ones((6, 6, 6))
    vs[1, 3, 3] = 1700
    complete = {"vp": np.where(vs > 0, 3000.0, 1500.0), "vs": vs, "rho": np.full(vs.shape, 2e3)}
    outside = np.indices(vs.shape).min(axis=0) == 0
    found = []
    for gap in (False, True):
        values = {n: np.where(outside & gap, np.nan, v) for n, v in complete.items()}
        data = {name: (("depth", "y", "x"), v) for name, v in values.items()}
        axes = {"depth": at, "y": at - 10, "x": at - 10}  # rock reaches into the next elements
        xr.Dataset(data, axes).to_netcdf(tmp_path / f"{gap}.nc", engine="h5netcdf")
        found.append(setup(tmp_path, medium={"kind": "netcdf", "file": f"{gap}.nc"}))
    assert (
        0
        < found[0].materials.statistics.mixed
        < found[0].materials.statistics.fluid
        < found[0].geometry.count
    )
    assert np.array_equal(*(each.materials.statistics.is_mixed for each in found))
