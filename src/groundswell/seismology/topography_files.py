"""Files of elevations: NetCDF, NumPy and ESRI ASCII grids, and GeoTIFF."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, listed
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.formats.text import parse_numbers, read_text
from groundswell.seismology.case.topography import FileTopography
from groundswell.seismology.formats import geotiff
from groundswell.seismology.frames import Frame, lonlat_frame
from groundswell.seismology.media.material import unit_factor

if TYPE_CHECKING:
    from xarray import DataArray

NETCDF = (".nc", ".nc4", ".cdf")
NAMES = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"))


@dataclass(frozen=True, eq=False)
class ElevationMap:
    """Elevations on a rectangular grid.

    Args:
        x, y: coordinates, rising, in the unit of the frame.
        values: (y, x), m; NaN where there are none. Those of a raster are read when needed.
        source: its name, for messages.
        frame: what the coordinates are.
    """

    x: Floats
    y: Floats
    values: Floats | geotiff.Raster
    source: str
    frame: Frame


def read_map(section: FileTopography, size: tuple[float, float]) -> ElevationMap:
    """The map in a file.

    Args:
        size: of the region along x and y, m.

    Raises:
        InputError: the file is unreadable, or of another kind.
    """
    path, suffix = section.file, section.file.suffix.lower()
    if suffix in NETCDF:
        return _read_netcdf(path, section.variable)
    if suffix in geotiff.SUFFIXES:
        return _read_geotiff(path)
    if suffix == ".npy":
        with read_errors_reported(path, "a NumPy array"):
            values = np.asarray(np.load(path, allow_pickle=False), float)
        if values.ndim != 2 or min(values.shape) < 2:
            raise InputError(f"{path} has the shape {values.shape}; give elevations (ny, nx)")
        return map_over_region(values, size, str(path))
    if suffix == ".asc":
        return _read_esri(path, section.coordinates == "geographic")
    kinds = listed((".nc", *geotiff.SUFFIXES, ".npy", ".asc"))
    raise InputError(f"{path}: elevations are read from files that end in {kinds}")


def map_over_region(values: Floats, size: tuple[float, float], source: str) -> ElevationMap:
    """Elevations (y, x) that are evenly spaced from corner to corner of the region."""
    y, x = (np.linspace(0, a, n) for a, n in zip(size[::-1], values.shape, strict=True))
    return ElevationMap(x, y, values, source, Frame(source))


def _read_geotiff(path: Path) -> ElevationMap:
    raster = geotiff.Raster(path)
    source = str(path)
    if raster.is_geographic:
        frame = lonlat_frame(source, raster.x, raster.system)
    else:
        frame = Frame(source, raster.system, unit="map units")
    return ElevationMap(raster.x, raster.y, raster, source, frame)


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
    return ElevationMap(x, y, values, source, _frame(source, x, is_geographic))


def _frame(source: str, x: Floats, is_geographic: bool) -> Frame:
    return lonlat_frame(source, x) if is_geographic else Frame(source)


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
    with read_errors_reported(path, "an ESRI ASCII grid", "correct its header"):
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
    frame = _frame(str(path), x, geographic)
    return ElevationMap(x, y, values.reshape(ny, nx)[::-1], str(path), frame)
