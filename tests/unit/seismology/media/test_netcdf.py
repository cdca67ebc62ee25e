"""NetCDF models: interpolation against xarray, averages, profiles, refusals, frugality."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal
from random_media import CELLS, ROCK, SEA, SPACING, random_model

from groundswell.errors import InputError
from groundswell.seismology.case.media import NetcdfSection
from groundswell.seismology.media.averaged import CellAverages
from groundswell.seismology.media.floor import Floor
from groundswell.seismology.media.layered import Layer, Layered
from groundswell.seismology.media.netcdf import NetcdfMedium, build_netcdf
from groundswell.seismology.media.netcdf_file import ModelFile
from groundswell.seismology.media.rules import brocher_density
from groundswell.seismology.media.statistics import medium_statistics

pytestmark = pytest.mark.each_value


def uneven(rng, low, high, n):
    return np.concatenate([[low], np.sort(rng.uniform(low, high, n - 2)), [high]])


@pytest.fixture
def model():
    rng = np.random.default_rng(11)
    return random_model(
        12, uneven(rng, -30, 431, 9), uneven(rng, 0, 300, 7), uneven(rng, 10, 500, 8)
    )


def netcdf_medium(path, cells, spacing, geography=None, **options):
    section = NetcdfSection(kind="netcdf", file=path, **options)
    return NetcdfMedium(section, cells, spacing, geography)


def save(tmp_path, data, **options):
    path = tmp_path / "model.nc"
    data.to_netcdf(path, engine=options.pop("engine", "h5netcdf"), **options)
    return path


def centres(n, h):
    return np.cumsum(h) - np.divide(h, 2) if isinstance(h, tuple) else (np.arange(n) + 0.5) * h


def assert_interpolates(medium, data, cells=CELLS, spacing=SPACING):
    x, y, z = (xr.DataArray(centres(n, h)) for n, h in zip(cells, spacing, strict=True))
    for k in range(cells[2]):
        for name, values in medium.plane(k).given().items():
            exact = data[name].interp(depth=z[k]).interp(y=y.values).interp(x=x.values)
            assert values.shape == (cells[1], cells[0])
            assert_allclose(values, exact.transpose("y", "x").values, rtol=1e-12)


GRADED = ((50.0, 150.0, 120.0, 80.0), 100.0, (30.0, 70.0, 100.0, 160.0, 60.0))


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
    reads, read = [], ModelFile.read
    monkeypatch.setattr(ModelFile, "read", lambda *a: reads.append((a[1], str(a[2]))) or read(*a))
    medium_statistics(medium)
    assert len(reads) == len(set(reads)) <= 3 * model.sizes["depth"]


def test_points_are_sampled_from_many_depths_at_a_time(tmp_path, model, monkeypatch):
    """One window of each variable; the values do not depend on how many depths it holds."""
    medium = netcdf_medium(save(tmp_path, model), CELLS, SPACING)
    points = np.random.default_rng(1).uniform(0, 1, (500, 3)) * np.multiply(CELLS, SPACING)
    reads, read = [], ModelFile.read
    monkeypatch.setattr(ModelFile, "read", lambda *a: reads.append(a[2]) or read(*a))
    found = medium.sample(points)
    assert len(reads) == 3
    monkeypatch.setattr("groundswell.seismology.media.netcdf_interpolation.AT_ONCE", 1)
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


def test_a_model_finer_than_the_grid_is_averaged_over_cells(tmp_path):
    """Density and 1/Q arithmetically, moduli harmonically, over parts of each cell."""
    model = random_model(
        13, np.arange(-10, 420, 50.0), np.arange(0, 310, 50.0), np.arange(5, 520, 34.0)
    )
    model = model.assign(qp=model.vp / 10, qs=model.vs / 20)
    section = NetcdfSection(kind="netcdf", file=save(tmp_path, model))
    medium = build_netcdf(section, CELLS, SPACING)
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
    medium = build_netcdf(section, CELLS, SPACING)
    assert isinstance(medium, CellAverages)
    with pytest.raises(InputError, match=rf"has .*{name} = -9999.*at its node"):
        for k in range(CELLS[2]):
            medium.plane(k)


def test_a_model_as_coarse_as_the_grid_is_taken_at_the_centres(tmp_path):
    axes = (np.arange(0, 500, 100.0), np.arange(0, 400, 100.0), np.arange(0, 600, 100.0))
    path = save(tmp_path, random_model(14, *axes))
    medium = build_netcdf(NetcdfSection(kind="netcdf", file=path), CELLS, SPACING)
    assert isinstance(medium, NetcdfMedium)


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


def test_a_profile_with_an_impossible_value_is_refused(tmp_path):
    """Also below the last cell centre, where rows do not read it."""
    model = random_model(3, [0.0], [0.0], np.arange(0, 600, 100.0)).isel(x=[0, 0], y=[0, 0])
    model = model.assign_coords(x=[0.0, 500.0], y=[0.0, 500.0]).copy(deep=True)
    model["rho"][..., 5] = -1.0
    medium = netcdf_medium(save(tmp_path, model), CELLS, SPACING)
    with pytest.raises(InputError, match=r"node depth = 500, y = 0, x = 0: rho must be positive"):
        _ = medium.profile


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("vs", -1.0, "vs must be positive"),
        ("vp", 1e6, "vp must be at most 30000 m/s; is the model in cm/s"),
        ("rho", 2.5, "is the model in g/cm"),
        ("vp", 10.0, "must exceed|must be at least"),
    ],
)
def test_one_impossible_node_of_a_coarse_model_is_refused(tmp_path, name, value, rule):
    """No cell has its value: cells lie far between the nodes."""
    axes = ("depth", "y", "x")
    at = np.arange(0.0, 2001.0, 1000.0)
    fields = {"vp": 4000.0, "vs": 2000.0, "rho": 2500.0}
    model = xr.Dataset(
        {n: (axes, np.full((3, 3, 3), v)) for n, v in fields.items()}, dict.fromkeys(axes, at)
    )
    model[name][1, 1, 1] = value
    medium = netcdf_medium(save(tmp_path, model), (10, 10, 10), (20.0,) * 3)
    with pytest.raises(InputError, match=rf"node depth = 1000, y = 1000, x = 1000: .*{rule}"):
        medium.plane(9)
    with pytest.raises(InputError, match=rf"node depth = 1000, y = 1000, x = 1000: .*{rule}"):
        medium.sample(np.array([[300.0, 300.0, 300.0]]))


def test_a_profile_has_the_properties_that_rules_derive_and_those_of_finer_models(tmp_path):
    nodes = np.arange(0, 510, 25.0)
    model = random_model(3, [0.0], [0.0], nodes).isel(x=[0, 0], y=[0, 0])
    model = model.assign_coords(x=[0.0, 500.0], y=[0.0, 500.0]).drop_vars("rho")
    model["vp"] = model["vp"].clip(1600, 8000)
    path = save(tmp_path, model)
    section = NetcdfSection(kind="netcdf", file=path, rho_rule="brocher", q_rule="awp")
    medium = build_netcdf(section, CELLS, SPACING)
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
    medium = build_netcdf(section, CELLS, GRADED)
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


@pytest.mark.parametrize(
    ("axis", "cells", "message"),
    [
        ("x", (5, 3, 5), "covers x from -30 to 431 and .* need 50 to 450"),
        ("y", (4, 4, 5), "covers y from 0 to 300 and .* need 50 to 350"),
        ("depth", (4, 3, 6), "covers depth from 10 to 500 and .* need 50 to 550.*shrink grid.size"),
    ],
)
def test_a_model_must_cover_the_region(tmp_path, model, axis, cells, message):
    with pytest.raises(InputError, match=message):
        netcdf_medium(save(tmp_path, model), cells, SPACING)


def test_gaps_of_a_model_are_named(tmp_path, model):
    model["vs"][{"x": 4, "y": 3}] = np.nan
    at = dict(zip(("x", "y", "depth"), map(centres, CELLS, SPACING), strict=True))
    exact = model["vs"].interp(at).transpose("depth", "y", "x").values
    k, j, i = np.argwhere(np.isnan(exact))[0]
    with pytest.raises(InputError, match=rf"vs has no value \(NaN\) at cell \({i}, {j}, {k}\)"):
        medium_statistics(netcdf_medium(save(tmp_path, model), CELLS, SPACING))


def test_fill_values_of_a_model_are_gaps(tmp_path, model):
    model["rho"][:] = 99999.0
    path = save(tmp_path, model, encoding={"rho": {"_FillValue": 99999.0}})
    with pytest.raises(InputError, match="variable rho has no value"):
        netcdf_medium(path, CELLS, SPACING).plane(0)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho_rule": "brocher", "variables": {"rho": "rho"}}, "remove one of them"),
        ({"variables": {"vp": "alpha"}}, r"no variable alpha \(for vp\)"),
    ],
)
def test_requests_a_model_cannot_honour_are_refused(tmp_path, model, options, message):
    with pytest.raises(InputError, match=message):
        netcdf_medium(save(tmp_path, model), CELLS, SPACING, **options)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.rename(depth="z"), "needs one-dimensional coordinates x, y, depth"),
        (lambda d: d.isel(depth=[3]), "depth must be a list of two or more values in order"),
        (lambda d: d.isel(x=[0, 2, 1, 3, 4, 5, 6, 7, 8]), "coordinate x must be a list"),
        (lambda d: d.assign(vs=d.vs.isel(x=0, drop=True)), "variable vs has the dimensions"),
        (lambda d: d.assign(vp=d.vp.assign_attrs(units="furlong")), "unit 'furlong'"),
        (lambda d: d.assign_coords(x=d.x.assign_attrs(units="s")), "x: unit 's' does not conv"),
        (lambda d: d.assign_coords(depth=d.depth.assign_attrs(positive="up")), "positive up"),
    ],
)
def test_models_that_are_not_rectilinear_or_clear_are_refused(tmp_path, model, spoil, message):
    with pytest.raises(InputError, match=message):
        netcdf_medium(save(tmp_path, spoil(model)), CELLS, SPACING)


def test_files_that_are_no_models_are_refused(tmp_path, model):
    path = save(tmp_path, model)
    for content in (path.read_bytes()[:2000], b"", b"vp,vs\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"read as NetCDF: .*write \w.*again") as caught:
            netcdf_medium(path, CELLS, SPACING)
        assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_damage_is_reported_in_one_line_and_without_a_traceback(tmp_path, model):
    path = save(tmp_path, model)
    whole = path.read_bytes()
    for at in range(200, len(whole), len(whole) // 12):
        path.write_bytes(whole[:at] + b"garbage" * 20 + whole[at:])
        try:
            netcdf_medium(path, CELLS, SPACING)
        except InputError as error:
            assert "\n" not in str(error)
        gc.collect()  # h5netcdf's traceback comes from a destructor


def test_a_row_of_a_huge_model_reads_its_own_slabs_only(tmp_path):
    import h5netcdf

    path, n, depth = tmp_path / "huge.nc", 1000, 220
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"depth": depth, "y": n, "x": n}
        for name, size in file.dimensions.items():
            file.create_variable(name, (name,), data=100.0 * np.arange(size.size))
        for name, value in ROCK.items():  # 0.9 GB each, of which two slabs are stored
            variable = file.create_variable(
                name, ("depth", "y", "x"), "f4", chunks=(1, 250, 250), fillvalue=np.float32(0)
            )
            variable[100:102] = np.full((2, n, n), value)
    tracemalloc.start()
    medium = netcdf_medium(path, (40, 30, 219), SPACING)
    plane = medium.plane(100)
    assert_allclose(plane.rho, ROCK["rho"])
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


def test_a_model_has_values_at_points(tmp_path, model):
    """Interpolated from its own grid, also if cells have averages; outside it, the outermost."""
    path = save(tmp_path, model)
    points = np.random.default_rng(2).uniform(-100, 600, (50, 3))
    near = {
        name: xr.DataArray(np.clip(at, *model[name].values[[0, -1]]), dims="point")
        for name, at in zip(("x", "y", "depth"), points.T, strict=True)
    }
    exact = model.interp(near)
    averages = build_netcdf(NetcdfSection(kind="netcdf", file=path), (2, 2, 2), (200, 150, 200))
    assert isinstance(averages, CellAverages)
    for medium in (netcdf_medium(path, CELLS, SPACING), averages):
        for name, values in medium.sample(points).given().items():
            assert_allclose(values, exact[name], rtol=1e-12)


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
    rows, plane = [], NetcdfMedium.plane
    monkeypatch.setattr(NetcdfMedium, "plane", lambda self, k: rows.append(k) or plane(self, k))
    medium_statistics(medium)
    assert len(rows) <= 4 * 3


def test_ratios_of_given_quality_factors_need_all_rows(tmp_path, model):
    given = model.assign(qp=model.vs / 10, qs=model.vs / 20)
    assert netcdf_medium(save(tmp_path, given), CELLS, SPACING).linear_runs() == []
