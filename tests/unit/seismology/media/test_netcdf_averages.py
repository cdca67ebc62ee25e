"""NetCDF models: averages over cells, profiles, water beside rock, extremes of coarse models."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from netcdf_models import GRADED, centres, netcdf_medium, save, uneven
from numpy.testing import assert_allclose, assert_array_equal
from random_media import CELLS, ROCK, SEA, SPACING, random_model

from groundswell.errors import InputError
from groundswell.seismology.case.model_files import NetcdfSection
from groundswell.seismology.media.averaged import CellAverages
from groundswell.seismology.media.floor import Floor
from groundswell.seismology.media.gridded import GriddedMedium, build_gridded
from groundswell.seismology.media.layered import Layer, Layered
from groundswell.seismology.media.models import open_model
from groundswell.seismology.media.rules import brocher_density
from groundswell.seismology.media.statistics import medium_statistics

pytestmark = pytest.mark.each_value


def test_a_model_finer_than_the_grid_is_averaged_over_cells(tmp_path):
    """Density and 1/Q arithmetically, moduli harmonically, over parts of each cell."""
    model = random_model(
        13, np.arange(-10, 420, 50.0), np.arange(0, 310, 50.0), np.arange(5, 520, 34.0)
    )
    model = model.assign(qp=model.vp / 10, qs=model.vs / 20)
    section = NetcdfSection(kind="netcdf", file=save(tmp_path, model))
    medium = build_gridded(open_model(section), CELLS, SPACING)
    nx, ny, nz = CELLS
    fine = model.interp(
        **{"x": centres(2 * nx, 50), "y": centres(2 * ny, 50)},
        depth=np.clip(centres(3 * nz, 100 / 3), 5, 515),
    ).transpose("depth", "y", "x")

    def mean(values):
        return values.values.reshape(nz, 3, ny, 2, nx, 2).mean(axis=(1, 3, 5))

    rho = mean(fine["rho"])
    wanted = {"rho": rho, **{q: 1 / mean(1 / fine[q]) for q in ("qp", "qs")}}
    for speed in ("vp", "vs"):
        wanted[speed] = np.sqrt(1 / mean(1 / (fine["rho"] * fine[speed] ** 2)) / rho)
    for k in range(nz):
        for name, values in medium.plane(k).given().items():
            assert_allclose(values, wanted[name][k], rtol=1e-10, err_msg=name)


@pytest.mark.parametrize("name", ["vp", "vs", "rho"])
def test_averages_do_not_hide_negative_values(tmp_path, name):
    """Such as -9999 where a model has no value; moduli contain squares of speeds."""
    model = random_model(13, *(np.arange(-10, 560, 34.0) for _ in range(3))).copy(deep=True)
    model[name][5, 5, 5] = -9999.0
    section = NetcdfSection(kind="netcdf", file=save(tmp_path, model))
    medium = build_gridded(open_model(section), CELLS, SPACING)
    assert isinstance(medium, CellAverages)
    with pytest.raises(InputError, match=rf"has .*{name} = -9999.*at its node"):
        for k in range(CELLS[2]):
            medium.plane(k)


def test_a_model_as_coarse_as_the_grid_is_taken_at_the_centres(tmp_path):
    axes = (np.arange(0, 500, 100.0), np.arange(0, 400, 100.0), np.arange(0, 600, 100.0))
    path = save(tmp_path, random_model(14, *axes))
    medium = build_gridded(open_model(NetcdfSection(kind="netcdf", file=path)), CELLS, SPACING)
    assert isinstance(medium, GriddedMedium)


@pytest.mark.parametrize("seed", range(8))
def test_a_model_that_varies_with_depth_only_is_a_linear_profile(tmp_path, seed):
    rng = np.random.default_rng(seed)
    nodes = uneven(rng, 0, 520, 9)
    rows = random_model(seed, [0.0], [0.0], nodes)
    model = rows.isel(x=[0] * 3, y=[0] * 4).assign_coords(
        x=uneven(rng, 0, 410, 3), y=uneven(rng, 0, 310, 4)
    )
    medium = netcdf_medium(save(tmp_path, model), CELLS, SPACING)
    columns = {name: rows[name].values.ravel() for name in ("vp", "vs", "rho")}
    layers = [
        Layer(top, **{name: float(values[n]) for name, values in columns.items()})
        for n, top in enumerate(nodes)
    ]
    exact = Layered(CELLS, SPACING, layers, "linear").profile
    depth = rng.uniform(0, 500, 40)
    for name, values in medium.profile.sample(depth).given().items():
        assert_allclose(values, getattr(exact.sample(depth), name), rtol=1e-12)
    within = exact.interfaces[exact.interfaces < 500]
    assert_array_equal(medium.profile.interfaces[: within.size], within)


def test_one_different_value_makes_a_model_three_dimensional(tmp_path):
    model = random_model(3, [0.0], [0.0], np.arange(0, 600, 100.0)).isel(x=[0] * 3, y=[0] * 4)
    model = model.assign_coords(x=[0.0, 200.0, 400.0], y=[0.0, 100.0, 200.0, 300.0]).copy(deep=True)
    model["rho"][1, 1, 3] *= 1.001
    assert netcdf_medium(save(tmp_path, model), CELLS, SPACING).profile is None


def test_a_profile_has_the_properties_that_rules_derive_and_those_of_finer_models(tmp_path):
    nodes = np.arange(0, 510, 25.0)
    model = random_model(3, [0.0], [0.0], nodes).isel(x=[0, 0], y=[0, 0])
    model = model.assign_coords(x=[0.0, 500.0], y=[0.0, 500.0]).drop_vars("rho")
    model["vp"] = model["vp"].clip(1600, 8000)
    path = save(tmp_path, model)
    section = NetcdfSection(kind="netcdf", file=path, rho_rule="brocher", q_rule="awp")
    medium = build_gridded(open_model(section), CELLS, SPACING)
    assert isinstance(medium, CellAverages)
    found = medium.profile.sample(nodes[3:9])
    assert_allclose(found.vp, model["vp"][0, 0, 3:9])
    assert_allclose(found.rho, brocher_density(found.vp))
    assert_allclose(found.qs, found.vs / 20)


def test_averages_over_graded_cells_are_over_equal_parts_of_each(tmp_path):
    nodes = np.arange(0, 510, 25.0)
    model = random_model(3, [0.0], [0.0], nodes).isel(x=[0, 0], y=[0, 0])
    model = model.assign_coords(x=[0.0, 500.0], y=[0.0, 500.0])
    model["rho"] = model["rho"] * 0 + 2000 + model["depth"]
    section = NetcdfSection(kind="netcdf", file=save(tmp_path, model))
    medium = build_gridded(open_model(section), CELLS, GRADED)
    assert isinstance(medium, CellAverages) and medium.spacing == GRADED
    for k, depth in enumerate(centres(5, GRADED[2])):
        assert_allclose(medium.plane(k).rho, 2000 + depth, rtol=1e-12)


def test_water_and_rock_do_not_mix_along_depth(tmp_path):
    """The sea floor is half-way between the nodes of water and rock, for rows and profiles."""
    nodes, wet = np.array([0.0, 160.0, 200.0, 600.0]), np.array([True, True, False, False])
    column = {name: np.where(wet, SEA[name], ROCK[name]) for name in ROCK}
    model = xr.Dataset(
        {n: (("x", "y", "depth"), np.tile(v, (2, 2, 1))) for n, v in column.items()},
        coords={"x": [0.0, 400.0], "y": [0.0, 300.0], "depth": nodes},
    )
    cells = (4, 3, 25)
    medium = netcdf_medium(save(tmp_path, model), cells, (100.0, 100.0, 20.0))
    for k in range(25):
        for name, values in medium.plane(k).given().items():
            assert_array_equal(values, (SEA if k < 9 else ROCK)[name])
    depth = np.array([1.0, 179.9, 180.1, 499.0])
    assert_array_equal(medium.profile.sample(depth).vs, [0, 0, ROCK["vs"], ROCK["vs"]])
    assert 180.0 in medium.profile.interfaces


@pytest.mark.parametrize("seed", range(3))
def test_water_and_rock_do_not_mix_anywhere(tmp_path, seed):
    """Not beside a sloping sea floor either, for rows and points; properties belong together."""
    rng = np.random.default_rng(seed)
    axes = {"x": np.linspace(0, 400, 5), "y": np.linspace(0, 300, 4), "depth": [0.0, 200.0, 600.0]}
    shape = tuple(len(axis) for axis in axes.values())
    wet, share = rng.random(shape) < 0.5, rng.random(shape)
    model = xr.Dataset(
        {
            name: (tuple(axes), np.where(wet, SEA[name], ROCK[name] * (1 + 0.2 * share)))
            for name in ROCK
        },
        coords=axes,
    )
    cells, spacing = (16, 12, 25), (25.0, 25.0, 20.0)
    medium = netcdf_medium(save(tmp_path, model), cells, spacing)
    x, y, depth = (centres(n, h) for n, h in zip(cells, spacing, strict=True))
    seen = set()
    for k in range(cells[2]):
        row = medium.plane(k)
        points = np.stack([a.ravel() for a in np.meshgrid(x, y, [depth[k]])], axis=-1)
        for name, values in medium.sample(points).given().items():
            assert_allclose(values.reshape(12, 16), row.given()[name], rtol=1e-12)
        fluid = row.vs == 0
        for name, values in row.given().items():
            assert_allclose(values[fluid], SEA[name], rtol=1e-12)
            solid = values[~fluid] / ROCK[name]
            assert (solid > 1 - 1e-12).all() and (solid < 1.2).all()
        seen |= set(fluid.ravel().tolist())
    assert seen == {False, True}


# --- extremes of models that are coarse in depth --------------------------------------------------


def coarse_model(kind, seed=5):
    """Nodes far apart in depth, of rock, of water over rock, or with noise."""
    rng = np.random.default_rng(seed)
    axes = (np.linspace(0, 500, 6), np.linspace(0, 400, 5), np.linspace(0, 600, 4))
    data = random_model(seed, *axes)
    if kind == "sea":
        wet = (data.depth < 250) & (data.x < rng.uniform(200, 600, 5).max())
        data["vs"] = data.vs.where(~wet, 0.0)
    return data


def every_row(medium):
    """Statistics of a medium whose linear runs are not used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundswell.seismology.media.statistics.find_linear_runs", lambda _: [])
        return medium_statistics(medium)


