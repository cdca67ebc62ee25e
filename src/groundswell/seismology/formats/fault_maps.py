"""Maps of faults that have broken: slip, rupture time and stresses at their points, in NetCDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from groundswell.formats.netcdf import Variable, read_netcdf
from groundswell.outputs.files import write_fields
from groundswell.seismology.faults.points import FaultPoints

if TYPE_CHECKING:
    import xarray

NAME = "fault.nc"
_POINT = ("point",)
# Units and meaning of each variable.
COORDINATES = {
    "x": ("m", "distance along the grid's x axis"),
    "y": ("m", "distance along the grid's y axis"),
    "depth": ("m", "depth below the surface"),
    "along_strike": ("m", "distance along strike from the hypocenter, or from the middle"),
    "down_dip": ("m", "distance down dip from the top edge"),
    "area": ("m2", "area that the point stands for"),
}
FIELDS = {
    "mu": ("Pa", "shear modulus by which slip is multiplied for the moment"),
    "slip_strike": ("m", "slip along strike, of the hanging wall relative to the footwall"),
    "slip_updip": ("m", "slip up dip, of the hanging wall relative to the footwall"),
    "rupture_time": ("s", "time at which the slip rate first exceeded 1 mm/s; NaN if it never did"),
    "peak_rate": ("m s-1", "largest slip rate"),
    "rate_strike": ("m s-1", "slip rate along strike at the end"),
    "rate_updip": ("m s-1", "slip rate up dip at the end"),
    "shear_strike": ("Pa", "shear stress along strike at the end"),
    "shear_updip": ("Pa", "shear stress up dip at the end"),
    "normal_stress": ("Pa", "effective normal stress at the end, compression positive"),
    "work": ("J m-2", "work against friction"),
    "released": ("J m-2", "energy that waves and deformation have received"),
    "state": ("", "state of friction at the end: path of slip in m, or psi"),
}

ALWAYS = ("slip_strike", "slip_updip", "rupture_time", "peak_rate")  # in each file


def write_fault_map(
    path: Path,
    faults: Mapping[str, FaultPoints],
    values: Mapping[str, ArrayLike],
    attrs: Mapping[str, object],
) -> Path:
    """Write the values at the points of faults.

    Args:
        faults: the points of each fault, by its name.
        values: of FIELDS at the points of all faults in this order, (points,). An infinite rupture
            time becomes NaN.
        attrs: attributes of the file.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    fields = {name: np.asarray(given, np.float64) for name, given in values.items()}
    if "rupture_time" in fields:
        times = fields["rupture_time"]
        fields["rupture_time"] = np.where(np.isfinite(times), times, np.nan)
    named = {name: _variable(given, *FIELDS[name]) for name, given in fields.items()}
    return write_fields(path, _coordinates(faults), named, attrs)


def read_fault_map(path: str | Path) -> xarray.Dataset:
    """Read the values at the points of faults: FIELDS on `point`, with their positions.

    Raises:
        InputError: the file is missing, damaged or not a map of faults.
    """
    return read_netcdf(path, required=(*COORDINATES, *ALWAYS))


def _coordinates(faults: Mapping[str, FaultPoints]) -> dict[str, Variable]:
    points = [*faults.values()]
    x, y, depth = np.concatenate([each.position for each in points]).T
    others = ("along_strike", "down_dip", "area")
    given = {name: np.concatenate([getattr(each, name) for each in points]) for name in others}
    at = {"x": x, "y": y, "depth": depth, **given}
    found = {name: _variable(values, *COORDINATES[name]) for name, values in at.items()}
    return {**found, "fault": _fault_numbers([*faults], [len(each) for each in points])}


def _fault_numbers(names: Sequence[str], counts: Sequence[int]) -> Variable:
    numbers = np.repeat(np.arange(len(names), dtype=np.int32), counts)
    attrs = {
        "long_name": "fault of the point",
        "flag_values": np.arange(len(names), dtype=np.int32),
        "flag_meanings": " ".join(names),
    }
    return Variable(_POINT, numbers, attrs=attrs)


def _variable(values: ArrayLike, units: str, meaning: str) -> Variable:
    attrs = {"long_name": meaning, **({"units": units} if units else {})}
    return Variable(_POINT, np.asarray(values, np.float64), attrs=attrs)
