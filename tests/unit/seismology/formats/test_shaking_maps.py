"""The shaking map and the time series of the surface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from groundswell.errors import InputError
from groundswell.seismology.formats.shaking_maps import (
    SurfacePoints,
    SurfaceWriter,
    open_surface,
    read_shaking_map,
    write_shaking_map,
)

rng = np.random.default_rng(8)
NX, NY = 7, 5
X, Y = 50.0 + 100.0 * np.arange(NX), 30.0 + 60.0 * np.arange(NY)
LONGITUDE = -118 + rng.uniform(0, 0.1, (NY, NX))
LATITUDE = 34 + rng.uniform(0, 0.1, (NY, NX))
POINTS = SurfacePoints(X, Y)
GEOGRAPHY = SurfacePoints(X, Y, LONGITUDE, LATITUDE)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_map(
    path: Path, points: SurfacePoints = POINTS, attrs: dict[str, Any] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    pgv, pga = rng.uniform(0, 1, (2, NY, NX)).astype("f4")
    write_shaking_map(path, pgv, pga, points, attrs)
    return pgv, pga


def test_the_shaking_map_says_what_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "shaking_map.nc"
    attrs = {"title": "Test", "focal_mechanism": [10.0, 20.0, 30.0], "magnitude": None}
    pgv, pga = write_map(path, GEOGRAPHY, attrs)
    with xarray.open_dataset(path, engine="h5netcdf") as opened:
        dataset = opened.load()
    assert np.array_equal(dataset["pgv"], pgv)
    assert np.array_equal(dataset["pga"], pga)
    assert dataset["pgv"].dims == ("y", "x")
    assert (dataset["pgv"].attrs["units"], dataset["pga"].attrs["units"]) == ("m s-1", "m s-2")
    assert "sqrt(E^2 + N^2)" in dataset["pgv"].attrs["comment"]
    assert np.array_equal(dataset["x"], X)
    assert np.array_equal(dataset["y"], Y)
    assert set(dataset["pga"].coords) == {"x", "y", "longitude", "latitude"}
    assert np.array_equal(dataset["longitude"], LONGITUDE)
    assert dataset["latitude"].attrs["standard_name"] == "latitude"
    assert dataset.attrs["Conventions"].startswith("CF-")
    assert dataset.attrs["focal_mechanism"].tolist() == [10, 20, 30]
    assert "magnitude" not in dataset.attrs
    assert names(tmp_path) == ["shaking_map.nc"]


def test_a_map_without_geography_has_metres_only(tmp_path: Path) -> None:
    write_map(tmp_path / "map.nc")
    assert set(read_shaking_map(tmp_path / "map.nc").coords) == {"x", "y"}


def test_a_failed_write_leaves_the_older_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "map.nc"
    pgv, _ = write_map(path)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("interrupted in the middle")

    monkeypatch.setattr("groundswell.formats.netcdf._create_variable", fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        write_map(path)
    assert names(tmp_path) == ["map.nc"]
    assert np.array_equal(read_shaking_map(path)["pgv"], pgv)


@pytest.mark.parametrize("keep", [0, 50, 3000])
def test_a_damaged_map_is_bad_input(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "map.nc"
    write_map(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match="cannot be read as NetCDF: "):
        read_shaking_map(path)


def test_another_file_is_no_map(tmp_path: Path) -> None:
    xarray.Dataset({"pgv": ("x", [1.0])}).to_netcdf(tmp_path / "o.nc", engine="h5netcdf")
    with pytest.raises(InputError, match="lacks pga, x, y; it has pgv"):
        read_shaking_map(tmp_path / "o.nc")


# --- the surface ---------------------------------------------------------------------------------


def noise(samples: int) -> np.ndarray:
    return rng.normal(size=(samples, 3, NY, NX)).astype("f4")


def test_the_surface_is_stored_in_the_observers_frame(tmp_path: Path) -> None:
    block = noise(9)
    path = tmp_path / "surface.nc"
    attrs = {"azimuth": 90.0}
    with SurfaceWriter(path, GEOGRAPHY, 0.1, attrs=attrs, dtype="f8") as writer:
        writer.append_velocity(block[:4])
        writer.append_velocity(block[4:])
    with xarray.open_dataset(path, engine="h5netcdf") as opened:
        velocity = opened["velocity"].load()
    assert velocity.dims == ("time", "component", "y", "x")
    assert np.allclose(velocity["time"], 0.1 * np.arange(9), rtol=0, atol=1e-12)
    # The y axis points east and the x axis south.
    assert np.allclose(velocity.sel(component="E"), block[:, 1], rtol=0, atol=1e-7)
    assert np.allclose(velocity.sel(component="N"), -block[:, 0], rtol=0, atol=1e-7)
    assert np.array_equal(velocity.sel(component="Z"), -block[:, 2])
    assert np.array_equal(velocity["latitude"], LATITUDE)


def test_the_surface_restarts_from_a_checkpoint(tmp_path: Path) -> None:
    block = noise(12)
    path = tmp_path / "surface.nc"
    writer = SurfaceWriter(path, POINTS, 0.1)
    writer.append_velocity(block[:8])
    writer.close()
    with SurfaceWriter(path, POINTS, 0.1, resume=5) as writer:
        writer.append_velocity(block[5:])
    with open_surface(path) as surface:
        assert np.array_equal(surface["velocity"].sel(component="E"), block[:, 0])
        assert np.allclose(surface["time"], 0.1 * np.arange(12), rtol=0, atol=1e-12)
    assert names(tmp_path) == ["surface.nc"]


def test_a_surface_of_another_grid_is_not_continued(tmp_path: Path) -> None:
    SurfaceWriter(tmp_path / "surface.nc", POINTS, 0.1).finish()
    with pytest.raises(InputError, match=r"its velocity has shape \(0, 3, 5, 7\)"):
        SurfaceWriter(tmp_path / "surface.nc", SurfacePoints(X[1:], Y), 0.1, resume=0)


def test_a_large_surface_is_cut_into_tiles_of_little_waste(tmp_path: Path) -> None:
    side = np.arange(530.0)
    with SurfaceWriter(tmp_path / "surface.nc", SurfacePoints(side, side), 0.1) as writer:
        writer.append_velocity(np.zeros((2, 3, 530, 530)))
    bytes_needed = 2 * 3 * 530 * 530 * 4
    assert (tmp_path / "surface.nc").stat().st_size < 1.02 * bytes_needed + 50_000
