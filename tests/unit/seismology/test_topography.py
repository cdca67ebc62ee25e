"""Elevations from formulas, arrays and files, and what is said of unsuitable ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from damage import count_refused
from numpy.typing import NDArray
from variants import long_variants

from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.topography import (
    ArrayTopography,
    FileTopography,
    FormulaTopography,
)
from groundswell.seismology.topography import build_elevation

SIZE = (3000.0, 2000.0)
X, Y = (np.random.default_rng(n).uniform(0, length, 50) for n, length in enumerate(SIZE))


def plane(x: Any, y: Any) -> Any:
    """A cubic surface, which splines reproduce."""
    return 20 + 0.01 * x - 0.03 * y + 1e-8 * x**2 * y


def points(nx: int = 9, ny: int = 7) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.linspace(0, SIZE[0], nx), np.linspace(0, SIZE[1], ny)


def elevations(x: Any, y: Any) -> NDArray[np.float64]:
    return np.asarray(plane(x[None, :], y[:, None]))


def check(section: Any, geography: Geography | None = None, rel: float = 1e-9) -> None:
    found = build_elevation(section, SIZE, geography)(X, Y)
    assert np.allclose(found, plane(X, Y), rtol=rel, atol=1e-6)


def test_formulas() -> None:
    check(FormulaTopography(kind="formula", elevation="20 + 0.01*x - 0.03*y + 1e-8 * x**2 * y"))
    flat = build_elevation(FormulaTopography(kind="formula", elevation=7), SIZE)
    assert (flat(X, Y) == 7).all()


def test_arrays(tmp_path: Path) -> None:
    values = elevations(*points())
    check(ArrayTopography(kind="array", elevation=values.tolist()))
    np.save(tmp_path / "a.npy", values)
    check(FileTopography(kind="file", file=tmp_path / "a.npy"))


def test_two_points_are_interpolated_linearly() -> None:
    section = ArrayTopography(kind="array", elevation=[[0, 3], [2, 5]])
    found = build_elevation(section, SIZE)(X, Y)
    assert np.allclose(found, 3 * X / SIZE[0] + 2 * Y / SIZE[1])


@pytest.mark.parametrize("reverse", [False, True])
def test_netcdf_in_any_order(tmp_path: Path, reverse: bool) -> None:
    x, y = np.linspace(-500, 3500, 12), np.linspace(-300, 2400, 9)
    data = xr.Dataset({"h": (("y", "x"), elevations(x, y))}, {"x": x, "y": y})
    if reverse:
        data = data.isel(y=slice(None, None, -1)).transpose("x", "y")
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    check(FileTopography(kind="file", file=tmp_path / "a.nc"))
    check(FileTopography(kind="file", file=tmp_path / "a.nc", variable="h"))


def test_longitude_and_latitude(tmp_path: Path) -> None:
    frame = Geography.from_center((10.0, 46.0), SIZE, 25.0)
    lon, lat = np.linspace(9.95, 10.05, 60), np.linspace(45.96, 46.04, 60)
    values = plane(*frame.to_grid(lon[None, :], lat[:, None]))
    data = xr.Dataset({"z": (("lat", "lon"), values)}, {"lon": lon + 360, "lat": lat})
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    section = FileTopography(kind="file", file=tmp_path / "a.nc")
    check(section, frame, rel=1e-6)
    with pytest.raises(InputError, match=r"on longitude and latitude; add \[grid.geography\]"):
        build_elevation(section, SIZE)


@pytest.mark.parametrize("centre", [False, True])
def test_esri_ascii(tmp_path: Path, centre: bool) -> None:
    x, y = -250.0 + 250 * np.arange(15), -250.0 + 250 * np.arange(11)
    rows = "\n".join(" ".join(map(repr, map(float, row))) for row in elevations(x, y)[::-1])
    low = ("xllcenter", "yllcenter", -250) if centre else ("XLLCORNER", "yllcorner", -375)
    header = f"ncols 15\nnrows 11\n{low[0]} {low[2]}\n{low[1]} {low[2]}\ncellsize 250\n"
    (tmp_path / "a.asc").write_text(f"{header}NODATA_value -9999\n{rows}\n")
    check(FileTopography(kind="file", file=tmp_path / "a.asc"))


def test_gaps_are_refused_where_they_matter(tmp_path: Path) -> None:
    x, y = np.linspace(-30000, 30000, 121), np.linspace(-500, 2500, 7)
    values = elevations(x, y)
    values[3, 0] = np.nan
    path = tmp_path / "a.nc"
    xr.Dataset({"h": (("y", "x"), values)}, {"x": x, "y": y}).to_netcdf(path, engine="h5netcdf")
    check(FileTopography(kind="file", file=path))
    values[3, 62] = np.nan
    path = tmp_path / "b.nc"
    xr.Dataset({"h": (("y", "x"), values)}, {"x": x, "y": y}).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match=r"b.nc, h has no elevation at 1000, 1000; fill its gaps"):
        build_elevation(FileTopography(kind="file", file=path), SIZE)


HEADER = "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 3000\n"
FILES = [
    ("a.txt", "1 2", r"elevations are read from files that end in .nc, .tif, .tiff, .npy or .asc"),
    ("a.asc", "ncols 2\nnrows 2\n1 2\n3 4", "lacks cellsize, xllcorner, yllcorner"),
    ("a.asc", HEADER + "1 2 3", "has 3 elevations; nrows x ncols are 2 x 2"),
    ("a.asc", HEADER + "1 2 x 4", "a.asc, line 6"),
    ("a.asc", HEADER + "1 2 3 4", "covers 1500 to 4500, and the region needs 0 to 3000"),
    ("a.npy", "nothing", "cannot be read as a NumPy array"),
    ("a.nc", "nothing", "a.nc"),
]


@pytest.mark.parametrize(("name", "content", "message"), FILES)
def test_unsuitable_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        build_elevation(FileTopography(kind="file", file=tmp_path / name), SIZE)


def test_unsuitable_variables(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    data = xr.Dataset({"h": (("a", "b"), np.ones((2, 2)))})
    data.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match="h has the dimensions"):
        build_elevation(FileTopography(kind="file", file=path), SIZE)
    with pytest.raises(
        InputError, match=r"has no variable 'g'; name it in topography.variable, one of: h"
    ):
        build_elevation(FileTopography(kind="file", file=path, variable="g"), SIZE)


def test_one_of_several_maps_must_be_named(tmp_path: Path) -> None:
    """Not the first in the file: it may be the thickness of sediments."""
    x, y = points()
    maps = {name: (("y", "x"), elevations(x, y)) for name in ("thickness", "z")}
    xr.Dataset(maps, {"x": x, "y": y}).to_netcdf(tmp_path / "a.nc")
    with pytest.raises(InputError, match=r"name one in topography\.variable: thickness, z"):
        build_elevation(FileTopography(kind="file", file=tmp_path / "a.nc"), SIZE)
    check(FileTopography(kind="file", file=tmp_path / "a.nc", variable="z"))


# --- units and signs of files ---------------------------------------------------------------------


def write_map(path: Path, name: str = "z", scale: float = 1.0, **attrs: Any) -> FileTopography:
    x, y = points()
    array = xr.DataArray(elevations(x, y) / scale, {"y": y, "x": x}, name=name, attrs=attrs)
    array.to_netcdf(path, engine="h5netcdf")
    return FileTopography(kind="file", file=path)


@pytest.mark.parametrize(("unit", "scale"), [("feet", 0.3048), ("km", 1000.0), ("m", 1.0)])
def test_units_of_files_are_converted(tmp_path: Path, unit: str, scale: float) -> None:
    check(write_map(tmp_path / "map.nc", scale=scale, units=unit), rel=1e-8)


def test_units_of_coordinates_are_converted(tmp_path: Path) -> None:
    x, y = points()
    axes = {"y": ("y", y / 1e3, {"units": "km"}), "x": ("x", x / 1e3, {"units": "km"})}
    array = xr.DataArray(elevations(x, y), axes, ("y", "x"), name="z")
    array.to_netcdf(tmp_path / "map.nc", engine="h5netcdf")
    check(FileTopography(kind="file", file=tmp_path / "map.nc"), rel=1e-8)


@pytest.mark.parametrize(
    ("name", "attrs", "message"),
    [
        ("depth", {}, "depth holds depths, positive downwards; give elevations"),
        ("z", {"positive": "down"}, "z holds depths"),
        ("z", {"standard_name": "sea_floor_depth_below_geoid"}, "z holds depths"),
        ("z", {"units": "K"}, "unit 'K' does not convert to m"),
    ],
)
def test_depths_and_other_quantities_are_refused(
    tmp_path: Path, name: str, attrs: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check(write_map(tmp_path / "map.nc", name, **attrs))


def test_a_depth_that_says_it_is_positive_upwards_is_an_elevation(tmp_path: Path) -> None:
    check(write_map(tmp_path / "map.nc", "depth", positive="up"))


@pytest.mark.parametrize("count", [25, *long_variants([100])])
@pytest.mark.parametrize("name", ["a.nc", "b.nc", "a.npy", "a.asc"])
def test_mutants(tmp_path: Path, name: str, count: int) -> None:
    """Of NetCDF versions 4 and 3, and of texts by bytes and by words."""
    x, y = points()
    path = tmp_path / name
    if path.suffix == ".nc":
        data = xr.Dataset({"z": (("y", "x"), elevations(x, y))}, {"x": x, "y": y})
        data.to_netcdf(path, engine="h5netcdf" if name == "a.nc" else "scipy")
    elif path.suffix == ".npy":
        np.save(path, elevations(x, y))
    else:
        rows = "\n".join(" ".join(f"{z:.2f}" for z in row) for row in elevations(x, y)[::-1])
        head = "ncols 9\nnrows 7\nxllcenter 0\nyllcenter 0\ncellsize 375\nNODATA_value -9999\n"
        path.write_text(head + rows + "\n")
    words = 0.5 if path.suffix == ".asc" else 0.0

    def read(mutant: Path) -> None:
        found = build_elevation(FileTopography(kind="file", file=mutant), SIZE)(X, Y)
        assert np.isfinite(found).all()

    assert count_refused(read, path, path.read_bytes(), range(count), words=words) > count / 8
