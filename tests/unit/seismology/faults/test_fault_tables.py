"""Tables of parameters on a fault in NetCDF files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from fault_cases import TPV5, random_points, section

from groundswell.errors import InputError
from groundswell.seismology.faults.build import conditions_of

ALONG, DOWN = np.array([-16e3, -3e3, 1e3, 15e3]), np.array([0.0, 2e3, 16e3])


def table(path: Path, values: Any, **attributes: str) -> xr.Dataset:
    """Write a table "v"."""
    axes = {"along_strike": ALONG, "down_dip": DOWN}
    data = xr.Dataset({"v": (tuple(axes), values)}, axes)
    data["v"].attrs.update(attributes)
    data.to_netcdf(path, engine="h5netcdf")
    return data


def friction_of(path: Path, name: str = "static", variable: str = "v") -> dict[str, Any]:
    friction = {**TPV5["friction"], name: {"file": path, "variable": variable}}
    fault = section(TPV5, friction=friction)
    points = random_points(fault, 300)
    law = conditions_of(fault, points).law
    return {"points": points, **dict(zip(law.names, law.table(300), strict=True))}


def test_tables_are_interpolated_linearly(tmp_path: Path) -> None:
    """Between nodes, by the formula of a bilinear function in each cell."""
    values = np.random.default_rng(1).uniform(0.1, 0.9, (4, 3))
    data = table(tmp_path / "a.nc", values)
    found = friction_of(tmp_path / "a.nc")
    x, w = found["points"].along_strike, found["points"].down_dip
    i, j = np.searchsorted(ALONG, x) - 1, np.searchsorted(DOWN, w) - 1
    s, t = (x - ALONG[i]) / np.diff(ALONG)[i], (w - DOWN[j]) / np.diff(DOWN)[j]
    low, high = ((1 - s) * values[i, n] + s * values[i + 1, n] for n in (j, j + 1))
    np.testing.assert_allclose(found["static"], (1 - t) * low + t * high, rtol=1e-13)
    # Axes in other orders are sorted.
    turned = data.isel(along_strike=slice(None, None, -1)).transpose()
    turned.to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    assert (friction_of(tmp_path / "b.nc")["static"] == found["static"]).all()


def test_units_of_tables(tmp_path: Path) -> None:
    table(tmp_path / "a.nc", np.full((4, 3), 0.3), units="MPa")
    cohesion = friction_of(tmp_path / "a.nc", "cohesion")["cohesion"]
    np.testing.assert_allclose(cohesion, 0.3e6, rtol=1e-14)
    data = table(tmp_path / "b.nc", np.arange(12.0).reshape(4, 3))
    in_km = data.assign_coords(along_strike=ALONG / 1e3, down_dip=DOWN / 1e3)
    for axis in ("along_strike", "down_dip"):
        in_km[axis].attrs["units"] = "km"
    in_km.to_netcdf(tmp_path / "c.nc", engine="h5netcdf")
    both = [friction_of(tmp_path / name)["static"] for name in ("b.nc", "c.nc")]
    np.testing.assert_allclose(both[1], both[0], rtol=1e-12)


def test_a_patch_needs_a_table_of_the_patch_only(tmp_path: Path) -> None:
    axes = {"along_strike": [-1600.0, 1600], "down_dip": [5900.0, 9100]}
    data = xr.Dataset({"v": (tuple(axes), np.full((2, 2), 0.5))}, axes)
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    value = {"file": tmp_path / "a.nc", "variable": "v"}
    fault = section(TPV5, patch=[{**TPV5["patch"][0], "friction": {"static": value}}])
    points = random_points(fault, 900)
    static = conditions_of(fault, points).law.table(900)[0]
    middle = (np.abs(points.along_strike) <= 1500) & (np.abs(points.down_dip - 7500) <= 1500)
    np.testing.assert_allclose(static, np.where(middle, 0.5, 0.677), rtol=1e-14)


def narrow(data: xr.Dataset) -> xr.Dataset:
    return data.isel(along_strike=slice(1, 4))


WRONG = [
    (narrow, "v", r"a.nc covers along_strike from -3000 to 15000 m, and the points of the fault "
     r"need -1.* to 1.* m; use a table that covers them"),
    (lambda data: data, "w", r"friction.static: .*a.nc has no variable 'w'; it has: v"),
    (lambda data: data.rename(down_dip="depth"), "v", r"a.nc, v has the dimensions .*; it must "
     "have along_strike and down_dip, with coordinates"),
    (lambda data: data.drop_vars("down_dip"), "v", "it must have along_strike and down_dip, with"),
    (lambda data: data.isel(down_dip=[1]), "v", "coordinate down_dip must have two or more"),
    (lambda data: data.where(data["along_strike"] < 1e4), "v", r"v has no value \(NaN\) at x, y, "),
    (lambda data: -data, "v", r"friction.static = -0.5 at x, y, depth = .* m: must be at least 0"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "variable", "message"), WRONG)
def test_unsuitable_tables(tmp_path: Path, change: Any, variable: str, message: str) -> None:
    data = table(tmp_path / "whole.nc", np.full((4, 3), 0.5))
    change(data).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with pytest.raises(InputError, match=message):
        friction_of(tmp_path / "a.nc", variable=variable)


def test_damaged_tables(tmp_path: Path) -> None:
    (tmp_path / "a.nc").write_text("nothing")
    with pytest.raises(InputError, match=r"a\.nc"):
        friction_of(tmp_path / "a.nc")
    table(tmp_path / "b.nc", np.full((4, 3), 0.3), units="s")
    with pytest.raises(InputError, match=r"b.nc: unit 's' does not convert to Pa"):
        friction_of(tmp_path / "b.nc", "cohesion")
