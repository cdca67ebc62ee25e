"""Meshes with a position on Earth against grids of the same bricks there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from dgwave_cases import PULSE, build
from gmsh_files import ENDS, save_box

from groundswell.errors import CaseError, InputError
from groundswell.grids.geography import Geography, from_lonlat
from groundswell.meshes.box import Box
from groundswell.simulation.preparation import prepare

UTM, ORIGIN, AZIMUTH = "EPSG:32632", (9.9, 46.2), 25.0
SIZE = (800.0, 800.0, 600.0)
REGION = Box((4, 4, 3), high=SIZE)
FRAME = Geography.from_origin(ORIGIN, SIZE[:2], AZIMUTH, UTM)
PLACED = {"origin": [*ORIGIN], "azimuth": AZIMUTH, "projection": UTM}


def on_mesh(path: Path, geography: Any, medium: Any) -> dict[str, Any]:
    return {
        "grid": {"file": str(path), "vertical": "down", "geography": geography},
        "medium": medium,
        "boundary": {"surfaces": dict.fromkeys(ENDS, "absorbing") | {"top": "free-surface"}},
    }


def lattice(system: str) -> tuple[Any, Any, Any]:
    """Axes of a model that covers the region, in the units of a coordinate system."""
    x, y = np.meshgrid([-50.0, 850], [-50.0, 850])
    ends = from_lonlat(system, *FRAME.to_lonlat(x, y))
    horizontal = [np.linspace(of.min(), of.max(), 6) for of in ends]
    return *horizontal, np.linspace(0, 600, 4)


def random_values(*shape: int) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    limits = {"vp": (3000, 6000), "vs": (500, 1700), "rho": (2000, 3000)}
    return {name: rng.uniform(*of, shape) for name, of in limits.items()}


def utm_model(folder: Path) -> dict[str, Any]:
    """A model on east and north in columns."""
    x, y, depth = lattice(UTM)
    z, north, east = (of.ravel() for of in np.meshgrid(depth, y, x, indexing="ij"))
    columns = [east, north, z, *random_values(z.size).values()]
    rows = "".join(" ".join(map(repr, map(float, row))) + "\n" for row in np.stack(columns).T)
    (folder / "model.txt").write_text("x y depth vp vs rho\n" + rows)
    return {"kind": "columns", "file": "model.txt", "projection": UTM}


def lonlat_model(folder: Path) -> dict[str, Any]:
    lon, lat, depth = lattice("EPSG:4326")
    axes = {"depth": depth, "latitude": lat, "longitude": lon}
    values = random_values(*map(len, axes.values()))
    data = xr.Dataset({n: (tuple(axes), of) for n, of in values.items()}, axes)
    data.to_netcdf(folder / "model.nc", engine="h5netcdf")
    return {"kind": "netcdf", "file": "model.nc"}


def materials_at(found: Any, points: Any) -> Any:
    """The properties of a set-up with a material at each node, at positions."""
    elements, places = found.geometry.locate(points)
    medium = found.materials.elements.medium
    given = [medium.sample(elements[n : n + 1], places[n][None, None]) for n in range(len(points))]
    return np.array([[each.vp.item(), each.vs.item(), each.rho.item()] for each in given])


@pytest.mark.parametrize("model", [utm_model, lonlat_model])
def test_models_on_earth_are_those_of_a_grid(tmp_path: Path, model: Any) -> None:
    medium = model(tmp_path)
    path = save_box(tmp_path / "a.msh", REGION)
    lon, lat = map(float, FRAME.to_lonlat(310.0, 420.0))
    place = {"longitude": lon, "latitude": lat}
    common: dict[str, Any] = {
        "receiver": [
            {"name": "A", **place, "depth": 50},
            {"name": "B", "x": 9, "y": 5, "depth": 0},
        ],
        "source": [
            {"kind": "explosion", "magnitude": 3, **place, "depth": 300, "time_function": PULSE}
        ],
        "method": {"degree": 2, "material": "node"},
    }
    mesh: Any = prepare(build(tmp_path, **on_mesh(path, PLACED, medium), **common))
    bricks: Any = prepare(build(tmp_path, grid__geography=PLACED, medium=medium, **common))
    points = np.random.default_rng(2).uniform(20, 580, (40, 3))
    expected = materials_at(bricks, points)
    assert np.allclose(materials_at(mesh, points), expected, rtol=1e-6)
    assert np.ptp(expected[:, 0]) > 500
    assert mesh.geography.true_azimuth == pytest.approx(bricks.geography.true_azimuth, abs=1e-9)
    for found, wanted in zip(mesh.survey.receivers, bricks.survey.receivers, strict=True):
        assert found.position == pytest.approx(wanted.position, abs=1e-6)
        assert (found.longitude, found.latitude) == (wanted.longitude, wanted.latitude)
    assert mesh.survey.receivers[0].position == pytest.approx((310, 420, 50), abs=1e-3)
    (source,) = mesh.survey.sources
    assert source.position == pytest.approx((310, 420, 300), abs=1e-3)


def test_a_mesh_in_the_coordinates_of_a_projection(tmp_path: Path) -> None:
    """Its axes are east and north; those of seismograms are true, by the convergence there."""
    utm = Geography.from_origin(ORIGIN, SIZE[:2], 0.0, UTM)
    east, north = map(round, utm.corner)
    box = Box((4, 4, 3), low=(east, north, 0.0), high=(east + 800.0, north + 800.0, 600.0))
    path, medium = save_box(tmp_path / "a.msh", box), utm_model(tmp_path)
    lon, lat = map(float, FRAME.to_lonlat(310.0, 420.0))
    x, y = map(float, from_lonlat(UTM, lon, lat))
    place = {"longitude": lon, "latitude": lat, "depth": 300}
    shot = {"kind": "explosion", "magnitude": 3, **place, "time_function": PULSE}
    receiver = {"name": "A", "x": x, "y": y, "depth": 0}
    case = build(
        tmp_path,
        **on_mesh(path, {"projection": UTM}, medium | {"floor": {"vp": 1}}),
        source=[shot],
        receiver=[receiver],
    )
    found: Any = prepare(case)
    assert found.survey.sources[0].position == pytest.approx((x, y, 300), abs=1e-3)
    (station,) = found.survey.receivers
    assert (station.longitude, station.latitude) == pytest.approx((lon, lat), abs=1e-8)
    assert found.geography.true_azimuth == pytest.approx(utm.true_azimuth, abs=1e-3)
    assert abs(utm.true_azimuth) > 0.5


@pytest.mark.parametrize(
    ("geography", "key", "message"),
    [
        ({}, "geography", "give origin, .* or projection"),
        ({"azimuth": 5}, "geography", "give origin"),
        ({"projection": UTM, "azimuth": 5}, "geography.azimuth", "belongs to origin"),
        ({"projection": "EPSG:4326"}, "geography.projection", "is not a map projection"),
        ({"projection": "EPSG:4326", "origin": [9, 46]}, "geography.projection", "not a map proj"),
        ({"center": [9, 46]}, "geography.center", "is not a key here"),
    ],
)
def test_positions_on_earth_that_are_refused(
    tmp_path: Path, geography: Any, key: str, message: str
) -> None:
    path = save_box(tmp_path / "a.msh", REGION)
    rock = {"kind": "homogeneous", "vp": 3000, "vs": 1700, "rho": 2500}
    with pytest.raises(CaseError, match=message) as caught:
        build(tmp_path, **on_mesh(path, geography, rock))
    assert caught.value.problems[0].key == f"grid.{key}"


def test_a_projection_made_for_another_place_is_refused(tmp_path: Path) -> None:
    path = save_box(tmp_path / "a.msh", REGION)
    rock = {"kind": "homogeneous", "vp": 3000, "vs": 1700, "rho": 2500}
    far = {"origin": [-10.0, 46.0], "projection": UTM}
    with pytest.raises(InputError, match="distorts the region: lengths by"):
        prepare(build(tmp_path, **on_mesh(path, far, rock)))
