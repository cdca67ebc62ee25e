"""Tables of parameters on a fault in NetCDF files, interpolated linearly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.seismology.case.fault_values import FaultTable
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.media.material import unit_factor

if TYPE_CHECKING:
    from xarray import DataArray

AXES = ("along_strike", "down_dip")
_ROUNDING = 1e-6  # of the length of an axis


def interpolate(name: str, table: FaultTable, unit: str, points: FaultPoints) -> Floats:
    """Values of a table at points, (n,), in `unit`; "" is a pure number.

    Args:
        name: of the parameter, for messages.

    Raises:
        InputError: the table is unreadable, does not cover the points or has gaps there.
    """
    from scipy.interpolate import RegularGridInterpolator

    where = f"{name}: {table.file}"
    with open_dataset(table.file) as data, read_errors_reported(table.file, "NetCDF"):
        if table.variable not in data.data_vars:
            known = ", ".join(map(str, data.data_vars)) or "none"
            raise InputError(f"{where} has no variable {table.variable!r}; it has: {known}")
        found = data[table.variable]
        axes = _axes(found, where)
        values = np.asarray(found.sortby(list(AXES)).transpose(*AXES).values, float)
        factor = unit_factor(str(found.attrs.get("units", "")), unit, where) if unit else 1.0
    at = np.stack([_within(axis, n, points, where) for n, axis in enumerate(axes)], axis=-1)
    sampled = np.asarray(RegularGridInterpolator(axes, factor * values)(at))
    if np.isnan(sampled).any():
        place = points.describe(int(np.isnan(sampled).argmax()))
        raise InputError(f"{where}, {table.variable} has no value (NaN) at {place}; fill its gaps")
    return sampled


def _axes(found: DataArray, where: str) -> tuple[Floats, Floats]:
    """The coordinates of a variable, rising, m."""
    if set(found.dims) != set(AXES) or not set(AXES) <= set(found.coords):
        raise InputError(
            f"{where}, {found.name} has the dimensions {found.dims}; it must have "
            f"{' and '.join(AXES)}, with coordinates"
        )
    along, down = (_axis(found, name, where) for name in AXES)
    return along, down


def _axis(found: DataArray, name: str, where: str) -> Floats:
    axis = np.sort(np.asarray(found[name].values, float))
    if len(axis) < 2 or not (np.diff(axis) > 0).all():
        raise InputError(f"{where}: coordinate {name} must have two or more different values")
    return axis * unit_factor(str(found[name].attrs.get("units", "")), "m", f"{where}, {name}")


def _within(axis: Floats, number: int, points: FaultPoints, where: str) -> Floats:
    """The coordinates of points on an axis that covers them."""
    at = points.down_dip if number else points.along_strike
    rounding = _ROUNDING * (axis[-1] - axis[0])
    if at.min() < axis[0] - rounding or at.max() > axis[-1] + rounding:
        raise InputError(
            f"{where} covers {AXES[number]} from {axis[0]:.8g} to {axis[-1]:.8g} m, and the points "
            f"of the fault need {at.min():.8g} to {at.max():.8g} m; use a table that covers them"
        )
    return np.clip(at, axis[0], axis[-1])
