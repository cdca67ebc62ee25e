"""Section `[topography]` of a case: the elevation of the surface above depth 0."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, PlainValidator

from groundswell.arrays import HostArray
from groundswell.case.common import DataFile, Section, TaggedUnion
from groundswell.case.expressions import Formula
from groundswell.case.problems import reject
from groundswell.case.units import Accepts, Length


def _has_no_z(formula: str | float) -> str | float:
    if isinstance(formula, str) and re.search(r"\bz\b", formula):
        reject([((), "must be an expression in x and y; z is not available here")])
    return formula


_HEIGHT = Accepts("a number or an expression of x and y", "m")


class FormulaTopography(Section):
    """`kind = "formula"`: the elevation in m as an expression in x and y, m."""

    kind: Literal["formula"]
    elevation: Annotated[Formula, AfterValidator(_has_no_z), _HEIGHT]
    """Elevation in m, an expression of x and y in m."""


def _as_map(value: object) -> HostArray:
    import numpy as np

    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or min(array.shape) < 2 or not np.isfinite(array).all():
        reject([((), "must be rows of numbers from south to north, at least 2 x 2, of one length")])
    return array


class ArrayTopography(Section):
    """`kind = "array"`: elevations (ny, nx), m, evenly spaced from corner to corner of the region.

    Rows run from south to north, each from west to east.
    """

    kind: Literal["array"]
    elevation: Annotated[Any, PlainValidator(_as_map), Accepts("rows of numbers", "m")]
    """Elevations in m, rows from south to north, each from west to east."""


class FileTopography(Section):
    """`kind = "file"`: elevations in a file, m.

    NetCDF has `variable` on coordinates x, y or longitude, latitude; a NumPy file (.npy) has an
    array as `ArrayTopography`; an ESRI ASCII grid (.asc) has the coordinates of the region, or
    longitude and latitude. GeoTIFF has a coordinate system of its own.
    """

    kind: Literal["file"]
    file: DataFile
    """Elevations in NetCDF, NumPy (.npy), ESRI ASCII (.asc) or GeoTIFF."""
    variable: str | None = None
    """Name of the variable of a NetCDF file, if it has several."""
    coordinates: Literal["region", "geographic"] = "region"
    """Coordinates of an ESRI ASCII file: those of the region, or longitude and latitude."""
    fill: Length | None = None
    """Elevation where the file has none."""


TopographySection = Annotated[FormulaTopography | ArrayTopography | FileTopography, TaggedUnion()]
