"""The mean intensity at the focus, from records of the pressure and of all velocities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundswell.arrays import Mask
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.focus import Focus
from groundswell.solvers.ultrasound.intensity import mean_intensity

if TYPE_CHECKING:
    import xarray

LARGEST = 2**24  # values around the focus; more would take seconds
REACH = 12.5  # points on either side that the interpolation of velocities may need


class RecordedIntensity(NamedTuple):
    """The magnitude of the mean intensity, W/m^2, and the record from which it was computed."""

    value: float
    record: str


def intensity_near(
    records: Mapping[str, xarray.Dataset], peak: xarray.Dataset, focus: Focus
) -> RecordedIntensity | None:
    """The mean intensity at the focus from the first record that has all its components.

    None if there is none: the focus must lie within half a spacing of a recorded point, for planes
    and boxes at least 8 points from their ends. Long series of boxes are left out; see LARGEST.

    Args:
        peak: the maps, on the points of the grid.
    """
    spacing = {axis: float(np.ptp(peak[axis][:2].values)) for axis in focus.position}
    for name, record in records.items():
        near = _near(record, focus.position, spacing)
        if near is None or sum(array.size for array in near.data_vars.values()) > LARGEST:
            continue
        try:
            found = mean_intensity(near)
        except InputError:  # not all fields, or too few samples
            continue
        components = [f"i{axis}" for axis in focus.position]
        if set(components) <= set(found):
            value = _magnitude(found[components], focus.position)
            if np.isfinite(value):
                return RecordedIntensity(value, name)
    return None


def _near(
    record: xarray.Dataset, position: Mapping[str, float], spacing: Mapping[str, float]
) -> xarray.Dataset | None:
    """The part of a record around a position; None if the position is not in it."""
    for axis, at in position.items():
        if axis not in record.coords:
            return None
        if np.abs(record[axis].values - at).min() > 0.501 * spacing[axis]:
            return None
    for along in ("point", "distance"):  # of points, and of a line
        if along in record.dims:
            return record.isel({along: _nearest(record, position, spacing)})
    dims = [dim for dim in map(str, record.dims) if dim.partition("_")[0] in position]
    reach = {dim: REACH * spacing[dim.partition("_")[0]] for dim in dims}
    within = {
        dim: _close(record[dim].values, position[dim.partition("_")[0]], reach[dim])
        for dim in dims
        if dim in record.coords
    }
    return record.isel({dim: np.flatnonzero(inside) for dim, inside in within.items()})


def _close(values: np.ndarray, at: float, reach: float) -> Mask:
    return np.asarray(np.abs(values - at) <= reach)


def _nearest(
    record: xarray.Dataset, position: Mapping[str, float], spacing: Mapping[str, float]
) -> np.ndarray:
    """The recorded point within half a spacing along each axis; none if there is none."""
    away = [np.abs(record[axis].values - at) / spacing[axis] for axis, at in position.items()]
    largest = np.max(away, axis=0)
    nearest = int(np.argmin(largest))
    return np.array([nearest] if largest[nearest] <= 0.501 else [], int)


def _magnitude(intensity: xarray.Dataset, position: Mapping[str, float]) -> float:
    """The magnitude of a vector at a position; intensities of several frequencies are added."""
    total = 0.0
    for component in intensity.data_vars.values():
        if not component.size:
            return np.nan
        value = (
            component.sum("frequency", skipna=False) if "frequency" in component.dims else component
        )
        along = {axis: at for axis, at in position.items() if axis in value.dims}
        total += float(value.sel(along, method="nearest").squeeze()) ** 2
    return float(np.sqrt(total))
