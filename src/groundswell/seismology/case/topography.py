"""Section `[topography]` of a case: the elevation of the surface above depth 0."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, PlainValidator

from groundswell.arrays import HostArray
from groundswell.case.common import DataFile, Section, TaggedUnion
from groundswell.case.expressions import Formula
from groundswell.case.problems import reject
from groundswell.case.units import Length


def _has_no_z(formula: str | float) -> str | float:
    if isinstance(formula, str) and re.search(r"\bz\b", formula):
        reject([((), "must be an expression in x and y; z is not available here")])
    return formula


class FormulaTopography(Section):
    """`kind = "formula"`: the elevation in m as an expression in x and y, m."""

    kind: Literal["formula"]
    elevation: Annotated[Formula, AfterValidator(_has_no_z)]


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
    elevation: Annotated[Any, PlainValidator(_as_map)]


class FileTopography(Section):
    """`kind = "file"`: elevations in a file, m.

    NetCDF has `variable` on coordinates x, y or longitude, latitude; a NumPy file (.npy) has an
    array as `ArrayTopography`; an ESRI ASCII grid (.asc) has the coordinates of the region, or
    longitude and latitude. GeoTIFF has a coordinate system of its own.

    Attributes:
        fill: elevation where the file has none.
    """

    kind: Literal["file"]
    file: DataFile
    variable: str | None = None
    coordinates: Literal["region", "geographic"] = "region"
    fill: Length | None = None


TopographySection = Annotated[FormulaTopography | ArrayTopography | FileTopography, TaggedUnion()]
