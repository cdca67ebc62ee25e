"""Fields on the surface: the shaking map of a run, and the time series behind it, in NetCDF-4."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.errors import InputError
from groundswell.formats.appendable_hdf5 import GrowingFile, balanced, finite_positive
from groundswell.formats.atomic import whole
from groundswell.formats.netcdf import CONVENTIONS, TIME, Variable, lay_out, load, opened
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
    """Write peak ground velocity and acceleration on the surface cells.

    Args:
        path: final name, usually `shaking_map.nc`.
        pgv, pga: (ny, nx) peaks of the horizontal vector's length, m/s and m/s^2.
        x, y: (nx,) and (ny,) cell centres in the grid's frame, m.
        longitude, latitude: (ny, nx) of the cell centres, degrees, if the case has geography.
        attrs: attributes as in `SeismogramWriter`; the picture also knows `focal_mechanism`
            (strike, dip, rake in degrees, or the six components rr, tt, pp, rt, rp, tp of a moment
            tensor) and `fault_x`, `fault_y` (m, outlines of faults, parted by NaN).

    Raises:
        InputError: shapes that do not fit, or no permission to write.
        RunFailed: the disk is full.
    """
    places = _places(x, y, longitude, latitude)
    variables = {
        **places,
        "pgv": _peak(pgv, "m s-1", "peak ground velocity, horizontal", places),
        "pga": _peak(pga, "m s-2", "peak ground acceleration, horizontal", places),
    }
    _require_plane(variables, (np.size(y), np.size(x)))
    size = sum(v.values.nbytes for v in variables.values()) + _METADATA_BYTES
    with whole(path, size) as part:
        lay_out(
            part,
            {"y": np.size(y), "x": np.size(x)},
            variables,
            {"Conventions": CONVENTIONS, **(attrs or {})},
        )
    return Path(path)


def read_shaking_map(path: str | Path) -> xarray.Dataset:
    """Read a shaking map: `pgv` (m/s) and `pga` (m/s^2) on (y, x), with the file's attributes.

    Raises:
        InputError: the file is missing, damaged or no shaking map.
    """
    return load(path, required=("pgv", "pga", "x", "y"))


def open_surface(path: str | Path) -> AbstractContextManager[xarray.Dataset]:
    """Open surface time series: `velocity` (time, component, y, x), m/s, read only as far as used.

    Raises:
        InputError: the file is missing, damaged or of another kind.
    """
    return opened(path, required=("velocity", "time", "component", "x", "y"))


class SurfaceWriter(GrowingFile):
    """Appends particle velocity on the surface to a file (time, component, y, x), m/s.

    Components are true east, north and up as in seismograms, also on a turned grid.

    Args:
        path: final name, usually `surface.nc`.
        x, y: (nx,) and (ny,) positions of the values in the grid's frame, m.
        interval, start: times of the samples, s.
        attrs: attributes as in `SeismogramWriter`.
        resume: samples to keep of an earlier run's file; None starts a new one.
        longitude, latitude: (ny, nx) degrees, if the case has geography.
        dtype: type the values are stored in.

    Raises:
        InputError: shapes that do not fit, or a file to resume that does not belong to this case.
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
        self._interval = finite_positive("sampling interval", interval)
        self._start_time = start
        self._attrs = dict(attrs or {})
        self._azimuth = float(self._attrs.get("azimuth") or 0.0)
        self._places = _places(x, y, longitude, latitude)
        self._plane = (np.size(y), np.size(x))
        self._dtype = np.dtype(dtype)
        _require_plane(self._places, self._plane)
        super().__init__(path, {"time": (None,), "velocity": (None, 3, *self._plane)}, resume)

    def append(self, block: ArrayLike) -> None:
        """Append velocities (samples, 3, ny, nx) along the grid's x, y and z (down), m/s.

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
            chunks=(1, 1, balanced(ny, _TILE), balanced(nx, _TILE)),
            attrs={
                "units": "m s-1",
                "long_name": "particle velocity of the surface",
                **_located(self._places),
            },
        )
        lay_out(
            part,
            {"time": None, "component": 3, "y": ny, "x": nx},
            {
                "time": TIME,
                "component": Variable(("component",), COMPONENTS),
                **self._places,
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
    values: ArrayLike, units: str, long_name: str, places: Mapping[str, Variable]
) -> Variable:
    attrs = {
        "units": units,
        "long_name": long_name,
        "cell_methods": "time: maximum",
        "comment": _PEAK,
        **_located(places),
    }
    return Variable(("y", "x"), np.asarray(values), attrs=attrs)


def _places(
    x: ArrayLike, y: ArrayLike, longitude: ArrayLike | None, latitude: ArrayLike | None
) -> dict[str, Variable]:
    """Coordinates of surface values: x and y, and the 2-D longitude and latitude if known."""
    if (longitude is None) != (latitude is None):
        raise InputError("longitude and latitude belong together; give both or neither")
    places = {"x": _axis("x", x), "y": _axis("y", y)}
    if longitude is not None and latitude is not None:
        places["longitude"] = _degrees("longitude", "degrees_east", longitude)
        places["latitude"] = _degrees("latitude", "degrees_north", latitude)
    return places


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


def _located(places: Mapping[str, Variable]) -> dict[str, str]:
    """The attribute by which CF ties a variable to its longitude and latitude."""
    return {"coordinates": "longitude latitude"} if "longitude" in places else {}


def _require_plane(variables: Mapping[str, Variable], plane: tuple[int, int]) -> None:
    sizes = dict(zip(("y", "x"), plane, strict=True))
    for name, variable in variables.items():
        wanted = tuple(sizes[d] for d in variable.dims)
        if variable.values.shape != wanted:
            raise InputError(f"{name} has shape {variable.values.shape}; x and y make it {wanted}")
