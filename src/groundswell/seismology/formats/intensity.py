"""Intensity measures at stations, in NetCDF-4 and CSV, and maps of them in NetCDF-4."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import HostArray
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import Variable, read_netcdf
from groundswell.outputs.files import write_fields
from groundswell.seismology.formats.seismograms import Attributes
from groundswell.seismology.formats.shaking_maps import SurfacePoints

if TYPE_CHECKING:
    import xarray

NAME, TABLE, MAPS = "intensity.nc", "intensity.csv", "intensity_maps.nc"
_PLACES = ("network", "code", "longitude", "latitude", "x", "y", "depth")
_UNITS = {"m s-2": "m/s^2", "m s-1": "m/s"}


def write_intensity(folder: Path, measures: xarray.Dataset) -> list[Path]:
    """Write measures at stations as `intensity.nc` and as the table `intensity.csv`.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    coordinates = {str(name): _variable(array) for name, array in measures.coords.items()}
    places = " ".join(name for name in _PLACES if name in coordinates)
    fields = {
        str(name): _variable(array, {"coordinates": places})
        for name, array in measures.data_vars.items()
    }
    binary = write_fields(folder / NAME, coordinates, fields, measures.attrs)
    rows = [*_rows(measures)]
    with atomic_write(folder / TABLE) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return [binary, folder / TABLE]


def read_intensity(path: str | Path) -> xarray.Dataset:
    """Read measures at stations, see `seismology.intensity.seismograms.measure`.

    Raises:
        InputError: the file is missing, damaged or has no stations.
    """
    return read_netcdf(path, required=("station",))


def write_intensity_maps(
    path: Path,
    maps: dict[str, Variable],
    periods: HostArray,
    points: SurfacePoints,
    attrs: Attributes,
) -> Path:
    """Write maps of intensity measures.

    Args:
        path: final name, usually `intensity_maps.nc`.
        maps: with the dimensions component, period, y and x, or some of them.
        periods: of the oscillators, s.
        points: positions of the values.
        attrs: as in `write_shaking_map`.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    about = {"units": "s", "long_name": "natural period"}
    used = {dim for variable in maps.values() for dim in variable.dims}
    extra = {
        "period": Variable(("period",), np.asarray(periods, np.float64), attrs=about),
        "component": Variable(("component",), ("E", "N")),
    }
    coordinates = {name: each for name, each in extra.items() if name in used} | points.coordinates
    return write_fields(path, coordinates, maps, attrs)


def read_intensity_maps(path: str | Path) -> xarray.Dataset:
    """Read maps of intensity measures: `psa`, `rotd50` and others on (period, y, x).

    Raises:
        InputError: the file is missing, damaged or has no maps.
    """
    return read_netcdf(path, required=("x", "y"))


def _variable(array: xarray.DataArray, attrs: Attributes | None = None) -> Variable:
    is_text = array.dtype.kind in "OU"
    values = [str(value) for value in array.values] if is_text else array.values
    return Variable(tuple(map(str, array.dims)), values, attrs={**array.attrs, **(attrs or {})})


def _rows(measures: xarray.Dataset) -> Iterator[list[object]]:
    """The header of the table, and a row for each station."""
    places = [name for name in _PLACES if name in measures.coords]
    columns = dict(_columns(measures))
    yield [*places, *columns]
    for n in range(measures.sizes["station"]):
        numbers = (f"{values[n]:.6g}" for values in columns.values())
        yield [*(measures[name].values[n] for name in places), *numbers]


def _columns(measures: xarray.Dataset) -> Iterator[tuple[str, HostArray]]:
    """The values of each column, (station,), by a name such as "psa_e 0.5 s (m/s^2)"."""
    for name, array in measures.data_vars.items():
        unit = _UNITS.get(array.attrs["units"], array.attrs["units"])
        others = [dim for dim in array.dims if dim != "station"]
        for place in np.ndindex(*(array.sizes[dim] for dim in others)):
            chosen = array.isel(dict(zip(others, place, strict=True)))
            words = str(name)
            if "component" in others:
                words += f"_{str(chosen['component'].item()).lower()}"
            if "period" in others:
                words += f" {float(chosen['period']):g} s"
            yield f"{words} ({unit})", chosen.values
