"""Velocities at the points and times of the pressure, from recorded staggered velocities."""

from __future__ import annotations

import numpy as np
import xarray
from scipy.special import i0

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, counted
from groundswell.outputs.stencils import stencil

AXES = "xyz"
POINTS = 16  # points of the interpolation in space
KAISER = 8.0  # parameter beta of its window
SAMPLES = 8  # samples of the interpolation in time


def at_pressure_points(recorded: xarray.Dataset) -> xarray.Dataset:
    """Move recorded staggered velocities by half a cell along their axis, to the pressure points.

    >>> import groundswell as gs
    >>> line = {"kind": "line", "start": (1e-3, 2e-3), "end": (1e-3, 10e-3)}
    >>> tone = {"kind": "sine", "frequency": "1 MHz"}
    >>> source = {"shape": line, "signal": tone, "pressure": "100 kPa"}
    >>> water = {"speed": 1500.0, "density": 1000.0}
    >>> grid = {"points": (64, 48), "spacing": "0.25 mm", "duration": "20 us"}
    >>> record = {"fields": ["p", "ux"], "where": {"kind": "all"}, "file": "all.nc"}
    >>> result = gs.ultrasound.simulate(water, [source], **grid, records=[record])
    >>> result.records["all.nc"]["ux"].dims
    ('time', 'z', 'y', 'x_ux')
    >>> gs.ultrasound.at_pressure_points(result.records["all.nc"])["ux"].dims
    ('time', 'z', 'y', 'x')

    A sinc over 16 points with a Kaiser window interpolates along the axis of each velocity. Its
    error is at most 2e-4 for waves of three or more points per wavelength: 2e-4 for three, 1.2e-4
    for four and 2e-5 for six. In a record with a stride, these are recorded points. Results are NaN
    where the interpolation needs values outside the record: within 8 points of the ends of the
    axis, on planes normal to the axis, and at the points of a mask.

    Series, means, final values, and amplitudes with phases are moved. Other statistics cannot be
    interpolated, so they stay where they are. Values on lines and at points stay, too, because a
    run interpolates them itself; this requires `method = "linear"` or `"cubic"`. Velocities remain
    half a step earlier than the pressure.

    Args:
        recorded: a record of p and velocities, such as `result.records["a.nc"]`.

    Raises:
        InputError: the record has no pressure.
    """
    named = ((str(name).partition("_")[0], array) for name, array in recorded.data_vars.items())
    pressure = next((array for field, array in named if field == "p"), None)
    if pressure is None:
        raise InputError("the record has no pressure, to whose points velocities are moved")
    found: dict[str, xarray.DataArray] = {}
    for axis in AXES:
        found |= _moved_velocity(recorded, pressure, axis)
    described = {name: array.assign_attrs(recorded[name].attrs) for name, array in found.items()}
    return _tidy(recorded.drop_vars(list(found)).assign(described))


def at_pressure_times(velocity: xarray.DataArray, time_step: float) -> xarray.DataArray:
    """Interpolate a series of velocities, which are half a step early, at times of the pressure.

    Polynomials of degree 7 through 8 samples interpolate. The error is of order 8 in the interval
    of the samples. With a sample per step, it is 1.3e-4 for waves of 8 samples per period, and 2e-3
    within 3 samples of the ends. The last time is left out: there is no later velocity.

    Args:
        velocity: the series, (time, ...), at a constant interval. Its coordinate has the times of
            the pressure.
        time_step: time step of the run, s.

    Raises:
        InputError: there are fewer than 8 samples.
    """
    times = velocity["time"].values
    if len(times) < SAMPLES:
        raise InputError(
            f"the record has {counted(len(times), 'sample')}; velocities at the times of the "
            f"pressure need {SAMPLES} or more"
        )
    late = time_step / 2 / (times[1] - times[0])
    first, weights = stencil(np.arange(len(times) - 1) + late, len(times), SAMPLES)
    return _weighted_sums(velocity, "time", first, weights).assign_coords(time=times[:-1])


