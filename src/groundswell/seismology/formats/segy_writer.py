"""Shot gathers as SEG-Y files, revision 1, with IEEE floating-point samples.

Norris, M. W. & Faichney, A. K. (eds., 2002). SEG Y rev 1 data exchange format. Society of
Exploration Geophysicists, Tulsa. Numbers are big-endian; comments state the bytes of the standard.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import Floats, HostArray, Indices
from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    QUANTITIES,
    VELOCITY,
    sampling_interval,
)
from groundswell.seismology.source_distances import epicentre, offsets

if TYPE_CHECKING:
    import xarray

MOST_SAMPLES, LONGEST = 32767, 0.032767  # of a trace; the longest interval, s
SETTINGS = "--interval of a command, export_interval of a case"

_MICROSECONDS = 1e6
_TEXT_LINES, _TEXT_WIDTH = 40, 80
_EBCDIC = "cp037"
# Trace identification codes (bytes 29-30).
_KINDS = {"H": 11, "Z": 12, "N": 13, "E": 14, "T": 16, "R": 17}
# Units of values (bytes 203-204), by the quantity.
_UNITS = {"pressure": 1, "displacement": 5, "velocity": 6, "acceleration": 7}
_DIVISORS = (1000, 100, 10, 1)  # that scale lengths and times, the most accurate first
_IEEE, _AS_RECORDED, _METRES, _POSITIVE, _UTC = 5, 1, 1, 2, 4
_LENGTHS, _SECONDS_OF_ARC = 1, 2  # of coordinates
_SECONDS = 3600.0  # of arc, in a degree


def _layout(size: int, fields: dict[str, tuple[int, str]]) -> np.dtype[np.void]:
    """The layout of a header of `size` bytes, from the first byte (from 1) and type of fields."""
    return np.dtype(
        {
            "names": list(fields),
            "formats": [f">{kind}" for _, kind in fields.values()],
            "offsets": [byte - 1 for byte, _ in fields.values()],
            "itemsize": size,
        }
    )


_FILE_HEADER = _layout(
    400,
    {
        "line": (5, "i4"),
        "reel": (9, "i4"),
        "traces": (13, "i2"),
        "interval": (17, "i2"),  # us
        "samples": (21, "i2"),
        "format": (25, "i2"),
        "sorting": (29, "i2"),
        "measurement_system": (55, "i2"),
        "polarity": (57, "i2"),
        "revision": (301, "u2"),
        "has_fixed_length": (303, "i2"),
    },
)
_TRACE_HEADER = _layout(
    240,
    {
        "number_in_line": (1, "i4"),
        "number_in_file": (5, "i4"),
        "record": (9, "i4"),
        "number": (13, "i4"),
        "source_point": (17, "i4"),
        "kind": (29, "i2"),
        "is_production": (35, "i2"),
        "offset": (37, "i4"),  # m
        "receiver_elevation": (41, "i4"),
        "source_depth": (49, "i4"),
        "source_water_depth": (61, "i4"),
        "receiver_water_depth": (65, "i4"),
        "depth_scalar": (69, "i2"),
        "coordinate_scalar": (71, "i2"),
        "source_x": (73, "i4"),
        "source_y": (77, "i4"),
        "receiver_x": (81, "i4"),
        "receiver_y": (85, "i4"),
        "coordinate_units": (89, "i2"),
        "delay": (109, "i2"),  # ms
        "samples": (115, "i2"),
        "interval": (117, "i2"),  # us
        "year": (157, "i2"),
        "day": (159, "i2"),
        "hour": (161, "i2"),
        "minute": (163, "i2"),
        "second": (165, "i2"),
        "time_basis": (167, "i2"),
        "unit": (203, "i2"),
        "time_scalar": (215, "i2"),
    },
)


def write_segy(array: xarray.DataArray, path: str | Path, shot: int = 1) -> Path:
    """Write the seismograms of one shot, a trace for each component of each station.

    Coordinates are longitudes and latitudes if they are known, or else along x and y of the
    grid, in m. Depths of water are those of the seismograms. Offsets are horizontal distances from
    the source, negative on its far side; see `source_distances.offsets`.

    Args:
        array: see `read_seismograms`.
        shot: the field record number.

    Raises:
        InputError: the samples are too many, or their interval is too long or not a whole number of
            microseconds.
        RunFailed: the disk is full.
    """
    array = array.transpose("station", "component", "time")
    interval = interval_in_microseconds(sampling_interval(array), array.sizes["time"])
    samples = array.values.reshape(-1, array.sizes["time"])
    traces = np.zeros(len(samples), _with_samples(samples.shape[1]))
    traces["values"] = samples
    _fill(traces["header"], array, shot, interval)
    text = _text(array, shot, interval)
    with atomic_write(path, size=3600 + traces.nbytes) as part, part.open("wb") as file:
        file.write(text)
        file.write(_file_header(array, interval).tobytes())
        file.write(traces.tobytes())
    return Path(path)


def interval_in_microseconds(interval: float, samples: int) -> int:
    """The interval of a SEG-Y file, from that in s.

    Raises:
        InputError: SEG-Y cannot express it, or cannot have this number of samples.
    """
    whole = round(_MICROSECONDS * interval)
    if abs(_MICROSECONDS * interval - whole) > 1e-6 * whole or not 0 < interval <= LONGEST:
        raise InputError(
            f"SEG-Y needs an interval of at most {LONGEST} s that is a whole number of "
            f"microseconds, and that of the seismograms is {interval:.12g} s; set another "
            f"interval for the files: {SETTINGS}"
        )
    if samples > MOST_SAMPLES:
        raise InputError(
            f"SEG-Y has at most {MOST_SAMPLES} samples per trace, and the seismograms have "
            f"{samples}; set a longer interval for the files: {SETTINGS}"
        )
    return whole


def _with_samples(samples: int) -> DTypeLike:
    return [("header", _TRACE_HEADER), ("values", ">f4", (samples,))]


def _file_header(array: xarray.DataArray, interval: int) -> HostArray:
    header = np.zeros(1, _FILE_HEADER)
    header["line"] = header["reel"] = 1
    header["traces"] = min(array.sizes["station"] * array.sizes["component"], MOST_SAMPLES)
    header["interval"], header["samples"] = interval, array.sizes["time"]
    header["format"], header["sorting"] = _IEEE, _AS_RECORDED
    # Upward motion and an increase of pressure are positive numbers.
    header["measurement_system"], header["polarity"] = _METRES, _POSITIVE
    header["revision"], header["has_fixed_length"] = 0x0100, 1
    return header


def _fill(headers: HostArray, array: xarray.DataArray, shot: int, interval: int) -> None:
    """Fill the headers of all traces."""
    components = [str(each) for each in array["component"].values]
    station = np.repeat(np.arange(array.sizes["station"]), len(components))
    for name in ("number_in_line", "number_in_file", "number"):
        headers[name] = np.arange(1, len(headers) + 1)
    headers["record"] = headers["source_point"] = shot
    headers["kind"] = np.tile([_KINDS[each] for each in components], array.sizes["station"])
    headers["is_production"] = 1
    headers["samples"], headers["interval"] = array.sizes["time"], interval
    headers["unit"] = _UNITS.get(str(array.name), _UNITS[VELOCITY.name])
    _fill_places(headers, array, station)
    _fill_times(headers, array)


def _fill_places(headers: HostArray, array: xarray.DataArray, station: Indices) -> None:
    """Fill offsets, coordinates, depths and elevations."""
    headers["offset"] = np.rint(offsets(array))[station]
    headers["coordinate_units"] = _SECONDS_OF_ARC if is_geographic(array) else _LENGTHS
    (x, y), (receiver_x, receiver_y) = _coordinates(array)
    places: dict[str, Any] = {"source_x": x, "source_y": y}
    places |= {"receiver_x": receiver_x[station], "receiver_y": receiver_y[station]}
    heights: dict[str, Any] = {
        "source_depth": float(array.attrs.get("event_depth", 0.0)),
        "source_water_depth": float(array.attrs.get("event_water_depth", 0.0)),
        "receiver_elevation": -array["depth"].values[station],
    }
    if "water_depth" in array.coords:
        heights["receiver_water_depth"] = array["water_depth"].values[station]
    for scalar, values in (("coordinate_scalar", places), ("depth_scalar", heights)):
        divisor = _divisor(np.concatenate([np.ravel(each) for each in values.values()]), np.int32)
        headers[scalar] = _scalar(divisor)
        for name, each in values.items():
            headers[name] = np.rint(divisor * np.asarray(each))


def is_geographic(array: xarray.DataArray) -> bool:
    """Whether longitudes and latitudes of the source and of all stations are known."""
    known = {"longitude", "latitude"} <= {*array.coords}
    return known and {"event_longitude", "event_latitude"} <= {*array.attrs}


def _coordinates(array: xarray.DataArray) -> tuple[tuple[float, float], tuple[Floats, Floats]]:
    """Coordinates of the source and of the stations, (stations,) each, m or seconds of arc."""
    if not is_geographic(array):
        return epicentre(array.attrs) or (0.0, 0.0), (array["x"].values, array["y"].values)
    longitude, latitude = (
        (_SECONDS * float(array.attrs[f"event_{name}"]), _SECONDS * array[name].values)
        for name in ("longitude", "latitude")
    )
    return (longitude[0], latitude[0]), (longitude[1], latitude[1])


def _fill_times(headers: HostArray, array: xarray.DataArray) -> None:
    """Fill the time of the first sample after time 0, and the date of time 0 if it is known."""
    delay = 1e3 * float(array["time"][0])
    divisor = _divisor(np.array([delay]), np.int16)
    headers["delay"], headers["time_scalar"] = round(divisor * delay), _scalar(divisor)
    text = array.attrs.get("reference_time") or array.attrs.get("origin_time")
    if text:
        date = datetime.fromisoformat(str(text))
        headers["year"], headers["day"] = date.year, date.timetuple().tm_yday
        headers["hour"], headers["minute"], headers["second"] = date.hour, date.minute, date.second
        headers["time_basis"] = _UTC


def _divisor(values: Floats, kind: DTypeLike) -> int:
    """The largest divisor of a scalar with which integers of a kind hold all values."""
    largest, most = float(np.abs(values).max(initial=0.0)), np.iinfo(kind).max
    return next((each for each in _DIVISORS if each * largest <= most), 1)


def _scalar(divisor: int) -> int:
    """The scalar of a header: negative if it divides."""
    return -divisor if divisor > 1 else 1


def _text(array: xarray.DataArray, shot: int, interval: int) -> bytes:
    """The textual header in EBCDIC: 40 lines of 80 characters."""
    lines = dict(enumerate(_sentences(array, shot, interval), start=1))
    lines |= {39: "SEG Y REV1", 40: "END TEXTUAL HEADER"}
    cards = [f"C{n:2d} {lines.get(n, '')}" for n in range(1, _TEXT_LINES + 1)]
    text = "".join(card[:_TEXT_WIDTH].ljust(_TEXT_WIDTH) for card in cards)
    return text.encode(_EBCDIC, errors="replace")


def _sentences(array: xarray.DataArray, shot: int, interval: int) -> Iterator[str]:
    """What the file contains, for the textual header."""
    quantity, attrs = QUANTITIES.get(str(array.name), VELOCITY), array.attrs
    components = ", ".join(str(each) for each in array["component"].values)
    yield f"SYNTHETIC SEISMOGRAMS BY GROUNDSWELL: {attrs.get('title', '')}"
    yield f"{quantity.long_name.upper()} IN {quantity.sac_units}, COMPONENTS {components}"
    if quantity is not PRESSURE:
        yield "TRACE CODES: 12 Z (UP), 14 E, 13 N, 17 R (AWAY FROM THE SOURCE), 16 T"
    yield f"FIELD RECORD {shot}, {array.sizes['station']} STATIONS, ONE SHOT"
    yield f"{array.sizes['time']} SAMPLES, INTERVAL {interval} US, IEEE FLOATING POINT"
    yield f"FIRST SAMPLE {float(array['time'][0]):.6g} S AFTER TIME 0 OF THE SHOT"
    if date := attrs.get("reference_time") or attrs.get("origin_time"):
        yield f"TIME 0 IS {date}"
    if is_geographic(array):
        yield "COORDINATES ARE LONGITUDE AND LATITUDE IN SECONDS OF ARC, WGS 84"
    else:
        yield "COORDINATES IN M ALONG THE AXES X AND Y OF THE GRID"
    if azimuth := float(attrs.get("azimuth", 0.0)):
        yield f"THE Y AXIS POINTS {azimuth:.6g} DEGREES CLOCKWISE FROM NORTH"
    if quantity is PRESSURE:
        yield "INCREASES OF PRESSURE ARE POSITIVE"
    else:
        yield "UPWARD MOTION IS POSITIVE"
    yield "ELEVATIONS ARE NEGATIVE BELOW THE SURFACE"
