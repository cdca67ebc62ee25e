"""Elevations in GeoTIFF files that rasterio writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused

from groundswell.errors import InputError
from groundswell.grids.geography import Geography, from_lonlat
from groundswell.seismology.case.topography import FileTopography
from groundswell.seismology.topography import build_elevation

rasterio = pytest.importorskip("rasterio")
warp = pytest.importorskip("rasterio.warp")

SIZE = (3000.0, 2000.0)
FRAME = Geography.from_center((10.0, 46.0), SIZE, 25.0)
X, Y = (np.random.default_rng(n).uniform(0, length, 50) for n, length in enumerate(SIZE))
UTM = "EPSG:32632"


def height(lon: Any, lat: Any) -> Any:
    """Smooth mountains."""
    return 1000 + 200 * np.sin(300 * (lon - 10)) + 150 * np.cos(400 * (lat - 46))


def write(path: Path, system: str | None = UTM, step: float = 50.0, **options: Any) -> Path:
    """A raster around the region; from north to south, if `step` is positive."""
    scale, turn = options.pop("scale", 1.0), options.pop("turn", 0.0)
    is_geographic = system in ("EPSG:4326", "EPSG:4269")
    h = step * (1e-5 if is_geographic else 1.0)
    middle = (10.0, 46.0) if is_geographic else from_lonlat(UTM, 10.0, 46.0)
    nx, ny = options.pop("shape", (100, 90))
    west, north = middle[0] - abs(h) * nx / 2, middle[1] + h * ny / 2
    transform = rasterio.Affine(abs(h), turn, west, 0, -h, north)
    i, j = np.meshgrid(np.arange(nx) + 0.5, np.arange(ny) + 0.5)
    lon, lat = west + abs(h) * i, north - h * j
    if not is_geographic:
        lon, lat = warp.transform(UTM, "EPSG:4326", lon.ravel(), lat.ravel())
    values = (height(np.array(lon), np.array(lat)) / scale).reshape(ny, nx)
    values = options.pop("change", lambda v: v)(values)
    profile = {"dtype": "float32", "count": 1, "driver": "GTiff", **options}
    with rasterio.open(
        path, "w", width=nx, height=ny, crs=system, transform=transform, **profile
    ) as data:
        for band in range(1, profile["count"] + 1):
            data.write(values.astype(profile["dtype"]), band)
        if scale != 1:
            data.units = ("foot",)
    return path


def elevation(path: Path, frame: Geography | None = FRAME, **keys: Any) -> Any:
    return build_elevation(FileTopography(kind="file", file=path, **keys), SIZE, frame)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"step": -50.0},
        {"system": "EPSG:4326"},
        {"system": "EPSG:4269"},  # NAD 83
        {"tiled": True, "blockxsize": 16, "blockysize": 16, "compress": "deflate"},
        {"dtype": "int16", "change": lambda v: 10 * v},
        {"scale": 0.3048},
    ],
)
def test_a_raster_is_reprojected_smoothly(tmp_path: Path, options: Any) -> None:
    path = write(tmp_path / "dem.tif", **options)
    if options.get("dtype") == "int16":
        with rasterio.open(path, "r+") as data:
            data.scales = (0.1,)
    found = elevation(path)(X, Y)
    assert np.abs(found - height(*FRAME.to_lonlat(X, Y))).max() < 0.2
    assert np.ptp(found) > 300


def test_a_window_of_a_large_raster_is_read(tmp_path: Path, monkeypatch: Any) -> None:
    path = write(tmp_path / "dem.tif", shape=(600, 500))
    small, whole = elevation(write(tmp_path / "small.tif")), elevation(path)
    assert np.abs(small(X, Y) - whole(X, Y)).max() < 0.1
    monkeypatch.setattr("groundswell.seismology.topography.LARGEST", 1000)
    with pytest.raises(InputError, match=r"elevations in the region, more than 1,000; resample"):
        elevation(path)


def test_points_without_data(tmp_path: Path) -> None:
    def sea(values: Any) -> Any:
        values[40:60] = -9999
        return values

    path = write(tmp_path / "dem.tif", nodata=-9999, change=sea)
    with pytest.raises(InputError, match=r"has no elevation at .*topography.fill, such as"):
        elevation(path)
    found = elevation(path, fill="3 m")(X, Y)
    assert np.abs(found - 3).min() < 1 < found.max()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"system": None}, "has no coordinate system of the Earth; assign one"),
        ({"count": 2}, "has 2 bands"),
        ({"change": lambda v: v - 33768}, "has the elevation -3.* if it stands for missing data"),
        ({"turn": 1.0}, "has a rotated grid"),
        ({"shape": (20, 20)}, r"covers .* the region needs .* \(map units\)"),
        ({"shape": (20, 20), "system": "EPSG:4326"}, r"the region needs .* \(degrees\)"),
    ],
)
def test_refusals(tmp_path: Path, options: Any, message: str, capfd: Any) -> None:
    with pytest.raises(InputError, match=message):
        elevation(write(tmp_path / "dem.tif", **options))
    assert capfd.readouterr() == ("", "")


def test_the_position_on_earth_is_needed(tmp_path: Path) -> None:
    path = write(tmp_path / "dem.tif")
    with pytest.raises(InputError, match=r"on a map projection; add \[grid.geography\]"):
        elevation(path, None)


@pytest.mark.parametrize("compress", [None, "deflate"])
def test_mutants(tmp_path: Path, capfd: Any, compress: str | None) -> None:
    path = write(tmp_path / "dem.tif", step=300.0, shape=(16, 16), compress=compress)
    content = path.read_bytes()
    assert count_refused(lambda p: elevation(p)(X, Y), path, content, range(100)) > 20
    lines = "".join(capfd.readouterr()).splitlines()
    assert all("proj.db" in line for line in lines)  # of PROJ, about damaged systems


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "dem.tif")
    monkeypatch.setitem(sys.modules, "rasterio", None)
    with pytest.raises(InputError, match=r"needs rasterio; .* pip install -e '.\[topography\]'"):
        elevation(path)
