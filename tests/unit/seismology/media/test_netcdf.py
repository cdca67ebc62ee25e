"""NetCDF models: interpolation against xarray, units, longitudes, rules for what is not given."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from netcdf_models import GRADED, centres, netcdf_medium, save
from numpy.testing import assert_allclose
from random_media import CELLS, SPACING, random_model

from groundswell.errors import InputError
from groundswell.seismology.case.model_files import NetcdfSection
from groundswell.seismology.media.averaged import CellAverages
from groundswell.seismology.media.gridded import build_gridded
from groundswell.seismology.media.model_grid import ModelGrid
from groundswell.seismology.media.models import open_model
from groundswell.seismology.media.rules import brocher_density
from groundswell.seismology.media.statistics import medium_statistics

pytestmark = pytest.mark.each_value


def assert_interpolates(medium, data, cells=CELLS, spacing=SPACING):
    x, y, z = (xr.DataArray(centres(n, h)) for n, h in zip(cells, spacing, strict=True))
    for k in range(cells[2]):
        for name, values in medium.plane(k).given().items():
            exact = data[name].interp(depth=z[k]).interp(y=y.values).interp(x=x.values)
            assert values.shape == (cells[1], cells[0])
            assert_allclose(values, exact.transpose("y", "x").values, rtol=1e-12)


def test_graded_cells_have_the_model_at_their_centres(tmp_path, model):
    assert_interpolates(netcdf_medium(save(tmp_path, model), CELLS, GRADED), model, spacing=GRADED)


@pytest.mark.parametrize("dims", [("x", "y", "depth"), ("depth", "y", "x"), ("y", "depth", "x")])
def test_a_model_is_interpolated_trilinearly(tmp_path, model, dims):
    path = save(tmp_path, model.transpose(*dims))
    assert_interpolates(netcdf_medium(path, CELLS, SPACING), model)


def test_axes_may_run_backwards_and_rows_be_asked_for_in_any_order(tmp_path, model):
    path = save(tmp_path, model.isel(x=slice(None, None, -1), depth=slice(None, None, -1)))
    medium = netcdf_medium(path, CELLS, SPACING)
    assert_interpolates(medium, model)
    assert_interpolates(medium, model)


def test_a_pass_downwards_reads_each_slab_once(tmp_path, model, monkeypatch):
    medium = netcdf_medium(save(tmp_path, model), CELLS, SPACING)
    reads, read = [], ModelGrid.read
    monkeypatch.setattr(ModelGrid, "read", lambda *a: reads.append((a[1], str(a[2]))) or read(*a))
    medium_statistics(medium)
    assert len(reads) == len(set(reads)) <= 3 * model.sizes["depth"]


def test_points_are_sampled_from_many_depths_at_a_time(tmp_path, model, monkeypatch):
    """One window of each variable; the values do not depend on how many depths it holds."""
    medium = netcdf_medium(save(tmp_path, model), CELLS, SPACING)
    points = np.random.default_rng(1).uniform(0, 1, (500, 3)) * np.multiply(CELLS, SPACING)
    reads, read = [], ModelGrid.read
    monkeypatch.setattr(ModelGrid, "read", lambda *a: reads.append(a[2]) or read(*a))
    found = medium.sample(points)
    assert len(reads) == 3
    monkeypatch.setattr("groundswell.seismology.media.grid_interpolation.AT_ONCE", 1)
    reads.clear()
    for name, values in medium.sample(points).given().items():
        assert np.array_equal(values, getattr(found, name))
    assert len(reads) > 3 and all(layers.stop - layers.start == 2 for layers in reads)


def test_models_in_the_classic_format_are_read(tmp_path, model):
    path = save(tmp_path, model, engine="scipy")
    assert_interpolates(netcdf_medium(path, CELLS, SPACING), model)


def test_units_packing_and_names_of_a_model_are_respected(tmp_path, model):
    other = model.assign_coords({name: model[name] / 1000 for name in ("x", "y", "depth")})
    other = (other / 1000).rename(vp="Vp", vs="beta", rho="density")
    for name, unit in {"Vp": "km/s", "beta": "km.s-1", "density": "g/cm^3"}.items():
        other[name].attrs["units"] = unit
    for name in ("x", "y", "depth"):
        other[name].attrs["units"] = "km"
    packed = {"Vp": {"dtype": "int32", "scale_factor": 1e-8, "_FillValue": -1}}
    path = save(tmp_path, other, encoding=packed)
    names = {"vp": "Vp", "vs": "beta", "rho": "density"}
    medium = netcdf_medium(path, CELLS, SPACING, variables=names)
    for k in range(CELLS[2]):
        found, exact = (
            medium.plane(k),
            model.interp(x=centres(4, 100), y=centres(3, 100), depth=100 * k + 50.0),
        )
        for name, values in found.given().items():
            assert_allclose(values, exact[name].transpose("y", "x"), rtol=1e-7)


class Tilted:
    """A stand-in for the run's geography: a turned, sheared map, invertible by nobody."""

    def to_lonlat(self, x, y):
        return -118 + 1e-5 * x + 2e-6 * y + 1e-10 * x * y, 34 + 9e-6 * y - 3e-6 * x