def phasor(recorded: xarray.Dataset, name: str) -> xarray.DataArray:
    """The complex amplitude A exp(i phase) of a field."""
    angle = np.radians(recorded[f"{name}_phase"])
    return recorded[f"{name}_amplitude"] * np.exp(1j * angle)


# --- moving by half a cell ------------------------------------------------------------------------


def _moved_velocity(
    recorded: xarray.Dataset, pressure: xarray.DataArray, axis: str
) -> dict[str, xarray.DataArray]:
    """The variables of the velocity along an axis, at the pressure points."""
    name = f"u{axis}"
    linear = [of for of in (name, f"{name}_mean", f"{name}_final") if of in recorded]
    found = {of: _moved(recorded[of], pressure, axis) for of in linear}
    if f"{name}_amplitude" in recorded and f"{name}_phase" in recorded:
        moved = _moved(phasor(recorded, name), pressure, axis)
        found[f"{name}_amplitude"] = abs(moved)
        found[f"{name}_phase"] = xarray.apply_ufunc(np.angle, moved, kwargs={"deg": True})
    return found


def _moved(velocity: xarray.DataArray, pressure: xarray.DataArray, axis: str) -> xarray.DataArray:
    """The velocity along an axis, (..., x_ux), at pressure points, (..., x)."""
    own, there = _dim(velocity, axis), _dim(pressure, axis)
    if own is None or there is None:
        on_plane = axis in velocity.coords and velocity[axis].ndim == 0
        return velocity * np.nan if on_plane or "index" in velocity.coords else velocity
    if own == there:
        return velocity
    known, wanted = velocity[own].values, pressure[there].values
    spacing = np.append(np.diff(wanted), np.inf)[0]
    first = np.arange(len(known) - POINTS + 1)
    weights = np.tile(_sinc_weights((known[0] - wanted[0]) / spacing), (len(first), 1))
    sums = _weighted_sums(velocity, own, first, weights).rename({own: there})
    moved = sums.assign_coords({there: wanted[first + POINTS // 2]})
    return moved.reindex({there: wanted}).assign_coords({there: pressure[there]})


def _dim(array: xarray.DataArray, axis: str) -> str | None:
    """The dimension along an axis, such as "x" or "x_ux"; None at points and across planes."""
    return next((str(dim) for dim in array.dims if str(dim).partition("_")[0] == axis), None)


def _sinc_weights(offset: float) -> Floats:
    """Weights of points around a place, (POINTS,); the sum is 1.

    Args:
        offset: position of the point POINTS / 2 from this place, in spacings; from 0 to 1.
    """
    half = POINTS // 2
    distance = np.arange(-half, half) + offset
    window = i0(KAISER * np.sqrt(np.maximum(1 - (distance / half) ** 2, 0)))
    weights = np.sinc(distance) * window
    return np.asarray(weights / weights.sum())


def _weighted_sums(
    values: xarray.DataArray, dim: str, first: Integers, weights: Floats
) -> xarray.DataArray:
    """Sums of consecutive values along a dimension times weights.

    Args:
        first: index of the first value of each sum, (n,).
        weights: weights of each sum, (n, values).
    """
    loaded = values.compute().drop_vars(dim)
    columns = [xarray.DataArray(column, dims=dim) for column in weights.T.astype(values.dtype)]
    total = columns[0] * loaded.isel({dim: first})
    for n, column in enumerate(columns[1:], 1):
        total += column * loaded.isel({dim: first + n})
    return total.transpose(*values.dims)


def _tidy(dataset: xarray.Dataset) -> xarray.Dataset:
    """The dataset without coordinates that no variable uses; the others named x, y and z."""
    used = {dim for array in dataset.data_vars.values() for dim in array.dims}
    kept = dataset.drop_dims([dim for dim in dataset.dims if dim not in used])
    names = {dim: str(dim).partition("_")[0] for dim in kept.dims}
    return kept.rename({dim: name for dim, name in names.items() if name not in kept.variables})
