"""Elevation of the surface as a smooth function of position: formulas, arrays and files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.expressions import Expression
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.formats.text import parse_numbers, read_text
from groundswell.grids.geography import Geography
from groundswell.seismology.case.topography import (
    ArrayTopography,
    FileTopography,
    FormulaTopography,
    TopographySection,
)
from groundswell.seismology.media.material import unit_factor

if TYPE_CHECKING:
    from xarray import DataArray

Elevation = Callable[[Floats, Floats], Floats]

ORDER = 3  # of splines through the points of maps
MARGIN = 8  # points of a map around the region that its spline takes into account
NETCDF = (".nc", ".nc4", ".cdf")
NAMES = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"))


@dataclass(frozen=True, eq=False)
class ElevationMap:
    """Elevations on a rectangular grid.

    Args:
        x, y: coordinates, rising, m or degrees.
        values: (y, x), m.
        source: its name, for messages.
        geographic: whether x and y are longitude and latitude.
    """

    x: Floats
    y: Floats
    values: Floats
    source: str
    geographic: bool = False


def build_elevation(
    section: TopographySection, size: tuple[float, float], geography: Geography | None = None
) -> Elevation:
    """The elevation (m, upwards) at x and y (m) in the region, by cubic splines through maps.

    Args:
        size: of the region along x and y, m.
        geography: position of the region on Earth, for maps on longitude and latitude.

    Raises:
        InputError: a file is unreadable, or a map does not cover the region or has gaps there.
    """
    if isinstance(section, FormulaTopography):
        expression = Expression(section.elevation)
        return lambda x, y: expression(x, y, np.zeros_like(x))
    if isinstance(section, ArrayTopography):
        return _spline(_over_region(section.elevation, size, "topography"), size, None)
    return _spline(_read(section, size), size, geography)


# --- files ----------------------------------------------------------------------------------------


def _read(section: FileTopography, size: tuple[float, float]) -> ElevationMap:
    path, suffix = section.file, section.file.suffix.lower()
    if suffix in NETCDF:
        return _read_netcdf(path, section.variable)
    if suffix == ".npy":
        with read_errors_reported(path, "a NumPy array"):
            values = np.asarray(np.load(path, allow_pickle=False), float)
        if values.ndim != 2 or min(values.shape) < 2:
            raise InputError(f"{path} has the shape {values.shape}; give elevations (ny, nx)")
        return _over_region(values, size, str(path))
    if suffix == ".asc":
        return _read_esri(path, section.coordinates == "geographic")
    raise InputError(f"{path}: elevations are read from .nc, .npy and .asc files")


def _over_region(values: Floats, size: tuple[float, float], source: str) -> ElevationMap:
    y, x = (np.linspace(0, a, n) for a, n in zip(size[::-1], values.shape, strict=True))
    return ElevationMap(x, y, values, source)


def _read_netcdf(path: Path, variable: str | None) -> ElevationMap:
    with open_dataset(path) as data, read_errors_reported(path, "NetCDF"):
        maps = [str(n) for n in data.data_vars if data[n].ndim == 2]
        if not variable and len(maps) > 1:
            raise InputError(
                f"{path} has several maps; name one in topography.variable: {', '.join(maps)}"
            )
        name = variable or "".join(maps)
        if name not in data.data_vars:
            known = ", ".join(map(str, data.data_vars)) or "none"
            raise InputError(
                f"{path} has no variable {name!r}; name it in topography.variable, one of: {known}"
            )
        pair = next((p for p in NAMES if set(p) == set(data[name].dims)), None)
        if pair is None:
            raise InputError(
                f"{path}: {name} has the dimensions {data[name].dims}; it must have x, y or "
                "longitude, latitude"
            )
        data = data.sortby(list(pair))
        source, is_geographic = f"{path}, {name}", pair != NAMES[0]
        _require_upwards(data[name], source)
        x, y = (_in_metres(data[axis], path, is_degrees=is_geographic) for axis in pair)
        values = _in_metres(data[name].transpose(*pair[::-1]), path)
    return ElevationMap(x, y, values, source, is_geographic)


def _require_upwards(found: DataArray, source: str) -> None:
    """Check that values are elevations, not depths, by the name and attributes of a variable."""
    names = (
        str(found.name),
        *(str(found.attrs.get(a, "")) for a in ("standard_name", "long_name")),
    )
    is_up = found.attrs.get("positive") == "up"
    is_depth = any(re.search(r"(\b|_)depth(\b|_)", name, re.IGNORECASE) for name in names)
    if found.attrs.get("positive") == "down" or (is_depth and not is_up):
        raise InputError(
            f"{source} holds depths, positive downwards; give elevations, positive upwards: change "
            'the name and the sign of the values, and set the attribute positive = "up"'
        )


def _in_metres(found: DataArray, path: Path, *, is_degrees: bool = False) -> Floats:
    """The values of a variable in m, or in degrees."""
    values = np.asarray(found.values, float)
    if is_degrees:
        return values
    return values * unit_factor(str(found.attrs.get("units", "")), "m", f"{path}, {found.name}")


def _read_esri(path: Path, geographic: bool) -> ElevationMap:
    """An ESRI ASCII grid: six lines of a header, then rows from north to south."""
    lines = read_text(path, "an ESRI ASCII grid").splitlines()
    words = [line.split() for line in lines]
    count = next((n for n, row in enumerate(words) if not row or not row[0][0].isalpha()), 0)
    header = {row[0].lower(): float(row[1]) for row in words[:count] if len(row) == 2}
    at_centre = {"xllcenter", "yllcenter"} <= header.keys()
    low = ("xllcenter", "yllcenter") if at_centre else ("xllcorner", "yllcorner")
    if missing := {"ncols", "nrows", "cellsize", *low} - header.keys():
        raise InputError(f"{path} lacks {', '.join(sorted(missing))}; give an ESRI ASCII grid")
    nx, ny, step = int(header["ncols"]), int(header["nrows"]), header["cellsize"]
    values = parse_numbers("\n".join(lines[count:]), path, count + 1)
    if values.size != nx * ny or min(nx, ny) < 2:
        raise InputError(f"{path} has {values.size} elevations; nrows x ncols are {ny} x {nx}")
    values[values == header.get("nodata_value", np.nan)] = np.nan
    x, y = (
        np.asarray(header[name] + step * (np.arange(n) + (0.0 if at_centre else 0.5)))
        for name, n in zip(low, (nx, ny), strict=True)
    )
    return ElevationMap(x, y, values.reshape(ny, nx)[::-1], str(path), geographic)


# --- interpolation --------------------------------------------------------------------------------


def _spline(
    found: ElevationMap, size: tuple[float, float], geography: Geography | None
) -> Elevation:
    from scipy.interpolate import RectBivariateSpline

    def project(x: Floats, y: Floats) -> tuple[Floats, Floats]:
        return _project(found, x, y, geography)

    edges = np.meshgrid(*(np.linspace(0, length, 65) for length in size))
    needed = project(*edges)
    columns, rows = (
        _window(axis, at, found.source) for axis, at in zip((found.x, found.y), needed, strict=True)
    )
    x, y, values = found.x[columns], found.y[rows], found.values[rows, columns]
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"{found.source} has no elevation at {x[column]:.8g}, {y[row]:.8g}; fill its gaps"
        )
    orders = [min(ORDER, len(axis) - 1) for axis in (y, x)]
    spline = RectBivariateSpline(y, x, values, kx=orders[0], ky=orders[1])

    def elevation(x: Floats, y: Floats) -> Floats:
        along_x, along_y = project(x, y)
        return np.asarray(spline.ev(along_y, along_x))

    return elevation


def _project(
    found: ElevationMap, x: Floats, y: Floats, geography: Geography | None
) -> tuple[Floats, Floats]:
    """Positions in the region as coordinates of a map."""
    if not found.geographic:
        return x, y
    if geography is None:
        raise InputError(
            f"{found.source} is on longitude and latitude; add [grid.geography], the position of "
            "the region"
        )
    lon, lat = geography.to_lonlat(x, y)
    middle = (found.x[0] + found.x[-1]) / 2
    return (np.asarray(lon) - middle + 180) % 360 + middle - 180, np.asarray(lat)


def _window(axis: Floats, at: Floats, source: str) -> slice:
    """The part of an axis that surrounds positions."""
    if len(axis) < 2 or not (np.diff(axis) > 0).all():
        raise InputError(f"{source}: coordinates must be two or more values in order")
    rounding = 1e-6 * (axis[-1] - axis[0])
    if at.min() < axis[0] - rounding or at.max() > axis[-1] + rounding:
        raise InputError(
            f"{source} covers {axis[0]:.8g} to {axis[-1]:.8g}, and the region needs "
            f"{at.min():.8g} to {at.max():.8g} (metres or degrees); use a map that covers it"
        )
    first, last = np.searchsorted(axis, [at.min(), at.max()])
    return slice(max(0, int(first) - MARGIN), int(last) + MARGIN)