@pytest.mark.parametrize("names", [("lon", "lat"), ("longitude", "latitude")])
@pytest.mark.parametrize("turn", [0, 360])
def test_models_on_longitude_and_latitude_follow_the_geography(tmp_path, names, turn):
    lon, lat = np.linspace(-118.01, -117.98, 14), np.linspace(33.99, 34.01, 11)
    data = random_model(13, lon, lat, np.linspace(0, 600, 5), (*names, "depth"))
    path = save(tmp_path, data.assign_coords({names[0]: lon + turn}))
    medium = netcdf_medium(path, CELLS, SPACING, geography=Tilted())
    x, y = np.meshgrid(centres(4, 100), centres(3, 100))
    at = dict(zip(names, (xr.DataArray(a) for a in Tilted().to_lonlat(x, y)), strict=True))
    for k in range(CELLS[2]):
        for name, values in medium.plane(k).given().items():
            exact = data[name].interp(depth=100 * k + 50.0).interp(at)
            assert_allclose(values, exact.values, rtol=1e-9)


def test_longitude_and_latitude_need_a_geography(tmp_path):
    data = random_model(14, [0.0, 1.0], [0.0, 1.0], [0.0, 900.0], ("lon", "lat", "depth"))
    with pytest.raises(InputError, match=r"\[grid.geography\]"):
        netcdf_medium(save(tmp_path, data), CELLS, SPACING)


def test_density_and_q_come_from_rules_only_on_request(tmp_path, model):
    path = save(tmp_path, model.drop_vars("rho"))
    with pytest.raises(InputError, match=r"no variable rho \(for rho\); it has vp, vs.*brocher"):
        netcdf_medium(path, CELLS, SPACING)
    model["vp"] = model["vp"].clip(1600, 8000)
    path = save(tmp_path, model.drop_vars("rho"))
    medium = netcdf_medium(path, CELLS, SPACING, rho_rule="brocher", q_rule="awp")
    plane = medium.plane(1)
    assert_allclose(plane.rho, brocher_density(plane.vp))
    assert_allclose(plane.qs, plane.vs / 20)
    assert_allclose(plane.qp, plane.vs / 10)
    assert netcdf_medium(path, CELLS, SPACING, rho_rule="brocher").plane(1).qp is None


def test_q_in_the_file_is_used(tmp_path, model):
    model["qp"], model["Qmu"] = model["vp"] / 10, model["vs"] / 10
    path = save(tmp_path, model)
    plane = netcdf_medium(path, CELLS, SPACING, variables={"qs": "Qmu"}).plane(4)
    assert_allclose(plane.qp, plane.vp / 10)
    assert_allclose(plane.qs, plane.vs / 10)
    with pytest.raises(InputError, match=r"no variable qs \(for qs\)"):
        netcdf_medium(path, CELLS, SPACING)


def test_brocher_density_of_common_rocks():
    # Brocher (2005), eq. 1, evaluated term by term in g/cm^3 and km/s.
    v = np.array([1.5, 3.0, 6.0, 8.5])
    exact = 1.6612 * v - 0.4721 * v**2 + 0.0671 * v**3 - 0.0043 * v**4 + 0.000106 * v**5
    assert_allclose(brocher_density(1000 * v), 1000 * exact)
    assert brocher_density(np.array([6000.0]))[0] == pytest.approx(2717, abs=1)
    with pytest.raises(InputError, match="1500 to 8500 m/s and the model has vp = 1400"):
        brocher_density(np.array([2000.0, 1400.0]))


def test_a_model_has_values_at_points(tmp_path, model):
    """Interpolated from its own grid, also if cells have averages; outside it, the outermost."""
    path = save(tmp_path, model)
    points = np.random.default_rng(2).uniform(-100, 600, (50, 3))
    near = {
        name: xr.DataArray(np.clip(at, *model[name].values[[0, -1]]), dims="point")
        for name, at in zip(("x", "y", "depth"), points.T, strict=True)
    }
    exact = model.interp(near)
    averages = build_gridded(
        open_model(NetcdfSection(kind="netcdf", file=path)), (2, 2, 2), (200, 150, 200)
    )
    assert isinstance(averages, CellAverages)
    for medium in (netcdf_medium(path, CELLS, SPACING), averages):
        for name, values in medium.sample(points).given().items():
            assert_allclose(values, exact[name], rtol=1e-12)
