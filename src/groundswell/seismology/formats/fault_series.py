"""Time series of faults, in NetCDF: at points, and the slip of all subfaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.formats.netcdf import TIME, Variable, open_netcdf, read_netcdf
from groundswell.outputs.files import SeriesWriter
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.subfaults import Subfaults, slip_at_points
from groundswell.seismology.formats.fault_maps import COORDINATES, FIELDS

if TYPE_CHECKING:
    import xarray

POINTS_FILE, HISTORY_FILE = "fault_points.nc", "rupture.nc"
# Units and meaning of the fields at points.
SERIES = {
    "slip_strike": ("m", "slip along strike, of the hanging wall relative to the footwall"),
    "slip_updip": ("m", "slip up dip, of the hanging wall relative to the footwall"),
    "state": ("", "state of friction: path of slip in m, or psi"),
    "rate_strike": ("m s-1", "slip rate along strike"),
    "rate_updip": ("m s-1", "slip rate up dip"),
    "shear_strike": ("Pa", "shear stress along strike"),
    "shear_updip": ("Pa", "shear stress up dip"),
    "normal_stress": ("Pa", "effective normal stress, compression positive"),
}
EACH = "subfaults_of_a_face"  # attribute of the file of all subfaults
HISTORY = ("slip_strike", "slip_updip", "work", "released")  # of subfaults
SUBFAULTS = {
    "strike": ("degree", "strike, clockwise from north"),
    "dip": ("degree", "dip"),
    "area": ("m2", "area"),
    "mu": ("Pa", "shear modulus by which slip is multiplied for the moment"),
    "density": ("kg m-3", "density"),
}


BESIDE = "subfaults before and behind, half a spacing from which slip along this axis is given"
AXES, SIDES = ("strike", "updip"), ("before", "behind")


def open_points(
    path: Path,
    names: Sequence[str],
    points: FaultPoints,
    attrs: Mapping[str, object],
    resume: int | None,
) -> SeriesWriter:
    """Open the file of the time series at points, (time, point).

    Args:
        resume: number of samples to keep of an earlier run's file; None starts a new file.

    Raises:
        InputError: the file to resume does not belong to this case.
        RunFailed: the disk is full.
    """
    x, y, depth = points.position.T
    places = {"x": x, "y": y, "depth": depth}
    places |= {name: getattr(points, name) for name in ("along_strike", "down_dip")}
    coordinates = {"point": Variable(("point",), [*names])}
    coordinates |= {
        name: _variable(("point",), *COORDINATES[name], values) for name, values in places.items()
    }
    fields = {name: _variable(("time", "point"), *given) for name, given in SERIES.items()}
    return SeriesWriter(path, ("time", TIME), coordinates, fields, attrs, resume)


def open_history(
    path: Path, subfaults: Subfaults, attrs: Mapping[str, object], resume: int | None
) -> SeriesWriter:
    """Open the file of the slip of each subfault, (time, subfault); see `open_points`."""
    x, y, depth = subfaults.position.T
    given = {"x": x, "y": y, "depth": depth}
    given |= {name: getattr(subfaults, name) for name in ("along_strike", "down_dip")}
    places = {name: (*COORDINATES[name], values) for name, values in given.items()}
    places |= {name: (*text, getattr(subfaults, name)) for name, text in SUBFAULTS.items()}
    coordinates = {name: _variable(("subfault",), *each) for name, each in places.items()}
    if subfaults.beside is not None:
        coordinates |= {
            _neighbour(axis, side): Variable(("subfault",), values, attrs={"long_name": BESIDE})
            for axis, pair in zip(AXES, subfaults.beside, strict=True)
            for side, values in zip(SIDES, pair, strict=True)
        }
    each = subfaults.quadrature.subfaults
    attrs = {**attrs, EACH: each}
    fields = {name: _variable(("time", "subfault"), *FIELDS[name]) for name in HISTORY}
    return SeriesWriter(path, ("time", TIME), coordinates, fields, attrs, resume)


def read_points(path: str | Path) -> xarray.Dataset:
    """Read the time series at points of faults: SERIES on (time, point).

    Raises:
        InputError: the file is missing, damaged or has no such series.
    """
    return read_netcdf(path, required=("time", "point", *SERIES))


def read_history(path: str | Path) -> xarray.Dataset:
    """Read the slip of each subfault: HISTORY on (time, subfault).

    Raises:
        InputError: the file is missing, damaged or no history of slip.
    """
    with lazy_history(path) as history:
        return history.load()


def history_slip(history: xarray.Dataset) -> Floats:
    """Slip along strike and up dip at the subfaults themselves, (2, time, subfault), m."""
    slip = np.stack([history[f"slip_{axis}"].values for axis in AXES], axis=1)
    names = [[_neighbour(axis, side) for side in SIDES] for axis in AXES]
    if names[0][0] in history:
        beside = np.array([[history[name].values for name in pair] for pair in names])
        slip = slip_at_points(slip, beside)
    return slip.swapaxes(0, 1)


def _neighbour(axis: str, side: str) -> str:
    """The name of the variable with the subfaults on a side along an axis."""
    return f"{side}_along_{axis}"


def lazy_history(path: str | Path) -> AbstractContextManager[xarray.Dataset]:
    """Open the slip of each subfault, read lazily; raises as `read_history`."""
    return open_netcdf(path, required=("time", *HISTORY, *SUBFAULTS))


def _variable(dims: tuple[str, ...], units: str, meaning: str, values: object = None) -> Variable:
    attrs = {"long_name": meaning, **({"units": units} if units else {})}
    return Variable(dims, values, np.dtype("float64"), attrs=attrs)
