"""Seismograms: the HDF5 files of a run.

The file is NetCDF-4, which `xarray.open_dataset(path, engine="h5netcdf")`, h5py, ncdump and other
HDF5 readers open. Its variable `velocity` (station, component, time) is in m/s along true east,
north and **up**, whatever the azimuth of the grid. Pressure has a file of its own, with the
variable `pressure` in Pa and the component H.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import HostArray
from groundswell.errors import InputError, counted
from groundswell.formats.appendable_hdf5 import AppendableFile, chunk_length
from groundswell.formats.netcdf import TIME, Variable, create_netcdf, read_netcdf

if TYPE_CHECKING:
    import xarray

    from groundswell.seismology.receivers import Station

Attributes = Mapping[str, Any]  # of a file

COMPONENTS = ("E", "N", "Z")


@dataclass(frozen=True)
class ReceiverQuantity:
    """What receivers record.

    Args:
        name: of the variable in a file.
        file: usual name of the file.
        units, long_name: attributes of the variable.
        components: SEED orientation codes.
        instrument: SEED instrument code.
        sac_type: the SAC header `idep`.
        sac_units: for the SAC header `kuser0`.
    """

    name: str
    file: str
    units: str
    long_name: str
    components: tuple[str, ...]
    instrument: str
    sac_type: str
    sac_units: str


VELOCITY = ReceiverQuantity(
    "velocity", "seismograms.h5", "m s-1", "particle velocity", COMPONENTS, "H", "ivel", "m/s"
)
# Component H is that of a hydrophone: SEED Reference Manual v2.4, appendix A.
# Instrument X is data that are derived or computed, N an accelerometer.
DISPLACEMENT = ReceiverQuantity(
    "displacement", "displacement.h5", "m", "displacement", COMPONENTS, "X", "idisp", "m"
)
ACCELERATION = ReceiverQuantity(
    *("acceleration", "acceleration.h5", "m s-2", "acceleration"),
    *(COMPONENTS, "N", "iacc", "m/s^2"),
)
PRESSURE = ReceiverQuantity("pressure", "pressure.h5", "Pa", "pressure", ("H",), "D", "iunkn", "Pa")
# Of runs; displacement and acceleration follow from velocity.
RECORDED_QUANTITIES = (VELOCITY, PRESSURE)
QUANTITIES = {each.name: each for each in (*RECORDED_QUANTITIES, DISPLACEMENT, ACCELERATION)}

# Samples per chunk of each trace: many enough to read a trace in few chunks, and few enough that
# appending fills chunks quickly.
_CHUNK_SAMPLES = 512
_CHUNK_BYTES = 1 << 18


class SeriesOptions(TypedDict, total=False):
    """Options of the files of time series.

    Attributes:
        start: time of the first sample, s; by default 0.
        attrs: attributes of the file. Known keys: `title`, `azimuth` (of the y axis of the grid,
            degrees clockwise from north; rotates the horizontal components), `reference_time` and
            `origin_time` (ISO 8601; the dates of time 0 and of the event's origin),
            `event_longitude`, `event_latitude` (degrees), `event_x`, `event_y`, `event_depth`,
            `event_water_depth` (m), `event_time` (s), `magnitude`. None means unknown.
        resume: number of samples to keep of the file of an earlier run; None, the default, starts a
            new file.
        dtype: data type of the samples in the file; by default single precision.
    """

    start: float
    attrs: Attributes
    resume: int | None
    dtype: DTypeLike


class SeismogramWriter(AppendableFile):
    """Appends velocity along true east, north and up, or pressure, at stations to a file.

    Args:
        path: final name, usually `seismograms.h5` or `pressure.h5`.
        stations: at least one; `network.name` must be unique.
        interval: time between samples, s.
        quantity: what the stations record.

    Raises:
        InputError: the file to resume is of another case.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: str | Path,
        stations: Sequence[Station],
        interval: float,
        quantity: ReceiverQuantity = VELOCITY,
        **options: Unpack[SeriesOptions],
    ) -> None:
        self._interval, self._start = interval, options.get("start", 0.0)
        self._quantity, self._attrs = quantity, dict(options.get("attrs", {}))
        self._azimuth = float(self._attrs.get("azimuth") or 0.0)
        self._stations, self._dtype = stations, np.dtype(options.get("dtype", "float32"))
        self._ids = tuple(f"{s.network}.{s.name}" if s.network else s.name for s in stations)
        values = (len(self._ids), len(quantity.components), None)
        super().__init__(path, {"time": (None,), quantity.name: values}, options.get("resume"))
        if options.get("resume") is not None:
            self._require_same_stations()

    def append(self, block: HostArray) -> None:
        """Append samples (samples, stations, components); velocity along x, y and z (down), m/s.

        Raises:
            RunFailed: the disk is full; all earlier samples are still in the file.
        """
        is_velocity = self._quantity is VELOCITY
        observed = east_north_up(block, self._azimuth, axis=2) if is_velocity else block
        numbers = np.arange(self.length, self.length + len(block))
        times = self._start + self._interval * numbers
        self._extend({"time": times, self._quantity.name: observed.transpose(1, 2, 0)})

    def _create(self, part: Path) -> None:
        quantity = self._quantity
        station, component = len(self._ids), len(quantity.components)
        trace_bytes = component * _CHUNK_SAMPLES * self._dtype.itemsize
        places = _station_variables(self._stations, self._ids)
        if quantity is PRESSURE:
            kinds = [station.kind for station in self._stations]
            places["kind"] = Variable(("station",), kinds, attrs={"long_name": "instrument"})
        values = Variable(
            ("station", "component", "time"),
            dtype=self._dtype,
            chunks=(chunk_length(station, _CHUNK_BYTES // trace_bytes), component, _CHUNK_SAMPLES),
            attrs={
                "units": quantity.units,
                "long_name": quantity.long_name,
                "coordinates": " ".join(name for name in places if name != "station"),
            },
        )
        components = Variable(("component",), quantity.components)
        create_netcdf(
            part,
            {"station": station, "component": component, "time": None},
            {"component": components, "time": TIME, **places, quantity.name: values},
            {
                "featureType": "timeSeries",
                **self._attrs,
                "azimuth": self._azimuth,
                "interval": self._interval,
            },
        )

    def _require_same_stations(self) -> None:
        ids = tuple(self._file["station"].asstr()[:])
        if ids != self._ids:
            self.close()
            raise InputError(
                f"{self.part} cannot be continued: it has other stations ({', '.join(ids)}); "
                f"restart with the case that wrote it"
            )


def read_seismograms(path: str | Path, quantity: ReceiverQuantity = VELOCITY) -> xarray.DataArray:
    """Read seismograms (station, component, time), with the attributes of the file.

    Velocity is in m/s, pressure in Pa. Stations have the coordinates `network`, `code`, `x`, `y`,
    `depth`, of pressure `kind` and, if the case has a geography, `longitude` and `latitude`.

    Raises:
        InputError: the file is missing, damaged or has no seismograms.
    """
    dataset = read_netcdf(path, required=(quantity.name, "station", "component", "time"))
    array = dataset[quantity.name]
    if array.dims != ("station", "component", "time"):
        raise InputError(
            f"{path} is not a seismogram file: its {quantity.name} has dimensions {array.dims} "
            f"instead of ('station', 'component', 'time')"
        )
    array.attrs = {**dataset.attrs, **array.attrs}
    return array


def sampling_interval(array: xarray.DataArray) -> float:
    """Sampling interval (s), also of a slice or a decimation of the array in the file.

    Raises:
        InputError: there are fewer than two samples.
    """
    time = array["time"].values
    if len(time) < 2:
        samples = counted(len(time), "sample")
        raise InputError(f"seismograms with {samples} have no sampling interval; 2 are needed")
    # Twelve digits remove the rounding errors of the stored times.
    return float(f"{(time[-1] - time[0]) / (len(time) - 1):.12g}")


def east_north_up(velocity: HostArray, azimuth: float, axis: int) -> HostArray:
    """Rotate velocity along x, y and z (down) of a grid to true east, north and up.

    Args:
        velocity: array with the three components along `axis`.
        azimuth: direction of the y axis of the grid, degrees clockwise from north.
    """
    east, north, down = np.moveaxis(velocity, axis, 0)
    if azimuth:
        cos, sin = math.cos(math.radians(azimuth)), math.sin(math.radians(azimuth))
        east, north = cos * east + sin * north, cos * north - sin * east
    return np.stack([east, north, -down], axis=axis)


def _station_variables(stations: Sequence[Station], ids: Sequence[str]) -> dict[str, Variable]:
    """Coordinates of the stations; longitude and latitude only if known for all."""

    def of_stations(
        values: Sequence[str] | Sequence[float], units: str | None, long_name: str
    ) -> Variable:
        standard = long_name if long_name in ("longitude", "latitude") else None
        attrs = {"units": units, "long_name": long_name, "standard_name": standard}
        return Variable(("station",), values, attrs=attrs)

    x, y, depth = zip(*(s.position for s in stations), strict=True)
    variables = {
        "station": Variable(("station",), ids, attrs={"cf_role": "timeseries_id"}),
        "network": of_stations([s.network for s in stations], None, "network code"),
        "code": of_stations([s.name for s in stations], None, "station code"),
        "x": of_stations(x, "m", "distance along the grid's x axis"),
        "y": of_stations(y, "m", "distance along the grid's y axis"),
        "depth": of_stations(depth, "m", "depth below the surface"),
    }
    if all(s.longitude is not None and s.latitude is not None for s in stations):
        longitude = [float(s.longitude) for s in stations if s.longitude is not None]
        latitude = [float(s.latitude) for s in stations if s.latitude is not None]
        variables["longitude"] = of_stations(longitude, "degrees_east", "longitude")
        variables["latitude"] = of_stations(latitude, "degrees_north", "latitude")
    for name, meaning in _CODES.items():
        if any(codes := [getattr(s, name) for s in stations]):
            variables[name] = of_stations(codes, None, meaning)
    if all(s.water_depth is not None for s in stations):
        water = [float(s.water_depth or 0.0) for s in stations]
        variables["water_depth"] = of_stations(water, "m", "depth of the water")
    elevations = [math.nan if s.elevation is None else s.elevation for s in stations]
    if not all(map(math.isnan, elevations)):
        variables["elevation"] = of_stations(elevations, "m", "elevation of the ground")
    return variables


_CODES = {"location": "location code", "channel": "band and instrument codes of velocity"}
