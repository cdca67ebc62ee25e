"""Models in NetCDF files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.seismology.frames import Frame, lonlat_frame
from groundswell.seismology.media.model_grid import ModelGrid


def open_netcdf_model(path: Path) -> ModelGrid:
    """Open a model in a NetCDF file, which is read when values are needed.

    Its variables have three dimensions, in any order, with coordinates `depth` and either `x`, `y`
    (metres from the corner of the region) or `lon`, `lat` (also `longitude`, `latitude`), not
    necessarily evenly spaced. Values are in SI units unless an attribute `units` says otherwise.

    Raises:
        InputError: the file is unreadable, or lacks coordinates.
    """
    data = open_dataset(path)
    with read_errors_reported(path, "NetCDF"):
        x, y = _find_axes(data, path)
        is_geographic = x != "x"
        frame = lonlat_frame(str(path), data[x].values) if is_geographic else Frame(str(path))
        return ModelGrid(path, data, ("depth", y, x), frame, "name them in medium.variables")


def _find_axes(data: Any, path: Path) -> tuple[str, str]:
    """Names of the horizontal axes, x and y or longitude and latitude."""
    axes = {c for c in data.coords if data[c].dims == (c,) and data[c].dtype.kind in "fiu"}
    for x, y in (("x", "y"), ("lon", "lat"), ("longitude", "latitude")):
        if {x, y, "depth"} <= axes:
            if data["depth"].attrs.get("positive") == "up":
                raise InputError(
                    f"{path}: depth is positive upwards; store it increasing downwards"
                )
            return x, y
    raise InputError(
        f"{path} needs one-dimensional coordinates x, y, depth or lon, lat, depth; it has "
        f"{', '.join(sorted(axes)) or 'none'}"
    )
