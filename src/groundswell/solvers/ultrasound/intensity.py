"""Sound intensity, from recorded pressures and velocities."""

from __future__ import annotations

import numpy as np
import xarray

from groundswell.errors import InputError
from groundswell.solvers.ultrasound.staggered import (
    AXES,
    at_pressure_points,
    at_pressure_times,
    phasor,
)


def mean_intensity(recorded: xarray.Dataset, time_step: float | None = None) -> xarray.Dataset:
    """Mean intensity, the time average of the pressure times the velocity, W/m^2.

    >>> import groundswell as gs
    >>> line = {"kind": "line", "start": (1e-3, 2e-3), "end": (1e-3, 10e-3)}
    >>> tone = {"kind": "sine", "frequency": "1 MHz"}
    >>> source = {"shape": line, "signal": tone, "pressure": "100 kPa"}
    >>> water = {"speed": 1500.0, "density": 1000.0}
    >>> grid = {"points": (64, 48), "spacing": "0.25 mm", "duration": "20 us"}
    >>> record = {"fields": ["p", "ux", "uy"], "where": {"kind": "all"}, "from": "15 us",
    ...           "what": ["amplitude", "phase"], "frequencies": ["1 MHz"], "file": "steady.nc"}
    >>> result = gs.ultrasound.simulate(water, [source], **grid, records=[record])
    >>> intensity = gs.ultrasound.mean_intensity(result.records["steady.nc"])
    >>> intensity["ix"].units, bool(intensity["ix"].sel(x=8e-3, y=6e-3, method="nearest") > 0)
    ('W m-2', True)

    For a time series, it is the mean of `instantaneous_intensity` over all of its times. For
    amplitudes and phases, it is the mean over a period; recorded phases already account for the
    times of the velocities. Values are at pressure points; some are NaN, see `at_pressure_points`.

    Args:
        recorded: a record of p and of velocities, a time series or with
            `what = ["amplitude", "phase"]`.
        time_step: see `instantaneous_intensity`.

    Returns:
        Those of `ix`, `iy` and `iz` whose velocity was recorded.

    Raises:
        InputError: the pressure or all velocities are missing, or see `instantaneous_intensity`.
    """
    if "p" in recorded:
        values = instantaneous_intensity(recorded, time_step)
        means = values.mean("time", skipna=False, keep_attrs=True)
        arrays = {str(name)[1]: mean for name, mean in means.items()}
        return means.assign(_described(arrays, "mean intensity"))
    names = _velocities(recorded, "_amplitude", "_phase")
    moved = at_pressure_points(recorded)
    pressure = phasor(moved, "p")
    arrays = {name[1]: (pressure * np.conj(phasor(moved, name))).real / 2 for name in names}
    return moved[[]].assign(_described(arrays, "mean intensity"))


def instantaneous_intensity(
    recorded: xarray.Dataset, time_step: float | None = None
) -> xarray.Dataset:
    """Intensity, the pressure times the velocity, at the points and times of the pressure, W/m^2.

    >>> import groundswell as gs
    >>> line = {"kind": "line", "start": (1e-3, 2e-3), "end": (1e-3, 10e-3)}
    >>> tone = {"kind": "sine", "frequency": "1 MHz"}
    >>> source = {"shape": line, "signal": tone, "pressure": "100 kPa"}
    >>> water = {"speed": 1500.0, "density": 1000.0}
    >>> grid = {"points": (64, 48), "spacing": "0.25 mm", "duration": "20 us"}
    >>> record = {"fields": ["p", "ux"], "where": {"kind": "all"}, "file": "all.nc"}
    >>> result = gs.ultrasound.simulate(water, [source], **grid, records=[record])
    >>> gs.ultrasound.instantaneous_intensity(result.records["all.nc"])["ix"].dims
    ('time', 'z', 'y', 'x')

    The result has no values at the last time, half a step after the last velocity; see
    `at_pressure_points` for the interpolation of the velocities.

    Args:
        recorded: a time series of p and of velocities.
        time_step: time step of the run, s; by default the attribute `time_step`, which files of
            records have.

    Returns:
        Those of `ix`, `iy` and `iz` whose velocity was recorded, (time, ...).

    Raises:
        InputError: the pressure, all velocities or the time step are missing, or there are fewer
            than 8 samples.
    """
    names = _velocities(recorded, "")
    step = recorded.attrs.get("time_step") if time_step is None else time_step
    if step is None:
        raise InputError("the record does not have the time step of the run; give time_step, in s")
    moved = at_pressure_points(recorded)
    arrays = {name[1]: moved["p"] * at_pressure_times(moved[name], step) for name in names}
    return moved[[]].assign(_described(arrays, "intensity"))


def _velocities(recorded: xarray.Dataset, *endings: str) -> list[str]:
    """Names of the recorded velocities.

    Raises:
        InputError: there are none, or a variable with one of these endings is missing.
    """
    names = [f"u{axis}" for axis in AXES if f"u{axis}{endings[0]}" in recorded]
    missing = [
        f"{name}{end}"
        for name in ("p", *names)
        for end in endings
        if f"{name}{end}" not in recorded
    ]
    if missing or not names:
        raise InputError(
            f"the record lacks {', '.join(missing) or 'velocities'}; record p and velocities, as "
            'time series or with what = ["amplitude", "phase"]'
        )
    return names


def _described(arrays: dict[str, xarray.DataArray], quantity: str) -> dict[str, xarray.DataArray]:
    """Variables ix, iy and iz from arrays by axis."""
    return {
        f"i{axis}": array.assign_attrs(units="W m-2", long_name=f"{quantity} along {axis}")
        for axis, array in arrays.items()
    }
