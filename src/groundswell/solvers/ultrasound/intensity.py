"""Mean intensity of continuous waves, from recorded amplitudes and phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundswell.errors import InputError

if TYPE_CHECKING:
    import xarray

AXES = "xyz"
MIDPOINT = (-1 / 16, 9 / 16, 9 / 16, -1 / 16)  # cubic interpolation halfway between points


def mean_intensity(recorded: xarray.Dataset) -> xarray.Dataset:
    """Mean intensity, the pressure times the velocity averaged over a period, W/m^2.

    Values are at pressure points. Staggered velocities are interpolated there by cubics. The result
    is NaN at the ends of an axis, where the interpolation would need values outside the record.
    Recorded phases already account for the times of the velocities.

    Args:
        recorded: a record with `what = ["amplitude", "phase"]` of p and of velocities.

    Returns:
        Those of `ix`, `iy` and `iz` whose velocity was recorded.

    Raises:
        InputError: the pressure or all velocities are missing.
    """
    names = [f"u{axis}" for axis in AXES if f"u{axis}_amplitude" in recorded]
    needed = [f"{name}_{what}" for name in ("p", *names) for what in ("amplitude", "phase")]
    missing = [name for name in needed if name not in recorded]
    if missing or not names:
        raise InputError(
            f"the record lacks {', '.join(missing) or 'velocities'}; record p and velocities with "
            'what = ["amplitude", "phase"]'
        )
    pressure = _phasor(recorded, "p")
    found = {}
    for name in names:
        velocity = _at_pressure_points(_phasor(recorded, name), pressure)
        intensity = (pressure * np.conj(velocity)).real / 2
        about = {"units": "W m-2", "long_name": f"mean intensity along {name[1]}"}
        found[f"i{name[1]}"] = intensity.assign_attrs(about)
    return recorded[[]].assign(found)


def _phasor(recorded: xarray.Dataset, name: str) -> xarray.DataArray:
    """The complex amplitude A exp(i phase)."""
    angle = np.radians(recorded[f"{name}_phase"])
    return recorded[f"{name}_amplitude"] * np.exp(1j * angle)


def _at_pressure_points(velocity: xarray.DataArray, pressure: xarray.DataArray) -> xarray.DataArray:
    """A velocity whose points lie half a cell further along one axis, at the pressure points."""
    own = [str(dim) for dim in velocity.dims if dim not in pressure.dims]
    if not own:
        return velocity
    (dim,) = own
    axis = dim.partition("_")[0]
    first, *others = (
        weight * velocity.shift({dim: shift}, fill_value=np.nan)
        for weight, shift in zip(MIDPOINT, (2, 1, 0, -1), strict=True)
    )
    moved = sum(others, start=first)
    return moved.rename({dim: axis}).assign_coords({axis: pressure[axis]})
