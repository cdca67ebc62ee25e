"""Position of a grid on Earth: maps between (longitude, latitude) and (x, y)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError

Pair = tuple[float, float]

_MAX_DISTORTION = 0.01  # relative difference of lengths on the grid and on the ground


@dataclass(frozen=True)
class Geography:
    """A rotated Cartesian frame on a map projection.

    Args:
        projection: a projected coordinate system in any form that pyproj reads.
        corner: easting and northing of x = y = 0, m.
        azimuth: direction of the y axis, degrees clockwise from the north of the projection; x
            points 90 degrees further.
        size: size of the region along x and y, m.
        low: lowest x and y of the region, m.

    Use `from_origin`, `from_center` or `from_point`. Longitudes and latitudes are in degrees, WGS
    84.
    """

    projection: str
    corner: Pair
    azimuth: float
    size: Pair
    low: Pair = (0.0, 0.0)

    @classmethod
    def from_origin(
        cls, origin: Pair, size: Pair, azimuth: float = 0.0, projection: str = "tmerc"
    ) -> Geography:
        """The frame with its corner x = y = 0 at `origin`, (longitude, latitude).

        "tmerc" is the transverse Mercator projection centred on the region, where its north is
        true north.

        Raises:
            InputError: the projection is unknown, or distorts lengths in the region by over 1 %.
        """
        centre = _destination(
            origin, azimuth + math.degrees(math.atan2(*size)), math.hypot(*size) / 2
        )
        projection = _centred(projection, centre)
        return cls(projection, _project(projection, *origin), azimuth, size)._checked()

    @classmethod
    def from_center(
        cls, center: Pair, size: Pair, azimuth: float = 0.0, projection: str = "tmerc"
    ) -> Geography:
        """The frame with the centre of the region at `center`; see `from_origin`."""
        middle = (size[0] / 2, size[1] / 2)
        return cls.from_point(center, middle, azimuth, projection)._checked()

    @classmethod
    def from_point(
        cls, lonlat: Pair, position: Pair, azimuth: float = 0.0, projection: str = "tmerc"
    ) -> Geography:
        """The frame in which `position` (x, y), m, is at `lonlat` (degrees).

        `position` is also the centre of the region.

        Raises:
            InputError: the projection is unknown.
        """
        x, y = position
        projection = _centred(projection, lonlat)
        frame = cls(projection, _project(projection, *lonlat), azimuth, (2 * x, 2 * y))
        east, north = frame._to_map(-x, -y)
        return replace(frame, corner=(float(east), float(north)))

    def covering(self, low: Pair, high: Pair) -> Geography:
        """The same frame for the region between two corners x, y, m.

        Raises:
            InputError: the projection distorts lengths in the region by over 1 %.
        """
        size = (high[0] - low[0], high[1] - low[1])
        return replace(self, low=low, size=size)._checked()

    def to_grid(self, longitude: ArrayLike, latitude: ArrayLike) -> tuple[Floats, Floats]:
        """Grid coordinates x and y (m) of positions in degrees; arrays of one shape, or numbers.

        Raises:
            InputError: a position is outside the range of the projection.
        """
        east, north = _project(self.projection, longitude, latitude)
        east, north = east - self.corner[0], north - self.corner[1]
        cos, sin = self._rotation
        return east * cos - north * sin, east * sin + north * cos

    def to_lonlat(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Longitudes and latitudes (degrees) of coordinates in m; arrays of one shape, or numbers.

        Raises:
            InputError: a position is outside the range of the projection.
        """
        map_x, map_y = self._to_map(np.asarray(x, float), np.asarray(y, float))
        transformer, metre = _transformer(self.projection)
        position = transformer.transform(map_x / metre, map_y / metre, direction="INVERSE")
        return _require_finite(self.projection, position)

    @cached_property
    def true_azimuth(self) -> float:
        """Direction of the y axis at the centre of the region, degrees clockwise from true north.

        It differs from `azimuth` by the meridian convergence of the projection there.
        """
        x, y = (start + length / 2 for start, length in zip(self.low, self.size, strict=True))
        azimuth, _, _ = _ellipsoid().inv(*self.to_lonlat(x, y), *self.to_lonlat(x, y + 100))
        return float(azimuth)

    @property
    def _rotation(self) -> Pair:
        angle = math.radians(self.azimuth)
        return math.cos(angle), math.sin(angle)

    def _to_map(self, x: Any, y: Any) -> tuple[Any, Any]:
        cos, sin = self._rotation
        return self.corner[0] + x * cos + y * sin, self.corner[1] - x * sin + y * cos

    def _checked(self) -> Geography:
        """Check lengths of a kilometre at the centre and the corners, and return the frame."""
        x = self.low[0] + np.array([0.5, 0, 1, 0, 1]) * self.size[0]
        y = self.low[1] + np.array([0.5, 0, 0, 1, 1]) * self.size[1]
        points = self.to_lonlat(x, y)
        east, north = (
            self._ground_vector(points, self.to_lonlat(*to))
            for to in ((x + 1000, y), (x, y + 1000))
        )
        distortion = np.abs(np.hypot(*np.stack([east, north], axis=1)) / 1000 - 1).max()
        mirrored = (east[0] * north[1] - east[1] * north[0] < 0).any()
        if mirrored or not distortion <= _MAX_DISTORTION:
            raise InputError(
                f"projection {self.projection!r} distorts the region: "
                + ("its axes are mirrored" if mirrored else f"lengths by {100 * distortion:.2g} %")
                + '; use "tmerc", or a projection made for this place, and a smaller region'
            )
        return self

    @staticmethod
    def _ground_vector(start: tuple[Floats, Floats], end: tuple[Floats, Floats]) -> Floats:
        """Vectors on the ellipsoid, metres east and north, (2, n)."""
        azimuth, _, distance = _ellipsoid().inv(*start, *end)
        return distance * np.array([np.sin(np.radians(azimuth)), np.cos(np.radians(azimuth))])


