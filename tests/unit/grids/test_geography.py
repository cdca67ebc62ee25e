"""Longitude and latitude to and from the grid, against geodesics on the ellipsoid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pyproj import Geod, Transformer

from groundswell.errors import InputError
from groundswell.grids.geography import Geography

ELLIPSOID = Geod(ellps="WGS84")
RNG = np.random.default_rng(20140329)
SIZE = (40e3, 60e3)
PLACES = [
    (-118.05, 33.80),
    (13.4, 42.35),
    (179.9, -38.0),
    (142.4, 38.3),
    (25.0, 89.5),
    (0.0, -72.0),
]


def random_points(n: int) -> tuple[Any, Any]:
    return RNG.uniform(0, SIZE[0], n), RNG.uniform(0, SIZE[1], n)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("azimuth", [0.0, 37.0, -120.0, 305.5])
@pytest.mark.parametrize("make", [Geography.from_origin, Geography.from_center])
def test_round_trip_within_a_millimetre(make: Any, azimuth: float, place: Any) -> None:
    frame = make(place, SIZE, azimuth)
    x, y = random_points(200)
    there = frame.to_grid(*frame.to_lonlat(x, y))
    assert np.abs(np.array(there) - (x, y)).max() < 1e-3


@pytest.mark.parametrize("place", PLACES[:4])
@pytest.mark.parametrize("azimuth", [0.0, 37.0, -120.0])
def test_directions_and_distances_are_those_on_the_ground(azimuth: float, place: Any) -> None:
    """Points reached by geodesics from the middle lie where plane trigonometry puts them."""
    frame = Geography.from_center(place, SIZE, azimuth)
    bearing, distance = RNG.uniform(0, 360, 100), RNG.uniform(0, 20e3, 100)
    start = np.broadcast_to(place[0], 100), np.broadcast_to(place[1], 100)
    longitude, latitude, _ = ELLIPSOID.fwd(*start, bearing, distance)
    x, y = frame.to_grid(longitude, latitude)
    turned = np.radians(bearing - azimuth)
    # Transverse Mercator stretches by d^2 / (2 R^2) = 5e-6 at 20 km: 4 cm a third of the way.
    assert np.abs(x - SIZE[0] / 2 - distance * np.sin(turned)).max() < 0.1
    assert np.abs(y - SIZE[1] / 2 - distance * np.cos(turned)).max() < 0.1


@pytest.mark.parametrize("azimuth", [0.0, 30.0, 90.0, 211.0])
def test_y_points_along_the_azimuth_and_x_to_its_right(azimuth: float) -> None:
    frame = Geography.from_origin((13.4, 42.35), SIZE, azimuth)
    x, y = SIZE[0] / 2, SIZE[1] / 2
    here = frame.to_lonlat(x, y)
    for there, expected in (((x, y + 10), azimuth), ((x + 10, y), azimuth + 90)):
        bearing, _, distance = ELLIPSOID.inv(*here, *frame.to_lonlat(*there))
        assert math.remainder(bearing - expected, 360) == pytest.approx(0, abs=1e-3)
        assert distance == pytest.approx(10, rel=1e-5)
    assert math.remainder(frame.true_azimuth - azimuth, 360) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("projection", ["tmerc", "EPSG:32611"])
def test_origin_is_the_corner_and_center_the_middle(projection: str) -> None:
    place = tuple(np.array([-118.05, 33.80]))
    corner = Geography.from_origin(place, SIZE, 25.0, projection)
    middle = Geography.from_center(place, SIZE, 25.0, projection)
    assert corner.to_grid(*place) == pytest.approx((0, 0), abs=1e-6)
    assert middle.to_grid(*place) == pytest.approx((SIZE[0] / 2, SIZE[1] / 2), abs=1e-6)


def test_a_projection_gives_its_own_eastings_and_northings() -> None:
    origin = (-118.05, 33.80)
    utm = Transformer.from_crs("EPSG:4326", "EPSG:32611", always_xy=True)
    frame = Geography.from_origin(origin, SIZE, 0.0, "EPSG:32611")
    east, north = np.subtract(utm.transform(-117.9, 33.95), utm.transform(*origin))
    assert frame.to_grid(-117.9, 33.95) == pytest.approx((east, north), abs=1e-6)
    # Meridian convergence of zone 11 (central meridian 117 W): (lon - lon0) sin(lat).
    x, y = SIZE[0] / 2, SIZE[1] / 2
    longitude, latitude = frame.to_lonlat(x, y)
    convergence = (longitude + 117) * math.sin(math.radians(latitude))
    assert frame.true_azimuth == pytest.approx(convergence, abs=2e-3)


def test_a_projection_in_feet_gives_metres() -> None:
    """EPSG:2229 is the State Plane zone of Los Angeles, in US survey feet."""
    frame = Geography.from_center((-118.05, 33.80), SIZE, 0.0, "EPSG:2229")
    longitude, latitude, _ = ELLIPSOID.fwd(-118.05, 33.80, 0, 5000)
    x, y = frame.to_grid(longitude, latitude)
    assert math.hypot(x - SIZE[0] / 2, y - SIZE[1] / 2) == pytest.approx(5000, rel=2e-4)


def test_arrays_keep_their_shape() -> None:
    frame = Geography.from_center((13.4, 42.35), SIZE)
    x, y = np.meshgrid(np.linspace(0, SIZE[0], 5), np.linspace(0, SIZE[1], 4))
    longitude, latitude = frame.to_lonlat(x, y)
    assert longitude.shape == latitude.shape == (4, 5)
    assert frame.to_grid(longitude, latitude)[0] == pytest.approx(x, abs=1e-3)
    assert frame.to_grid(13.4, [42.3, 42.4])[1].shape == (2,)
    row, column = x[:1], y[:, :1]
    assert frame.to_lonlat(row, column)[1] == pytest.approx(latitude, abs=1e-12)


def test_positions_out_of_reach_are_refused() -> None:
    frame = Geography.from_center((0.0, 0.0), SIZE)
    with pytest.raises(InputError, match="outside the range"):
        frame.to_grid(90.0, 0.0)
    with pytest.raises(InputError, match="outside the range"):
        frame.to_lonlat(1e12, 0.0)


@pytest.mark.parametrize(
    ("projection", "reason"),
    [
        ("EPSG:3857", "distorts the region: lengths by 1"),  # web Mercator at 34 degrees: 17 %
        ("EPSG:32651", "distorts the region"),  # the UTM zone of Japan
        ("+proj=tmerc +lon_0=-118 +lat_0=34 +axis=wnu", "mirrored"),
        ("EPSG:4326", "not a map projection"),
        ("nonsense", "does not know"),
        ("", "does not know"),
        ("EPSG:999999", "does not know"),
    ],
)
def test_unfit_projections_are_refused(projection: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Geography.from_origin((-118.05, 33.80), SIZE, 0.0, projection)


def test_a_region_too_large_for_a_plane_is_refused() -> None:
    with pytest.raises(InputError, match=r"distorts the region|outside the range"):
        Geography.from_center((13.4, 42.35), (5e6, 5e6))
