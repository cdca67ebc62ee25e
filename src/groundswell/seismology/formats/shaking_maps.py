"""Fields on the surface in NetCDF-4: shaking maps and time series."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import HostArray
from groundswell.formats.appendable_hdf5 import chunk_length
from groundswell.formats.netcdf import TIME, Variable, open_netcdf, read_netcdf
from groundswell.outputs.files import SeriesWriter, write_fields
from groundswell.seismology.formats.seismograms import (
    COMPONENTS,
    Attributes,
    SeriesOptions,
    east_north_up,
)

if TYPE_CHECKING:
    import xarray

    from groundswell.grids.geography import Geography

_PEAK = (
    "Largest length over the simulated time of the horizontal vector, sqrt(E^2 + N^2), "
    "at full sampling rate, unfiltered"
)
_TILE = 512  # cells; a tile of float32 is 1 MiB


@dataclass(frozen=True, eq=False)
class SurfacePoints:
    """Positions of values on the surface.

    Args:
        x, y: in the frame of the grid, m, (nx,) and (ny,).
        longitude, latitude: the same in degrees, (ny, nx), if the case has a geography.
    """

    x: ArrayLike
    y: ArrayLike
    longitude: ArrayLike | None = None
    latitude: ArrayLike | None = None

    @classmethod
    def at(cls, x: HostArray, y: HostArray, geography: Geography | None) -> Self:
        """The points (x, y), with longitudes and latitudes if the case has a geography."""
        lonlat = () if geography is None else geography.to_lonlat(*np.meshgrid(x, y))
        return cls(x, y, *lonlat)

    @property
    def coordinates(self) -> dict[str, Variable]:
        """Coordinates in a file: x and y, and longitude and latitude if known."""
        found = {
            name: Variable((name,), np.asarray(values, np.float64), attrs=_axis_attributes(name))
            for name, values in (("x", self.x), ("y", self.y))
        }
        degrees = (("longitude", self.longitude, "east"), ("latitude", self.latitude, "north"))
        for name, values, towards in degrees if self.longitude is not None else ():
            attrs = {"units": f"degrees_{towards}", "standard_name": name}
            found[name] = Variable(("y", "x"), np.asarray(values, np.float64), attrs=attrs)
        return found

    @property
    def attrs(self) -> dict[str, str]:
        """The CF attribute of a variable that names its longitude and latitude."""
        return {} if self.longitude is None else {"coordinates": "longitude latitude"}


Points = Callable[[], SurfacePoints]  # finds them when a file needs them


def _axis_attributes(name: str) -> dict[str, str]:
    return {
        "units": "m",
        "axis": name.upper(),
        "long_name": f"distance along the grid's {name} axis",
    }


def write_shaking_map(
    path: Path,
    pgv: ArrayLike,
    pga: ArrayLike,
    points: SurfacePoints,
    attrs: Attributes | None = None,
) -> Path:
    """Write a map of peak ground velocity and acceleration on the surface.

    Args:
        path: final name, usually `shaking_map.nc`.
        pgv, pga: peak magnitude of the horizontal vector, m/s and m/s^2, (ny, nx).
        points: centres of the cells.
        attrs: attributes as in `SeriesOptions`; pictures also use `focal_mechanism` (strike,
            dip, rake in degrees, or the components rr, tt, pp, rt, rp, tp of a moment tensor) and
            `fault_x`, `fault_y` (outlines of faults, m, separated by NaN).

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    peaks = {
        "pgv": _peak(pgv, "m s-1", "peak ground velocity, horizontal", points),
        "pga": _peak(pga, "m s-2", "peak ground acceleration, horizontal", points),
    }
    return write_fields(path, points.coordinates, peaks, attrs or {})


def read_shaking_map(path: str | Path) -> xarray.Dataset:
    """Read a shaking map: `pgv` (m/s) and `pga` (m/s^2) on (y, x), with the attributes of the file.

    Raises:
        InputError: the file is missing, damaged or not a shaking map.
    """
    return read_netcdf(path, required=("pgv", "pga", "x", "y"))


def open_surface(path: str | Path) -> AbstractContextManager[xarray.Dataset]:
    """Open time series of the surface: `velocity` (time, component, y, x), m/s, read lazily.

    Raises:
        InputError: the file is missing, damaged or not of the surface.
    """
    return open_netcdf(path, required=("velocity", "time", "component", "x", "y"))


class SurfaceWriter(SeriesWriter):
    """Appends particle velocity on the surface to a file (time, component, y, x), m/s.

    Components are true east, north and up, as in seismograms.

    Args:
        path: final name, usually `surface.nc`.
        points: positions of the values.
        interval: time between samples, s.
        options: see `SeriesOptions`.

    Raises:
        InputError: the file to resume is of another case.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: Path,
        points: SurfacePoints,
        interval: float,
        **options: Unpack[SeriesOptions],
    ) -> None:
        known = dict(options.get("attrs", {}))
        self._interval, self._start = interval, options.get("start", 0.0)
        self._azimuth = float(known.get("azimuth") or 0.0)
        velocity = Variable(
            ("time", "component", "y", "x"),
            dtype=np.dtype(options.get("dtype", "float32")),
            chunks=(1, 1, *(chunk_length(np.size(axis), _TILE) for axis in (points.y, points.x))),
            attrs={
                "units": "m s-1",
                "long_name": "particle velocity of the surface",
                **points.attrs,
            },
        )
        super().__init__(
            path,
            ("time", TIME),
            {"component": Variable(("component",), COMPONENTS), **points.coordinates},
            {"velocity": velocity},
            {**known, "azimuth": self._azimuth, "interval": interval},
            options.get("resume"),
        )

    def append_velocity(self, block: HostArray) -> None:
        """Append velocities (samples, 3, ny, nx) along x, y and z (down) of the grid, m/s.

        Raises:
            RunFailed: the disk is full; all earlier samples are still in the file.
        """
        numbers = np.arange(self.length, self.length + len(block), dtype=np.float64)
        times = self._start + self._interval * numbers
        self.append(times, {"velocity": east_north_up(block, self._azimuth, axis=1)})


def _peak(values: ArrayLike, units: str, long_name: str, points: SurfacePoints) -> Variable:
    attrs = {
        "units": units,
        "long_name": long_name,
        "cell_methods": "time: maximum",
        "comment": _PEAK,
        **points.attrs,
    }
    return Variable(("y", "x"), np.asarray(values), attrs=attrs)
