"""Fields on the surface in NetCDF-4: shaking maps and time series."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.errors import InputError
from groundswell.formats.appendable_hdf5 import AppendableFile, chunk_length, require_positive
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import (
    CONVENTIONS,
    TIME,
    Variable,
    create_netcdf,
    open_netcdf,
    read_netcdf,
)
from groundswell.seismology.formats.seismograms import COMPONENTS, east_north_up

if TYPE_CHECKING:
    import xarray

_PEAK = (
    "Largest length over the simulated time of the horizontal vector, sqrt(E^2 + N^2), "
    "at full sampling rate, unfiltered"
)
_TILE = 512  # cells; a tile of float32 is 1 MiB
_METADATA_BYTES = 1 << 16


def write_shaking_map(
    path: str | Path,
    pgv: ArrayLike,
    pga: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    longitude: ArrayLike | None = None,
    latitude: ArrayLike | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Path:
    """Write a map of peak ground velocity and acceleration on the surface.

    Args:
        path: final name, usually `shaking_map.nc`.
        pgv, pga: peak magnitude of the horizontal vector, m/s and m/s^2, (ny, nx).
        x, y: cell centres in the frame of the grid, m, (nx,) and (ny,).
        longitude, latitude: the same in degrees, (ny, nx), if the case has a geography.
        attrs: attributes as in `SeismogramWriter`; pictures also use `focal_mechanism` (strike,
            dip, rake in degrees, or the components rr, tt, pp, rt, rp, tp of a moment tensor) and
            `fault_x`, `fault_y` (outlines of faults, m, separated by NaN).

    Raises:
        InputError: the shapes do not match, or there is no permission to write.
        RunFailed: the disk is full.
    """
    coordinates = _coordinates(x, y, longitude, latitude)
    variables = {
        **coordinates,
        "pgv": _peak(pgv, "m s-1", "peak ground velocity, horizontal", coordinates),
        "pga": _peak(pga, "m s-2", "peak ground acceleration, horizontal", coordinates),
    }
    _require_plane(variables, (np.size(y), np.size(x)))
    size = sum(v.values.nbytes for v in variables.values()) + _METADATA_BYTES
    with atomic_write(path, size) as part:
        create_netcdf(
            part,
            {"y": np.size(y), "x": np.size(x)},
            variables,
            {"Conventions": CONVENTIONS, **(attrs or {})},
        )
    return Path(path)


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


class SurfaceWriter(AppendableFile):
    """Appends particle velocity on the surface to a file (time, component, y, x), m/s.

    Components are true east, north and up, as in seismograms.

    Args:
        path: final name, usually `surface.nc`.
        x, y: positions of the values in the frame of the grid, m, (nx,) and (ny,).
        interval, start: time between samples and of the first one, s.
        attrs: attributes as in `SeismogramWriter`.
        resume: number of samples to keep of the file of an earlier run; None starts a new file.
        longitude, latitude: the same positions in degrees, (ny, nx), if the case has a geography.
        dtype: data type of the values in the file.

    Raises:
        InputError: the shapes do not match, or the file to resume is of another case.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: str | Path,
        x: ArrayLike,
        y: ArrayLike,
        interval: float,
        start: float = 0.0,
        attrs: Mapping[str, Any] | None = None,
        resume: int | None = None,
        longitude: ArrayLike | None = None,
        latitude: ArrayLike | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        self._interval = require_positive("sampling interval", interval)
        self._start_time = start
        self._attrs = dict(attrs or {})
        self._azimuth = float(self._attrs.get("azimuth") or 0.0)
        self._coordinates = _coordinates(x, y, longitude, latitude)
        self._plane = (np.size(y), np.size(x))
        self._dtype = np.dtype(dtype)
        _require_plane(self._coordinates, self._plane)
        super().__init__(path, {"time": (None,), "velocity": (None, 3, *self._plane)}, resume)

    def append(self, block: ArrayLike) -> None:
        """Append velocities (samples, 3, ny, nx) along x, y and z (down) of the grid, m/s.

        Raises:
            InputError: the block has another shape.
            RunFailed: the disk is full; all earlier samples are still in the file.
        """
        block = np.asarray(block)
        if block.ndim != 4 or block.shape[1:] != (3, *self._plane):
            raise InputError(
                f"a block of surface velocity has shape {block.shape}; it must be "
                f"(samples, 3, {self._plane[0]}, {self._plane[1]})"
            )
        steps = np.arange(self.length, self.length + len(block))
        self._extend(
            {
                "time": self._start_time + self._interval * steps,
                "velocity": east_north_up(block, self._azimuth, axis=1),
            }
        )

    def _create(self, part: Path) -> None:
        ny, nx = self._plane
        velocity = Variable(
            ("time", "component", "y", "x"),
            dtype=self._dtype,
            chunks=(1, 1, chunk_length(ny, _TILE), chunk_length(nx, _TILE)),
            attrs={
                "units": "m s-1",
                "long_name": "particle velocity of the surface",
                **_cf_coordinates(self._coordinates),
            },
        )
        create_netcdf(
            part,
            {"time": None, "component": 3, "y": ny, "x": nx},
            {
                "time": TIME,
                "component": Variable(("component",), COMPONENTS),
                **self._coordinates,
                "velocity": velocity,
            },
            {
                "Conventions": CONVENTIONS,
                **self._attrs,
                "azimuth": self._azimuth,
                "interval": self._interval,
                "start": self._start_time,
            },
        )


def _peak(
    values: ArrayLike, units: str, long_name: str, coordinates: Mapping[str, Variable]
) -> Variable:
    attrs = {
        "units": units,
        "long_name": long_name,
        "cell_methods": "time: maximum",
        "comment": _PEAK,
        **_cf_coordinates(coordinates),
    }
    return Variable(("y", "x"), np.asarray(values), attrs=attrs)


def _coordinates(
    x: ArrayLike, y: ArrayLike, longitude: ArrayLike | None, latitude: ArrayLike | None
) -> dict[str, Variable]:
    """Coordinates of surface values: x and y, and longitude and latitude (ny, nx) if known."""
    if (longitude is None) != (latitude is None):
        raise InputError("longitude and latitude belong together; give both or neither")
    coordinates = {"x": _axis("x", x), "y": _axis("y", y)}
    if longitude is not None and latitude is not None:
        coordinates["longitude"] = _degrees("longitude", "degrees_east", longitude)
        coordinates["latitude"] = _degrees("latitude", "degrees_north", latitude)
    return coordinates


def _axis(name: str, values: ArrayLike) -> Variable:
    attrs = {
        "units": "m",
        "axis": name.upper(),
        "long_name": f"distance along the grid's {name} axis",
    }
    return Variable((name,), np.asarray(values, np.float64), attrs=attrs)


def _degrees(name: str, units: str, values: ArrayLike) -> Variable:
    attrs = {"units": units, "standard_name": name}
    return Variable(("y", "x"), np.asarray(values, np.float64), attrs=attrs)


def _cf_coordinates(coordinates: Mapping[str, Variable]) -> dict[str, str]:
    """The CF attribute that names the longitude and latitude of a variable."""
    return {"coordinates": "longitude latitude"} if "longitude" in coordinates else {}


def _require_plane(variables: Mapping[str, Variable], plane: tuple[int, int]) -> None:
    sizes = dict(zip(("y", "x"), plane, strict=True))
    for name, variable in variables.items():
        expected = tuple(sizes[d] for d in variable.dims)
        if variable.values.shape != expected:
            raise InputError(
                f"{name} has shape {variable.values.shape}; x and y require {expected}"
            )
