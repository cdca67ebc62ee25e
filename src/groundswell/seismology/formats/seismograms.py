"""Seismograms: the HDF5 file of a run, and its conversion to SAC and miniSEED.

The file is NetCDF-4, which `xarray.open_dataset(path, engine="h5netcdf")`, h5py, ncdump and other
HDF5 readers open. Its variable `velocity` (station, component, time) is in m/s along true east,
north and **up**, whatever the azimuth of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.errors import InputError
from groundswell.formats.appendable_hdf5 import AppendableFile, chunk_length
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import TIME, Variable, create_netcdf, read_netcdf

if TYPE_CHECKING:
    import obspy
    import xarray

    from groundswell.seismology.receivers import Receiver

COMPONENTS = ("E", "N", "Z")

# Samples per chunk of each trace: many enough to read a trace in few chunks, and few enough that
# appending fills chunks quickly.
_CHUNK_SAMPLES = 512
_CHUNK_BYTES = 1 << 18

# Lowest sampling rate (Hz) of each band code of instruments with a corner period of 10 s or more,
# as a simulation has. SEED Reference Manual v2.4, appendix A.
_BAND_CODES = ((1000.0, "F"), (250.0, "C"), (80.0, "H"), (10.0, "B"), (1.5, "M"), (0.5, "L"))
_SLOWEST_BAND_CODE = "V"

_NO_OBSPY = (
    "SAC and miniSEED need ObsPy, which is not installed; run: pip install groundswell[seismology]"
)


class SeismogramWriter(AppendableFile):
    """Appends particle velocity at stations to a file of true east, north and up components.

    Args:
        path: final name, usually `seismograms.h5`.
        stations: at least one; `network.name` must be unique.
        interval: time between samples, s, of which the first is at the origin time.
        attrs: attributes of the file. Known keys: `title`, `azimuth` (of the y axis of the grid,
            degrees clockwise from north; rotates the horizontal components), `origin_time` (ISO
            8601), `event_longitude`, `event_latitude` (degrees), `event_x`, `event_y`,
            `event_depth` (m), `magnitude`. None means unknown.
        resume: number of samples to keep of the file of an earlier run; None starts a new file.
        dtype: data type of the samples in the file.

    Raises:
        InputError: the file to resume is of another case.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: str | Path,
        stations: Sequence[Receiver],
        interval: float,
        *,
        attrs: Mapping[str, Any] | None = None,
        resume: int | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        self._interval, self._attrs = interval, dict(attrs or {})
        self._azimuth = float(self._attrs.get("azimuth") or 0.0)
        self._stations, self._dtype = stations, np.dtype(dtype)
        self._ids = tuple(f"{s.network}.{s.name}" if s.network else s.name for s in stations)
        velocity = (len(self._ids), len(COMPONENTS), None)
        super().__init__(path, {"time": (None,), "velocity": velocity}, resume)
        if resume is not None:
            self._require_same_stations()

    def append(self, block: NDArray[Any]) -> None:
        """Append velocities (samples, stations, 3) along x, y and z (down) of the grid, m/s.

        Raises:
            RunFailed: the disk is full; all earlier samples are still in the file.
        """
        observed = east_north_up(block, self._azimuth, axis=2)
        times = self._interval * np.arange(self.length, self.length + len(block))
        self._extend({"time": times, "velocity": observed.transpose(1, 2, 0)})

    def _create(self, part: Path) -> None:
        station, component = len(self._ids), len(COMPONENTS)
        trace_bytes = component * _CHUNK_SAMPLES * self._dtype.itemsize
        places = _station_variables(self._stations, self._ids)
        velocity = Variable(
            ("station", "component", "time"),
            dtype=self._dtype,
            chunks=(chunk_length(station, _CHUNK_BYTES // trace_bytes), component, _CHUNK_SAMPLES),
            attrs={
                "units": "m s-1",
                "long_name": "particle velocity",
                "coordinates": " ".join(name for name in places if name != "station"),
            },
        )
        components = Variable(("component",), COMPONENTS)
        create_netcdf(
            part,
            {"station": station, "component": component, "time": None},
            {"component": components, "time": TIME, **places, "velocity": velocity},
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


def read_seismograms(path: str | Path) -> xarray.DataArray:
    """Read velocity seismograms (station, component, time), m/s, with the attributes of the file.

    Stations have the coordinates `network`, `code`, `x`, `y`, `depth` and, if the case has a
    geography, `longitude` and `latitude`.

    Raises:
        InputError: the file is missing, damaged or has no seismograms.
    """
    dataset = read_netcdf(path, required=("velocity", "station", "component", "time"))
    array = dataset["velocity"]
    if array.dims != ("station", "component", "time"):
        raise InputError(
            f"{path} is not a seismogram file: its velocity has dimensions {array.dims} instead of "
            f"('station', 'component', 'time')"
        )
    array.attrs = {**dataset.attrs, **array.attrs}
    return array


def to_obspy(array: xarray.DataArray) -> obspy.Stream:
    """Convert an array of `read_seismograms` to an ObsPy stream, one trace per component, m/s.

    Channels have SEED codes: band code of the sampling rate, instrument H, orientation E, N or Z.
    Times start from the attribute `origin_time`, by default 1970-01-01.

    Raises:
        InputError: ObsPy is not installed, a code is too long for SEED, or there are fewer than two
            samples.
    """
    obspy = _obspy()
    rate = 1.0 / _interval(array)
    begin = _origin_time(array) + float(array["time"][0])
    traces = []
    for site in array.transpose("station", "component", "time"):
        header = {
            "network": _seed_code("network", str(site["network"].item()), 2),
            "station": _seed_code("station", str(site["code"].item()), 5),
            "sampling_rate": rate,
            "starttime": begin,
            "coordinates": _coordinates(site),
        }
        for component in site:
            channel = f"{band_code(rate)}H{component['component'].item()}"
            data = np.ascontiguousarray(component.values)
            traces.append(obspy.Trace(data, {**header, "channel": channel}))
    return obspy.Stream(traces)


def write_mseed(array: xarray.DataArray, path: str | Path) -> Path:
    """Write seismograms to a miniSEED file (floating-point encoding), m/s.

    Raises:
        InputError: as `to_obspy`, or no permission to write.
        RunFailed: the disk is full.
    """
    stream = to_obspy(array)
    with atomic_write(path, size=array.nbytes) as part:
        stream.write(str(part), format="MSEED", reclen=512)  # record length used by data centres
    return Path(path)


def write_sac(array: xarray.DataArray, folder: str | Path) -> list[Path]:
    """Write seismograms to `folder`, one SAC file per component, named by its SEED code, m/s.

    The reference time of the headers is the origin time (o = 0). Positions are in degrees; evdp is
    in km and stdp in m, as the SAC manual defines them.

    Raises:
        InputError: as `to_obspy`, or no permission to write.
        RunFailed: the disk is full.
    """
    event = _sac_event(array)
    paths = []
    for trace in to_obspy(array):
        path = Path(folder) / f"{trace.id.lstrip('.')}.sac"  # avoid hidden files
        with atomic_write(path, size=trace.data.nbytes) as part:
            _sac_trace(trace, event, _origin_time(array)).write(str(part))
        paths.append(path)
    return paths


def east_north_up(velocity: NDArray[Any], azimuth: float, axis: int) -> NDArray[Any]:
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


def band_code(sampling_rate: float) -> str:
    """SEED band code of a broadband recording, from its sampling rate in Hz."""
    # Rounding must not put a rate such as 1 / 0.0125 below 80.
    rate = sampling_rate * (1 + 1e-9)
    return next((code for lowest, code in _BAND_CODES if rate >= lowest), _SLOWEST_BAND_CODE)


def _station_variables(stations: Sequence[Receiver], ids: Sequence[str]) -> dict[str, Variable]:
    """Coordinates of the stations; longitude and latitude only if known for all."""

    def of_stations(values: Sequence[Any], units: str | None, long_name: str) -> Variable:
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
    return variables


def require_formats(formats: Iterable[str]) -> None:
    """Check that the packages for `formats` ("hdf5", "sac", "mseed") are installed.

    Raises:
        InputError: ObsPy is needed and not installed.
    """
    if {"sac", "mseed"}.intersection(formats) and find_spec("obspy") is None:
        raise InputError(_NO_OBSPY)


def _obspy() -> Any:
    try:
        import obspy
    except ImportError as error:
        raise InputError(_NO_OBSPY) from error
    return obspy


def _origin_time(array: xarray.DataArray) -> Any:
    text = array.attrs.get("origin_time", "1970-01-01T00:00:00")
    try:
        return _obspy().UTCDateTime(str(text))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"origin_time = {text!r} is not a date; write it as 2014-03-29T04:09:42.97Z"
        ) from error


def _interval(array: xarray.DataArray) -> float:
    """Sampling interval (s), also of a slice or a decimation of the array in the file."""
    time = array["time"].values
    if len(time) < 2:
        raise InputError(f"seismograms with {len(time)} samples cannot be exported; 2 are needed")
    # Twelve digits remove the rounding errors of the stored times.
    return float(f"{(time[-1] - time[0]) / (len(time) - 1):.12g}")


def _seed_code(kind: str, code: str, longest: int) -> str:
    if len(code) > longest or not code.isascii():
        raise InputError(
            f"{kind} code {code!r} does not fit SAC and miniSEED names, which take {longest} ASCII "
            f"characters; shorten it or write HDF5 only"
        )
    return code


def _coordinates(site: xarray.DataArray) -> dict[str, float]:
    names = ("longitude", "latitude", "x", "y", "depth")
    return {name: float(site[name]) for name in names if name in site.coords}


def _sac_event(array: xarray.DataArray) -> dict[str, float]:
    """SAC headers of the known properties of the event."""
    scales = {
        "evlo": ("event_longitude", 1.0),
        "evla": ("event_latitude", 1.0),
        "evdp": ("event_depth", 1e-3),
        "mag": ("magnitude", 1.0),
    }
    return {
        header: float(array.attrs[name]) * scale
        for header, (name, scale) in scales.items()
        if name in array.attrs
    }


def _sac_trace(trace: Any, event: Mapping[str, float], origin: Any) -> Any:
    from obspy.io.sac import SACTrace

    place = trace.stats.coordinates
    azimuth, inclination = {"E": (90, 90), "N": (0, 90), "Z": (0, 0)}[trace.stats.channel[-1]]
    sac = SACTrace.from_obspy_trace(trace)
    sac.reftime = origin
    sac.b, sac.o, sac.iztype = trace.stats.starttime - origin, 0.0, "io"
    sac.idep, sac.kuser0, sac.lcalda = "ivel", "m/s", True
    sac.cmpaz, sac.cmpinc, sac.stdp = azimuth, inclination, place["depth"]
    if "longitude" in place:
        sac.stlo, sac.stla, sac.stel = place["longitude"], place["latitude"], 0.0
    for header, value in event.items():
        setattr(sac, header, value)
    return sac
