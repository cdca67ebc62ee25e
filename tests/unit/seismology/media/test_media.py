"""Any medium: what a survey finds and refuses, the floor, and how a case chooses its medium."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pydantic import TypeAdapter
from random_media import (
    CELLS,
    ROCK,
    SEA,
    SOIL,
    SPACING,
    layer_tables,
    layered,
    random_arrays,
    random_model,
    uniform_value,
    write_mesh,
)

from groundswell.errors import InputError
from groundswell.seismology.case.media import MediumSection
from groundswell.seismology.media.build import build_medium
from groundswell.seismology.media.cellwise import ArrayMedium, AwpMedium
from groundswell.seismology.media.floor import Floor
from groundswell.seismology.media.gridded import GriddedMedium
from groundswell.seismology.media.layered import Layer, Layered
from groundswell.seismology.media.material import (
    Material,
    find_unphysical,
    lame,
)
from groundswell.seismology.media.statistics import medium_statistics

# --- the survey ----------------------------------------------------------------------------------


def test_a_survey_finds_the_extremes_of_the_whole_model():
    arrays = random_arrays(1)
    wet = np.zeros((5, 3, 4), bool)
    wet[0, 1:, 2:] = True
    arrays["vs"][wet], arrays["qs"][wet] = 0, np.pi
    arrays["vp"][0, 1, 2] = 299.0
    arrays["vs"][3, 2, 1] = arrays["vs"][4, 0, 0] = 299.5
    found = medium_statistics(ArrayMedium(SPACING, **arrays))
    dry = {name: np.where(wet, np.nan, values) for name, values in arrays.items()}
    assert (found.vp_max, found.qp_min) == (arrays["vp"].max(), arrays["qp"].min())
    assert (found.vs_min, found.vs_max) == (np.nanmin(dry["vs"]), np.nanmax(dry["vs"]))
    assert found.qs_min == np.nanmin(dry["qs"])
    limit = 0.75 * (dry["vp"] / dry["vs"]) ** 2
    assert found.qp_qs_max == pytest.approx(np.nanmax(dry["qp"] / dry["qs"] / limit))
    assert found.fluid_cells == wet.sum() == 4
    assert found.speed_min == 299.0
    assert found.vs_min_cell == (1, 2, 3)
    assert found.vs_min_depth == 350.0
    assert found.floored == {}


def test_a_sea_without_ground_has_no_s_waves():
    found = medium_statistics(layered(Layer(0.0, **SEA)))
    assert (found.vs_min, found.vs_min_cell, found.qs_min) == (None,) * 3
    assert (found.speed_min, found.fluid_cells) == (1500.0, 60)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("vp", np.nan, "vp must be a finite number"),
        ("rho", np.inf, "rho must be a finite number"),
        ("vp", 0.0, "vp must be positive"),
        ("rho", -1.0, "rho must be positive"),
        ("vs", -1.0, "vs must be positive, or 0 in a fluid"),
        ("qp", 0.0, "qp must be positive"),
        ("qs", -5.0, "qs must be positive in a solid"),
        ("vp", 1.0, r"vp must exceed sqrt\(4/3\) vs"),
        ("rho", 2.7, r"rho must be at least 100 kg/m\^3; is the model in g/cm\^3\?"),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_survey_refuses_unphysical_cells_and_says_where(name, value, rule, dtype):
    arrays = random_arrays(2, dtype=dtype)
    arrays[name][4, 1, 3] = value
    place = r"cell \(3, 1, 4\) \(x = 350 m, y = 150 m, depth = 450 m\)"
    with pytest.raises(InputError, match=f"{place} has .*{name} = .*{rule}.*floor"):
        medium_statistics(ArrayMedium(SPACING, **arrays))


@given(st.floats(100, 9000), st.floats(1.0, 2.0))
def test_the_bulk_modulus_decides_what_is_physical(vs, ratio):
    material = Material(*(np.array([value]) for value in (ratio * vs, vs, 2000.0)))
    lam, mu = lame(material)
    bulk = float((lam + 2 / 3 * mu)[0])
    if abs(bulk) > 1e-9 * float(mu[0]):
        assert (find_unphysical(material) is None) == (bulk > 0)


@settings(max_examples=25)
@given(layer_tables(), st.sampled_from(["constant", "linear"]), st.sampled_from([7.0, 12.5, 100.0]))
def test_a_survey_of_runs_is_one_of_every_row(layers, interpolation, h):
    def medium():
        made = layered(
            *layers, spacing=(9.0, 9.0, h), cells=(4, 3, 60), interpolation=interpolation
        )
        return Floor(made, vs=800.0)

    fast, slow = medium(), medium()
    runs = slow.runs()
    assert [k for k, _ in runs] == np.cumsum([0, *(n for _, n in runs)])[:-1].tolist()
    assert sum(n for _, n in runs) == 60
    slow.runs = lambda: [(k, 1) for k in range(60)]
    assert medium_statistics(fast) == medium_statistics(slow)


def test_a_large_layered_model_is_surveyed_in_a_moment():
    cells, spacing = (500, 500, 250), (40.0, 40.0, 40.0)
    layers = [Layer(333.3 * n, 3000 + 100 * n, 1500 + 50 * n, 2500.0) for n in range(30)]
    start = time.perf_counter()
    found = medium_statistics(Floor(Layered(cells, spacing, layers), vs=1600.0))
    assert time.perf_counter() - start < 2
    assert found.floored["vs"] % 250_000 == 0
    assert found.floored["vs"] > 0


# --- the floor -----------------------------------------------------------------------------------


def test_a_floor_raises_solids_at_constant_bulk_modulus():
    arrays = random_arrays(3)
    arrays["vs"][0, 0, 0] = 0.0
    floor = Floor(ArrayMedium(SPACING, **arrays), vs=1000.0, rho=2000.0)
    slow = (arrays["vs"] < 1000) & (arrays["vs"] > 0)
    for k in range(5):
        found, raised = floor.plane(k), slow[k]
        assert_array_equal(found.vs[raised], 1000.0)
        assert_array_equal(found.vs[~raised], arrays["vs"][k][~raised])
        assert_array_equal(found.vp[~raised], arrays["vp"][k][~raised])
        bulk = found.vp**2 - 4 / 3 * found.vs**2
        assert_allclose(bulk, arrays["vp"][k] ** 2 - 4 / 3 * arrays["vs"][k] ** 2, rtol=1e-9)
        assert_array_equal(found.rho, np.maximum(arrays["rho"][k], 2000))
        assert_array_equal(found.qs, arrays["qs"][k])
    light = int((arrays["rho"] < 2000).sum())
    changed = {"vp": slow.sum(), "vs": slow.sum(), "rho": light}
    assert medium_statistics(floor).floored == changed


def test_a_floor_counts_each_cell_once_and_keeps_single_precision():
    floor = Floor(ArrayMedium(SPACING, **random_arrays(4, dtype=np.float32)), vp=9e9)
    for _ in range(3):
        plane = floor.plane(2)
    assert floor.changed_in({2: 1}) == {"vp": 12, "vs": 0, "rho": 0}
    assert {values.dtype for values in plane.given().values()} == {np.dtype(np.float32)}


# --- from the case -------------------------------------------------------------------------------


def section(**entries: Any) -> MediumSection:
    adapter: TypeAdapter[MediumSection] = TypeAdapter(MediumSection)
    return adapter.validate_python(entries)


def test_the_case_chooses_the_medium(tmp_path):
    csv = tmp_path / "layers.csv"
    csv.write_text("top,vp,vs,rho\n0,4000,2000,2600\n250,6000,3464,2700\n")
    model, mesh = tmp_path / "model.nc", tmp_path / "mesh.bin"
    random_model(12, [0.0, 400.0], [0.0, 300.0], [0.0, 500.0]).to_netcdf(model, engine="h5netcdf")
    arrays = random_arrays(7, dtype=np.float32)
    write_mesh(mesh, arrays, 8)
    sections = {
        "homogeneous": (Layered, section(kind="homogeneous", **ROCK)),
        "layered": (Layered, section(kind="layered", layers=[{"top": 0.0, **ROCK}])),
        "netcdf": (GriddedMedium, section(kind="netcdf", file=model, variables={"vp": "vp"})),
        "awp": (AwpMedium, section(kind="awp", file=mesh, cells=list(CELLS), variables=8)),
        "arrays": (ArrayMedium, section(kind="arrays", **arrays)),
    }
    for kind, content in sections.values():
        medium = build_medium(content, CELLS, SPACING, None)
        assert type(medium) is kind
        assert medium.cells == CELLS
        assert medium_statistics(medium).vp_max > 0
    from_file = build_medium(section(kind="layered", file=csv), CELLS, SPACING)
    assert uniform_value(from_file.plane(4).vp) == 6000


def test_the_case_asks_for_the_floor():
    content = section(kind="homogeneous", **SOIL, floor={"vs": 2500.0, "vp": None})
    found = medium_statistics(build_medium(content, CELLS, SPACING))
    assert (found.vs_min, found.floored["vs"], found.floored["rho"]) == (2500.0, 60, 0)


@pytest.mark.parametrize(
    ("vs", "refused"), [(0.0, False), (1e-300, True), (0.9, True), (1.0, False)]
)
def test_a_solid_has_a_plausible_s_speed(vs: float, refused: bool) -> None:
    """Tiny speeds overflow the estimates of the absorbing layers; 0 is a fluid."""
    arrays = random_arrays(6)
    arrays["vs"][2, 1, 1] = vs
    medium = ArrayMedium(SPACING, **arrays)
    if refused:
        with pytest.raises(InputError, match=r"vs must be at least 1 m/s; is the model in km/s\?"):
            medium_statistics(medium)
    else:
        medium_statistics(medium)
