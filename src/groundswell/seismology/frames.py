"""Coordinates of models and maps: of the region, longitude and latitude, or projected."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.errors import InputError
from groundswell.grids.geography import Geography, from_lonlat

LONLAT = "EPSG:4326"  # longitude and latitude, WGS 84


@dataclass(frozen=True, eq=False)
class Frame:
    """The horizontal coordinates of a model or a map.

    Args:
        source: the model or map, for messages.
        system: a coordinate system in any form that pyproj reads; None for x and y of the region.
        middle: longitude to which longitudes are within 180 degrees; None if there are none.
        axes: affine transform (2, 3) from coordinates of the system to those along the first and
            the second axis; None if both are the same.
        corner: coordinates in the system of x = y = 0 of the region, if there is no `system`.
        unit: that of coordinates along the axes, for messages.
        hint: what else the user can do about a model elsewhere, for messages.
    """

    source: str
    system: str | None = None
    middle: float | None = None
    axes: Reals | None = None
    corner: tuple[float, float] = (0.0, 0.0)
    unit: str = "m"
    hint: str = ""

    def moved(self, corner: tuple[float, float]) -> Frame:
        """The frame with the corner of the region elsewhere.

        Raises:
            InputError: the position of the region on Earth gives its corner.
        """
        if self.system is not None:
            raise InputError(
                f"{self.source} has a coordinate system of the Earth, in which [grid.geography] "
                "gives the corner of the region; leave medium.corner out"
            )
        return replace(self, corner=corner)

    def locate(self, x: Reals, y: Reals, geography: Geography | None) -> tuple[Reals, Reals]:
        """Positions x and y (m) in the region as coordinates along both axes.

        Arrays of one row and one column remain so if the axes are those of the region.

        Raises:
            InputError: the position of the region on Earth is needed and not known.
        """
        if self.system is not None:
            x, y = self._on_earth(x, y, geography)
        else:
            x, y = (at + shift for at, shift in zip((x, y), self.corner, strict=True))
        if self.axes is None:
            return x, y
        first, second = self.axes
        return _affine(first, x, y), _affine(second[[1, 0, 2]], y, x)

    def _on_earth(self, x: Reals, y: Reals, geography: Geography | None) -> tuple[Reals, Reals]:
        if geography is None:
            kind = "longitude and latitude" if self.middle is not None else "a map projection"
            raise InputError(
                f"{self.source} is on {kind}; add [grid.geography], the position of the region"
            )
        lon, lat = geography.to_lonlat(*np.broadcast_arrays(x, y))
        if self.system not in (None, LONLAT):
            lon, lat = from_lonlat(str(self.system), lon, lat)
        if self.middle is None:
            return lon, lat
        # The model may count longitude from 0 to 360 and the region from -180 to 180.
        return (np.asarray(lon) - self.middle + 180) % 360 + self.middle - 180, np.asarray(lat)


def lonlat_frame(source: str, longitudes: Reals, system: str = LONLAT) -> Frame:
    """The frame of a model or a map on longitude and latitude, in degrees."""
    middle = (float(np.min(longitudes)) + float(np.max(longitudes))) / 2 if longitudes.size else 0.0
    return Frame(source, system, middle, unit="degrees")


def _affine(row: Reals, x: Reals, y: Reals) -> Floats:
    """A coordinate from `row` = (a, b, c): a x + b y + c."""
    a, b, c = map(float, row)
    return np.asarray(a * x + b * y + c if b else a * x + c, float)
