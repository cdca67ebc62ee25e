"""Seismograms as ObsPy streams, SAC and miniSEED."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.errors import InputError, install
from groundswell.formats.atomic import atomic_write
from groundswell.seismology.formats.seismograms import (
    QUANTITIES,
    VELOCITY,
    ReceiverQuantity,
    sampling_interval,
)

if TYPE_CHECKING:
    import obspy
    import xarray

# Lowest sampling rate (Hz) of each band code of instruments with a corner period of 10 s or more,
# as a simulation has. SEED Reference Manual v2.4, appendix A.
_BAND_CODES = ((1000.0, "F"), (250.0, "C"), (80.0, "H"), (10.0, "B"), (1.5, "M"), (0.5, "L"))
_SLOWEST_BAND_CODE = "V"

# SAC headers cmpaz and cmpinc. The azimuths of R and T are relative to that of the station.
_DIRECTIONS = {"E": (90, 90), "N": (0, 90), "Z": (0, 0), "R": (0, 90), "T": (90, 90)}

_NO_OBSPY = f"SAC and miniSEED need ObsPy, which is not installed; {install('seismology')}"


def to_obspy(*arrays: xarray.DataArray) -> obspy.Stream:
    """Convert arrays of `read_seismograms` to an ObsPy stream, one trace per component.

    Channels have SEED codes: those of the station, or else the band code of the sampling rate and
    an instrument: H of velocity (m/s), N of acceleration (m/s^2), X of displacement (m), with
    orientation E, N, Z, R or T; instrument D and orientation H of pressure (Pa). Time 0 is the
    attribute `reference_time`, by default `origin_time` or else 1970-01-01.

    Raises:
        InputError: ObsPy is not installed, a code is too long for SEED, or there are fewer than two
            samples.
    """
    return _obspy().Stream([trace for array in arrays for trace in _traces(array)])


def _traces(array: xarray.DataArray) -> Iterator[obspy.Trace]:
    rate = 1.0 / sampling_interval(array)
    begin = _reference_time(array) + float(array["time"][0])
    for site in array.transpose("station", "component", "time"):
        code = _channel_code(site, rate, _quantity(array))
        header = {
            "network": _seed_code("network", str(site["network"].item()), 2),
            "station": _seed_code("station", str(site["code"].item()), 5),
            "location": _text(site, "location"),
            "sampling_rate": rate,
            "starttime": begin,
            "coordinates": _coordinates(site),
        }
        for component in site:
            channel = f"{code}{component['component'].item()}"
            data = np.ascontiguousarray(component.values)
            yield _obspy().Trace(data, {**header, "channel": channel})


def _channel_code(site: xarray.DataArray, rate: float, quantity: ReceiverQuantity) -> str:
    """The band code and the instrument code of a station.

    Args:
        rate: of the samples, Hz.
        quantity: what the array holds.
    """
    own = _text(site, "channel")
    if own and quantity is VELOCITY:
        return own
    return (own[:1] or band_code(rate)) + quantity.instrument


def _text(site: xarray.DataArray, name: str) -> str:
    return str(site[name].item()) if name in site.coords else ""


def _quantity(array: xarray.DataArray) -> ReceiverQuantity:
    """What an array holds, by its name; velocity if it has lost that."""
    return QUANTITIES.get(str(array.name), VELOCITY)


def write_mseed(arrays: Sequence[xarray.DataArray], path: str | Path) -> Path:
    """Write seismograms to a miniSEED file (floating-point encoding), m/s and Pa.

    Raises:
        InputError: as `to_obspy`, or no permission to write.
        RunFailed: the disk is full.
    """
    stream = to_obspy(*arrays)
    with atomic_write(path, size=sum(array.nbytes for array in arrays)) as part:
        stream.write(str(part), format="MSEED", reclen=512)  # record length used by data centres
    return Path(path)


def write_sac(array: xarray.DataArray, folder: str | Path) -> list[Path]:
    """Write seismograms to `folder`, one SAC file per component, named by its SEED code.

    Velocity is in m/s, pressure in Pa. The reference time of the headers is time 0. If that is the
    origin time, o = 0; the time of the centroid is t0. Positions are in degrees; evdp is in km and
    stdp in m, as the SAC manual defines them.

    Raises:
        InputError: as `to_obspy`, or no permission to write.
        RunFailed: the disk is full.
    """
    event, zero, quantity = _sac_event(array), _reference_time(array), _quantity(array)
    paths = []
    for trace in to_obspy(array):
        path = Path(folder) / f"{trace.id.lstrip('.')}.sac"  # avoid hidden files
        with atomic_write(path, size=trace.data.nbytes) as part:
            _sac_trace(trace, event, zero, quantity).write(str(part))
        paths.append(path)
    return paths


def band_code(sampling_rate: float) -> str:
    """SEED band code of a broadband recording, from its sampling rate in Hz."""
    # Rounding must not put a rate such as 1 / 0.0125 below 80.
    rate = sampling_rate * (1 + 1e-9)
    return next((code for lowest, code in _BAND_CODES if rate >= lowest), _SLOWEST_BAND_CODE)


def require_formats(formats: Iterable[str]) -> None:
    """Check that the packages for `formats` such as "sac" and "mseed" are installed.

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


