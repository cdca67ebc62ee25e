"""Motion at stations in quantities, components and sampling intervals other than those recorded.

Arrays are those of `read_seismograms`, with dimensions (station, component, time).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import TYPE_CHECKING, Literal

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.seismology.formats.seismograms import (
    ACCELERATION,
    COMPONENTS,
    DISPLACEMENT,
    VELOCITY,
    ReceiverQuantity,
    sampling_interval,
)
from groundswell.seismology.signals import derivative, integral, resample, without_aliases
from groundswell.seismology.source_distances import azimuths

if TYPE_CHECKING:
    import xarray

Frame = Literal["ZNE", "ZRT"]

ROTATED = ("R", "T", "Z")
MOTIONS = {each.name: each for each in (VELOCITY, DISPLACEMENT, ACCELERATION)}
_FROM_VELOCITY: dict[str, Callable[[Floats, float], Floats]] = {
    DISPLACEMENT.name: integral,
    ACCELERATION.name: derivative,
}
# Round intervals are these times powers of ten: 1000, 500, 400, 250, 200 and 125 Hz, for example.
_ROUND = (1.0, 2.0, 2.5, 4.0, 5.0, 8.0)
_DIGITS = 3  # of intervals and rates that count as round
_ROUNDING = 32  # rounding errors of a trace, in units of the precision of the largest trace
_BATCH = 16  # stations
_TINY = 1e-9  # of an interval, by which times may differ from round ones


def as_quantity(velocity: xarray.DataArray, quantity: ReceiverQuantity) -> xarray.DataArray:
    """Displacement (m) since the first sample, or acceleration (m/s^2), from velocity (m/s)."""
    if quantity is VELOCITY:
        return velocity
    convert, interval = _FROM_VELOCITY[quantity.name], sampling_interval(velocity)
    values = _in_batches(lambda motion: convert(motion, interval), velocity.values)
    about = {"units": quantity.units, "long_name": quantity.long_name}
    return velocity.copy(data=values).rename(quantity.name).assign_attrs(about)


def radial_transverse(motion: xarray.DataArray) -> xarray.DataArray:
    """The components R, T and Z of motion towards E, N and Z.

    R points away from the epicentre and T to the right of R, seen from above. The coordinate
    `azimuth` is the direction of R, degrees clockwise from north. At the epicentre, R is north.

    Raises:
        InputError: the attributes have no epicentre.
    """
    towards = azimuths(motion)
    values = rotate(motion.sel(component=list(COMPONENTS)).values, np.radians(towards))
    about = {"units": "degrees", "long_name": "direction from the epicentre"}
    found = motion.sel(component=list(COMPONENTS)).copy(data=values.astype(motion.dtype))
    return found.assign_coords(component=list(ROTATED), azimuth=("station", towards, about))


def rotate(motion: Floats, azimuth: Floats) -> Floats:
    """R, T and Z from E, N and Z, (..., 3, n), for directions of R (...) in radians."""
    east, north, up = np.moveaxis(motion, -2, 0)
    cos, sin = (part[..., None] for part in (np.cos(azimuth), np.sin(azimuth)))
    return np.stack([sin * east + cos * north, cos * east - sin * north, up], axis=-2)


def at_interval(array: xarray.DataArray, interval: float) -> xarray.DataArray:
    """The samples at multiples of `interval` (s), within the times of the array.

    If the interval is longer than that of the array, frequencies that it cannot represent are
    removed first; see `signals.without_aliases`. A quintic spline interpolates.
    """
    own, times = sampling_interval(array), array["time"].values
    new = multiples(float(times[0]), float(times[-1]), interval)
    if len(new) == len(times) and np.allclose(new, times, rtol=0, atol=_TINY * own):
        return array

    def resampled(motion: Floats) -> Floats:
        return resample(times, without_aliases(motion, own, interval * (1 + _TINY)), new)

    values = _in_batches(resampled, array.values)
    coords = {name: each for name, each in array.coords.items() if name != "time"}
    attrs = array.attrs | ({"interval": interval} if "interval" in array.attrs else {})
    time = ("time", new, array["time"].attrs)
    return type(array)(values, {**coords, "time": time}, array.dims, array.name, attrs)


def _in_batches(convert: Callable[[Floats], Floats], values: HostArray) -> HostArray:
    """Convert the traces of a few stations at a time, since splines need several times the memory.

    Args:
        values: (stations, components, samples); the results have the same floating-point type.
    """
    starts = range(0, len(values), _BATCH)
    batches = (np.asarray(values[start : start + _BATCH], float) for start in starts)
    found = [convert(motion).astype(values.dtype) for motion in batches]
    return np.concatenate(found) if found else values


def multiples(start: float, end: float, interval: float) -> Floats:
    """The multiples of an interval from `start` to `end`, s."""
    first, last = ceil(start / interval - _TINY), floor(end / interval + _TINY)
    return np.asarray(interval * np.arange(first, last + 1), np.float64)


def round_interval(interval: float) -> float:
    """The interval (s) itself if it or the rate is a round number; else the next shorter that is.

    Round numbers have at most three digits. The shorter intervals are 1, 2, 2.5, 4, 5 and 8 times
    powers of ten, as in 0.004 s for 0.0041387 s.
    """
    if _is_round(interval) or _is_round(1.0 / interval):
        return float(f"{interval:.12g}")
    unit = 10.0 ** floor(np.log10(interval))
    return float(f"{max(unit * n for n in _ROUND if unit * n <= interval):.12g}")


def _is_round(value: float) -> bool:
    return bool(np.isclose(value, float(f"{value:.{_DIGITS}g}"), rtol=_TINY, atol=0))


def without_noise(array: xarray.DataArray) -> xarray.DataArray:
    """Seismograms in which traces that are rounding errors of the largest one are zero."""
    return array.where(abs(array).max("time") > noise_level(array), 0.0)


def noise_level(array: xarray.DataArray) -> float:
    """The peak up to which traces are rounding errors of the largest one, in its unit."""
    largest = float(abs(array).max()) if array.size else 0.0
    return _ROUNDING * float(np.finfo(array.dtype).eps) * largest
