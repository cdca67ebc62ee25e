"""GeoTIFF rasters of elevations, read with rasterio."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, install
from groundswell.formats.damage import read_errors_reported
from groundswell.seismology.media.material import unit_factor

SUFFIXES = (".tif", ".tiff")

_WIDEST = 4_000_000  # pixels along an axis; more only in damaged files
_FEET = {"us survey foot": 1200 / 3937, "us-ft": 1200 / 3937}


class Raster:
    """A raster with one band, of which windows are read when needed.

    `raster[rows, columns]` are elevations (m, upwards) at the centres of pixels, NaN where there is
    no data, float64.

    Attributes:
        system: coordinate system, in the form WKT.
        is_geographic: whether it is one of longitude and latitude.
        x, y: coordinates of the centres of pixels, rising, in the unit of the system.

    Raises:
        InputError: rasterio is missing, the file is damaged, or it has no coordinate system, a
            rotated grid or several bands.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with _opened(path) as data:
            _require_plain(path, data)
            self.system: str = data.crs.to_wkt()
            self.is_geographic: bool = data.crs.is_geographic
            self._flipped = tuple(step < 0 for step in (data.transform.e, data.transform.a))
            self._shape = (data.height, data.width)
            self.x, self.y = _centres(data)
            unit = str(data.units[0] or "")
            self._scale, self._offset = float(data.scales[0]), float(data.offsets[0])
        if unit.lower() in _FEET:
            self._unit = _FEET[unit.lower()]
        else:
            self._unit = unit_factor(unit, "m", str(path))

    def __getitem__(self, window: tuple[slice, slice]) -> Floats:
        stored = [
            slice(count - min(part.stop, count), count - part.start) if flip else part
            for part, count, flip in zip(window, self._shape, self._flipped, strict=True)
        ]
        with _opened(self._path) as data:
            values = data.read(1, window=tuple(stored), masked=True)
        with np.errstate(all="ignore"):  # elevations of damaged files
            found = values.astype(float).filled(np.nan) * self._scale + self._offset
        steps = tuple(slice(None, None, -1 if flip else 1) for flip in self._flipped)
        return np.asarray(found[steps] * self._unit)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """An open raster; errors of the library become `InputError`."""
    try:
        import rasterio  # type: ignore[import-not-found]
    except ImportError:
        raise InputError(
            f"{path}: reading GeoTIFF needs rasterio; {install('topography')}"
        ) from None
    with read_errors_reported(path, "GeoTIFF"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing coordinate system is an error below
        # Other drivers of GDAL would follow links to other files and hosts.
        with rasterio.open(path, driver="GTiff") as data:
            yield data


def _require_plain(path: Path, data: Any) -> None:
    transform = data.transform
    if data.count != 1:
        raise InputError(
            f"{path} has {data.count} bands; give a file with one, for example by gdal_translate "
            "-b 1"
        )
    if data.crs is None or not (data.crs.is_geographic or data.crs.is_projected):
        raise InputError(
            f"{path} has no coordinate system of the Earth; assign one, for example by gdal_edit "
            "-a_srs EPSG:32611"
        )
    if data.dtypes[0].startswith("complex"):
        raise InputError(f"{path} has numbers of type {data.dtypes[0]}; give real elevations")
    if transform.b or transform.d or not (transform.a and transform.e):
        raise InputError(
            f"{path} has a rotated grid; resample it along the axes of its coordinate system, for "
            "example by gdalwarp"
        )
    if not 2 <= min(data.shape) <= max(data.shape) <= _WIDEST:
        raise InputError(
            f"{path} has {data.width:,} x {data.height:,} pixels; give from 2 to {_WIDEST:,} along "
            "each axis"
        )


def _centres(data: Any) -> tuple[Floats, Floats]:
    """Coordinates of the centres of pixels along both axes, rising."""
    transform = data.transform
    x = transform.c + transform.a * (np.arange(data.width) + 0.5)
    y = transform.f + transform.e * (np.arange(data.height) + 0.5)
    return (x if transform.a > 0 else x[::-1]), (y if transform.e > 0 else y[::-1])