def _reference_time(array: xarray.DataArray) -> Any:
    """The date of time 0."""
    names = ("reference_time", "origin_time")
    known = [(name, array.attrs[name]) for name in names if name in array.attrs]
    name, text = known[0] if known else ("reference_time", "1970-01-01T00:00:00")
    try:
        return _obspy().UTCDateTime(str(text))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} = {text!r} is not a date; write it as 2014-03-29T04:09:42.97Z"
        ) from error


def _seed_code(kind: str, code: str, longest: int) -> str:
    if len(code) > longest or not code.isascii():
        raise InputError(
            f"{kind} code {code!r} does not fit SAC and miniSEED names, which take {longest} ASCII "
            f"characters; shorten it or write HDF5 only"
        )
    return code


def _coordinates(site: xarray.DataArray) -> dict[str, float]:
    names = ("longitude", "latitude", "x", "y", "depth", "elevation", "azimuth")
    return {name: float(site[name]) for name in names if name in site.coords}


def _sac_event(array: xarray.DataArray) -> dict[str, float | str]:
    """SAC headers of the known properties of the event.

    The origin time is time 0, unless only the centroid time of the event is known.
    """
    scales = {
        "evlo": ("event_longitude", 1.0),
        "evla": ("event_latitude", 1.0),
        "evdp": ("event_depth", 1e-3),
        "mag": ("magnitude", 1.0),
        "t0": ("event_time", 1.0),
    }
    known: dict[str, float | str] = {
        header: float(array.attrs[name]) * scale
        for header, (name, scale) in scales.items()
        if name in array.attrs
    }
    if "t0" in known:
        known["kt0"] = "CENTROID"
    has_origin = "origin_time" in array.attrs or "centroid_time" not in array.attrs
    return known | ({"o": 0.0, "iztype": "io"} if has_origin else {"iztype": "iunkn"})


def _sac_trace(
    trace: Any, event: Mapping[str, float | str], zero: Any, quantity: ReceiverQuantity
) -> Any:
    from obspy.io.sac import SACTrace

    place = trace.stats.coordinates
    sac = SACTrace.from_obspy_trace(trace)
    sac.reftime = zero
    sac.b = trace.stats.starttime - zero
    sac.idep, sac.kuser0, sac.lcalda = quantity.sac_type, quantity.sac_units, True
    sac.stdp = place["depth"]
    orientation = trace.stats.channel[-1]
    if direction := _DIRECTIONS.get(orientation):
        turned = place["azimuth"] if orientation in "RT" else 0.0
        sac.cmpaz, sac.cmpinc = (direction[0] + turned) % 360, direction[1]
    if "longitude" in place:
        sac.stlo, sac.stla = place["longitude"], place["latitude"]
        sac.stel = float(np.nan_to_num(place.get("elevation", 0.0)))
    for header, value in event.items():
        setattr(sac, header, value)
    return sac
