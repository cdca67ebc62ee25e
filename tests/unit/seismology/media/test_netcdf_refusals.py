"""NetCDF models: what is refused, in one line, and how little memory a row takes."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest
import xarray as xr
from damage import count_refused
from netcdf_models import centres, netcdf_medium, save
from numpy.testing import assert_allclose
from random_media import CELLS, ROCK, SPACING, random_model
from variants import long_variants

from groundswell.errors import InputError
from groundswell.seismology.media.statistics import medium_statistics

pytestmark = pytest.mark.each_value


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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_gaps_of_a_model_are_named(tmp_path, model, gap):
    model["vs"][{"x": 4, "y": 3}] = np.nan
    at = dict(zip(("x", "y", "depth"), map(centres, CELLS, SPACING), strict=True))
    exact = model["vs"].interp(at).transpose("depth", "y", "x").values
    k, j, i = np.argwhere(np.isnan(exact))[0]
    model["vs"][{"x": 4, "y": 3}] = gap
    with pytest.raises(InputError, match=rf"vs has no value \(NaN\) at cell \({i}, {j}, {k}\)"):
        medium_statistics(netcdf_medium(save(tmp_path, model), CELLS, SPACING))


def test_fill_values_of_a_model_are_gaps(tmp_path, model):
    model["rho"][:] = 99999.0
    path = save(tmp_path, model, encoding={"rho": {"_FillValue": 99999.0}})
    with pytest.raises(InputError, match="variable rho has no value"):
        netcdf_medium(path, CELLS, SPACING).plane(0)


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
    whole = save(tmp_path, model).read_bytes()
    for at in range(200, len(whole), len(whole) // 12):
        path = tmp_path / f"{at}.nc"
        path.write_bytes(whole[:at] + b"garbage" * 20 + whole[at:])
        try:
            netcdf_medium(path, CELLS, SPACING)
        except InputError as error:
            assert "\n" not in str(error)
    gc.collect()  # h5netcdf's traceback comes from destructors


@pytest.mark.parametrize("count", [25, *long_variants([100])])
@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_mutants(tmp_path, model, engine, count):
    """Of NetCDF versions 4 and 3."""
    model.attrs = {}
    content = save(tmp_path, model, engine=engine).read_bytes()

    def read(path):
        statistics = medium_statistics(netcdf_medium(path, CELLS, SPACING))
        assert np.isfinite([statistics.vp_max, statistics.speed_min]).all()

    assert count_refused(read, tmp_path / "a.nc", content, range(count)) > count / 8
    gc.collect()


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