def from_lonlat(system: str, longitude: ArrayLike, latitude: ArrayLike) -> tuple[Floats, Floats]:
    """Positions in a coordinate system, in its own unit: east and north, or degrees.

    Args:
        system: a coordinate system in any form that pyproj reads.
        longitude, latitude: degrees, WGS 84.

    Raises:
        InputError: the system is unknown, or a position is outside its range.
    """
    name, transformer = _known_system(system)
    return _require_finite(name, transformer.transform(longitude, latitude))


def to_lonlat(system: str, east: ArrayLike, north: ArrayLike) -> tuple[Floats, Floats]:
    """Longitudes and latitudes (degrees, WGS 84) of positions in a system; see `from_lonlat`."""
    name, transformer = _known_system(system)
    return _require_finite(name, transformer.transform(east, north, direction="INVERSE"))


def _known_system(system: str) -> tuple[str, Any]:
    """The name of a coordinate system, and the transformer from WGS 84."""
    from pyproj import CRS
    from pyproj.exceptions import ProjError

    try:
        crs = CRS.from_user_input(system)
        return crs.name, _transformer_to(crs)
    except (ProjError, ValueError):
        raise InputError(f"pyproj does not know the coordinate system {system[:60]!r}") from None


def require_projected(projection: str) -> None:
    """Check a projected coordinate system.

    Raises:
        InputError: it is unknown, or not projected.
    """
    _transformer(projection)


def _centred(projection: str, centre: Pair) -> str:
    if projection != "tmerc":
        return projection
    longitude, latitude = map(float, centre)
    return f"+proj=tmerc +lon_0={longitude!r} +lat_0={latitude!r} +datum=WGS84 +units=m"


def _project(projection: str, longitude: ArrayLike, latitude: ArrayLike) -> tuple[Any, Any]:
    """Easting and northing in m."""
    transformer, metre = _transformer(projection)
    position = np.broadcast_arrays(np.asarray(longitude, float), np.asarray(latitude, float))
    east, north = _require_finite(projection, transformer.transform(*position))
    return east * metre, north * metre


def _require_finite(projection: str, position: tuple[Any, Any]) -> tuple[Any, Any]:
    if not np.isfinite(position).all():
        raise InputError(f"a position is outside the range of projection {projection!r}")
    return position


def _destination(start: Pair, azimuth: float, distance: float) -> Pair:
    """Longitude and latitude at `distance` (m) from `start` along the ellipsoid."""
    longitude, latitude, _ = _ellipsoid().fwd(*start, azimuth, distance)
    return longitude, latitude


@lru_cache(maxsize=1)
def _ellipsoid() -> Any:
    from pyproj import Geod

    return Geod(ellps="WGS84")


@lru_cache(maxsize=64)
def _transformer_to(crs: Any) -> Any:
    from pyproj import Transformer

    return Transformer.from_crs("EPSG:4326", crs, always_xy=True)


@lru_cache(maxsize=64)
def _transformer(projection: str) -> tuple[Any, float]:
    """The transformer from WGS 84 longitude and latitude to `projection`, and its unit in m."""
    from pyproj import CRS
    from pyproj.exceptions import ProjError

    try:
        crs = CRS.from_user_input(projection)
        if not crs.is_projected:
            raise InputError(
                f'{projection!r} is not a map projection; use "tmerc" or an EPSG code of one'
            )
        transformer = _transformer_to(crs)
    except (ProjError, ValueError):
        raise InputError(
            f'pyproj does not know the projection {projection!r}; write "tmerc", or a code such as '
            '"EPSG:32611"'
        ) from None
    return transformer, float(crs.axis_info[0].unit_conversion_factor)
