"""Files of a hazard analysis: NetCDF, tables in CSV, and tables for OpenQuake."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import Variable
from groundswell.outputs.files import write_fields
from groundswell.seismology.hazard.analysis import Hazard
from groundswell.seismology.hazard.disaggregation import EPSILONS, Disaggregation
from groundswell.seismology.hazard.measures import Measure
from groundswell.seismology.hazard.sites import Sites

if TYPE_CHECKING:
    import xarray

CURVES, MAPS = "hazard.nc", "maps.csv"
_KM = 1e3  # m


def write_results(folder: Path, hazard: Hazard) -> list[Path]:
    """Write curves, maps and disaggregations; returns the paths.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    curves = [_write_curves(folder, hazard, measure) for measure in hazard.case.measures]
    parts = []
    for (site, measure), found in hazard.disaggregations.items():
        name = f"{hazard.sites.file_name(site)}_{measure.file_name}.csv"
        parts.append(write_rows(folder / f"disaggregation_{name}", _bins(found)))
        parts.append(write_rows(folder / f"ruptures_{name}", _contributions(found)))
    maps = write_rows(folder / MAPS, _map_rows(hazard))
    return [_write_netcdf(folder / CURVES, hazard.curves), *curves, maps, *parts]


def write_rows(path: Path, rows: Iterable[Sequence[object]]) -> Path:
    """Write a CSV file; returns its path."""
    with atomic_write(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path


def places(sites: Sites) -> Iterator[list[object]]:
    """Yield the name and the position of each site."""
    for name, (u, v) in zip(sites.names, sites.horizontal, strict=True):
        yield [name, f"{u:.10g}", f"{v:.10g}"]


def _write_netcdf(path: Path, curves: xarray.Dataset) -> Path:
    coordinates = {str(name): _variable(array) for name, array in curves.coords.items()}
    fields = {str(name): _variable(array) for name, array in curves.data_vars.items()}
    return write_fields(path, coordinates, fields, curves.attrs)


def _variable(array: xarray.DataArray) -> Variable:
    texts = array.dtype.kind in "OU"
    values = [str(value) for value in array.values] if texts else array.values
    return Variable(tuple(map(str, array.dims)), values, attrs=array.attrs)


def _header(sites: Sites) -> list[str]:
    return ["site", *(("longitude", "latitude") if sites.is_geographic else ("x", "y"))]


def _write_curves(folder: Path, hazard: Hazard, measure: Measure) -> Path:
    return write_rows(folder / f"curves_{measure.file_name}.csv", _curve_rows(hazard, measure))


def _curve_rows(hazard: Hazard, measure: Measure) -> Iterator[list[object]]:
    """One line for each site and level."""
    one = hazard.curves.sel(measure=str(measure))
    unit, name = measure.unit
    shares = [f"rate_{100 * share:g}" for share in hazard.case.fractiles]
    level = f"{measure} ({name})" if name else str(measure)
    yield [*_header(hazard.sites), level, "rate", "probability", *shares]
    for n, place in enumerate(places(hazard.sites)):
        at = one.isel(site=n)
        columns = [one["level"] / unit, at["rate"], at["probability"], *at["rate_fractile"]]
        for row in np.column_stack([np.asarray(column) for column in columns]):
            yield [*place, *(f"{value:.6g}" for value in row)]


def _map_rows(hazard: Hazard) -> Iterator[list[object]]:
    """One line for each site, one column for each measure and return period."""
    keys = [(measure, t) for measure in hazard.case.measures for t in hazard.case.return_periods]
    yield [*_header(hazard.sites), *(_map_column(*key) for key in keys)]
    values = [map_of(hazard, *key) / key[0].unit[0] for key in keys]
    for place, row in zip(places(hazard.sites), np.column_stack(values), strict=True):
        yield [*place, *(f"{value:.6g}" for value in row)]


def _map_column(measure: Measure, years: float) -> str:
    unit = f" ({measure.unit[1]})" if measure.unit[1] else ""
    return f"{measure} {years:g} years{unit}"


def map_of(hazard: Hazard, measure: Measure, years: float) -> Floats:
    """The levels (sites,) at a return period, in SI units."""
    found = hazard.curves["map"].sel(measure=str(measure), return_period=years)
    return np.asarray(found.values, float)


def _bins(found: Disaggregation) -> Iterator[list[object]]:
    """One line for each bin that contributes."""
    yield [
        *("magnitude_from", "magnitude_to", "distance_from_km", "distance_to_km"),
        *("epsilon_from", "epsilon_to", "rate", "share"),
    ]
    d = found.distances / _KM if len(found.distances) else np.array([np.nan, np.nan])
    e = EPSILONS if found.rates.shape[2] > 1 else np.array([np.nan, np.nan])
    for m, n, k in zip(*np.nonzero(found.rates), strict=True):
        edges = (*found.magnitudes[m : m + 2], *d[n : n + 2], *e[k : k + 2])
        rate = found.rates[m, n, k]
        yield [*(f"{x:g}" for x in edges), f"{rate:.6g}", f"{rate / found.total:.6g}"]


def _contributions(found: Disaggregation) -> Iterator[list[object]]:
    """One line for each rupture that contributes, the largest first."""
    yield ["rupture", "rate", "share"]
    for name, rate in found.by_rupture.items():
        if rate > 0:
            yield [name, f"{rate:.6g}", f"{rate / found.total:.6g}"]