@pytest.mark.parametrize(("kind", "q_rule"), [("rock", None), ("rock", "awp"), ("sea", None)])
@pytest.mark.parametrize("floor", [None, 10.0, 1200.0, 2500.0])
def test_extremes_of_linear_rows_are_those_of_all_rows(tmp_path, kind, q_rule, floor):
    path = save(tmp_path, coarse_model(kind))
    cells, spacing = (8, 7, 90), (50.0, 50.0, 6.0)

    def medium():
        found = netcdf_medium(path, cells, spacing, **({"q_rule": q_rule} if q_rule else {}))
        return Floor(found, vs=floor) if floor else found

    fast, slow = medium_statistics(medium()), every_row(medium())
    assert fast == slow
    assert (fast.fluid_cells > 0) == (kind == "sea")


def test_few_rows_of_a_coarse_model_are_computed(tmp_path, monkeypatch):
    medium = netcdf_medium(save(tmp_path, coarse_model("rock")), (8, 7, 600), (50.0, 50.0, 0.9))
    rows, plane = [], GriddedMedium.plane
    monkeypatch.setattr(GriddedMedium, "plane", lambda self, k: rows.append(k) or plane(self, k))
    medium_statistics(medium)
    assert len(rows) <= 4 * 3


def test_ratios_of_given_quality_factors_need_all_rows(tmp_path, model):
    given = model.assign(qp=model.vs / 10, qs=model.vs / 20)
    assert netcdf_medium(save(tmp_path, given), CELLS, SPACING).linear_runs() == []
